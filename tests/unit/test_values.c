/* SPDX-License-Identifier: MIT */
/* Values read back from a virtual card: the host's own, else zero; and the remarks about them. */
#include "unit.h"
#include "virtual.h"

#include "vgpu/core/session.h"
#include "vgpu/values/shadow.h"

#include <elf.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KIB = 1 << 10, MIB = 1 << 20 };
enum { SUCCESS = 0, INVALID_VALUE = 1, INVALID_PITCH = 12, TO_DEVICE = 1, TO_HOST = 2, ON_DEVICE = 3, ANY = 4 };

typedef unsigned long long word;

struct pitched {
    void *start;
    size_t pitch, width, height;
};

static struct {
    int (*malloc)(void **, size_t);
    int (*free)(void *);
    int (*copy)(void *, const void *, size_t, int);
    int (*copy_2d)(void *, size_t, const void *, size_t, size_t, size_t, int);
    int (*fill)(void *, int, size_t);
    int (*fill_2d)(void *, size_t, int, size_t, size_t);
    int (*fill_32)(word, unsigned, size_t);
    int (*fill_16)(word, unsigned short, size_t);
    int (*fill_rows_32)(word, size_t, unsigned, size_t, size_t);
    int (*copy_box)(const void *);
    int (*copy_in_stream)(void *, const void *, size_t, int, void *);
    int (*fill_in_stream)(void *, int, size_t, void *);
    int (*write_word)(void *, word, unsigned, unsigned);
    int (*make_stream)(void **, unsigned);
    int (*destroy_stream)(void *);
    int (*begin_capture)(void *, int);
    int (*end_capture)(void *, void **);
    int (*instantiate)(void **, void *, word);
    int (*launch_graph)(void *, void *);
    int (*destroy_graph)(void *);
    int (*destroy_exec)(void *);
    int (*launch)(const void *, word, unsigned, word, unsigned, void **, size_t, void *);
    int (*load)(void **, const void *);
    int (*unload)(void *);
    int (*function)(void **, void *, const char *);
    int (*launch_function)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                           void **, void **);
    void (*enter)(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
    struct plim_ledger *(*ledger)(int *);
    enum plim_shadow_known (*read)(void *, const void *, size_t);
    uint64_t (*n_evicted)(void);
    void (*doubt)(const void *);
    int (*last_read)(void);
    int (*known)(const void *, size_t);
} cuda;

static int set_up(void **state)
{
    (void)state;
    setenv("PLIM_VGPU_RAW", "1024", 1);
    void *driver = open_library("libcuda.so.1"), *runtime = open_library("libcudart.so.13");
    take(runtime, "cudaMalloc", &cuda.malloc);
    take(runtime, "cudaFree", &cuda.free);
    take(runtime, "cudaMemcpy", &cuda.copy);
    take(runtime, "cudaMemcpy2D", &cuda.copy_2d);
    take(runtime, "cudaMemset", &cuda.fill);
    take(runtime, "cudaMemset2D", &cuda.fill_2d);
    take(runtime, "cudaMemcpyAsync", &cuda.copy_in_stream);
    take(runtime, "cudaMemsetAsync", &cuda.fill_in_stream);
    take(runtime, "cudaLaunchKernel", &cuda.launch);
    take(runtime, "__cudaRegisterFunction", &cuda.enter);
    take(driver, "cuStreamWriteValue32_v2", &cuda.write_word);
    take(driver, "cuModuleLoadData", &cuda.load);
    take(driver, "cuModuleUnload", &cuda.unload);
    take(driver, "cuModuleGetFunction", &cuda.function);
    take(driver, "cuLaunchKernel", &cuda.launch_function);
    take(driver, "cuStreamCreate", &cuda.make_stream);
    take(driver, "cuStreamDestroy_v2", &cuda.destroy_stream);
    take(driver, "cuStreamBeginCapture_v2", &cuda.begin_capture);
    take(driver, "cuStreamEndCapture", &cuda.end_capture);
    take(driver, "cuGraphInstantiateWithFlags", &cuda.instantiate);
    take(driver, "cuGraphLaunch", &cuda.launch_graph);
    take(driver, "cuGraphDestroy", &cuda.destroy_graph);
    take(driver, "cuGraphExecDestroy", &cuda.destroy_exec);
    take(driver, "cuMemsetD32_v2", &cuda.fill_32);
    take(driver, "cuMemsetD16_v2", &cuda.fill_16);
    take(driver, "cuMemsetD2D32_v2", &cuda.fill_rows_32);
    take(driver, "cuMemcpy3D_v2", &cuda.copy_box);
    take(driver, "plim_vgpu_ledger", &cuda.ledger);
    take(driver, "plim_shadow_read", &cuda.read);
    take(driver, "plim_shadow_n_evicted", &cuda.n_evicted);
    take(driver, "plim_shadow_doubt", &cuda.doubt);
    take(driver, "plim_values_last_read", &cuda.last_read);
    take(driver, "plim_values_known", &cuda.known);
    return 0;
}

/* How often a remark with `text` was made. */
static unsigned long long n_said(const char *text)
{
    int error;
    unsigned long long n = 0;
    const struct plim_ledger *ledger = cuda.ledger(&error);
    assert_non_null(ledger);
    for (uint32_t i = 0; i < ledger->n_warnings; i++)
        if (!strncmp(ledger->warning[i].kind, "value", 5) && strstr(ledger->warning[i].what, text))
            n += ledger->warning[i].count;
    return n;
}

/* How often the host read a guess of this certainty and size; size 0: of any. */
static uint64_t n_guesses(enum plim_shadow_known known, uint32_t size)
{
    int error;
    uint64_t n = 0;
    const struct plim_ledger *ledger = cuda.ledger(&error);
    assert_non_null(ledger);
    assert_int_equal(ledger->guess[0].count, 0);
    for (uint32_t i = 1; i < PLIM_LEDGER_MAX_GUESSES; i++)
        if (ledger->guess[i].hash && ledger->guess[i].known == known && (!size || ledger->guess[i].size_bytes == size))
            n += ledger->guess[i].count;
    return n;
}

static void *card_memory(size_t size)
{
    void *p = NULL;
    assert_int_equal(cuda.malloc(&p, size), SUCCESS);
    return p;
}

/* In a process of its own, which must be forked before the first call: what the host wrote, as it is read back. */
static int fetched_with(const char *policy)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        int mine = 5;
        void *p = NULL;
        setenv("PLIM_VGPU_VALUES", policy, 1);
        if (cuda.malloc(&p, 4) != SUCCESS || cuda.copy(p, &mine, 4, TO_DEVICE) != SUCCESS ||
            cuda.copy(&mine, p, 4, TO_HOST) != SUCCESS)
            mine = 255;
        _exit(mine);
    }
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

static void test_policies(void **state)
{
    (void)state;
    assert_int_equal(fetched_with("off"), 0);
    assert_int_equal(fetched_with("zero"), 5);
    assert_int_equal(fetched_with("shadow"), 5);
    assert_int_equal(fetched_with("max"), 5);
}

static void test_what_the_host_wrote_comes_back(void **state)
{
    (void)state;
    uint64_t mine[600], back[600];
    char *a = card_memory(1 * MIB), *b = card_memory(1 * MIB);
    for (size_t i = 0; i < COUNT(mine); i++)
        mine[i] = i * 0x0101010101010101u + 1;
    assert_int_equal(cuda.copy(a + 1000, mine, sizeof mine, TO_DEVICE), SUCCESS);
    assert_int_equal(cuda.copy(b + 77, a + 1000, sizeof mine, ON_DEVICE), SUCCESS);
    assert_int_equal(cuda.copy(back, b + 77, sizeof back, TO_HOST), SUCCESS);
    assert_memory_equal(back, mine, sizeof mine);
    assert_int_equal(cuda.copy(back, b + 77 + 8 * 599, 8, ANY), SUCCESS);
    assert_int_equal(back[0], mine[599]);
    assert_int_equal(n_guesses(PLIM_SHADOW_UNKNOWN, 0), 0);
    assert_int_equal(cuda.free(a), SUCCESS);
    assert_int_equal(cuda.free(b), SUCCESS);
}

static void test_what_nobody_wrote_is_zero_and_counted(void **state)
{
    (void)state;
    uint64_t value = 1, large[65];
    char *a = card_memory(64 * KIB);
    const uint64_t before = n_guesses(PLIM_SHADOW_UNKNOWN, 8);
    assert_int_equal(cuda.copy(&value, a, 8, TO_HOST), SUCCESS);
    assert_int_equal(value, 0);
    assert_int_equal(n_guesses(PLIM_SHADOW_UNKNOWN, 8), before + 1);
    assert_int_equal(cuda.copy(large, a, sizeof large, TO_HOST), SUCCESS); /* too large to steer a program */
    value = 7;
    assert_int_equal(cuda.copy(a + 4, &value, 4, TO_DEVICE), SUCCESS);
    assert_int_equal(cuda.copy(&value, a, 8, TO_HOST), SUCCESS); /* half of it is known */
    assert_int_equal(value, 7ull << 32);
    assert_int_equal(n_guesses(PLIM_SHADOW_UNKNOWN, 0), before + 2);
    assert_int_equal(cuda.free(a), SUCCESS);
}

static void test_values_go_when_memory_does(void **state)
{
    (void)state;
    const size_t too_many = PLIM_SHADOW_BUFFER_BYTES + 1;
    char *much = calloc(1, too_many);
    int value = 5, back = 0;
    char *a = card_memory(too_many), *b = card_memory(1 * MIB);
    assert_int_equal(cuda.copy(a + 128, &value, 4, TO_DEVICE), SUCCESS);
    assert_int_equal(cuda.read(&back, a + 128, 4), PLIM_SHADOW_KNOWN);
    assert_int_equal(cuda.copy(a, much, too_many, TO_DEVICE), SUCCESS); /* by a copy that is not kept */
    assert_int_equal(cuda.read(&back, a + 128, 4), PLIM_SHADOW_UNKNOWN);
    assert_int_equal(back, 0);
    assert_int_equal(cuda.copy(a, &value, 4, TO_DEVICE), SUCCESS);
    assert_int_equal(cuda.copy(a, b, 4, ON_DEVICE), SUCCESS); /* with unknown values */
    assert_int_equal(cuda.read(&back, a, 4), PLIM_SHADOW_UNKNOWN);
    assert_int_equal(cuda.copy(a, &value, 4, TO_DEVICE), SUCCESS);
    assert_int_equal(cuda.free(a), SUCCESS);
    assert_int_equal(cuda.read(&back, a, 4), PLIM_SHADOW_UNKNOWN);
    assert_int_equal(cuda.copy(a, &value, 4, TO_DEVICE), INVALID_VALUE); /* it is freed */
    assert_int_equal(cuda.copy(&value, a, 4, TO_HOST), INVALID_VALUE);
    assert_int_equal(cuda.free(b), SUCCESS);
    free(much);
}

/* Buffers as large as PyTorch's batches, and what is large but all alike. */
static void test_much_is_kept(void **state)
{
    (void)state;
    enum { N = 20 * MIB / 4 };
    const size_t large = 384 * MIB;
    uint32_t *mine = malloc(N * sizeof *mine), back[4];
    char *a = card_memory(large), *b = card_memory(large);
    for (uint32_t i = 0; i < N; i++)
        mine[i] = i * i;
    assert_int_equal(cuda.copy(a, mine, N * sizeof *mine, TO_DEVICE), SUCCESS);
    assert_int_equal(cuda.copy(b, a, N * sizeof *mine, ON_DEVICE), SUCCESS);
    assert_int_equal(cuda.free(a), SUCCESS);
    assert_int_equal(cuda.read(back, b + 4 * (N - 4), sizeof back), PLIM_SHADOW_KNOWN);
    assert_memory_equal(back, mine + N - 4, sizeof back);
    free(mine);
    a = card_memory(large);
    assert_int_equal(cuda.fill_32((word)(uintptr_t)b, 0xff800000, large / 4), SUCCESS); /* minus infinity */
    assert_int_equal(cuda.copy_2d(a, 4096, b, 4096, 4000, large / 4096 / 64, ON_DEVICE), SUCCESS);
    assert_int_equal(cuda.read(back, a + 4096 * 3, 4), PLIM_SHADOW_KNOWN);
    assert_int_equal(back[0], 0xff800000);
    assert_int_equal(cuda.read(back, a + 4096 * 3 + 4000, 4), PLIM_SHADOW_UNKNOWN);
    assert_int_equal(cuda.fill_2d(a, 4096, 7, 4, 3), SUCCESS);
    assert_int_equal(cuda.read(back, a + 8192, 8), PLIM_SHADOW_KNOWN);
    assert_true(back[0] == 0x07070707 && back[1] == 0xff800000);
    assert_int_equal(cuda.free(a), SUCCESS);
    assert_int_equal(cuda.free(b), SUCCESS);
}

static void test_a_kernel_may_have_changed_it(void **state)
{
    (void)state;
    int value = 5, back = 0;
    char *a = card_memory(64);
    assert_int_equal(cuda.copy(a, &value, 4, TO_DEVICE), SUCCESS);
    cuda.doubt(a);
    assert_int_equal(cuda.copy(&back, a, 4, TO_HOST), SUCCESS);
    assert_int_equal(back, 5);
    assert_int_equal(n_guesses(PLIM_SHADOW_KEPT, 4), 1);
    assert_int_equal(cuda.free(a), SUCCESS);
}

/* What a test in the program asks: how certain is what the program was told? */
static void test_the_certainty_of_reads(void **state)
{
    (void)state;
    uint64_t value = 5, large[65];
    char *a = card_memory(4096);
    cuda.last_read();
    assert_int_equal(cuda.last_read(), PLIM_SHADOW_KNOWN);
    assert_int_equal(cuda.copy(a, &value, 8, TO_DEVICE), SUCCESS);
    assert_int_equal(cuda.copy(&value, a, 8, TO_HOST), SUCCESS);
    assert_int_equal(cuda.copy(large, a, sizeof large, TO_HOST), SUCCESS); /* does not steer */
    assert_int_equal(cuda.last_read(), PLIM_SHADOW_KNOWN);
    assert_int_equal(cuda.copy(&value, a + 8, 8, TO_HOST), SUCCESS);
    cuda.doubt(a);
    assert_int_equal(cuda.copy(&value, a, 8, TO_HOST), SUCCESS);
    assert_int_equal(cuda.last_read(), PLIM_SHADOW_UNKNOWN);
    assert_int_equal(cuda.last_read(), PLIM_SHADOW_KNOWN);
    assert_int_equal(cuda.known(a, 8), PLIM_SHADOW_KEPT);
    assert_int_equal(cuda.known(a, 9), PLIM_SHADOW_UNKNOWN);
    assert_int_equal(cuda.free(a), SUCCESS);
}

static void test_fills(void **state)
{
    (void)state;
    uint32_t back[4];
    char *a = card_memory(64 * KIB);
    const word at = (word)(uintptr_t)a;
    assert_int_equal(cuda.fill(a, 0x81, 10), SUCCESS);
    assert_int_equal(cuda.copy(back, a, 12, TO_HOST), SUCCESS);
    assert_int_equal(back[0], 0x81818181);
    assert_int_equal(back[2], 0x8181);
    assert_int_equal(cuda.fill_32(at + 2, 1, 1), INVALID_VALUE);
    assert_int_equal(cuda.fill_32(at + 4092, 0xdeadbeef, 2), SUCCESS); /* across two pages */
    assert_int_equal(cuda.copy(back, a + 4092, 8, TO_HOST), SUCCESS);
    assert_int_equal(back[0], 0xdeadbeef);
    assert_int_equal(back[1], 0xdeadbeef);
    assert_int_equal(cuda.fill_16(at, 0x1234, 3), SUCCESS);
    assert_int_equal(cuda.copy(back, a, 8, TO_HOST), SUCCESS);
    assert_int_equal(back[0], 0x12341234);
    assert_int_equal(back[1], 0x81811234);
    assert_int_equal(cuda.fill_rows_32(at, 16, 9, 2, 3), SUCCESS);
    assert_int_equal(cuda.copy(back, a + 32, 16, TO_HOST), SUCCESS);
    assert_int_equal(back[1], 9);
    assert_int_equal(back[2], 0);
    assert_int_equal(cuda.fill_2d(a, 4, 0, 8, 2), INVALID_PITCH);
    assert_int_equal(cuda.fill(a, 0, (size_t)1 << 60), INVALID_VALUE);
    assert_int_equal(cuda.fill(back, 0, 4), INVALID_VALUE);
    assert_int_equal(cuda.free(a), SUCCESS);
}

static void test_rows(void **state)
{
    (void)state;
    char mine[3][10] = { "aaaaaaaaa", "bbbbbbbbb", "ccccccccc" }, back[3][4];
    char *a = card_memory(64 * KIB);
    assert_int_equal(cuda.copy_2d(a, 512, mine, 10, 10, 3, TO_DEVICE), SUCCESS);
    assert_int_equal(cuda.copy_2d(back, 4, a + 2, 512, 4, 3, TO_HOST), SUCCESS);
    for (int row = 0; row < 3; row++)
        assert_memory_equal(back[row], mine[row], 4);
    assert_int_equal(cuda.copy_2d(back, 4, a, 512, 8, 3, TO_HOST), INVALID_PITCH);
    assert_int_equal(cuda.copy_2d(back, 4, a, (size_t)1 << 62, 4, 1000, TO_HOST), INVALID_VALUE);

    struct {
        size_t x, y, z, level;
        int type;
        void *host;
        word device;
        void *array, *nothing;
        size_t pitch, height;
    } sides[2] = { { .y = 1, .type = 2, .device = (word)(uintptr_t)a, .pitch = 512 },
                   { .x = 1, .type = 1, .host = back, .pitch = 4 } };
    struct {
        char sides[176];
        size_t width, height, depth;
    } box = { .width = 3, .height = 2, .depth = 1 };
    memcpy(box.sides, sides, sizeof sides);
    memset(back, '-', sizeof back);
    assert_int_equal(cuda.copy_box(&box), SUCCESS);
    assert_memory_equal(back, "-bbb-ccc----", 12);
    assert_int_equal(cuda.free(a), SUCCESS);
}

/* --- kernels that nobody knows: the pointers among their parameters --- */

/* Three values of which the kernel gets two; the last digit says how certain the third one is. */
static void after_launch(const void *image, bool is_packed, const char *expected)
{
    void *module = NULL, *kernel = NULL;
    uint32_t value = 3;
    char *a = card_memory(4096);
    struct {
        char *first;
        uint32_t n, pad;
        void *nothing;
        char *second;
    } all = { a, 7, 0, NULL, a + 512 };
    size_t size = sizeof all;
    void *parameters[3] = { &all.first, &all.n, &all.nothing };
    void *extra[5] = { (void *)1, &all, (void *)2, &size, NULL };
    assert_int_equal(cuda.load(&module, image), SUCCESS);
    assert_int_equal(cuda.function(&kernel, module, "work"), SUCCESS);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(cuda.copy(a + 512 * i, &value, 4, TO_DEVICE), SUCCESS);
    assert_int_equal(cuda.launch_function(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, is_packed ? NULL : parameters,
                                          is_packed ? extra : NULL),
                     SUCCESS);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(cuda.known(a + 512 * i, 4), expected[i] - '0');
    assert_int_equal(cuda.read(&value, a, 4), expected[0] - '0');
    assert_int_equal(value, 3);
    assert_int_equal(cuda.unload(module), SUCCESS);
    assert_int_equal(cuda.free(a), SUCCESS);
}

/* The parameters of a kernel as ptxas writes them: a pointer, a word, and a structure with a pointer at its end. */
static const void *cubin(uint16_t size_of_all)
{
    static struct {
        Elf64_Ehdr header;
        Elf64_Shdr section[3];
        uint32_t info[1 + 3 * 4];
        char names[32];
    } image;
    memset(&image, 0, sizeof image);
    memcpy(image.header.e_ident, (const char[]){ 0x7f, 'E', 'L', 'F', ELFCLASS64 }, 5);
    image.header.e_machine = 190;
    image.header.e_shoff = sizeof image.header;
    image.header.e_shentsize = sizeof(Elf64_Shdr);
    image.header.e_shnum = 3;
    image.header.e_shstrndx = 2;
    image.section[0] = (Elf64_Shdr){ .sh_name = 1 };
    image.section[1] = (Elf64_Shdr){ .sh_name = 12,
                                     .sh_type = 0x70000000,
                                     .sh_offset = offsetof(__typeof__(image), info),
                                     .sh_size = sizeof image.info };
    image.section[2] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
                                     .sh_offset = offsetof(__typeof__(image), names),
                                     .sh_size = sizeof image.names };
    memcpy(image.names, "\0.text.work\0.nv.info.work", 26);
    const uint32_t at[3] = { 0, 8, 16 }, bytes[3] = { 8, 4, 16 };
    image.info[0] = 0x1903 | (uint32_t)size_of_all << 16;
    for (uint32_t i = 0; i < 3; i++) {
        image.info[1 + 4 * i] = 0x000c1704;
        image.info[3 + 4 * i] = i | at[i] << 16;
        image.info[4 + 4 * i] = bytes[i] << 18 | 0x1f000;
    }
    return &image;
}

static void test_pointers_of_kernels(void **state)
{
    static const char ptx[] = ".version 8.0\n.visible .entry work(\n .param .u64 .ptr .global a, .param .u32 n,\n"
                              " .param .align 8 .b8 s[16]\n)\n{}\n.entry other(.param .u64 x) {}\n";
    (void)state;
    after_launch(ptx, false, "112");
    after_launch(cubin(32), false, "112");
    after_launch(cubin(40), false, "111"); /* one of them is not told: it may have got any pointer */
    after_launch("a fat binary", false, "111");
    after_launch(ptx, true, "112");
}

/* --- graphs: a capture changes nothing, a launch does --- */

/* The graph of what is put into the stream until then. */
static void *end_capture(void *stream)
{
    void *graph = NULL, *exec = NULL;
    assert_int_equal(cuda.end_capture(stream, &graph), SUCCESS);
    assert_int_equal(cuda.instantiate(&exec, graph, 0), SUCCESS);
    assert_int_equal(cuda.destroy_graph(graph), SUCCESS);
    return exec;
}

static uint32_t word_at(const void *address, enum plim_shadow_known known)
{
    uint32_t value;
    assert_int_equal(cuda.read(&value, address, sizeof value), known);
    return value;
}

static void test_graphs(void **state)
{
    (void)state;
    uint32_t given = 1, got = 0;
    const uint32_t old = 99;
    char *a = card_memory(4096), *b = a + 512, *c = a + 1024;
    void *stream = NULL;
    assert_int_equal(cuda.make_stream(&stream, 1), SUCCESS);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(cuda.copy(a + 512 * i, &old, 4, TO_DEVICE), SUCCESS);
    assert_int_equal(cuda.begin_capture(stream, 0), SUCCESS);
    assert_int_equal(cuda.copy_in_stream(a, &given, 4, TO_DEVICE, stream), SUCCESS);
    assert_int_equal(cuda.copy_in_stream(b, a, 4, ON_DEVICE, stream), SUCCESS);
    assert_int_equal(cuda.copy_in_stream(&got, b, 4, TO_HOST, stream), SUCCESS);
    assert_int_equal(cuda.fill_in_stream(c, 7, 4, stream), SUCCESS);
    assert_int_equal(cuda.write_word(stream, (word)(uintptr_t)c + 4, 8, 0), SUCCESS);
    assert_int_equal(cuda.copy_in_stream(a, &old, 4, TO_HOST, stream), INVALID_VALUE);
    void *exec = end_capture(stream);
    assert_int_equal(got, 0);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(word_at(a + 512 * i, PLIM_SHADOW_KNOWN), old);
    assert_int_equal(word_at(c + 4, PLIM_SHADOW_UNKNOWN), 0);
    for (given = 5; given < 8; given++) {
        assert_int_equal(cuda.launch_graph(exec, stream), SUCCESS);
        assert_int_equal(got, given);
        assert_int_equal(word_at(a, PLIM_SHADOW_KNOWN), given);
    }
    assert_int_equal(word_at(c, PLIM_SHADOW_KNOWN), 0x07070707);
    assert_int_equal(word_at(c + 4, PLIM_SHADOW_KNOWN), 8);

    assert_int_equal(cuda.begin_capture(stream, 0), SUCCESS); /* a graph that launches it */
    assert_int_equal(cuda.launch_graph(exec, stream), SUCCESS);
    assert_int_equal(got, 7);
    void *outer = end_capture(stream);
    assert_int_equal(cuda.destroy_exec(exec), SUCCESS);
    assert_int_equal(cuda.launch_graph(outer, stream), SUCCESS);
    assert_int_equal(got, 8);
    assert_int_equal(cuda.free(a), SUCCESS);
    assert_int_equal(cuda.launch_graph(outer, stream), SUCCESS); /* on a card, an error later */
    assert_int_equal(word_at(a, PLIM_SHADOW_UNKNOWN), 0);
    assert_int_equal(cuda.destroy_exec(outer), SUCCESS);
    assert_int_equal(cuda.destroy_stream(stream), SUCCESS);
}

/* What the kernels of a graph write is lost at its launch: they have the parameters of the capture. */
static void test_kernels_in_graphs(void **state)
{
    static const char kernel[1];
    (void)state;
    const uint32_t old = 99;
    char *a = card_memory(4096), *b = a + 512;
    void *stream = NULL;
    dlopen("libstdc++.so.6", RTLD_NOW | RTLD_GLOBAL); /* as a program with kernels has; it may be missing */
    cuda.enter(NULL, kernel, NULL, "_Z6writerPfi", -1, NULL, NULL, NULL, NULL, NULL); /* writer(float *, int) */
    assert_int_equal(cuda.make_stream(&stream, 1), SUCCESS);
    assert_int_equal(cuda.copy(a, &old, 4, TO_DEVICE), SUCCESS);
    assert_int_equal(cuda.begin_capture(stream, 0), SUCCESS);
    {
        void *output = a;
        int n = 1;
        void *parameters[2] = { &output, &n };
        assert_int_equal(cuda.launch(kernel, 1ull << 32 | 1, 1, 1ull << 32 | 1, 1, parameters, 0, stream), SUCCESS);
        output = b; /* too late */
    }
    void *exec = end_capture(stream);
    assert_int_equal(word_at(a, PLIM_SHADOW_KNOWN), old);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(cuda.copy(a, &old, 4, TO_DEVICE), SUCCESS);
        assert_int_equal(cuda.launch_graph(exec, stream), SUCCESS);
        assert_int_equal(word_at(a, PLIM_SHADOW_UNKNOWN), 0);
    }
    assert_int_equal(cuda.destroy_exec(exec), SUCCESS);
    assert_int_equal(cuda.destroy_stream(stream), SUCCESS);
    assert_int_equal(cuda.free(a), SUCCESS);
}

static void test_wrong_copies_are_refused(void **state)
{
    (void)state;
    char mine[16] = { 0 };
    char *a = card_memory(4 * MIB);
    assert_int_equal(cuda.copy(mine, mine + 8, 8, TO_DEVICE), INVALID_VALUE);
    assert_int_equal(cuda.copy(mine, mine + 8, 8, TO_HOST), INVALID_VALUE);
    assert_int_equal(cuda.copy(a, a + 8, 8, TO_HOST), INVALID_VALUE);
    assert_int_equal(cuda.copy(a, NULL, 8, TO_DEVICE), INVALID_VALUE);
    assert_int_equal(cuda.copy(a, mine, (size_t)1 << 61, TO_DEVICE), INVALID_VALUE);
    assert_int_equal(cuda.copy(a, mine, 8, 9), 21);
    assert_int_equal(cuda.copy(a, mine, 0, TO_DEVICE), SUCCESS);
    assert_int_equal(cuda.free(a), SUCCESS);
}

static void test_the_store_is_bounded(void **state)
{
    (void)state;
    enum { N = PLIM_SHADOW_STORE_BYTES / MIB };
    static uint8_t kept[MIB];
    int back = 0;
    const uint64_t before = cuda.n_evicted();
    char *a = card_memory((size_t)(N + 1) * MIB);
    for (size_t i = 0; i < sizeof kept; i++)
        kept[i] = (uint8_t)(i * i >> 3);
    for (size_t i = 0; i <= N; i++)
        assert_int_equal(cuda.copy(a + i * sizeof kept, kept, sizeof kept, TO_DEVICE), SUCCESS);
    assert_int_equal(cuda.n_evicted(), before + 1);
    assert_int_equal(n_said("not read for longest"), 1);
    assert_int_equal(cuda.read(&back, a, 4), PLIM_SHADOW_UNKNOWN);
    assert_int_equal(back, 0);
    assert_int_equal(cuda.read(&back, a + sizeof kept, 4), PLIM_SHADOW_KNOWN);
    assert_int_equal(cuda.free(a), SUCCESS);
    assert_int_equal(cuda.read(&back, a + sizeof kept, 4), PLIM_SHADOW_UNKNOWN);
}

static void *churn(void *seed)
{
    uint64_t random = 5 + (uint64_t)(uintptr_t)seed;
    uintptr_t n_wrong = 0;
    for (int i = 0; i < 500; i++) {
        char mine[3000], back[3000];
        void *p = NULL;
        const size_t size = (size_t)random_below(&random, sizeof mine) + 1;
        memset(mine, i, size);
        n_wrong += cuda.malloc(&p, size) != SUCCESS || cuda.copy(p, mine, size, TO_DEVICE) != SUCCESS ||
                   cuda.copy(back, p, size, TO_HOST) != SUCCESS || memcmp(mine, back, size) != 0 ||
                   cuda.free(p) != SUCCESS;
    }
    return (void *)n_wrong;
}

static void test_threads_do_not_see_each_other(void **state)
{
    (void)state;
    pthread_t threads[16];
    for (uintptr_t i = 0; i < COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn, (void *)i), 0);
    for (size_t i = 0; i < COUNT(threads); i++) {
        void *n_wrong;
        pthread_join(threads[i], &n_wrong);
        assert_null(n_wrong);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policies),
        cmocka_unit_test(test_what_the_host_wrote_comes_back),
        cmocka_unit_test(test_what_nobody_wrote_is_zero_and_counted),
        cmocka_unit_test(test_values_go_when_memory_does),
        cmocka_unit_test(test_much_is_kept),
        cmocka_unit_test(test_a_kernel_may_have_changed_it),
        cmocka_unit_test(test_the_certainty_of_reads),
        cmocka_unit_test(test_fills),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_pointers_of_kernels),
        cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_kernels_in_graphs),
        cmocka_unit_test(test_wrong_copies_are_refused),
        cmocka_unit_test(test_the_store_is_bounded),
        cmocka_unit_test(test_threads_do_not_see_each_other),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
