/* SPDX-License-Identifier: MIT */
#include "cli/top/keys.h"

#include "base/text.h"
#include "report/top/frame.h"

#include <stdio.h>
#include <string.h>

enum { SHIFT_COLUMNS = 8, MAX_SHIFT = 4096 };

static void say(struct plim_top_view *view, const char *text)
{
    snprintf(view->message, sizeof view->message, "%s", text);
    view->is_message_bad = true;
}

/* --- the selection --- */

static void select_row(struct plim_top_view *view, const struct plim_sample *sample, const struct plim_top_rows *rows,
                       int64_t row)
{
    if (rows->n == 0)
        return;
    row = row < 0 ? 0 : row >= rows->n ? rows->n - 1 : row;
    view->selected = plim_top_id_of(sample, rows->row[row].holding);
    view->selected_row = (uint32_t)row;
    view->has_selection = true;
}

static void move(struct plim_top_view *view, const struct plim_sample *sample, const struct plim_top_rows *rows,
                 int64_t by)
{
    const uint32_t at = plim_top_rows_selected(rows, sample, view);
    if (!view->has_selection)
        select_row(view, sample, rows, by > 0 ? view->first_row : (int64_t)view->first_row + view->n_table_rows - 1);
    else if (at == UINT32_MAX) /* it is gone: what is in its place now */
        select_row(view, sample, rows, view->selected_row);
    else
        select_row(view, sample, rows, at + by);
}

static bool move_by_key(struct plim_top_view *view, const struct plim_sample *sample, const struct plim_top_rows *rows,
                        uint32_t key)
{
    const int64_t page = view->n_table_rows > 1 ? (int64_t)view->n_table_rows - 1 : 1;
    switch (key) {
    case PLIM_KEY_UP:
    case 'k':
        move(view, sample, rows, -1);
        return true;
    case PLIM_KEY_DOWN:
    case 'j':
        move(view, sample, rows, 1);
        return true;
    case PLIM_KEY_PAGE_UP:
        move(view, sample, rows, -page);
        return true;
    case PLIM_KEY_PAGE_DOWN:
        move(view, sample, rows, page);
        return true;
    case PLIM_KEY_HOME:
        select_row(view, sample, rows, 0);
        return true;
    case PLIM_KEY_END:
        select_row(view, sample, rows, rows->n);
        return true;
    default:
        return false;
    }
}

/* A process is selected, and still in the table. */
static bool has_process(struct plim_top_view *view, const struct plim_sample *sample, const struct plim_top_rows *rows)
{
    if (!view->has_selection)
        select_row(view, sample, rows, view->first_row);
    if (view->has_selection && plim_top_rows_selected(rows, sample, view) != UINT32_MAX)
        return true;
    say(view, rows->n ? "This process holds no memory any more." : "No process is in the table.");
    return false;
}

static void tag(struct plim_top_view *view, const struct plim_sample *sample, const struct plim_top_rows *rows)
{
    if (!has_process(view, sample, rows))
        return;
    for (uint32_t i = 0; i < view->n_tagged; i++)
        if (plim_top_is_same(&view->tagged[i], &view->selected)) {
            view->tagged[i] = view->tagged[--view->n_tagged];
            move(view, sample, rows, 1);
            return;
        }
    if (view->n_tagged == PLIM_TOP_MAX_TAGGED) {
        say(view, "No more processes can be tagged.");
        return;
    }
    view->tagged[view->n_tagged++] = view->selected;
    move(view, sample, rows, 1);
}

/* --- the filter --- */

static void add_character(char *text, size_t size, uint32_t code)
{
    char bytes[5] = "";
    size_t n = 0;
    if (code < 0x80)
        bytes[n++] = (char)code;
    else if (code < 0x800)
        bytes[n++] = (char)(0xC0 | code >> 6);
    else if (code < 0x10000)
        bytes[n++] = (char)(0xE0 | code >> 12);
    else
        bytes[n++] = (char)(0xF0 | code >> 18);
    for (int shift = code < 0x80 ? -6 : code < 0x800 ? 0 : code < 0x10000 ? 6 : 12; shift >= 0; shift -= 6)
        bytes[n++] = (char)(0x80 | (code >> shift & 0x3F));
    if (strlen(text) + n < size)
        memcpy(text + strlen(text), bytes, n + 1);
}

static void remove_character(char *text)
{
    size_t n = strlen(text);
    while (n > 1 && (text[n - 1] & 0xC0) == 0x80)
        n--;
    text[n ? n - 1 : 0] = '\0';
}

static void press_filter(struct plim_top_view *view, uint32_t key)
{
    if (key == PLIM_KEY_ESCAPE)
        view->filter[0] = '\0';
    if (key == PLIM_KEY_ESCAPE || key == PLIM_KEY_ENTER)
        view->is_filtering = false;
    else if (key == PLIM_KEY_BACKSPACE)
        remove_character(view->filter);
    else if (key < PLIM_KEY_NONE && plim_text_is_shown(key))
        add_character(view->filter, sizeof view->filter, key);
    view->first_row = 0;
}

/* --- dialogs --- */

static void choose(struct plim_top_view *view, uint32_t key, uint32_t n)
{
    if (key == PLIM_KEY_UP || key == 'k')
        view->choice = view->choice ? view->choice - 1 : 0;
    if ((key == PLIM_KEY_DOWN || key == 'j') && view->choice + 1 < n)
        view->choice++;
    if (key == PLIM_KEY_HOME)
        view->choice = 0;
    if (key == PLIM_KEY_END)
        view->choice = n - 1;
}

static void press_sorting(struct plim_top_view *view, uint32_t key)
{
    choose(view, key, PLIM_TOP_BY_MAX_);
    if (key == PLIM_KEY_ENTER) {
        view->sort = (enum plim_top_sort)view->choice;
        view->is_reversed = false;
    }
    if (key == PLIM_KEY_ENTER || key == PLIM_KEY_ESCAPE || key == 'q')
        view->page = PLIM_TOP_LIST;
}

/* False: nothing is there that a signal could reach. */
static bool can_take_signals(struct plim_top_view *view, const struct plim_sample *sample,
                             const struct plim_top_rows *rows)
{
    if (!has_process(view, sample, rows))
        return false;
    const uint32_t holding = rows->row[plim_top_rows_selected(rows, sample, view)].holding;
    const struct plim_sample_process *process = &sample->process[sample->holding[holding].process];
    if (process->is_gone)
        say(view, "No process is left to end: e explains what helps.");
    else if (process->is_outside)
        say(view, "This process cannot be reached from here.");
    return !process->is_gone && !process->is_outside;
}

static void open_signals(struct plim_top_view *view, const struct plim_sample *sample, const struct plim_top_rows *rows)
{
    if (view->is_readonly)
        say(view, "Read only: signals are switched off.");
    else if (view->n_tagged || can_take_signals(view, sample, rows)) {
        view->page = PLIM_TOP_SIGNALS;
        view->choice = 0;
    }
}

static void press_signals(struct plim_top_view *view, uint32_t key)
{
    choose(view, key, PLIM_TOP_SIGNALS_N);
    if (key == PLIM_KEY_ENTER)
        view->page = PLIM_TOP_CONFIRM;
    if (key == PLIM_KEY_ESCAPE || key == 'q') {
        view->page = PLIM_TOP_LIST;
        say(view, "Nothing was sent.");
    }
}

static enum plim_top_action press_confirm(struct plim_top_view *view, uint32_t key)
{
    view->page = PLIM_TOP_LIST;
    if (key == 'y' || key == 'Y')
        return view->is_readonly ? PLIM_ACT_NONE : PLIM_ACT_SEND;
    say(view, "Nothing was sent.");
    return PLIM_ACT_NONE;
}

/* --- the list, and the pages of one process --- */

static void set_order(struct plim_top_view *view, bool is_ascending)
{
    const bool begins_ascending = view->sort == PLIM_TOP_BY_CARD || view->sort == PLIM_TOP_BY_PID ||
                                  view->sort == PLIM_TOP_BY_USER || view->sort == PLIM_TOP_BY_COMMAND;
    view->is_reversed = is_ascending != begins_ascending;
}

static void go_back(struct plim_top_view *view)
{
    if (view->page != PLIM_TOP_LIST) {
        view->page = PLIM_TOP_LIST;
        return;
    }
    view->has_selection = false;
    view->n_tagged = 0;
    view->filter[0] = '\0';
    view->only_card = UINT32_MAX;
    view->first_row = view->shift = 0;
}

static void show_card(struct plim_top_view *view, const struct plim_sample *sample, uint32_t card)
{
    if (card < sample->n_cards)
        view->only_card = view->only_card == card ? UINT32_MAX : card;
    view->first_row = 0;
}

static void show_page(struct plim_top_view *view, const struct plim_sample *sample, const struct plim_top_rows *rows,
                      enum plim_top_page page)
{
    if (has_process(view, sample, rows))
        view->page = page;
}

/* Those that change how the list is seen; false: it is another key. */
static bool press_view(struct plim_top_view *view, const struct plim_sample *sample, uint32_t key)
{
    if (key == '>' || key == PLIM_KEY_F1 + 5) {
        view->page = PLIM_TOP_SORTING;
        view->choice = view->sort;
    } else if (key == '+' || key == '-')
        set_order(view, key == '+');
    else if (key == 'I')
        view->is_reversed = !view->is_reversed;
    else if (key == 't' || key == PLIM_KEY_F1 + 4)
        view->is_tree = !view->is_tree;
    else if (key == '/' || key == PLIM_KEY_F1 + 3) {
        view->is_filtering = true;
        view->page = PLIM_TOP_LIST;
    } else if (key >= '1' && key <= '9')
        show_card(view, sample, key - '1');
    else if (key == PLIM_KEY_LEFT)
        view->shift = view->shift > SHIFT_COLUMNS ? view->shift - SHIFT_COLUMNS : 0;
    else if (key == PLIM_KEY_RIGHT)
        view->shift = view->shift < MAX_SHIFT ? view->shift + SHIFT_COLUMNS : view->shift;
    else
        return false;
    return true;
}

static enum plim_top_action press_list(struct plim_top_view *view, const struct plim_sample *sample,
                                       const struct plim_top_rows *rows, uint32_t key)
{
    if (move_by_key(view, sample, rows, key) || press_view(view, sample, key))
        return PLIM_ACT_NONE;
    switch (key) {
    case 'q':
    case PLIM_KEY_F10:
        return PLIM_ACT_QUIT;
    case PLIM_KEY_ESCAPE:
        go_back(view);
        break;
    case PLIM_KEY_ENTER:
        show_page(view, sample, rows, PLIM_TOP_DETAIL);
        break;
    case 'e':
        show_page(view, sample, rows, PLIM_TOP_EXPLAIN);
        break;
    case 'h':
    case '?':
    case PLIM_KEY_F1:
        view->page = view->page == PLIM_TOP_HELP ? PLIM_TOP_LIST : PLIM_TOP_HELP;
        break;
    case 'K':
    case PLIM_KEY_F1 + 8:
        open_signals(view, sample, rows);
        break;
    case ' ':
        tag(view, sample, rows);
        break;
    case 'p':
    case 'z':
        view->is_paused = !view->is_paused;
        break;
    case 'r':
        return PLIM_ACT_LOOK;
    default:
        break;
    }
    return PLIM_ACT_NONE;
}

enum plim_top_action plim_top_press(struct plim_top_view *view, const struct plim_sample *sample,
                                    const struct plim_top_rows *rows, uint32_t key)
{
    view->message[0] = '\0';
    view->is_message_bad = false;
    if (key == PLIM_KEY_F10)
        return PLIM_ACT_QUIT;
    if (view->is_filtering)
        press_filter(view, key);
    else if (view->page == PLIM_TOP_SORTING)
        press_sorting(view, key);
    else if (view->page == PLIM_TOP_SIGNALS)
        press_signals(view, key);
    else if (view->page == PLIM_TOP_CONFIRM)
        return press_confirm(view, key);
    else
        return press_list(view, sample, rows, key);
    return PLIM_ACT_NONE;
}
