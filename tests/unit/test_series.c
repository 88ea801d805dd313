/* SPDX-License-Identifier: MIT */
/* Memory over time: what grows, how fast, when the card is full, and what is only a warm-up. */
#include "unit.h"

#include "watch/series.h"

#define MIB INT64_C(1048576)
#define GIB (1024 * MIB)

/* The memory of a program after so many milliseconds. */
typedef int64_t program_at(int64_t ms, uint64_t *seed);

static int64_t level(int64_t ms, uint64_t *seed)
{
    (void)ms;
    (void)seed;
    return 6 * GIB;
}

/* 50 MiB/s from the first moment, in the steps of 20 MiB in which PyTorch asks for more. */
static int64_t leak(int64_t ms, uint64_t *seed)
{
    (void)seed;
    return GIB + 50 * MIB * ms / 1000 / (20 * MIB) * (20 * MIB);
}

/* After ten minutes of training, 30 MiB a minute. */
static int64_t late_leak(int64_t ms, uint64_t *seed)
{
    (void)seed;
    return 8 * GIB + (ms > 600000 ? (ms - 600000) * 30 * MIB / 60000 / (2 * MIB) * (2 * MIB) : 0);
}

/* Six minutes of it. */
static int64_t stopped_leak(int64_t ms, uint64_t *seed) { return leak(ms < 360000 ? ms : 360000, seed); }

/* Weights at 400 MiB/s until 16 GiB are there, then level. */
static int64_t loading(int64_t ms, uint64_t *seed)
{
    (void)seed;
    return ms < 40960 ? ms * 400 * MIB / 1000 : 16 * GIB;
}

/* Each step of training takes more until the cache of the allocator has what it needs. */
static int64_t warm_up(int64_t ms, uint64_t *seed)
{
    (void)seed;
    return 10 * GIB - (ms < 60000 ? (60000 - ms) / 100 * (60000 - ms) / 100 * 16 * 1024 : 0);
}

/* Taken and given back every few seconds. */
static int64_t saw(int64_t ms, uint64_t *seed)
{
    (void)seed;
    return 4 * GIB + ms % 7000 * MIB / 10;
}

/* A request that is longer than all before, now and then. */
static int64_t jumps(int64_t ms, uint64_t *seed)
{
    (void)seed;
    return 5 * GIB + ms / 300000 * 200 * MIB;
}

static int64_t noise(int64_t ms, uint64_t *seed)
{
    (void)ms;
    return 5 * GIB + (int64_t)random_below(seed, 6) * MIB;
}

/* A leak behind work that takes and gives back. */
static int64_t noisy_leak(int64_t ms, uint64_t *seed)
{
    return 5 * GIB + ms * 2 * MIB / 1000 + (int64_t)random_below(seed, 20) * MIB;
}

static struct plim_watch_growth watched(program_at *program, int64_t from_ms, int64_t to_ms, int64_t step_ms,
                                        bool is_old)
{
    static struct plim_series series;
    struct plim_watch_growth growth;
    uint64_t seed = 7;
    plim_series_init(&series, is_old);
    for (int64_t ms = from_ms; ms <= to_ms; ms += step_ms)
        plim_series_add(&series, ms, program(ms, &seed));
    plim_series_growth(&series, 24 * GIB - program(to_ms, &seed), &growth);
    return growth;
}

static void test_trends(void **state)
{
    static const struct {
        const char *name;
        program_at *program;
        int64_t from_ms, to_ms, step_ms;
        bool is_old;
        enum plim_trend trend;
    } cases[] = {
        { "one look", leak, 0, 0, 1000, false, PLIM_TREND_UNKNOWN },
        { "too short", leak, 0, 5000, 1000, false, PLIM_TREND_UNKNOWN },
        { "a level hour", level, 0, 3600000, 1000, false, PLIM_TREND_STEADY },
        { "a leak, at first", leak, 0, 30000, 1000, false, PLIM_TREND_WARM_UP },
        { "a leak", leak, 0, 90000, 1000, false, PLIM_TREND_GROWING },
        { "a leak of an old process", leak, 0, 20000, 1000, true, PLIM_TREND_GROWING },
        { "a leak, seldom looked at", leak, 0, 300000, 30000, false, PLIM_TREND_GROWING },
        { "a late leak, before", late_leak, 0, 599000, 1000, false, PLIM_TREND_STEADY },
        { "a late leak", late_leak, 0, 900000, 1000, false, PLIM_TREND_GROWING },
        { "a late leak, looked at late", late_leak, 700000, 900000, 1000, true, PLIM_TREND_GROWING },
        { "a leak that has stopped", stopped_leak, 0, 540000, 1000, false, PLIM_TREND_STEADY },
        { "loading", loading, 0, 30000, 1000, false, PLIM_TREND_WARM_UP },
        { "loaded", loading, 0, 90000, 1000, false, PLIM_TREND_STEADY },
        { "loaded long ago", loading, 0, 600000, 1000, false, PLIM_TREND_STEADY },
        { "warm", warm_up, 0, 200000, 1000, false, PLIM_TREND_STEADY },
        { "a saw", saw, 0, 300000, 1000, true, PLIM_TREND_STEADY },
        { "a saw, its first minute", saw, 0, 60000, 1000, true, PLIM_TREND_STEADY },
        { "a saw, looked at often", saw, 0, 300000, 300, true, PLIM_TREND_STEADY },
        { "jumps", jumps, 0, 1300000, 1000, true, PLIM_TREND_STEADY },
        { "just after a jump", jumps, 0, 1210000, 1000, true, PLIM_TREND_STEADY },
        { "noise", noise, 0, 600000, 1000, true, PLIM_TREND_STEADY },
        { "a leak in noise", noisy_leak, 0, 200000, 1000, false, PLIM_TREND_GROWING },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct plim_watch_growth growth =
            watched(cases[i].program, cases[i].from_ms, cases[i].to_ms, cases[i].step_ms, cases[i].is_old);
        if (growth.trend != cases[i].trend)
            fail_msg("%s: %s, %lld MiB/min over %lld s", cases[i].name, plim_trend_name(growth.trend),
                     (long long)(growth.bytes_per_min / MIB), (long long)growth.window_s);
        const bool grows = growth.trend == PLIM_TREND_GROWING || growth.trend == PLIM_TREND_WARM_UP;
        assert_true(grows == (growth.bytes_per_min > 0) && grows == (growth.full_s >= 0));
    }
}

/* Within a tenth, at any time of a leak and however often it is looked at. */
static void test_time_to_full(void **state)
{
    (void)state;
    for (int64_t step_ms = 250; step_ms <= 5000; step_ms *= 2)
        for (int64_t to_ms = 40000; to_ms < 400000; to_ms += 40000) {
            const struct plim_watch_growth growth = watched(leak, 0, to_ms, step_ms, false);
            const int64_t true_s = (23 * GIB - to_ms * 50 * MIB / 1000) / (50 * MIB);
            if (growth.full_s < true_s * 9 / 10 || growth.full_s > true_s * 11 / 10)
                fail_msg("step %d, %d: %d s, not %d s", (int)step_ms, (int)to_ms, (int)growth.full_s, (int)true_s);
        }
}

static void test_points(void **state)
{
    static struct plim_series series;
    int64_t bytes[PLIM_WATCH_MAX_POINTS];
    (void)state;
    plim_series_init(&series, false);
    assert_int_equal(plim_series_points(&series, bytes, PLIM_WATCH_MAX_POINTS), 0);
    for (int64_t s = 0; s < 3 * 3600; s++)
        plim_series_add(&series, s * 1000, s);
    const uint32_t n = plim_series_points(&series, bytes, PLIM_WATCH_MAX_POINTS);
    assert_true(n > PLIM_WATCH_MAX_POINTS / 2 && n <= PLIM_WATCH_MAX_POINTS);
    assert_int_equal(bytes[n - 1], 3 * 3600 - 1);
    for (uint32_t i = 2; i + 1 < n; i++) /* evenly spaced, but for the newest */
        assert_int_equal(bytes[i] - bytes[i - 1], bytes[1] - bytes[0]);
    assert_true(bytes[n - 1] - bytes[0] >= 1800 && bytes[n - 1] - bytes[0] <= 3600 + 32);
    assert_int_equal(plim_series_points(&series, bytes, 3), 3);
    assert_int_equal(bytes[2], 3 * 3600 - 1);
    plim_series_add(&series, 5, 77); /* of an earlier time */
    plim_series_add(&series, INT64_MAX, -1);
    assert_int_equal(plim_series_points(&series, bytes, 1), 1);
    assert_int_equal(bytes[0], 3 * 3600 - 1);
}

/* Any numbers at any times: no figure is out of range. */
static void test_anything(void **state)
{
    static struct plim_series series;
    uint64_t seed = random_seed();
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct plim_watch_growth growth;
        int64_t ms = 0;
        plim_series_init(&series, round % 2);
        for (int i = 0; i < 400; i++) {
            ms += (int64_t)random_below(&seed, (uint64_t)1 << random_below(&seed, 40));
            plim_series_add(&series, ms, (int64_t)(random_next(&seed) >> random_below(&seed, 64) >> 1));
            plim_series_growth(&series, (int64_t)(random_next(&seed) >> 1), &growth);
            assert_true(growth.bytes_per_min >= 0 && growth.full_s >= -1 && growth.window_s >= 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_trends), cmocka_unit_test(test_time_to_full),
                                        cmocka_unit_test(test_points), cmocka_unit_test(test_anything) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
