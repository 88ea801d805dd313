/* SPDX-License-Identifier: MIT */
/* Lines that programs print of memory in words of their own: what the figures are of. */
#include "base/units.h"
#include "diagnose/printed.h"
#include "unit.h"

#define GIB(x) ((int64_t)((x) * (double)PLIM_GIB))
#define MIB(x) ((int64_t)((x) * (double)PLIM_MIB))

static struct plim_printed printed;

static void read_text(const char *text) { plim_printed_read(text, strlen(text), &printed); }

/* One line, and the figures that it has: of the purposes that are not named there are none. */
static void test_purposes(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        enum plim_purpose purpose;
        int64_t bytes;
        enum plim_purpose other; /* NONE: no second figure */
        int64_t other_bytes;
    } rows[] = {
        { "weights: 12.50 GiB", PLIM_PURPOSE_WEIGHTS, GIB(12.5), 0, 0 },
        { "Loading model weights took 12.55 GiB", PLIM_PURPOSE_WEIGHTS, GIB(12.55), 0, 0 },
        { "linear head: 8.0 B weights, 29.75 GiB float32", PLIM_PURPOSE_WEIGHTS, GIB(29.75), 0, 0 },
        { "checkpoint tern-13b: 81 arrays, 24.5 GiB", PLIM_PURPOSE_WEIGHTS, GIB(24.5), 0, 0 },
        { "params: 100 leaves, 3.75 GiB float32", PLIM_PURPOSE_WEIGHTS, GIB(3.75), 0, 0 },
        { "optimizer state will need 7.50 GiB (mu, nu)", PLIM_PURPOSE_OPTIMIZER, GIB(7.5), 0, 0 },
        { "KV cache: 48.0 GiB for batch 4 x 131072 tokens", PLIM_PURPOSE_KV, GIB(48), 0, 0 },
        { "401 tokens, 2.25 GiB of keys and values", PLIM_PURPOSE_KV, GIB(2.25), 0, 0 },
        { "weights 3.25 GiB, activations 12.125 GiB", PLIM_PURPOSE_WEIGHTS, GIB(3.25), PLIM_PURPOSE_WORK, GIB(12.125) },
        { "z=0: distance matrix 16.00 GiB; free 5.5 of 5.75 GiB", PLIM_PURPOSE_WORK, GIB(16), PLIM_PURPOSE_FREE,
          GIB(5.5) },
        { "volume (2048, 1536, 1280), 16.25 GB", PLIM_PURPOSE_WORK, GIB(16.25), 0, 0 },
        { "GPU 0: 1.50 GB free of 6.25 GB", PLIM_PURPOSE_FREE, GIB(1.5), PLIM_PURPOSE_TOTAL, GIB(6.25) },
        { "device memory 1.25/5.75 GiB in use", PLIM_PURPOSE_USED, GIB(1.25), PLIM_PURPOSE_TOTAL, GIB(5.75) },
        { "10240MiB / 12288MiB in use", PLIM_PURPOSE_USED, GIB(10), PLIM_PURPOSE_TOTAL, GIB(12) },
        { "tiles 3200/12000 memory now 5632 MiB", PLIM_PURPOSE_USED, GIB(5.5), 0, 0 },
        { "gallery, free now 8 MiB", PLIM_PURPOSE_FREE, MIB(8), 0, 0 },
        { "on NVIDIA GeForce RTX 3060 12GB", PLIM_PURPOSE_NONE, 0, 0, 0 },
        { "NVIDIA A10 (16.5 GiB usable)", PLIM_PURPOSE_TOTAL, GIB(16.5), 0, 0 },
        { "rss 3.5 GiB, swap 1.0 GiB", PLIM_PURPOSE_NONE, 0, 0, 0 },
        { "{\"requests\": 40, \"gpu_allocated_mib\": 3072, \"per_s\": 36.8}", PLIM_PURPOSE_USED, GIB(3), 0, 0 },
        { "{\"event\": \"parameters\", \"gib\": 1.75}", PLIM_PURPOSE_WEIGHTS, GIB(1.75), 0, 0 },
        { "{\"free_mb\": 512, \"hour\": 36}", PLIM_PURPOSE_FREE, MIB(512), 0, 0 },
        { "read at 3.5 GB/s", PLIM_PURPOSE_NONE, 0, 0, 0 },
        { "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", PLIM_PURPOSE_NONE, 0, 0, 0 },
        { "  File \"/a/model_4 GiB.py\", line 3, in f", PLIM_PURPOSE_NONE, 0, 0, 0 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        read_text(rows[i].line);
        for (int k = PLIM_PURPOSE_WEIGHTS; k < PLIM_PURPOSE_MAX_; k++) {
            const int64_t bytes = (enum plim_purpose)k == rows[i].purpose                  ? rows[i].bytes
                                  : rows[i].other && (enum plim_purpose)k == rows[i].other ? rows[i].other_bytes
                                                                                           : 0;
            if (printed.figure[k].bytes != bytes && !(k == PLIM_PURPOSE_TOTAL && bytes == 0))
                fail_msg("%s: purpose %d has %ld, not %ld", rows[i].line, k, (long)printed.figure[k].bytes,
                         (long)bytes);
        }
    }
}

/* What is shown of a line are the words around its figure. */
static void test_text(void **state)
{
    (void)state;
    read_text("2026-11-28 12:01:07,112 INFO KV cache: 48.0 GiB for 4 sequences; batch 32\n");
    assert_string_equal(printed.figure[PLIM_PURPOSE_KV].text, "KV cache: 48.0 GiB for 4 sequences");
}

/* Of weights the largest figure counts, of work the last. */
static void test_which_counts(void **state)
{
    (void)state;
    read_text("model 1.5 GiB\nmodel 9.5 GiB\nmodel 2.5 GiB\nbatch 7.5 GiB\nbatch 3.5 GiB\n");
    assert_int_equal(printed.figure[PLIM_PURPOSE_WEIGHTS].bytes, GIB(9.5));
    assert_int_equal(printed.figure[PLIM_PURPOSE_WORK].bytes, GIB(3.5));
    assert_int_equal(printed.last, PLIM_PURPOSE_WORK);
}

/* What was free is of the beginning only as long as nothing else was printed. */
static void test_beginning(void **state)
{
    (void)state;
    read_text("1.50 GB free of 6.25 GB\nslide 1.5 GB\nfree 1.0 GB\n");
    assert_int_equal(printed.first_free.bytes, GIB(1.5));
    read_text("gallery: 23.25 GiB\nfree 0.5 GiB\n");
    assert_int_equal(printed.first_free.bytes, 0);
    read_text("10240MiB / 12288MiB in use before anything is loaded\n");
    assert_int_equal(printed.first_free.bytes, GIB(2));
    read_text(
        "name, memory.used [MiB], memory.total [MiB]\nNVIDIA GeForce RTX 2080, 7131 MiB, 8192 MiB\nframe 20 MiB\n");
    assert_int_equal(printed.first_free.bytes, MIB(8192 - 7131));
    assert_int_equal(printed.figure[PLIM_PURPOSE_TOTAL].bytes, MIB(8192));
    read_text("10240MiB / 12288MiB in use\n"); /* may be the program's own */
    assert_int_equal(printed.first_free.bytes, 0);
}

/* Lines of one form make a series; that of the most lines is taken, and lines of loading are of weights. */
static void test_series(void **state)
{
    (void)state;
    read_text("step 1: 1.0 GiB in use, batch 0.5 GiB\nhello\nstep 2: 2.0 GiB in use\nstep 3: 3.5 GiB in use\n");
    assert_int_equal(printed.series_of, PLIM_PURPOSE_USED);
    assert_int_equal(printed.n_series, 3);
    assert_int_equal(printed.series[0].bytes, GIB(1));
    assert_int_equal(printed.series[2].bytes, GIB(3.5));
    read_text("layer 1 loaded, memory 1.0 GiB\rlayer 2 loaded, memory 2.0 GiB\rlayer 3 loaded, memory 3.0 GiB\n");
    assert_int_equal(printed.series_of, PLIM_PURPOSE_WEIGHTS);
    assert_int_equal(printed.n_series, 3);
}

/* A table whose last column is of memory, by its head, ends with the first line that is no row of it. */
static void test_table(void **state)
{
    (void)state;
    read_text("   backbone   rate  GPU MiB\nresnet152 0.0001  694\n vit_base 0.0001 1694\n convnext 0.0002 "
              "2286\ndone\nseed 7\n");
    assert_int_equal(printed.series_of, PLIM_PURPOSE_MEMORY);
    assert_int_equal(printed.n_series, 3);
    assert_int_equal(printed.series[2].bytes, MIB(2286));
    read_text("took 5 GiB\nseed 7\nseed 8\nseed 9\n"); /* no head */
    assert_int_equal(printed.n_series, 0);
}

/* What is free falls; of lines of workers each is another's. */
static void test_free_falls(void **state)
{
    (void)state;
    read_text("free 3.0 GiB\nfree 2.0 GiB\nfree 1.0 GiB\n");
    assert_int_equal(printed.series_of, PLIM_PURPOSE_FREE);
    assert_int_equal(printed.series[2].bytes, -GIB(1));
    read_text("worker 1: free 3.0 GiB\nworker 2: free 2.0 GiB\nworker 3: free 1.0 GiB\n");
    assert_int_equal(printed.n_series, 0);
}

static void test_card(void **state)
{
    (void)state;
    read_text("INFO device NVIDIA GeForce RTX 3070 limit 5.50 GiB\n");
    assert_string_equal(printed.card, "NVIDIA GeForce RTX 3070");
    read_text("running on Tesla T4\n");
    assert_string_equal(printed.card, "Tesla T4");
}

/* XLA's requests for its pool, each a tenth less; another row of them does not count. */
static void test_grabs(void **state)
{
    (void)state;
    read_text("E1 cuda_executor.cc:1] [0] Failed to allocate device memory of 10.00GiB (1 bytes): RESOURCE_EXHAUSTED\n"
              "E1 cuda_executor.cc:1] [0] Failed to allocate device memory of 9.00GiB (1 bytes): RESOURCE_EXHAUSTED\n"
              "E1 cuda_executor.cc:1] [0] Failed to allocate device memory of 8.10GiB (1 bytes): RESOURCE_EXHAUSTED\n"
              "E1 cuda_executor.cc:1] [0] Failed to allocate device memory of 2.00GiB (1 bytes): RESOURCE_EXHAUSTED\n");
    assert_int_equal(printed.n_grabs, 3);
    assert_int_equal(printed.first_grab_bytes, GIB(10));
    assert_int_equal(printed.last_grab_bytes, GIB(8.1));
}

/* Any bytes: within bounds, and no figure below zero. */
static void test_hostile(void **state)
{
    (void)state;
    static const char *const pieces[] = { "1",
                                          ".",
                                          ",",
                                          "GiB",
                                          "GB",
                                          " ",
                                          "/",
                                          " of ",
                                          "free",
                                          "model",
                                          "\n",
                                          "\r",
                                          "999999999999999999999",
                                          "in use",
                                          "NVIDIA ",
                                          "\xff",
                                          "\0x",
                                          "(",
                                          ";",
                                          "kB",
                                          "allocate device memory of " };
    uint64_t seed = 7;
    for (int round = 0; round < 4000; round++) {
        char text[900];
        size_t n = 0;
        while (n < 800) {
            seed = seed * UINT64_C(6364136223846793005) + 1;
            const char *piece = pieces[(seed >> 33) % COUNT(pieces)];
            const size_t size = *piece ? strlen(piece) : 2;
            memcpy(text + n, piece, size);
            n += size;
        }
        char *exact = malloc(n); /* so that a sanitizer sees a byte too far */
        assert_non_null(exact);
        memcpy(exact, text, n);
        plim_printed_read(exact, n, &printed);
        free(exact);
        for (int k = 0; k < PLIM_PURPOSE_MAX_; k++)
            assert_true(printed.figure[k].bytes >= 0);
        assert_true(printed.n_series <= PLIM_MAX_SERIES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_purposes),   cmocka_unit_test(test_text),    cmocka_unit_test(test_which_counts),
        cmocka_unit_test(test_beginning),  cmocka_unit_test(test_series),  cmocka_unit_test(test_card),
        cmocka_unit_test(test_grabs),      cmocka_unit_test(test_hostile), cmocka_unit_test(test_table),
        cmocka_unit_test(test_free_falls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
