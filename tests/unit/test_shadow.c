/* SPDX-License-Identifier: MIT */
/* The values of device memory: the store against a plain array of bytes and certainties, and the rules of the pieces.
 */
#include "unit.h"
#include "virtual.h"

#include "vgpu/values/shadow.h"

#include <pthread.h>

enum { KIB = 1 << 10, MIB = 1 << 20, PART_BYTES = 6000, MAX_EXTENTS = 1 << 20 };

static struct {
    void (*write)(void *, const void *, size_t, enum plim_shadow_known);
    void (*fill)(void *, const void *, unsigned, size_t, enum plim_shadow_known);
    void (*forget)(const void *, size_t);
    void (*doubt)(const void *);
    void (*lose)(const void *);
    void (*doubt_all)(void);
    void (*doubt_range)(const void *, size_t);
    void (*join)(const void *, size_t);
    void (*share)(const void *, size_t);
    void (*release)(const void *, size_t);
    enum plim_shadow_known (*read)(void *, const void *, size_t);
    void (*read_each)(void *, uint8_t *, const void *, size_t);
    bool (*constant)(const void *, size_t, unsigned, void *, enum plim_shadow_known *);
    void (*move)(void *, const void *, size_t);
    enum plim_shadow_known (*certainty)(const void *, size_t);
    uint64_t (*n_evicted)(void);
} shadow;

static int set_up(void **state)
{
    (void)state;
    void *driver = open_library("libcuda.so.1");
    take(driver, "plim_shadow_write", &shadow.write);
    take(driver, "plim_shadow_fill", &shadow.fill);
    take(driver, "plim_shadow_forget", &shadow.forget);
    take(driver, "plim_shadow_doubt", &shadow.doubt);
    take(driver, "plim_shadow_lose", &shadow.lose);
    take(driver, "plim_shadow_doubt_all", &shadow.doubt_all);
    take(driver, "plim_shadow_doubt_range", &shadow.doubt_range);
    take(driver, "plim_shadow_join", &shadow.join);
    take(driver, "plim_shadow_share", &shadow.share);
    take(driver, "plim_shadow_release", &shadow.release);
    take(driver, "plim_shadow_read", &shadow.read);
    take(driver, "plim_shadow_read_each", &shadow.read_each);
    take(driver, "plim_shadow_constant", &shadow.constant);
    take(driver, "plim_shadow_move", &shadow.move);
    take(driver, "plim_shadow_certainty", &shadow.certainty);
    take(driver, "plim_shadow_n_evicted", &shadow.n_evicted);
    return 0;
}

/* Addresses of no memory: the store never looks at what is behind them. */
static char *address(uint64_t offset) { return (char *)(uintptr_t)(0x7a0000000000u + offset); }

static int empty(void **state)
{
    (void)state;
    shadow.forget(NULL, SIZE_MAX);
    return 0;
}

/* --- against a model --- */

struct model {
    char *start;
    uint64_t random;
    uint8_t value[PART_BYTES], known[PART_BYTES];
    uint8_t bytes[PART_BYTES], each[PART_BYTES];
};

struct range {
    size_t at, n;
};

static struct range random_range(struct model *model)
{
    struct range range = { random_below(&model->random, PART_BYTES), 0 };
    const size_t rest = PART_BYTES - range.at, most = random_below(&model->random, 2) ? 40 : PART_BYTES;
    range.n = random_below(&model->random, most < rest ? most + 1 : rest + 1);
    return range;
}

static void random_write(struct model *model)
{
    const struct range range = random_range(model);
    const enum plim_shadow_known known = (enum plim_shadow_known)random_below(&model->random, 3);
    const unsigned period = (unsigned[]){ 1, 2, 3, 4, 16, 256 }[random_below(&model->random, 6)];
    const uint8_t first = (uint8_t)random_next(&model->random);
    for (size_t i = 0; i < range.n; i++)
        model->bytes[i] = (uint8_t)(first + i % period);
    shadow.write(model->start + range.at, model->bytes, range.n, known);
    memcpy(model->value + range.at, model->bytes, range.n);
    memset(model->known + range.at, (int)known, range.n);
}

static void random_fill(struct model *model)
{
    const struct range range = random_range(model);
    const enum plim_shadow_known known = (enum plim_shadow_known)random_below(&model->random, 3);
    const unsigned width = 1u << random_below(&model->random, 5);
    const size_t size = range.n / width * width;
    uint8_t element[PLIM_SHADOW_MAX_WIDTH];
    for (unsigned i = 0; i < width; i++)
        element[i] = random_below(&model->random, 3) ? 0 : (uint8_t)random_next(&model->random);
    shadow.fill(model->start + range.at, element, width, range.n / width, known);
    for (size_t i = 0; i < size; i++)
        model->value[range.at + i] = element[i % width];
    memset(model->known + range.at, (int)known, size);
}

static void random_forget(struct model *model)
{
    const struct range range = random_range(model);
    shadow.forget(model->start + range.at, range.n);
    memset(model->value + range.at, 0, range.n);
    memset(model->known + range.at, 0, range.n);
}

static void random_move(struct model *model)
{
    struct range range = random_range(model);
    const size_t to = random_below(&model->random, PART_BYTES);
    range.n = to + range.n > PART_BYTES ? PART_BYTES - to : range.n;
    shadow.move(model->start + to, model->start + range.at, range.n);
    memmove(model->value + to, model->value + range.at, range.n);
    memmove(model->known + to, model->known + range.at, range.n);
}

static enum plim_shadow_known least(const struct model *model, struct range range)
{
    uint8_t known = PLIM_SHADOW_KNOWN;
    for (size_t i = 0; i < range.n; i++)
        known = model->known[range.at + i] < known ? model->known[range.at + i] : known;
    return known;
}

static bool is_read_right(struct model *model)
{
    const struct range range = random_range(model);
    const enum plim_shadow_known known = least(model, range);
    bool is_right = shadow.certainty(model->start + range.at, range.n) == known;
    shadow.read_each(model->bytes, model->each, model->start + range.at, range.n);
    is_right = is_right && memcmp(model->bytes, model->value + range.at, range.n) == 0 &&
               memcmp(model->each, model->known + range.at, range.n) == 0;
    memset(model->bytes, 0xa5, range.n);
    return is_right && shadow.read(model->bytes, model->start + range.at, range.n) == known &&
           memcmp(model->bytes, model->value + range.at, range.n) == 0;
}

/* "No" is always right, because bytes that are stored are not compared; of "yes", all is checked. */
static bool is_constant_right(struct model *model, unsigned *n_found)
{
    struct range range = random_range(model);
    const unsigned width = 1u << random_below(&model->random, 5);
    uint8_t element[PLIM_SHADOW_MAX_WIDTH];
    enum plim_shadow_known known;
    range.n = range.n / width * width;
    if (!shadow.constant(model->start + range.at, range.n, width, element, &known))
        return true;
    ++*n_found;
    for (size_t i = 0; i < range.n; i++)
        if (model->value[range.at + i] != element[i % width])
            return false;
    return known == least(model, range);
}

/* The number of steps that were done right; a right number of all is reached only without a mistake. */
static unsigned run(struct model *model, unsigned n_steps)
{
    unsigned n_found = 0, i = 0;
    for (bool is_right = true; i < n_steps && is_right; i += is_right) {
        switch (random_below(&model->random, 7)) {
        case 0:
            random_write(model);
            break;
        case 1:
            random_fill(model);
            break;
        case 2:
            random_forget(model);
            break;
        case 3:
            random_move(model);
            break;
        case 4:
            is_right = is_constant_right(model, &n_found);
            break;
        default:
            is_right = is_read_right(model);
            break;
        }
    }
    return n_found > n_steps / 100 ? i : 0;
}

static void test_against_a_model(void **state)
{
    enum { N_STEPS = 8000, N_SEEDS = 4 };
    static struct model model;
    (void)state;
    const uint64_t seed = random_seed();
    for (unsigned i = 0; i < N_SEEDS; i++) {
        empty(NULL);
        memset(&model, 0, sizeof model);
        model.start = address(3); /* no multiple of anything */
        model.random = seed + i;
        assert_int_equal(run(&model, N_STEPS), N_STEPS);
    }
}

struct thread {
    struct model model;
    unsigned n_right;
    pthread_t id;
};

static void *run_thread(void *data)
{
    struct thread *thread = data;
    thread->n_right = run(&thread->model, 3000);
    return NULL;
}

/* Neighbours in one extent at first: one cuts what the other reads. */
static void test_threads(void **state)
{
    static struct thread threads[2];
    const uint8_t byte = 0x5a;
    (void)state;
    shadow.fill(address(0), &byte, 1, 4 * PART_BYTES, PLIM_SHADOW_KNOWN);
    for (size_t i = 0; i < COUNT(threads); i++) {
        struct model *model = &threads[i].model;
        model->start = address(PART_BYTES + i * PART_BYTES);
        model->random = random_seed() + 99 * i;
        memset(model->value, byte, sizeof model->value);
        memset(model->known, PLIM_SHADOW_KNOWN, sizeof model->known);
        assert_int_equal(pthread_create(&threads[i].id, NULL, run_thread, &threads[i]), 0);
    }
    for (size_t i = 0; i < COUNT(threads); i++) {
        pthread_join(threads[i].id, NULL);
        assert_int_equal(threads[i].n_right, 3000);
    }
    assert_int_equal(shadow.certainty(address(0), PART_BYTES), PLIM_SHADOW_KNOWN);
    assert_int_equal(shadow.certainty(address(3 * PART_BYTES), PART_BYTES), PLIM_SHADOW_KNOWN);
}

/* --- rules --- */

static void test_constants(void **state)
{
    float value = 1.5f, found = 0;
    uint8_t bytes[100];
    enum plim_shadow_known known;
    (void)state;
    const size_t huge = (size_t)1 << 36; /* of a hundred cards */
    shadow.fill(address(0), &value, sizeof value, huge / sizeof value, PLIM_SHADOW_KNOWN);
    assert_int_equal(shadow.read(&found, address(huge - 4), 4), PLIM_SHADOW_KNOWN);
    assert_memory_equal(&found, &value, 4);
    assert_true(shadow.constant(address(0), huge, 4, &found, &known));
    assert_memory_equal(&found, &value, 4);
    assert_int_equal(known, PLIM_SHADOW_KNOWN);
    assert_true(shadow.constant(address(0), huge, 8, bytes, &known)); /* two of them repeat as well */
    assert_false(shadow.constant(address(0), huge, 2, bytes, &known));

    shadow.fill(address(64), &value, sizeof value, 16, PLIM_SHADOW_KEPT); /* neighbours of one value */
    assert_true(shadow.constant(address(0), huge, 4, &found, &known));
    assert_int_equal(known, PLIM_SHADOW_KEPT);
    shadow.forget(address(0), 64);
    assert_false(shadow.constant(address(0), huge, 4, &found, &known));

    memset(bytes, 0, sizeof bytes);
    shadow.write(address(0), bytes, sizeof bytes, PLIM_SHADOW_KNOWN); /* a gap is zero, and not known */
    shadow.forget(address(20), 20);
    assert_true(shadow.constant(address(0), sizeof bytes, 4, &found, &known));
    assert_int_equal(known, PLIM_SHADOW_UNKNOWN);
    assert_true(found >= 0 && found <= 0);

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i % 8);
    shadow.write(address(3), bytes, 96, PLIM_SHADOW_KNOWN); /* bytes that repeat are found out */
    assert_true(shadow.constant(address(3), 96, 8, bytes + 8, &known));
    assert_memory_equal(bytes, bytes + 8, 8);
    assert_true(shadow.constant(address(5), 88, 8, bytes, &known));
    assert_memory_equal(bytes, "\2\3\4\5\6\7\0\1", 8);
}

static void test_addresses_at_the_end(void **state)
{
    char *last = (char *)(uintptr_t)(UINT64_MAX - 15);
    uint64_t value = 7, back = 1;
    (void)state;
    shadow.write(last, &value, 8, PLIM_SHADOW_KNOWN);
    assert_int_equal(shadow.read(&back, last, 8), PLIM_SHADOW_KNOWN);
    shadow.write(last, &value, SIZE_MAX, PLIM_SHADOW_KNOWN); /* nothing is read: it is too large */
    assert_int_equal(shadow.read(&back, last, 8), PLIM_SHADOW_UNKNOWN);
    assert_int_equal(back, 0);
    shadow.fill(address(0), &value, 8, SIZE_MAX, PLIM_SHADOW_KNOWN);
    assert_int_equal(shadow.read(&back, address(1 << 20), 8), PLIM_SHADOW_KNOWN);
    shadow.move(last, address(0), SIZE_MAX);
    shadow.move(address(0), last, 64);
    assert_int_equal(shadow.read(&back, address(0), 8), PLIM_SHADOW_UNKNOWN);
    shadow.forget(address(0), SIZE_MAX);
    assert_int_equal(shadow.certainty(address(1 << 20), 1), PLIM_SHADOW_UNKNOWN);
    assert_int_equal(shadow.certainty(address(0), 0), PLIM_SHADOW_KNOWN);
}

static void known_are(const char *expected, const uint64_t *offsets)
{
    for (size_t i = 0; expected[i]; i++)
        assert_int_equal(shadow.certainty(address(offsets[i]), 8), expected[i] - '0');
}

/* A kernel that nobody knows got a pointer: to a tensor, of which the store has what was written. */
static void test_pieces(void **state)
{
    static const uint64_t at[] = { 0, 512, 520, 1000, 1024, 1536 };
    uint64_t value = 5;
    (void)state;
    for (unsigned i = 0; i < 4; i++) /* four tensors, side by side */
        shadow.fill(address(i * 512), &value, 8, 64, PLIM_SHADOW_KNOWN);
    shadow.doubt(address(520));
    known_are("221122", at);
    shadow.lose(address(512));
    known_are("200022", at);

    for (unsigned i = 0; i < 4; i++) /* a result that lies over two of them, and ends in a third */
        shadow.fill(address(i * 512), &value, 8, 64, PLIM_SHADOW_KNOWN);
    shadow.doubt_range(address(520), 600);
    known_are("221112", at);
    shadow.doubt_range(address(1 << 20), SIZE_MAX);
    known_are("221112", at);

    for (unsigned i = 0; i < 2; i++) { /* rows of one tensor, of which some are written again */
        shadow.fill(address(0), &value, 8, 256, PLIM_SHADOW_KNOWN);
        shadow.fill(address(512), &value, 8, 64, PLIM_SHADOW_KNOWN);
        shadow.fill(address(512), &value, 8, 64, PLIM_SHADOW_KNOWN);
        (i ? shadow.doubt : shadow.lose)(address(0));
        known_are(i ? "111111" : "000000", at);
    }
    for (unsigned i = 0; i < 4; i++)
        shadow.fill(address(i * 512), &value, 8, 64, PLIM_SHADOW_KNOWN);
    shadow.join(address(0), 1536); /* one tensor was written row by row */
    shadow.lose(address(0));
    known_are("000002", at);

    shadow.fill(address(0), &value, 8, 256, PLIM_SHADOW_KNOWN); /* a part was lost before */
    shadow.forget(address(512), 512);
    shadow.doubt(address(0));
    known_are("100011", at);
    shadow.doubt(address(512)); /* nothing is there */
    known_are("100011", at);
}

/* Another process writes there as well. */
static void test_shared_memory(void **state)
{
    uint32_t value = 5, back = 0;
    (void)state;
    shadow.fill(address(0), &value, 4, 1024, PLIM_SHADOW_KNOWN);
    shadow.share(address(1024), 1024);
    for (unsigned i = 0; i < 2000; i++) /* as often as a program asks for a handle */
        shadow.share(address(1024), 512);
    assert_int_equal(shadow.certainty(address(0), 1024), PLIM_SHADOW_KNOWN);
    assert_int_equal(shadow.certainty(address(1024), 1024), PLIM_SHADOW_KEPT);
    assert_int_equal(shadow.certainty(address(2048), 2048), PLIM_SHADOW_KNOWN);
    shadow.write(address(1024), &value, 4, PLIM_SHADOW_KNOWN);
    shadow.move(address(1028), address(0), 4);
    assert_int_equal(shadow.read(&back, address(1024), 4), PLIM_SHADOW_KEPT);
    assert_int_equal(back, 5);
    assert_int_equal(shadow.certainty(address(1028), 4), PLIM_SHADOW_KEPT);
    shadow.move(address(8192), address(1024), 4); /* what may be wrong stays so elsewhere */
    assert_int_equal(shadow.certainty(address(8192), 4), PLIM_SHADOW_KEPT);
    shadow.release(address(0), 4096);
    shadow.write(address(1024), &value, 4, PLIM_SHADOW_KNOWN);
    assert_int_equal(shadow.certainty(address(1024), 4), PLIM_SHADOW_KNOWN);
    assert_int_equal(shadow.certainty(address(0), 4), PLIM_SHADOW_UNKNOWN);
}

/* A kernel of which nothing is known may have written anything that was there. */
static void test_doubt_of_everything(void **state)
{
    uint32_t value = 5;
    (void)state;
    shadow.fill(address(0), &value, 4, 4, PLIM_SHADOW_KNOWN);
    shadow.fill(address(16), &value, 4, 4, PLIM_SHADOW_UNKNOWN);
    shadow.doubt_all();
    shadow.fill(address(32), &value, 4, 4, PLIM_SHADOW_KNOWN);
    shadow.move(address(48), address(0), 32);
    shadow.forget(address(4), 4);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(shadow.certainty(address(16 * i + 8), 8), "10210"[i] - '0');
}

static void test_what_was_not_read_for_longest_goes_first(void **state)
{
    enum { N = PLIM_SHADOW_STORE_BYTES / MIB };
    static uint8_t bytes[MIB];
    (void)state;
    const uint64_t before = shadow.n_evicted();
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * i >> 3);
    for (uint64_t i = 0; i < N; i++)
        shadow.write(address(i * MIB), bytes, MIB, PLIM_SHADOW_KNOWN);
    assert_int_equal(shadow.n_evicted(), before);
    shadow.read(bytes, address(0), MIB);
    for (uint64_t i = 0; i < 3; i++)
        shadow.write(address((N + i) * MIB), bytes, MIB, PLIM_SHADOW_KNOWN);
    assert_int_equal(shadow.n_evicted(), before + 3);
    assert_int_equal(shadow.certainty(address(0), MIB), PLIM_SHADOW_KNOWN);
    for (uint64_t i = 1; i <= 3; i++)
        assert_int_equal(shadow.certainty(address(i * MIB), 1), PLIM_SHADOW_UNKNOWN);
    assert_int_equal(shadow.certainty(address(4 * MIB), (size_t)(N - 1) * MIB), PLIM_SHADOW_KNOWN);

    for (uint64_t i = 4; i < N; i++) { /* a copy takes no room, and a small rest gives back the room of its piece */
        shadow.move(address((N + 3 + i) * MIB), address(i * MIB), MIB);
        shadow.forget(address(i * MIB), MIB);
        shadow.forget(address((N + 3 + i) * MIB) + 4 * KIB, MIB - 4 * KIB);
    }
    for (uint64_t i = 0; i < N - 10; i++)
        shadow.write(address((4 * N + i) * MIB), bytes, MIB, PLIM_SHADOW_KNOWN);
    assert_int_equal(shadow.n_evicted(), before + 3);
    shadow.write(address(0), bytes, PLIM_SHADOW_BUFFER_BYTES + 1u, PLIM_SHADOW_KNOWN); /* not read: too large */
    assert_int_equal(shadow.certainty(address(0), 1), PLIM_SHADOW_UNKNOWN);
}

static void test_the_number_of_extents_is_bounded(void **state)
{
    enum { MORE = 100 };
    (void)state;
    const uint64_t before = shadow.n_evicted();
    for (uint64_t i = 1; i <= MAX_EXTENTS + MORE; i++)
        shadow.fill(address(16 * i), &i, 8, 1, PLIM_SHADOW_KNOWN);
    const uint64_t n_evicted = shadow.n_evicted() - before;
    assert_in_range(n_evicted, MORE, MORE + 1); /* a write may make two */
    assert_int_equal(shadow.certainty(address(16), 8), PLIM_SHADOW_UNKNOWN);
    assert_int_equal(shadow.certainty(address(16 * (MORE + 2)), 8), PLIM_SHADOW_KNOWN);
    assert_int_equal(shadow.certainty(address(16 * (MAX_EXTENTS + MORE)), 8), PLIM_SHADOW_KNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_against_a_model, empty, empty),
        cmocka_unit_test_setup_teardown(test_threads, empty, empty),
        cmocka_unit_test_setup_teardown(test_constants, empty, empty),
        cmocka_unit_test_setup_teardown(test_addresses_at_the_end, empty, empty),
        cmocka_unit_test_setup_teardown(test_pieces, empty, empty),
        cmocka_unit_test_setup_teardown(test_shared_memory, empty, empty),
        cmocka_unit_test_setup_teardown(test_doubt_of_everything, empty, empty),
        cmocka_unit_test_setup_teardown(test_what_was_not_read_for_longest_goes_first, empty, empty),
        cmocka_unit_test_setup_teardown(test_the_number_of_extents_is_bounded, empty, empty),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
