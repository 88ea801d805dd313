/* SPDX-License-Identifier: MIT */
/* Arrays, mipmapped arrays, textures and surfaces: what they take of the card, what is copied, and what is refused. */
#include "virtual.h"

#include "vgpu/core/cuda_api.h"
#include "vgpu/driver/memory/arrays.h"
#include "vgpu/values/shadow.h"

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_CHANNELS = 20, INVALID_HANDLE = 400 };
enum { NOT_SUPPORTED = 801 };
enum { TO_CARD = 1, TO_HOST = 2, ON_CARD = 3, ANY = 4 }; /* cudaMemcpyKind */
enum { LAYERED = 1, CUBEMAP = 4, SPARSE = 0x40 };
enum { UINT8 = 1, FLOAT = 0x20 };

struct channels {
    int x, y, z, w, kind;
};
struct triple {
    size_t x, y, z;
};
struct pitched {
    void *start;
    size_t pitch, width, height;
};
struct copy_3d {
    void *from_array;
    struct triple from_at;
    struct pitched from;
    void *to_array;
    struct triple to_at;
    struct pitched to;
    struct triple extent;
    int kind;
};
struct resource {
    int type;
    void *memory;
    uint64_t words[16];
};
struct texture {
    int words[18];
};

static const struct channels one_float = { 32, 0, 0, 0, 2 }, four_bytes = { 8, 8, 8, 8, 1 };

static struct {
    struct channels (*channels)(int, int, int, int, int);
    int (*malloc)(void **, const struct channels *, size_t, size_t, unsigned);
    int (*malloc_3d)(void **, const struct channels *, struct triple, unsigned);
    int (*malloc_levels)(void **, const struct channels *, struct triple, unsigned, unsigned);
    int (*level)(void **, void *, unsigned);
    int (*free)(void *);
    int (*free_levels)(void *);
    int (*about)(struct channels *, struct triple *, unsigned *, void *);
    int (*channels_of)(struct channels *, void *);
    int (*to_array)(void *, size_t, size_t, const void *, size_t, size_t, size_t, int);
    int (*from_array)(void *, size_t, const void *, size_t, size_t, size_t, size_t, int);
    int (*between)(void *, size_t, size_t, const void *, size_t, size_t, size_t, size_t, int);
    int (*bytes_to_array)(void *, size_t, size_t, const void *, size_t, int);
    int (*bytes_from_array)(void *, const void *, size_t, size_t, size_t, int);
    int (*copy_3d)(const struct copy_3d *);
    int (*make_texture)(uint64_t *, const struct resource *, const struct texture *, const void *);
    int (*drop_texture)(uint64_t);
    int (*resource_of)(struct resource *, uint64_t);
    int (*texture_of)(struct texture *, uint64_t);
    int (*view_of)(void *, uint64_t);
    int (*make_surface)(uint64_t *, const struct resource *);
    int (*drop_surface)(uint64_t);
    int (*info)(size_t *, size_t *);
    int (*reset)(void);
    status (*create)(void **, const struct cu_array_3d *);
    status (*create_2d)(void **, const struct cu_array *);
    status (*destroy)(void *);
    status (*shape_of)(struct cu_array_3d *, void *);
    status (*shape_2d_of)(struct cu_array *, void *);
    status (*create_levels)(void **, const struct cu_array_3d *, unsigned);
    status (*level_of)(void **, void *, unsigned);
    status (*destroy_levels)(void *);
    status (*copy_box)(const struct cu_copy_3d *);
    status (*copy_rows)(const struct cu_copy_2d *);
    status (*to_row)(void *, size_t, const void *, size_t);
    status (*from_row)(void *, void *, size_t, size_t);
    struct plim_ledger *(*ledger)(int *);
    int (*place)(const void *, struct plim_array_place *);
    enum plim_shadow_known (*read)(void *, const void *, size_t);
} cuda;

static int set_up(void **state)
{
    (void)state;
    setenv("PLIM_VGPU_RAW", "1024", 1);
    void *driver = open_library("libcuda.so.1"), *runtime = open_library("libcudart.so.13");
    take(runtime, "cudaCreateChannelDesc", &cuda.channels);
    take(runtime, "cudaMallocArray", &cuda.malloc);
    take(runtime, "cudaMalloc3DArray", &cuda.malloc_3d);
    take(runtime, "cudaMallocMipmappedArray", &cuda.malloc_levels);
    take(runtime, "cudaGetMipmappedArrayLevel", &cuda.level);
    take(runtime, "cudaFreeArray", &cuda.free);
    take(runtime, "cudaFreeMipmappedArray", &cuda.free_levels);
    take(runtime, "cudaArrayGetInfo", &cuda.about);
    take(runtime, "cudaGetChannelDesc", &cuda.channels_of);
    take(runtime, "cudaMemcpy2DToArray", &cuda.to_array);
    take(runtime, "cudaMemcpy2DFromArray", &cuda.from_array);
    take(runtime, "cudaMemcpy2DArrayToArray", &cuda.between);
    take(runtime, "cudaMemcpyToArray", &cuda.bytes_to_array);
    take(runtime, "cudaMemcpyFromArray", &cuda.bytes_from_array);
    take(runtime, "cudaMemcpy3D", &cuda.copy_3d);
    take(runtime, "cudaCreateTextureObject", &cuda.make_texture);
    take(runtime, "cudaDestroyTextureObject", &cuda.drop_texture);
    take(runtime, "cudaGetTextureObjectResourceDesc", &cuda.resource_of);
    take(runtime, "cudaGetTextureObjectTextureDesc", &cuda.texture_of);
    take(runtime, "cudaGetTextureObjectResourceViewDesc", &cuda.view_of);
    take(runtime, "cudaCreateSurfaceObject", &cuda.make_surface);
    take(runtime, "cudaDestroySurfaceObject", &cuda.drop_surface);
    take(runtime, "cudaMemGetInfo", &cuda.info);
    take(runtime, "cudaDeviceReset", &cuda.reset);
    take(driver, "cuArray3DCreate_v2", &cuda.create);
    take(driver, "cuArrayCreate_v2", &cuda.create_2d);
    take(driver, "cuArrayDestroy", &cuda.destroy);
    take(driver, "cuArray3DGetDescriptor_v2", &cuda.shape_of);
    take(driver, "cuArrayGetDescriptor_v2", &cuda.shape_2d_of);
    take(driver, "cuMipmappedArrayCreate", &cuda.create_levels);
    take(driver, "cuMipmappedArrayGetLevel", &cuda.level_of);
    take(driver, "cuMipmappedArrayDestroy", &cuda.destroy_levels);
    take(driver, "cuMemcpy3D_v2", &cuda.copy_box);
    take(driver, "cuMemcpy2D_v2", &cuda.copy_rows);
    take(driver, "cuMemcpyHtoA_v2", &cuda.to_row);
    take(driver, "cuMemcpyAtoH_v2", &cuda.from_row);
    take(driver, "plim_vgpu_array_place", &cuda.place); /* of ours, as are the next */
    take(driver, "plim_vgpu_ledger", &cuda.ledger);
    take(driver, "plim_shadow_read", &cuda.read);
    return 0;
}

static size_t free_bytes(void)
{
    size_t n = 0, total;
    assert_int_equal(cuda.info(&n, &total), SUCCESS);
    return n;
}

static bool is_remarked(const char *text)
{
    int error;
    const struct plim_ledger *ledger = cuda.ledger(&error);
    assert_non_null(ledger);
    for (uint32_t i = 0; i < ledger->n_warnings; i++)
        if (!strcmp(ledger->warning[i].kind, "assumed") && strstr(ledger->warning[i].what, text))
            return true;
    return false;
}

/* An array is charged as its elements, and described as it was asked for. */
static void test_arrays(void **state)
{
    void *array;
    struct channels channels = cuda.channels(32, 0, 0, 0, 2);
    struct triple extent;
    unsigned flags = 1;
    (void)state;
    const size_t before = free_bytes();
    assert_memory_equal(&channels, &one_float, sizeof channels);
    assert_int_equal(cuda.malloc(&array, &one_float, 1000, 30, 2), SUCCESS);
    assert_int_equal(before - free_bytes(), 1000 * 30 * 4);
    assert_true(is_remarked("an array takes the memory of its elements"));
    assert_int_equal(cuda.about(&channels, &extent, &flags, array), SUCCESS);
    assert_memory_equal(&channels, &one_float, sizeof channels);
    assert_true(extent.x == 1000 && extent.y == 30 && extent.z == 0 && flags == 2);
    assert_int_equal(cuda.about(NULL, NULL, NULL, array), SUCCESS);
    assert_int_equal(cuda.free(array), SUCCESS);
    assert_int_equal(free_bytes(), before);
    assert_int_equal(cuda.malloc(&array, &four_bytes, 100, 0, 0), SUCCESS);
    assert_int_equal(before - free_bytes(), 400);
    assert_int_equal(cuda.channels_of(&channels, array), SUCCESS);
    assert_memory_equal(&channels, &four_bytes, sizeof channels);
    assert_int_equal(cuda.free(array), SUCCESS);
    assert_int_equal(cuda.free(array), INVALID_VALUE); /* gone */
    assert_int_equal(cuda.channels_of(&channels, array), INVALID_VALUE);
    assert_int_equal(cuda.free(NULL), SUCCESS);
    assert_int_equal(cuda.malloc_3d(&array, &one_float, (struct triple){ 8, 8, 8 }, 0), SUCCESS);
    assert_int_equal(before - free_bytes(), 8 * 8 * 8 * 4);
    assert_int_equal(cuda.reset(), SUCCESS); /* its memory goes with the context */
    assert_int_equal(free_bytes(), before);
    assert_int_equal(cuda.free(array), INVALID_VALUE);
}

static void test_of_the_driver(void **state)
{
    void *array;
    struct cu_array_3d shape = { 16, 4, 0, FLOAT, 2, 0 }, found;
    struct cu_array found_2d;
    char text[9] = "";
    (void)state;
    assert_int_equal(cuda.create(&array, &shape), SUCCESS);
    assert_int_equal(cuda.shape_of(&found, array), SUCCESS);
    assert_memory_equal(&found, &shape, sizeof shape - 4);
    assert_int_equal(cuda.shape_2d_of(&found_2d, array), SUCCESS);
    assert_true(found_2d.width == 16 && found_2d.height == 4 && found_2d.format == FLOAT && found_2d.n_channels == 2);
    assert_int_equal(cuda.shape_of(NULL, array), INVALID_VALUE);
    assert_int_equal(cuda.destroy_levels(array), INVALID_HANDLE);
    assert_int_equal(cuda.destroy(array), SUCCESS);
    assert_int_equal(cuda.destroy(array), INVALID_HANDLE);
    assert_int_equal(cuda.destroy(&shape), INVALID_HANDLE);
    assert_int_equal(cuda.create_2d(&array, &(struct cu_array){ 8, 0, UINT8, 1 }), SUCCESS);
    assert_int_equal(cuda.to_row(array, 2, "abcdef", 6), SUCCESS);
    assert_int_equal(cuda.from_row(text, array, 3, 5), SUCCESS);
    assert_string_equal(text, "bcdef");
    assert_int_equal(cuda.to_row(array, 2, "abcdefg", 7), INVALID_VALUE);
    assert_int_equal(cuda.from_row(text, array, SIZE_MAX, 2), INVALID_VALUE);
    assert_int_equal(cuda.from_row(text, array, 0, SIZE_MAX), INVALID_VALUE);
    assert_int_equal(cuda.destroy(array), SUCCESS);
    assert_int_equal(cuda.to_row(array, 0, "a", 1), INVALID_HANDLE);
}

/* The levels of 8 x 4 are 4 x 2, 2 x 1 and 1 x 1; more than there are is as many as there are. */
static void test_levels(void **state)
{
    void *array, *level, *other;
    struct triple extent;
    (void)state;
    const size_t before = free_bytes();
    assert_int_equal(cuda.malloc_levels(&array, &one_float, (struct triple){ 8, 4, 0 }, 99, 0), SUCCESS);
    assert_int_equal(before - free_bytes(), (32 + 8 + 2 + 1) * 4);
    assert_int_equal(cuda.level(&level, array, 2), SUCCESS);
    assert_int_equal(cuda.level(&other, array, 2), SUCCESS);
    assert_ptr_equal(level, other);
    assert_int_equal(cuda.about(NULL, &extent, NULL, level), SUCCESS);
    assert_true(extent.x == 2 && extent.y == 1 && extent.z == 0);
    assert_int_equal(cuda.level(&other, array, 4), INVALID_VALUE);
    assert_int_equal(cuda.level(&other, level, 0), INVALID_VALUE);
    assert_int_equal(cuda.free(level), INVALID_VALUE);
    assert_int_equal(cuda.free(array), INVALID_VALUE);
    /* neighbours do not meet */
    float first[] = { 1, 2 }, last = 3, found[2] = { 0, 0 };
    assert_int_equal(cuda.to_array(level, 0, 0, first, 8, 8, 1, TO_CARD), SUCCESS);
    assert_int_equal(cuda.level(&other, array, 3), SUCCESS);
    assert_int_equal(cuda.to_array(other, 0, 0, &last, 4, 4, 1, TO_CARD), SUCCESS);
    assert_int_equal(cuda.from_array(found, 8, level, 0, 0, 8, 1, TO_HOST), SUCCESS);
    assert_memory_equal(found, first, sizeof first);
    assert_int_equal(cuda.free_levels(array), SUCCESS);
    assert_int_equal(free_bytes(), before);
    assert_int_equal(cuda.about(NULL, NULL, NULL, level), INVALID_VALUE);
    assert_int_equal(cuda.free_levels(array), INVALID_VALUE);
    /* layers are not halved */
    const struct cu_array_3d layers = { 4, 4, 3, UINT8, 1, LAYERED };
    assert_int_equal(cuda.create_levels(&array, &layers, 2), SUCCESS);
    assert_int_equal(before - free_bytes(), 3 * 16 + 3 * 4);
    assert_int_equal(cuda.destroy_levels(array), SUCCESS);
}

static void test_copies(void **state)
{
    void *a, *b;
    char in[4][8], out[4][8], part[6];
    (void)state;
    for (int i = 0; i < 32; i++)
        in[i / 8][i % 8] = (char)('A' + i);
    memset(out, 0, sizeof out);
    assert_int_equal(cuda.malloc(&a, &four_bytes, 2, 4, 0), SUCCESS);
    assert_int_equal(cuda.malloc(&b, &four_bytes, 2, 4, 0), SUCCESS);
    assert_int_equal(cuda.to_array(a, 0, 0, in, 8, 8, 4, TO_CARD), SUCCESS);
    assert_int_equal(cuda.between(b, 4, 1, a, 0, 0, 4, 3, ON_CARD), SUCCESS);
    assert_int_equal(cuda.from_array(out[1] + 4, 8, b, 4, 1, 4, 3, TO_HOST), SUCCESS);
    assert_memory_equal(out[1] + 4, "ABCD", 4);
    assert_memory_equal(out[3] + 4, "QRST", 4);
    assert_int_equal(cuda.bytes_from_array(part, a, 4, 0, 6, TO_HOST), SUCCESS); /* into the next row */
    assert_memory_equal(part, "EFGHIJ", 6);
    assert_int_equal(cuda.bytes_to_array(a, 4, 3, "wxyz", 4, TO_CARD), SUCCESS);
    assert_int_equal(cuda.bytes_to_array(a, 4, 3, "wxyz!", 5, TO_CARD), INVALID_VALUE);
    assert_int_equal(cuda.bytes_from_array(part, a, 0, SIZE_MAX, 6, TO_HOST), INVALID_VALUE);
    /* elements, not bytes: one of 2, two rows of 4 */
    struct copy_3d box = {
        .from_array = a, .from_at = { 1, 2, 0 }, .to = { out, 8, 8, 4 }, .extent = { 1, 2, 1 }, .kind = TO_HOST
    };
    assert_int_equal(cuda.copy_3d(&box), SUCCESS);
    assert_memory_equal(out[0], "UVWX", 4);
    assert_memory_equal(out[1], "wxyz", 4);
    box.extent.x = 2;
    assert_int_equal(cuda.copy_3d(&box), INVALID_VALUE);
    box.extent.x = SIZE_MAX / 2;
    assert_int_equal(cuda.copy_3d(&box), INVALID_VALUE);
    box.extent.x = 1, box.from_at.x = SIZE_MAX / 2;
    assert_int_equal(cuda.copy_3d(&box), INVALID_VALUE);
    box.from_at.x = 1, box.kind = 77;
    assert_int_equal(cuda.copy_3d(&box), 21);
    /* half an element, outside, wrong way */
    assert_int_equal(cuda.to_array(a, 2, 0, in, 8, 4, 1, TO_CARD), INVALID_VALUE);
    assert_int_equal(cuda.to_array(a, 0, 3, in, 8, 8, 2, TO_CARD), INVALID_VALUE);
    assert_int_equal(cuda.to_array(a, SIZE_MAX - 3, SIZE_MAX, in, 8, 8, 2, TO_CARD), INVALID_VALUE);
    assert_int_equal(cuda.to_array(a, 0, 0, in, 8, SIZE_MAX - 3, SIZE_MAX, ANY), INVALID_VALUE);
    assert_int_equal(cuda.to_array(a, 0, 0, in, 8, 8, 4, TO_HOST), INVALID_VALUE);
    assert_int_equal(cuda.to_array(in, 0, 0, in, 8, 8, 4, TO_CARD), INVALID_VALUE);
    assert_int_equal(cuda.to_array(NULL, 0, 0, in, 8, 8, 4, TO_CARD), INVALID_VALUE);
    struct cu_copy_2d rows = { .from = { .type = 3, .array = a }, .to = { .type = 1, .host = out[0], .pitch = 8 } };
    rows.width = 8, rows.height = 4;
    assert_int_equal(cuda.copy_rows(&rows), SUCCESS);
    assert_memory_equal(out[2], in[2], 8);
    rows.from.y = 1;
    assert_int_equal(cuda.copy_rows(&rows), INVALID_VALUE);
    assert_int_equal(cuda.free(a), SUCCESS);
    assert_int_equal(cuda.copy_3d(&box), 21);
    box.kind = TO_HOST;
    assert_int_equal(cuda.copy_3d(&box), INVALID_VALUE);
    assert_int_equal(cuda.free(b), SUCCESS);
}

static void test_hostile_shapes(void **state)
{
    static const struct cu_array_3d bad[] = {
        { 0, 4, 0, FLOAT, 1, 0 },
        { 4, 0, 4, FLOAT, 1, 0 }, /* a depth without a height */
        { 4, 4, 0, FLOAT, 3, 0 }, /* 3 channels */
        { 4, 4, 0, FLOAT, UINT32_MAX, 0 },
        { 4, 4, 0, 0, 1, 0 },                     /* no format */
        { 4, 4, 0, FLOAT, 1, 0x80000000 },        /* no such flag */
        { 4, 4, 0, FLOAT, 1, LAYERED },           /* no layers */
        { 4, 8, 6, FLOAT, 1, CUBEMAP },           /* no square */
        { 4, 4, 12, FLOAT, 1, CUBEMAP },          /* two cubes */
        { 4, 4, 7, FLOAT, 1, CUBEMAP | LAYERED }, /* part of a cube */
        { SIZE_MAX, SIZE_MAX, SIZE_MAX, FLOAT, 4, 0 },
        { (size_t)1 << 32, (size_t)1 << 32, 0, FLOAT, 1, 0 }, /* wraps to 0 */
        { 4, 4, 2049, FLOAT, 1, LAYERED },
        { 131073, 0, 0, UINT8, 1, 0 },
    };
    void *array = &cuda;
    (void)state;
    const size_t before = free_bytes();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (cuda.create(&array, &bad[i]) != INVALID_VALUE || cuda.create_levels(&array, &bad[i], 3) != INVALID_VALUE)
            fail_msg("shape %zu is taken", i);
    }
    const struct cu_array_3d sparse = { 4, 4, 0, FLOAT, 1, SPARSE }, odd = { 4, 4, 0, 0xb0, 1, 0 };
    assert_int_equal(cuda.create(&array, &sparse), NOT_SUPPORTED);
    assert_int_equal(cuda.create(&array, &odd), NOT_SUPPORTED);
    const struct cu_array_3d large = { 16384, 16384, 16384, FLOAT, 4, 0 };
    assert_int_equal(cuda.create(&array, &large), OUT_OF_MEMORY);
    assert_int_equal(cuda.create_levels(&array, &large, UINT32_MAX), OUT_OF_MEMORY);
    assert_int_equal(cuda.create(NULL, &odd), INVALID_VALUE);
    assert_int_equal(cuda.create(&array, NULL), INVALID_VALUE);
    assert_int_equal(cuda.malloc(&array, NULL, 4, 4, 0), INVALID_VALUE);
    assert_int_equal(cuda.malloc(&array, &(struct channels){ 32, 0, 32, 0, 2 }, 4, 4, 0), INVALID_CHANNELS);
    assert_int_equal(cuda.malloc(&array, &(struct channels){ 8, 8, 8, 0, 1 }, 4, 4, 0), INVALID_CHANNELS);
    assert_int_equal(cuda.malloc(&array, &(struct channels){ 8, 16, 0, 0, 1 }, 4, 4, 0), INVALID_CHANNELS);
    assert_int_equal(cuda.malloc(&array, &(struct channels){ 0, 0, 0, 0, 2 }, 4, 4, 0), INVALID_CHANNELS);
    assert_int_equal(cuda.malloc(&array, &(struct channels){ 8, 0, 0, 0, -1 }, 4, 4, 0), INVALID_CHANNELS);
    assert_ptr_equal(array, &cuda); /* nothing was written */
    assert_int_equal(free_bytes(), before);
}

static void test_textures(void **state)
{
    void *array;
    uint64_t texture = 0, surface = 0;
    struct resource resource = { 0 }, found;
    struct texture how = { { 1, 2, 3 } }, found_how;
    char view[48];
    (void)state;
    assert_int_equal(cuda.malloc(&array, &one_float, 4, 4, 2), SUCCESS);
    resource.memory = array;
    assert_int_equal(cuda.make_texture(&texture, &resource, &how, NULL), SUCCESS);
    assert_int_equal(cuda.resource_of(&found, texture), SUCCESS);
    assert_true(found.type == 0 && found.memory == array);
    assert_int_equal(cuda.texture_of(&found_how, texture), SUCCESS);
    assert_memory_equal(&found_how, &how, sizeof how);
    assert_int_equal(cuda.view_of(view, texture), INVALID_VALUE); /* it has none */
    assert_int_equal(cuda.drop_surface(texture), INVALID_VALUE);
    assert_int_equal(cuda.make_surface(&surface, &resource), SUCCESS);
    assert_int_equal(cuda.drop_texture(surface), INVALID_VALUE);
    assert_int_equal(cuda.drop_surface(surface), SUCCESS);
    assert_int_equal(cuda.drop_texture(texture), SUCCESS);
    assert_int_equal(cuda.drop_texture(texture), INVALID_VALUE);
    assert_int_equal(cuda.resource_of(&found, 12345), INVALID_VALUE);
    assert_int_equal(cuda.make_texture(&texture, NULL, &how, NULL), INVALID_VALUE);
    for (int type = 1; type <= 4; type++) {
        resource.type = type; /* not a mipmapped array, not device memory */
        assert_int_equal(cuda.make_texture(&texture, &resource, &how, NULL), INVALID_VALUE);
        assert_int_equal(cuda.make_surface(&surface, &resource), INVALID_VALUE);
    }
    assert_int_equal(cuda.free(array), SUCCESS);
    resource.type = 0;
    assert_int_equal(cuda.make_texture(&texture, &resource, &how, NULL), INVALID_VALUE);
}

/* A kernel may write through a surface: from then on the values are guesses, also those that the host writes. */
static void test_values_behind_a_surface(void **state)
{
    struct resource of_array = { 0 };
    struct plim_array_place place;
    uint64_t surface;
    float value = 7, found = 0;
    void *array;
    (void)state;
    assert_int_equal(cuda.malloc(&array, &one_float, 4, 4, 2), SUCCESS);
    assert_int_equal(cuda.to_array(array, 0, 0, &value, 4, 4, 1, TO_CARD), SUCCESS);
    assert_int_equal(cuda.place(array, &place), SUCCESS);
    assert_int_equal(cuda.read(&found, place.start, sizeof found), PLIM_SHADOW_KNOWN);
    assert_true(found == value);
    of_array.memory = array;
    assert_int_equal(cuda.make_surface(&surface, &of_array), SUCCESS);
    assert_int_equal(cuda.read(&found, place.start, sizeof found), PLIM_SHADOW_UNKNOWN);
    assert_int_equal(cuda.to_array(array, 0, 0, &value, 4, 4, 1, TO_CARD), SUCCESS);
    assert_int_equal(cuda.read(&found, place.start, sizeof found), PLIM_SHADOW_KEPT);
    assert_int_equal(cuda.drop_surface(surface), SUCCESS);
    assert_int_equal(cuda.free(array), SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_of_the_driver),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_hostile_shapes),
        cmocka_unit_test(test_textures),
        cmocka_unit_test(test_values_behind_a_surface),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
