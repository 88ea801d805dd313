/* SPDX-License-Identifier: MIT */
/*
 * Frames of `plimsoll top`, without a terminal: each beside its golden copy in tests/top/frames, and what holds of all
 * of them. PLIM_UPDATE_FRAMES=1 in the environment writes the copies.
 */
#include "base/text.h"
#include "cli/top/keys.h"
#include "report/top/frame.h"
#include "report/top/texts.h"
#include "top_scene.h"
#include "unit.h"

#include <locale.h>
#include <wchar.h>

static struct top_scene scene;
static struct plim_grid grid;
static struct plim_top_rows rows;

static void draw(int lines, int columns)
{
    assert_true(plim_grid_resize(&grid, lines, columns));
    assert_true(plim_top_rows_make(&rows, &scene.machine, &scene.view));
    plim_top_draw(&grid, &scene.machine, &scene.view, &rows);
}

static enum plim_top_action press(uint32_t key)
{
    const enum plim_top_action action = plim_top_press(&scene.view, &scene.sample, &rows, key);
    assert_true(plim_top_rows_make(&rows, &scene.machine, &scene.view));
    return action;
}

static void press_all(const char *keys)
{
    for (; *keys; keys++)
        press((unsigned char)*keys);
}

/* --- a frame as text --- */

static void print_character(FILE *out, uint32_t code)
{
    if (code < 0x80)
        fprintf(out, "%c", (char)code);
    else
        fprintf(out, "%lc", (wint_t)code);
}

/* The characters, then a letter for the role of each cell. */
static void print_grid(FILE *out)
{
    static const char letters[] = ".THO>*dgwbck";
    for (int line = 0; line < grid.lines; line++) {
        for (int column = 0; column < grid.columns; column++) {
            const struct plim_cell *cell = &grid.cell[line * grid.columns + column];
            if (cell->code)
                print_character(out, cell->code);
            if (cell->mark)
                print_character(out, cell->mark);
        }
        fprintf(out, "|\n");
    }
    fprintf(out, "\n");
    for (int line = 0; line < grid.lines; line++) {
        for (int column = 0; column < grid.columns; column++)
            fprintf(out, "%c", letters[grid.cell[line * grid.columns + column].role]);
        fprintf(out, "|\n");
    }
}

static void check_golden(const char *name)
{
    static char made[1 << 19], kept[1 << 19];
    char path[512];
    FILE *out = fmemopen(made, sizeof made, "w");
    print_grid(out);
    fclose(out);
    snprintf(path, sizeof path, "%s/top/frames/%s.txt", getenv("PLIM_TEST_LOGS"), name);
    if (getenv("PLIM_UPDATE_FRAMES")) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(made, file);
        fclose(file);
    }
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("%s is missing: PLIM_UPDATE_FRAMES=1 writes it", path);
    kept[fread(kept, 1, sizeof kept - 1, file)] = '\0';
    fclose(file);
    if (strcmp(made, kept) != 0)
        fail_msg("%s differs:\n%s", path, made);
}

/* What holds of each frame: only characters that are shown, and wide ones in two cells. */
static void check_cells(void)
{
    for (int line = 0; line < grid.lines; line++)
        for (int column = 0; column < grid.columns; column++) {
            const struct plim_cell *cell = &grid.cell[line * grid.columns + column];
            assert_true(cell->role < PLIM_CELL_MAX_);
            assert_true(cell->mark == 0 || (plim_text_is_shown(cell->mark) && wcwidth((wchar_t)cell->mark) == 0));
            if (cell->code == 0) {
                assert_true(column > 0 && wcwidth((wchar_t)cell[-1].code) == 2);
                continue;
            }
            assert_true(plim_text_is_shown(cell->code));
            assert_true(!grid.is_ascii || (cell->code >= ' ' && cell->code <= '~'));
            const bool is_wide = wcwidth((wchar_t)cell->code) == 2;
            assert_true(!is_wide || (column + 1 < grid.columns && cell[1].code == 0));
        }
}

/* --- golden frames --- */

static void test_lists(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        void (*make)(struct top_scene *);
        int lines, columns;
        bool is_ascii;
    } frames[] = {
        { "usual-80x24", top_scene_usual, 24, 80, false },
        { "usual-120x40", top_scene_usual, 40, 120, false },
        { "usual-40x10", top_scene_usual, 10, 40, false },
        { "usual-80x24-ascii", top_scene_usual, 24, 80, true },
        { "large-80x24", top_scene_large, 24, 80, false },
        { "large-120x40", top_scene_large, 40, 120, false },
        { "large-40x10", top_scene_large, 10, 40, false },
        { "empty-80x24", top_scene_empty, 24, 80, false },
        { "hostile-80x24", top_scene_hostile, 24, 80, false },
        { "hostile-120x40", top_scene_hostile, 40, 120, false },
        { "hostile-40x10", top_scene_hostile, 10, 40, false },
        { "hostile-80x24-ascii", top_scene_hostile, 24, 80, true },
    };
    for (size_t i = 0; i < COUNT(frames); i++) {
        frames[i].make(&scene);
        grid.is_ascii = frames[i].is_ascii;
        draw(frames[i].lines, frames[i].columns);
        check_cells();
        check_golden(frames[i].name);
    }
    grid.is_ascii = false;
}

static const struct plim_top_bill bill = {
    .title = "llama-3.1-8B.gguf with llama-server -c 8192",
    .n_lines = 4,
    .line = { { "weights", 4920000000, 4920000000 },
              { "context", 1073741824, 1073741824 },
              { "compute buffers", 300000000, 300000000 },
              { "CUDA and libraries", 400000000, 600000000 } },
    .low_bytes = 6693741824,
    .high_bytes = 6893741824,
};

static void test_pages(void **state)
{
    (void)state;
    top_scene_usual(&scene);
    draw(24, 80);
    press(PLIM_KEY_HOME);
    press(PLIM_KEY_ENTER);
    assert_int_equal(scene.view.page, PLIM_TOP_DETAIL);
    draw(24, 80);
    check_golden("detail-80x24");
    press('e');
    draw(24, 80);
    check_golden("explain-80x24");
    scene.machine.bill = &bill;
    press('j');
    press('j');
    press(PLIM_KEY_ENTER);
    draw(40, 120);
    check_golden("detail-bill-120x40");
    draw(10, 40);
    check_golden("detail-bill-40x10");
    press('?');
    draw(24, 80);
    check_golden("help-80x24");
    draw(10, 40);
    check_golden("help-40x10");
    press(PLIM_KEY_ESCAPE);
    press('>');
    draw(24, 80);
    check_golden("sorting-80x24");
    press(PLIM_KEY_ESCAPE);
    press(PLIM_KEY_F1 + 8);
    draw(24, 80);
    check_golden("signals-80x24");
    draw(10, 40);
    check_golden("signals-40x10");
    press(PLIM_KEY_ENTER);
    draw(24, 80);
    check_golden("confirm-80x24");
}

static void test_every_size(void **state)
{
    (void)state;
    static void (*const makers[])(struct top_scene *) = { top_scene_empty, top_scene_usual, top_scene_large,
                                                          top_scene_hostile };
    for (size_t m = 0; m < COUNT(makers); m++)
        for (int page = PLIM_TOP_LIST; page <= PLIM_TOP_CONFIRM; page++)
            for (int size = 0; size < 200; size++) {
                makers[m](&scene);
                scene.machine.bill = size % 2 ? &bill : NULL;
                draw(24, 80);
                press('j');
                scene.view.page = (enum plim_top_page)page;
                scene.view.is_tree = size % 3 == 0;
                scene.view.shift = size % 5 ? 0 : 13;
                grid.is_ascii = size % 7 == 0;
                draw(1 + size / 4, 1 + size);
                check_cells();
            }
    grid.is_ascii = false;
}

/* --- keys --- */

static int64_t pid_of_row(uint32_t row) { return scene.process[scene.holding[rows.row[row].holding].process].pid; }

static void test_sorting(void **state)
{
    (void)state;
    static const struct {
        enum plim_top_sort sort;
        int64_t first, last;
    } orders[] = {
        { PLIM_TOP_BY_MEMORY, 41233, 41240 }, { PLIM_TOP_BY_GROWTH, 41233, 41233 },
        { PLIM_TOP_BY_IDLE, 30111, 5150 },    { PLIM_TOP_BY_STALE, 5150, 41233 },
        { PLIM_TOP_BY_GPU, 41233, 41240 },    { PLIM_TOP_BY_CARD, 2210, 41240 },
        { PLIM_TOP_BY_PID, 977, 41240 },      { PLIM_TOP_BY_USER, 5150, 977 },
        { PLIM_TOP_BY_COMMAND, 5150, 30111 },
    };
    for (size_t i = 0; i < COUNT(orders); i++) {
        top_scene_usual(&scene);
        draw(24, 80);
        press('>');
        press(PLIM_KEY_HOME);
        for (int k = 0; k < (int)orders[i].sort; k++)
            press(PLIM_KEY_DOWN);
        press(PLIM_KEY_ENTER);
        assert_int_equal(scene.view.sort, orders[i].sort);
        assert_int_equal(pid_of_row(0), orders[i].first);
        if (orders[i].sort != PLIM_TOP_BY_GROWTH)
            assert_int_equal(pid_of_row(rows.n - 1), orders[i].last);
        const int64_t before = pid_of_row(0);
        press('I');
        press('I');
        assert_int_equal(pid_of_row(0), before);
    }
    press_all("+");
    assert_false(scene.view.is_reversed);
    press_all("-");
    assert_true(scene.view.is_reversed);
}

static void test_selection_stays(void **state)
{
    (void)state;
    top_scene_usual(&scene);
    draw(24, 80);
    press(PLIM_KEY_HOME);
    press('j');
    const struct plim_top_id id = scene.view.selected;
    press('I');
    assert_true(plim_top_is_same(&id, &scene.view.selected));
    assert_int_equal(plim_top_rows_selected(&rows, &scene.sample, &scene.view), 4);
    scene.process[scene.holding[rows.row[4].holding].process].start_ticks++; /* the pid has a new owner */
    assert_int_equal(plim_top_rows_selected(&rows, &scene.sample, &scene.view), UINT32_MAX);
    press(PLIM_KEY_F1 + 8);
    assert_int_equal(scene.view.page, PLIM_TOP_LIST); /* no signal to somebody else */
    press('j');
    assert_int_equal(plim_top_rows_selected(&rows, &scene.sample, &scene.view), 1);
}

static void test_scrolling(void **state)
{
    (void)state;
    top_scene_large(&scene);
    draw(24, 80);
    const uint32_t page = scene.view.n_table_rows;
    press(PLIM_KEY_END);
    draw(24, 80);
    assert_int_equal(scene.view.first_row, 200 - page);
    press(PLIM_KEY_PAGE_UP);
    draw(24, 80);
    assert_int_equal(scene.view.first_row, 200 - page);
    press(PLIM_KEY_PAGE_UP);
    draw(24, 80);
    assert_true(scene.view.first_row < 200 - page);
    press(PLIM_KEY_HOME);
    draw(24, 80);
    assert_int_equal(scene.view.first_row, 0);
}

static void test_filter(void **state)
{
    (void)state;
    top_scene_usual(&scene);
    draw(24, 80);
    press_all("/TRAINx");
    press(PLIM_KEY_BACKSPACE);
    assert_string_equal(scene.view.filter, "TRAIN");
    assert_int_equal(rows.n, 1);
    assert_int_equal(rows.n_hidden, 5);
    press_all("q"); /* a letter of the filter */
    assert_int_equal(rows.n, 0);
    draw(24, 80);
    press(PLIM_KEY_ESCAPE);
    assert_int_equal(rows.n, 6);
    press_all("/stale");
    press(PLIM_KEY_ENTER);
    assert_int_equal(rows.n, 2);
    press(PLIM_KEY_ESCAPE);
    press('/');
    press(0x6F22);
    press(0xE9);
    press(0x1F680);
    assert_string_equal(scene.view.filter, "\xe6\xbc\xa2\xc3\xa9\xf0\x9f\x9a\x80");
    press(PLIM_KEY_BACKSPACE);
    press(PLIM_KEY_BACKSPACE);
    press(PLIM_KEY_BACKSPACE);
    press(PLIM_KEY_BACKSPACE);
    assert_string_equal(scene.view.filter, "");
    for (int i = 0; i < 300; i++)
        press(0x6F22);
    assert_true(strlen(scene.view.filter) < sizeof scene.view.filter);
    press(27);
    press(PLIM_KEY_ESCAPE);
    press('2');
    assert_int_equal(rows.n, 4);
    press('2');
    press('9');
    assert_int_equal(rows.n, 6);
}

static void test_tree(void **state)
{
    (void)state;
    top_scene_usual(&scene);
    draw(24, 80);
    press('t');
    for (uint32_t i = 0; i < rows.n; i++)
        if (pid_of_row(i) == 41240) {
            assert_int_equal(rows.row[i].depth, 1);
            assert_int_equal(pid_of_row(i - 1), 41233);
            draw(24, 80);
            check_golden("tree-80x24");
            /* a circle of parents */
            scene.process[0].parent = 41240;
            press('I');
            assert_int_equal(rows.n, 6);
            for (uint32_t k = 0; k < rows.n; k++)
                for (uint32_t l = 0; l < k; l++)
                    assert_int_not_equal(rows.row[k].holding, rows.row[l].holding);
            return;
        }
    fail_msg("the child is not in the tree");
}

static void test_signals(void **state)
{
    (void)state;
    top_scene_usual(&scene);
    draw(24, 80);
    press(PLIM_KEY_HOME);
    assert_int_equal(press('K'), PLIM_ACT_NONE);
    assert_int_equal(scene.view.page, PLIM_TOP_SIGNALS);
    assert_string_equal(plim_top_signals[scene.view.choice].name, "TERM");
    assert_int_equal(press('y'), PLIM_ACT_NONE); /* not yet asked */
    assert_int_equal(press(PLIM_KEY_ENTER), PLIM_ACT_NONE);
    assert_int_equal(scene.view.page, PLIM_TOP_CONFIRM);
    assert_int_equal(press(PLIM_KEY_ENTER), PLIM_ACT_NONE); /* Enter twice sends nothing */
    assert_int_equal(scene.view.page, PLIM_TOP_LIST);
    press('K');
    press(PLIM_KEY_ENTER);
    assert_int_equal(press('y'), PLIM_ACT_SEND);
    press('K');
    press('q');
    assert_int_equal(scene.view.page, PLIM_TOP_LIST);
    scene.view.is_readonly = true;
    press('K');
    assert_int_equal(scene.view.page, PLIM_TOP_LIST);
    scene.view.page = PLIM_TOP_CONFIRM;
    assert_int_equal(press('y'), PLIM_ACT_NONE);
}

static void test_tags(void **state)
{
    (void)state;
    top_scene_large(&scene);
    draw(24, 80);
    press(PLIM_KEY_HOME);
    press(' ');
    press(' ');
    assert_int_equal(scene.view.n_tagged, 2);
    assert_int_equal(plim_top_rows_selected(&rows, &scene.sample, &scene.view), 2);
    press('k');
    press(' ');
    assert_int_equal(scene.view.n_tagged, 1);
    for (int i = 0; i < 300; i++)
        press(' ');
    assert_true(scene.view.n_tagged <= PLIM_TOP_MAX_TAGGED);
    assert_int_equal(press(PLIM_KEY_ESCAPE), PLIM_ACT_NONE); /* never quits */
    assert_int_equal(scene.view.n_tagged, 0);
    assert_false(scene.view.has_selection);
    assert_int_equal(press('q'), PLIM_ACT_QUIT);
    assert_int_equal(press(PLIM_KEY_F10), PLIM_ACT_QUIT);
    assert_int_equal(press('r'), PLIM_ACT_LOOK);
}

/* Any keys, on any machine, in a terminal of any size: the view stays one that can be drawn, and nothing is sent to a
 * process that no signal can reach. */
static void test_random_keys(void **state)
{
    (void)state;
    static void (*const makers[])(struct top_scene *) = { top_scene_empty, top_scene_usual, top_scene_large,
                                                          top_scene_hostile };
    uint32_t seed = 7;
    for (size_t m = 0; m < COUNT(makers); m++) {
        makers[m](&scene);
        draw(24, 80);
        for (int i = 0; i < 4000; i++) {
            seed = seed * 1664525 + 1013904223;
            const uint32_t number = seed >> 8;
            const uint32_t key = number % 3 ? number % 4 ? number % 128 : 'K' : PLIM_KEY_NONE + number % 24;
            if (press(key) == PLIM_ACT_SEND) {
                assert_false(scene.view.is_readonly);
                assert_true(scene.view.n_tagged || scene.view.has_selection);
            }
            assert_true(scene.view.page <= PLIM_TOP_CONFIRM && scene.view.sort < PLIM_TOP_BY_MAX_);
            assert_true(scene.view.n_tagged <= PLIM_TOP_MAX_TAGGED);
            if (i % 16 == 0) {
                draw(5 + (int)(number % 40), 20 + (int)(number % 150));
                check_cells();
            }
        }
    }
}

/* --- texts --- */

static void test_texts(void **state)
{
    (void)state;
    static const struct {
        int64_t rate;
        const char *text;
    } rates[] = { { 0, "" },
                  { 120LL << 20, "+120 MiB/min" },
                  { (120LL << 20) + 4711, "+120 MiB/min" },
                  { -(50LL << 20), "-50 MiB/min" },
                  { 3LL << 30, "+3 GiB/min" },
                  { 3LL << 19, "+1.5 MiB/min" },
                  { 300, "+300 B/min" },
                  { INT64_MIN, "-8 EiB/min" } };
    static const struct {
        int64_t seconds;
        const char *text;
    } durations[] = { { -1, "?" },       { 0, "0s" },         { 59, "59s" },      { 60, "1m" },       { 3599, "59m" },
                      { 3600, "1h00m" }, { 86399, "23h59m" }, { 86400, "1d00h" }, { 8640000, "100d" } };
    char text[PLIM_TOP_TEXT_BYTES];
    for (size_t i = 0; i < COUNT(rates); i++)
        assert_string_equal(plim_top_rate(text, rates[i].rate), rates[i].text);
    for (size_t i = 0; i < COUNT(durations); i++)
        assert_string_equal(plim_top_duration(text, durations[i].seconds), durations[i].text);
    assert_string_equal(plim_top_growth(text, &(struct plim_watch_growth){ PLIM_TREND_GROWING, 120 << 20, 1260, 60 }),
                        "+120 MiB/min: full in 21 min");
    assert_string_equal(plim_top_growth(text, &(struct plim_watch_growth){ PLIM_TREND_WARM_UP, 120 << 20, -1, 60 }),
                        "+120 MiB/min, a warm-up so far");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),           cmocka_unit_test(test_pages),
        cmocka_unit_test(test_every_size),      cmocka_unit_test(test_sorting),
        cmocka_unit_test(test_selection_stays), cmocka_unit_test(test_scrolling),
        cmocka_unit_test(test_filter),          cmocka_unit_test(test_tree),
        cmocka_unit_test(test_signals),         cmocka_unit_test(test_tags),
        cmocka_unit_test(test_random_keys),     cmocka_unit_test(test_texts),
    };
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return 77;
    const int n_failed = cmocka_run_group_tests_name("top", tests, NULL, NULL);
    plim_top_rows_done(&rows);
    plim_grid_done(&grid);
    return n_failed;
}
