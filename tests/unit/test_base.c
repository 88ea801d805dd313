/* SPDX-License-Identifier: MIT */
/* What everything stands on: memory and its ceilings, errors, words, cursors. */
#include "base/cursor.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/text.h"
#include "base/units.h"
#include "unit.h"

#include <errno.h>
#include <stdalign.h>

/* --- memory --- */

static void test_sizes_that_overflow(void **state)
{
    const size_t half = SIZE_MAX / 2 + 1;
    struct plim_arena arena;
    (void)state;
    assert_null(plim_alloc_unset(half, 2)); /* the product is 0 */
    assert_null(plim_realloc(NULL, half + 1, 2));
    plim_arena_init(&arena, SIZE_MAX / 2);
    assert_null(plim_arena_alloc(&arena, half, 2));
    assert_null(plim_arena_alloc(&arena, SIZE_MAX, 1));
    plim_arena_done(&arena);
}

/* What an arena gives out does not overlap, is aligned and zeroed, whatever sizes come after each other. */
static void test_arena(void **state)
{
    enum { N = 200, MAX = 96 << 10 };
    static unsigned char *piece[N];
    static size_t size[N];
    struct plim_arena arena;
    uint64_t seed = random_seed();
    (void)state;
    plim_arena_init(&arena, 64 << 20);
    for (int i = 0; i < N; i++) {
        size[i] = 1 + random_below(&seed, i % 4 ? 5000 : MAX);
        piece[i] = plim_arena_alloc(&arena, size[i], 1);
        assert_non_null(piece[i]);
        assert_int_equal((uintptr_t)piece[i] % alignof(max_align_t), 0);
        for (size_t k = 0; k < size[i]; k++)
            assert_int_equal(piece[i][k], 0);
        memset(piece[i], 1 + i, size[i]);
    }
    for (int i = 0; i < N; i++)
        for (size_t k = 0; k < size[i]; k++)
            assert_int_equal(piece[i][k], (1 + i) & 255);
    plim_arena_done(&arena);
}

static void test_arena_has_a_ceiling(void **state)
{
    struct plim_arena arena;
    (void)state;
    plim_arena_init(&arena, 1000);
    assert_non_null(plim_arena_alloc(&arena, 900, 1));
    assert_false(arena.is_full);
    assert_null(plim_arena_alloc(&arena, 200, 1));
    assert_true(arena.is_full);
    plim_arena_done(&arena);
}

/* --- errors --- */

static void test_the_first_error_stays(void **state)
{
    struct plim_error error = { 0 };
    (void)state;
    assert_int_equal(plim_fail(&error, PLIM_E_CORRUPT, 7, "first %d", 1), PLIM_E_CORRUPT);
    assert_int_equal(plim_fail(&error, PLIM_E_IO, 8, "second"), PLIM_E_IO); /* the code is that of this call */
    plim_error_hint(&error, "do this");
    plim_error_hint(&error, "do that");
    plim_error_where(&error, "a");
    plim_error_where(&error, "b");
    assert_int_equal(error.code, PLIM_E_CORRUPT);
    assert_int_equal(error.at, 7);
    assert_string_equal(error.what, "first 1");
    assert_string_equal(error.hint, "do this");
    assert_string_equal(error.where, "a");
    assert_int_equal(plim_fail(NULL, PLIM_E_IO, 0, "nobody listens"), PLIM_E_IO);
}

static void test_errors_of_the_system(void **state)
{
    static const struct {
        int error, code, exit;
    } rows[] = {
        { ENOENT, PLIM_E_NOT_FOUND, 3 }, { ENOTDIR, PLIM_E_NOT_FOUND, 3 }, { EACCES, PLIM_E_DENIED, 3 },
        { EPERM, PLIM_E_DENIED, 3 },     { EROFS, PLIM_E_DENIED, 3 },      { ENOMEM, PLIM_E_NOMEM, 70 },
        { EIO, PLIM_E_IO, 3 },           { EISDIR, PLIM_E_IO, 3 },         { ENOSYS, PLIM_E_UNSUPPORTED, 3 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plim_error error = { 0 };
        assert_int_equal(plim_fail_errno(&error, "/x", "open", rows[i].error), rows[i].code);
        assert_int_equal(error.code, rows[i].code);
        assert_int_equal(error.at, PLIM_NO_OFFSET);
        assert_string_equal(error.where, "/x");
        assert_int_equal(plim_error_exit_status(rows[i].code), rows[i].exit);
    }
    assert_int_equal(plim_error_exit_status(PLIM_OK), 0);
    assert_int_equal(plim_error_exit_status(PLIM_E_USAGE), 2);
    assert_int_equal(plim_error_exit_status(PLIM_E_NO_DRIVER), 4);
    assert_int_equal(plim_error_exit_status(PLIM_E_NETWORK), 5);
    assert_int_equal(plim_error_exit_status(PLIM_E_INTERNAL), 70);
}

/* Of a long path the end is kept: there is the name. */
static void test_long_paths(void **state)
{
    char path[600];
    (void)state;
    for (size_t n = 250; n < 260; n++) {
        struct plim_error error = { 0 };
        memset(path, 'd', n);
        memcpy(path + n - 10, "/name.gguf", 11);
        plim_error_where(&error, path);
        assert_string_equal(error.where + strlen(error.where) - 10, "/name.gguf");
        assert_int_equal(strncmp(error.where, "...", 3) == 0, n >= sizeof error.where);
        assert_true(strlen(error.where) == (n < sizeof error.where ? n : sizeof error.where - 1));
    }
}

/* --- words --- */

static void test_words_of_a_list(void **state)
{
    (void)state;
    assert_true(plim_text_has_word("-c --ctx-size", "-c"));
    assert_true(plim_text_has_word("-c  --ctx-size", "--ctx-size"));
    assert_false(plim_text_has_word("-c --ctx-size", "--ctx"));
    assert_false(plim_text_has_word("-c --ctx-size", "--ctx-size-x"));
    assert_false(plim_text_has_word("-c --ctx-size", "ctx-size"));
    assert_false(plim_text_has_word(NULL, "-c"));
}

static void test_signs(void **state)
{
    char text[PLIM_SIZE_TEXT];
    (void)state;
    assert_string_equal(plim_size_text_signed(text, 0), "+0 B");
    assert_string_equal(plim_size_text_signed(text, -1), "-1 B");
    assert_string_equal(plim_size_text_signed(text, INT64_MIN), "-8.00 EiB");
}

static void test_cells_outside_a_table(void **state)
{
    const struct plim_table *t = &plim_cards_table;
    (void)state;
    assert_string_equal(plim_table_cell(t, t->n_rows, 0), "");
    assert_string_equal(plim_table_cell(t, 0, t->n_columns), "");
    assert_string_equal(plim_table_cell(t, t->n_rows - 1, t->n_columns), "");
    assert_int_equal(plim_table_column(t, "no such column"), t->n_columns);
}

/* --- cursors --- */

/* 100 bytes of a file of 200, of which 8 are at hand at a time. */
static bool fill(struct plim_cursor *c, uint64_t n)
{
    static unsigned char window[8];
    if (n > sizeof window) /* nothing is written behind it */
        fail_msg("%d bytes are wanted at once", (int)n);
    c->data = window;
    c->data_at = c->at;
    c->data_end = c->at + sizeof window;
    return true;
}

static void test_cursor(void **state)
{
    unsigned char *bytes = malloc(4); /* and not one more */
    const unsigned char *at;
    (void)state;
    assert_non_null(bytes);
    memcpy(bytes, "\1\2\3\4", 4);
    struct plim_cursor c = plim_cursor(bytes, 4);
    assert_false(plim_cursor_peek(&c, 5, &at));
    assert_true(c.failed);
    assert_int_equal(c.failed_need, 5);
    assert_false(plim_cursor_peek(&c, 1, &at)); /* every later one fails, too */

    c = plim_cursor(bytes, 4);
    assert_true(plim_cursor_skip(&c, 3));
    assert_false(plim_cursor_skip(&c, 2));
    assert_int_equal(c.at, 3);
    assert_int_equal(c.failed_at, 3);

    c = plim_cursor(bytes, 4);
    assert_true(plim_cursor_skip(&c, 3));
    assert_false(plim_cursor_skip(&c, UINT64_MAX));

    c = plim_cursor(bytes, 4);
    assert_int_equal(plim_cursor_u32(&c), 0x04030201);
    assert_int_equal(plim_cursor_u32(&c), 0);
    assert_true(c.failed);
    c = plim_cursor(bytes, 4);
    c.big_endian = true;
    assert_int_equal(plim_cursor_u32(&c), 0x01020304);
    free(bytes);
}

/* A source is not asked for more than there is, nor for more than a window holds. */
static void test_cursor_with_a_window(void **state)
{
    const unsigned char *at;
    (void)state;
    struct plim_cursor c = { .size = 20, .fill = fill };
    assert_true(plim_cursor_skip(&c, 14));
    assert_true(plim_cursor_peek(&c, 6, &at));
    assert_false(plim_cursor_peek(&c, 7, &at));
    c = (struct plim_cursor){ .size = UINT64_MAX, .fill = fill };
    assert_false(plim_cursor_peek(&c, PLIM_CURSOR_MOST + 1, &at));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_that_overflow),   cmocka_unit_test(test_arena),
        cmocka_unit_test(test_arena_has_a_ceiling),   cmocka_unit_test(test_the_first_error_stays),
        cmocka_unit_test(test_errors_of_the_system),  cmocka_unit_test(test_long_paths),
        cmocka_unit_test(test_words_of_a_list),       cmocka_unit_test(test_signs),
        cmocka_unit_test(test_cells_outside_a_table), cmocka_unit_test(test_cursor),
        cmocka_unit_test(test_cursor_with_a_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
