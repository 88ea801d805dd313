/* SPDX-License-Identifier: MIT */
/*
 * Kernels with a meaning, whose parameters are garbage: random bytes, sizes that are negative or huge, pointers into
 * device memory, behind it and beside it. tests/data/kernels.tsv has some of each form: the sizes of the parameters in
 * bytes, as PyTorch 2.15's code for sm_75 lists them, and the name. Each parameter ends where its block of the heap
 * does, so that AddressSanitizer notices a read of more.
 */
#include "unit.h"
#include "virtual.h"

#include "vgpu/kernels/kernel.h"
#include "vgpu/values/shadow.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SUCCESS = 0, N_ROUNDS = 6, MAX_PARAMETERS = 64, N_BLOCKS = 5, MIB = 1 << 20, MOST_MIB = 1536 };

static struct {
    int (*malloc)(void **, size_t);
    int (*free)(void *);
    const struct plim_meaning *(*meaning_of)(const char *);
    void (*apply)(const struct plim_meaning *, void **, const unsigned[3], const unsigned[3]);
    void (*write)(void *, const void *, size_t, enum plim_shadow_known);
} vgpu;

static const size_t block_bytes[N_BLOCKS] = { 64, 4096, MIB, 8 * MIB, 100 * MIB };
static char *block[N_BLOCKS];
static char list_path[] = "/tmp/plimsoll-kernels-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    const int file = mkstemp(list_path);
    assert_true(file >= 0);
    close(file);
    setenv("PLIM_VGPU_RAW", "1024", 1);
    setenv("PLIM_VGPU_KERNELS", list_path, 1);
    void *driver = open_library("libcuda.so.1"), *runtime = open_library("libcudart.so.13");
    take(runtime, "cudaMalloc", &vgpu.malloc);
    take(runtime, "cudaFree", &vgpu.free);
    take(driver, "plim_meaning_of", &vgpu.meaning_of);
    take(driver, "plim_meaning_apply", &vgpu.apply);
    take(driver, "plim_shadow_write", &vgpu.write);
    for (size_t i = 0; i < N_BLOCKS; i++)
        assert_int_equal(vgpu.malloc((void **)&block[i], block_bytes[i]), SUCCESS);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_BLOCKS; i++)
        assert_int_equal(vgpu.free(block[i]), SUCCESS);
    return unlink(list_path);
}

/* --- garbage --- */

static uint64_t seed;

static uint64_t draw(void)
{
    uint64_t z = seed += 0x9e3779b97f4a7c15; /* SplitMix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static uint64_t pointer(void)
{
    const uint64_t i = draw() % N_BLOCKS, start = (uint64_t)(uintptr_t)block[i];
    switch (draw() % 4) {
    case 0:
        return start + draw() % block_bytes[i];
    case 1:
        return start + block_bytes[i] - draw() % 16;
    default:
        return start;
    }
}

static uint64_t size(void)
{
    static const int64_t odd[] = { 0,
                                   -1,
                                   -2,
                                   INT32_MAX,
                                   INT32_MIN,
                                   INT64_MAX,
                                   INT64_MIN,
                                   (4 << 20) + 1,
                                   64 << 20,
                                   UINT32_MAX,
                                   (int64_t)1 << 40,
                                   1 << 12 };
    return draw() % 3 ? draw() % 64 : (uint64_t)odd[draw() % COUNT(odd)];
}

static uint64_t word(void)
{
    switch (draw() % 5) {
    case 0:
        return draw();
    case 1:
        return size();
    case 2:
        return size() << 32 | (uint32_t)size();
    default:
        return pointer();
    }
}

static void fill(void *bytes, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i += sizeof(uint64_t)) {
        const uint64_t next = word();
        memcpy((char *)bytes + i, &next, n_bytes - i < sizeof next ? n_bytes - i : sizeof next);
    }
}

/* Of the device memory: small numbers, which may be valid indices, and garbage. */
static void fill_memory(void)
{
    static uint64_t words[4096 / sizeof(uint64_t)];
    for (size_t i = 0; i < N_BLOCKS; i++) {
        const size_t n = block_bytes[i] < sizeof words ? block_bytes[i] : sizeof words;
        for (size_t k = 0; k < n / sizeof *words; k++)
            words[k] = draw() % 4 ? draw() % 8 : word();
        vgpu.write(block[i], words, n, (enum plim_shadow_known)(draw() % 3));
    }
}

/* --- launches --- */

static void launch(const struct plim_meaning *meaning, const size_t *bytes, unsigned n)
{
    void *parameters[MAX_PARAMETERS] = { NULL };
    const unsigned most = draw() % 4 ? 1000 : INT32_MAX;
    const unsigned grid[3] = { 1 + (unsigned)(draw() % most), 1 + (unsigned)(draw() % 4), 1 };
    const unsigned threads[3] = { 1 + (unsigned)(draw() % 1024), 1, 1 };
    for (unsigned i = 0; i < n; i++) {
        parameters[i] = malloc(bytes[i]);
        assert_non_null(parameters[i]);
        fill(parameters[i], bytes[i]);
    }
    vgpu.apply(meaning, parameters, grid, threads);
    for (unsigned i = 0; i < n; i++)
        free(parameters[i]);
}

static void test_garbage(void **state)
{
    char path[512], *line = NULL;
    size_t room = 0;
    unsigned n_kernels = 0;
    (void)state;
    snprintf(path, sizeof path, "%s/data/kernels.tsv", getenv("PLIM_TEST_LOGS"));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (getline(&line, &room, file) > 0) {
        size_t bytes[MAX_PARAMETERS];
        unsigned n = 0;
        char *at = line;
        for (; *at != '\t' && n < MAX_PARAMETERS; n++)
            bytes[n] = strtoul(at, &at, 10);
        line[strcspn(line, "\n")] = '\0';
        const struct plim_meaning *meaning = vgpu.meaning_of(at + 1);
        assert_non_null(meaning);
        for (unsigned round = 0; round < N_ROUNDS; round++) {
            seed = ++n_kernels;
            fill_memory();
            launch(meaning, bytes, n);
        }
    }
    free(line);
    fclose(file);
    assert_true(n_kernels > 100 * N_ROUNDS);
}

/* Else the test above tests something else: a kernel without a meaning. */
static void test_each_has_a_meaning(void **state)
{
    char *line = NULL;
    size_t room = 0;
    unsigned n = 0;
    (void)state;
    FILE *file = fopen(list_path, "r");
    assert_non_null(file);
    for (; getline(&line, &room, file) > 0; n++)
        if (strncmp(line, "none\t", 5) == 0)
            fail_msg("nobody knows %s", line);
    free(line);
    fclose(file);
    assert_true(n > 100);
}

static void test_memory_is_bounded(void **state)
{
    struct rusage usage;
    (void)state;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    assert_true(usage.ru_maxrss / 1024 < MOST_MIB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_each_has_a_meaning),
        cmocka_unit_test(test_memory_is_bounded),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
