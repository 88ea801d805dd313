/* SPDX-License-Identifier: MIT */
/* Addresses and handles of the virtual driver: what is given out, what is recognised, and what is refused. */
#include "virtual.h"

enum { MIB = 1 << 20, SLOT = 2 * MIB };
enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2 };

typedef unsigned long long word;

/* cudaPitchedPtr and cudaExtent */
struct pitched {
    void *start;
    size_t pitch, width, height;
};
struct extent {
    size_t width, height, depth;
};

/* CUmemAllocationProp, as far as it is read */
struct properties {
    int type, handle_types, location_type, location;
    char rest[64];
};

static struct {
    int (*malloc)(void **, size_t);
    int (*malloc_async)(void **, size_t, void *);
    int (*free)(void *);
    int (*info)(size_t *, size_t *);
    const char *(*error_name)(int);
    const char *(*error_text)(int);
    int (*reserve)(word *, size_t, size_t, word, word);
    int (*unreserve)(word, size_t);
    int (*create)(word *, size_t, const struct properties *, word);
    int (*release)(word);
    int (*map)(word, size_t, size_t, word, word);
    int (*unmap)(word, size_t);
    int (*attribute)(void *, int, word);
    int (*memcpy)(void *, const void *, size_t, int);
    int (*memset_3d)(struct pitched, int, struct extent);
    int (*free_async)(word, void *);
    int (*ipc_close)(word);
    void *(*within)(void *, size_t, size_t, size_t, size_t, size_t);
} cuda;

static int set_up(void **state)
{
    (void)state;
    setenv("PLIM_VGPU_RAW", "1024", 1);
    void *driver = open_library("libcuda.so.1"), *runtime = open_library("libcudart.so.13");
    take(runtime, "cudaMalloc", &cuda.malloc);
    take(runtime, "cudaMallocAsync", &cuda.malloc_async);
    take(runtime, "cudaFree", &cuda.free);
    take(runtime, "cudaMemGetInfo", &cuda.info);
    take(runtime, "cudaGetErrorName", &cuda.error_name);
    take(runtime, "cudaGetErrorString", &cuda.error_text);
    take(driver, "cuMemAddressReserve", &cuda.reserve);
    take(driver, "cuMemAddressFree", &cuda.unreserve);
    take(driver, "cuMemCreate", &cuda.create);
    take(driver, "cuMemRelease", &cuda.release);
    take(driver, "cuMemMap", &cuda.map);
    take(driver, "cuMemUnmap", &cuda.unmap);
    take(driver, "cuPointerGetAttribute", &cuda.attribute);
    take(driver, "cuMemFreeAsync", &cuda.free_async);
    take(driver, "plim_vgpu_within", &cuda.within); /* of ours: an address in a box */
    take(driver, "cuIpcCloseMemHandle", &cuda.ipc_close);
    take(runtime, "cudaMemcpy", &cuda.memcpy);
    take(runtime, "cudaMemset3D", &cuda.memset_3d);
    return 0;
}

static size_t free_bytes(void)
{
    size_t n = 0, total;
    assert_int_equal(cuda.info(&n, &total), SUCCESS);
    return n;
}

static word new_handle(void)
{
    const struct properties on_device = { .type = 1, .location_type = 1 };
    word handle = 0;
    assert_int_equal(cuda.create(&handle, SLOT, &on_device, 0), SUCCESS);
    return handle;
}

/* A stale pointer must not be a good one: an address comes again late. Neighbours leave no gap. */
static void test_addresses(void **state)
{
    void *a, *b, *c;
    (void)state;
    assert_int_equal(cuda.malloc(&a, SLOT), SUCCESS);
    assert_int_equal(cuda.malloc(&b, SLOT), SUCCESS);
    assert_int_equal((char *)b - (char *)a, SLOT);
    assert_int_equal(cuda.free(b), SUCCESS);
    assert_int_equal(cuda.malloc(&c, SLOT), SUCCESS);
    assert_ptr_not_equal(c, b);
    assert_int_equal(cuda.free(b), INVALID_VALUE);
    assert_int_equal(cuda.free(a), SUCCESS);
    assert_int_equal(cuda.free(c), SUCCESS);
}

/* Device memory at an address or not: CU_POINTER_ATTRIBUTE_MEMORY_TYPE is 2. */
static bool is_device_memory(const char *address)
{
    unsigned type = 0;
    return cuda.attribute(&type, 2, (word)(uintptr_t)address) == SUCCESS && type == 2;
}

static void test_both_ends(void **state)
{
    void *a, *b;
    (void)state;
    assert_int_equal(cuda.malloc(&a, SLOT - 512), SUCCESS);
    assert_int_equal(cuda.malloc(&b, SLOT), SUCCESS);
    assert_true(is_device_memory(a) && is_device_memory((char *)a + SLOT - 513));
    assert_false(is_device_memory((char *)a + SLOT - 512));
    assert_int_equal(cuda.free(a), SUCCESS);
    assert_false(is_device_memory(a));
    assert_int_equal(cuda.free(b), SUCCESS);
}

/* A number is used once: the handle that takes a released one's place has another. */
static void test_handles(void **state)
{
    (void)state;
    const size_t before = free_bytes();
    const word first = new_handle();
    assert_int_equal(cuda.release(first), SUCCESS);
    const word second = new_handle();
    assert_true(second != first);
    assert_int_equal(cuda.release(first), INVALID_VALUE);
    assert_int_equal(free_bytes(), before - SLOT);
    assert_int_equal(cuda.release(second), SUCCESS);
    assert_int_equal(free_bytes(), before);
    const struct properties on_device = { .type = 1, .location_type = 1 };
    word handle;
    assert_int_equal(cuda.create(&handle, SLOT + 1, &on_device, 0), INVALID_VALUE);
    assert_int_equal(cuda.create(&handle, 0, &on_device, 0), INVALID_VALUE);
}

/* Memory of one kind is not freed as another: neither a piece of a pool as a mapping, nor the other way round. */
static void test_kinds(void **state)
{
    word address;
    void *piece, *plain;
    (void)state;
    const size_t before = free_bytes();
    const word handle = new_handle();
    assert_int_equal(cuda.reserve(&address, SLOT, 0, 0, 0), SUCCESS);
    assert_int_equal(cuda.map(address, SLOT, 0, handle, 0), SUCCESS);
    assert_int_equal(cuda.malloc_async(&piece, SLOT, NULL), SUCCESS);
    assert_int_equal(cuda.malloc(&plain, SLOT), SUCCESS);
    assert_int_equal(cuda.unmap((word)(uintptr_t)piece, SLOT), INVALID_VALUE);
    assert_int_equal(cuda.unmap((word)(uintptr_t)plain, SLOT), INVALID_VALUE);
    assert_int_equal(cuda.ipc_close((word)(uintptr_t)piece), INVALID_VALUE);
    assert_int_equal(cuda.ipc_close(address), INVALID_VALUE);
    assert_int_equal(cuda.free_async(address, NULL), INVALID_VALUE);
    assert_int_equal(cuda.free((void *)(uintptr_t)address), INVALID_VALUE);
    assert_int_equal(cuda.unreserve(address, SLOT), INVALID_VALUE); /* something is mapped there */
    assert_int_equal(cuda.unmap(address, SLOT), SUCCESS);
    assert_int_equal(cuda.unreserve(address, SLOT), SUCCESS);
    assert_int_equal(cuda.release(handle), SUCCESS);
    assert_int_equal(cuda.free(piece), SUCCESS);
    assert_int_equal(cuda.free(plain), SUCCESS);
    assert_true(free_bytes() <= before);
}

/* A box whose rows overlap, and a copy that ends behind all memory, are refused before a byte is touched. */
static void test_impossible_sizes(void **state)
{
    char mine[64] = "mine", other[64] = "other";
    void *p;
    (void)state;
    assert_int_equal(cuda.malloc(&p, SLOT), SUCCESS);
    assert_int_equal(cuda.memset_3d((struct pitched){ p, 8, 8, 2 }, 0, (struct extent){ 8, 2, 1 }), SUCCESS);
    assert_int_equal(cuda.memset_3d((struct pitched){ p, 4, 4, 2 }, 0, (struct extent){ 8, 2, 1 }), INVALID_VALUE);
    assert_ptr_equal(cuda.within(mine, 8, 2, 3, 1, 2), mine + 2 * 16 + 8 + 3);
    assert_null(cuda.within(mine, 8, 2, SIZE_MAX, 0, 0)); /* one byte before it */
    assert_null(cuda.within(mine, 8, 2, 0, SIZE_MAX, 0));
    assert_null(cuda.within(mine, 8, 2, 0, 0, SIZE_MAX / 2 + 1));
    assert_null(cuda.within(NULL, 8, 2, 0, 0, 0));
    assert_int_equal(cuda.memcpy(mine, other, SIZE_MAX, 0), INVALID_VALUE);
    assert_int_equal(cuda.memcpy(mine, other, SIZE_MAX - 4096, 0), INVALID_VALUE);
    assert_string_equal(mine, "mine");
    assert_int_equal(cuda.free(p), SUCCESS);
}

/* One more than a million of small ones, and the last is as good as the first. */
static void test_very_many(void **state)
{
    enum { MANY = (1 << 20) + 2, SIZE = 256 };
    static void *all[MANY];
    (void)state;
    const size_t before = free_bytes();
    for (size_t i = 0; i < MANY; i++)
        if (cuda.malloc(&all[i], SIZE) != SUCCESS)
            fail_msg("number %zu is refused", i);
    assert_int_equal(before - free_bytes(), (size_t)MANY * SIZE);
    assert_true(is_device_memory(all[MANY - 1]));
    for (size_t i = 0; i < MANY; i++)
        if (cuda.free(all[i]) != SUCCESS)
            fail_msg("number %zu is not freed", i);
    assert_int_equal(free_bytes(), before);
}

static void test_words_of_errors(void **state)
{
    (void)state;
    assert_string_equal(cuda.error_name(OUT_OF_MEMORY), "cudaErrorMemoryAllocation");
    assert_string_equal(cuda.error_text(OUT_OF_MEMORY), "out of memory");
    assert_string_equal(cuda.error_name(0), "cudaSuccess");
    assert_string_equal(cuda.error_name(700), "cudaErrorIllegalAddress");
    assert_string_equal(cuda.error_name(4711), "unrecognized error code");
    assert_string_equal(cuda.error_text(-1), "unrecognized error code");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),       cmocka_unit_test(test_both_ends),
        cmocka_unit_test(test_handles),         cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_words_of_errors), cmocka_unit_test(test_impossible_sizes),
        cmocka_unit_test(test_very_many),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
