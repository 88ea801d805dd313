/* SPDX-License-Identifier: MIT */
/*
 * Headers that were damaged on purpose, as files on disk: whatever the reader says to them, nothing crashes, nothing
 * takes more than 64 MiB, nothing takes long, and what opens gives a bill. Seeds are fixed, so a failure comes again.
 */
#include "../../fuzz/gguf_walk.h"
#include "base/units.h"
#include "heap.h"
#include "plimsoll/plan.h"
#include "unit.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MUTATIONS_PER_MODEL = 6, MAX_HEADER = 1 << 18, MAX_HEAP = 64 << 20, MAX_SECONDS = 5, METADATA_SLOTS = 24 };

struct header {
    unsigned char bytes[MAX_HEADER];
    size_t n;
    uint64_t file_bytes;
};

static struct walk walk;

static void read_header(const char *path, struct header *h)
{
    struct plim_model *model = NULL;
    assert_int_equal(plim_model_open(path, &model, NULL), 0);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    h->file_bytes = plim_model_file_bytes(model);
    h->n = (size_t)(h->file_bytes - plim_model_tensor_bytes(model)); /* and the padding between tensors */
    h->n = fread(h->bytes, 1, h->n < MAX_HEADER ? h->n : MAX_HEADER, in);
    assert_true(h->n > 1000);
    fclose(in);
    plim_model_free(model);
}

/* --- damage --- */

static void flip_bits(struct header *h, uint64_t *random)
{
    for (uint64_t i = random_below(random, 16) + 1; i > 0; i--)
        h->bytes[random_below(random, h->n)] ^= (unsigned char)(1 << random_below(random, 8));
}

static void put_extremes(struct header *h, uint64_t *random)
{
    walk_gguf(h->bytes, h->n, false, &walk);
    for (uint64_t i = random_below(random, 3) + 1; walk.n_slots && i > 0; i--) {
        /* the first slots are the metadata, which the engine lives on; dimensions are many more */
        const uint64_t n = random_below(random, 4) && walk.n_slots > METADATA_SLOTS ? METADATA_SLOTS : walk.n_slots;
        walk_put(h->bytes, walk.slots[random_below(random, n)], walk_extreme((uint32_t)random_next(random)));
    }
    /* so that the reader lets it through and the engine sees it */
    walk_gguf(h->bytes, h->n, true, &walk);
    h->file_bytes = (uint64_t)1 << 46;
}

/* Eight bytes anywhere: with luck a length or a count. */
static void put_lengths(struct header *h, uint64_t *random)
{
    const uint64_t at = random_below(random, 2) ? 8 * random_below(random, 3) : random_below(random, h->n - 8);
    walk_put(h->bytes, (struct walk_slot){ (uint32_t)at, 8 }, walk_extreme((uint32_t)random_next(random)));
}

static void cut(struct header *h, uint64_t *random)
{
    h->n = random_below(random, h->n);
    h->file_bytes = h->n;
}

static void copy_block(struct header *h, uint64_t *random)
{
    const uint64_t n = random_below(random, 256) + 1, from = random_below(random, h->n - n);
    const uint64_t to = random_below(random, h->n - n);
    memmove(h->bytes + to, h->bytes + from, n);
}

static void swap_blocks(struct header *h, uint64_t *random)
{
    const uint64_t n = random_below(random, 64) + 1, a = random_below(random, h->n - n),
                   b = random_below(random, h->n - n);
    for (uint64_t i = 0; i < n; i++) {
        unsigned char byte = h->bytes[a + i];
        h->bytes[a + i] = h->bytes[b + i];
        h->bytes[b + i] = byte;
    }
}

typedef void damage(struct header *h, uint64_t *random);
static damage *const kinds[] = { flip_bits, put_extremes, put_lengths, cut, copy_block, swap_blocks };

/* --- what must hold --- */

static void bill_of(const struct plim_model *model, uint64_t *random)
{
    static struct plim_bill bill;
    static struct plim_fix fixes[PLIM_MAX_FIXES];
    const struct plim_machine machine = machine_of(1 + (unsigned)random_below(random, 2), 8);
    struct plim_engine *engine = NULL;
    struct plim_error error = { 0 };
    struct plim_setup setup;
    uint32_t n_fixes;
    if (plim_engine_new(model, NULL, NULL, &engine, &error) < 0) {
        assert_true(error.what[0] && plim_error_exit_status(error.code) != 70);
        return;
    }
    plim_setup_init(&setup, NULL);
    setup.llamacpp.n_ctx = 1u << random_below(random, 20);
    if (plim_engine_bill(engine, &setup, &machine, NULL, &bill, &error) == 0) {
        for (uint32_t i = 0; i < bill.n_devices; i++)
            assert_true(bill.device[i].need_low_bytes <= bill.device[i].need_high_bytes);
        assert_true(plim_plan_fixes(engine, &setup, &machine, NULL, &bill, fixes, PLIM_MAX_FIXES, &n_fixes, &error) <=
                    0);
    } else {
        assert_true(error.what[0]);
    }
    plim_engine_free(engine);
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* a busy machine is not our fault */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Returns 1 when the file opened. */
static size_t open_damaged(const struct header *h, uint64_t *random)
{
    char path[64];
    struct plim_model *model = NULL;
    struct plim_error error = { 0 };
    const size_t blocks = heap_live_blocks();
    int fd = memfd_create("damaged.gguf", MFD_CLOEXEC);
    assert_true(fd >= 0 && write(fd, h->bytes, h->n) == (ssize_t)h->n);
    assert_int_equal(ftruncate(fd, (off_t)h->file_bytes), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    heap_start();
    const size_t before = heap_live_bytes();
    int result = plim_model_open(path, &model, &error);
    if (result == 0)
        bill_of(model, random);
    else
        assert_true(error.what[0] && error.where[0] && plim_error_exit_status(result) == 3);
    plim_model_free(model);
    close(fd);
    assert_true(heap_peak_bytes() - before <= MAX_HEAP);
    assert_int_equal(heap_live_blocks(), blocks);
    return result == 0;
}

struct damages {
    uint64_t seed;
    size_t n, n_opened;
};

/* Every kind of damage, some of them together with another. */
static void visit_damaged(const char *path, void *data)
{
    static struct header original, damaged;
    struct damages *d = data;
    read_header(path, &original);
    for (int k = 0; k < MUTATIONS_PER_MODEL; k++) {
        uint64_t random = d->seed + 1000003 * d->n;
        damaged = original;
        kinds[(size_t)k % COUNT(kinds)](&damaged, &random);
        if (random_below(&random, 4) == 0)
            kinds[random_below(&random, 2)](&damaged, &random);
        const double start = now_s();
        d->n_opened += open_damaged(&damaged, &random);
        if (now_s() - start > MAX_SECONDS)
            fail_msg("%s, damage %zu: took %.1f s", path, d->n, now_s() - start);
        d->n++;
    }
}

static void test_damaged_headers(void **state)
{
    struct damages d = { .seed = random_seed() };
    (void)state;
    zoo_each(visit_damaged, &d);
    print_message("%zu damaged headers, %zu of them opened\n", d.n, d.n_opened);
    assert_true(d.n >= 500);
    assert_true(d.n_opened > d.n / 20); /* else the damage is too crude to reach the engine */
}

/* Counts that promise much in a large file of nothing: what is allocated follows from what is there. */
static void test_promises_are_not_believed(void **state)
{
    static const struct {
        uint64_t n_tensors, n_keys;
    } rows[] = { { 0, 65536 }, { 131072, 0 }, { 131072, 65536 }, { UINT64_MAX, 1 }, { 1, UINT64_MAX } };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct header h;
        uint64_t random = 1;
        memcpy(h.bytes, "GGUF\3\0\0\0", 8);
        walk_put(h.bytes, (struct walk_slot){ 8, 8 }, rows[i].n_tensors);
        walk_put(h.bytes, (struct walk_slot){ 16, 8 }, rows[i].n_keys);
        h.n = 24;
        h.file_bytes = (uint64_t)1 << 30;
        assert_int_equal(open_damaged(&h, &random), 0);
    }
}

/* A list of nothing but zeros is a list of empty strings: a gigabyte of it must neither be kept nor take long. */
static void test_endless_zeros(void **state)
{
    static struct header h;
    uint64_t random = 1;
    (void)state;
    memcpy(h.bytes, "GGUF\3\0\0\0", 8);
    walk_put(h.bytes, (struct walk_slot){ 16, 8 }, 1);
    walk_put(h.bytes, (struct walk_slot){ 24, 8 }, 1);
    h.bytes[32] = 'a';
    walk_put(h.bytes, (struct walk_slot){ 33, 4 }, 9); /* an array */
    walk_put(h.bytes, (struct walk_slot){ 37, 4 }, 8); /* of strings */
    walk_put(h.bytes, (struct walk_slot){ 41, 8 }, UINT64_MAX);
    h.n = 49;
    h.file_bytes = (uint64_t)64 << 20;
    assert_int_equal(open_damaged(&h, &random), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damaged_headers),
        cmocka_unit_test(test_promises_are_not_believed),
        cmocka_unit_test(test_endless_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
