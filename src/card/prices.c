/* SPDX-License-Identifier: MIT */
#include "card/prices.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "source/file.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { FIELD_BYTES = 256, MAX_COLUMNS = 32 };
enum column { CARD, BUY, PER_HOUR, N_COLUMNS };
static const char *const columns[N_COLUMNS] = { "card", "buy", "per_hour" };

struct reader {
    const char *text;
    size_t length, at;
    int place[N_COLUMNS]; /* of each column in a row; -1: the file has not got it */
    struct plim_prices *prices;
    struct plim_error *err;
};

static int fail(const struct reader *r, size_t at, const char *what)
{
    return plim_fail(r->err, PLIM_E_CORRUPT, at, "%s", what);
}

/* --- fields --- */

static bool ends_field(char c) { return c == ',' || c == '\n' || c == '\r'; }

/* One field, without its quotes and the blanks around it. */
static int read_field(struct reader *r, char field[FIELD_BYTES])
{
    const size_t start = r->at;
    size_t n = 0;
    const bool is_quoted = r->at < r->length && r->text[r->at] == '"';
    r->at += is_quoted;
    for (; r->at < r->length; r->at++) {
        const char c = r->text[r->at];
        if (is_quoted && c == '"') {
            if (r->at + 1 >= r->length || r->text[r->at + 1] != '"')
                break;
            r->at++;
        } else if (!is_quoted && ends_field(c)) {
            break;
        }
        if (n == FIELD_BYTES - 1)
            return fail(r, start, "a field is longer than 255 bytes");
        if (n || c != ' ')
            field[n++] = c;
    }
    if (is_quoted && r->at++ == r->length)
        return fail(r, start, "a quote is not closed");
    while (n && field[n - 1] == ' ')
        n--;
    field[n] = '\0';
    return r->at < r->length && !ends_field(r->text[r->at]) ? fail(r, r->at, "expected a comma after the field") : 0;
}

/* Step over the end of a field; true when the row goes on. */
static bool next_field(struct reader *r)
{
    if (r->at < r->length && r->text[r->at] == ',') {
        r->at++;
        return true;
    }
    return false;
}

static void skip_line_ends(struct reader *r)
{
    while (r->at < r->length && (r->text[r->at] == '\n' || r->text[r->at] == '\r'))
        r->at++;
}

static void skip_remarks(struct reader *r)
{
    skip_line_ends(r);
    while (r->at < r->length && r->text[r->at] == '#') {
        while (r->at < r->length && r->text[r->at] != '\n')
            r->at++;
        skip_line_ends(r);
    }
}

/* --- rows --- */

static int too_many_columns(const struct reader *r) { return fail(r, r->at, "a row has more than 32 columns"); }

static int read_head(struct reader *r)
{
    char field[FIELD_BYTES];
    int n = 0, result;
    skip_remarks(r);
    const size_t start = r->at;
    do {
        result = read_field(r, field);
        for (int c = 0; c < N_COLUMNS && result == 0; c++)
            if (!strcasecmp(field, columns[c]))
                r->place[c] = n;
    } while (result == 0 && next_field(r) && ++n < MAX_COLUMNS);
    if (result < 0 || n == MAX_COLUMNS)
        return result < 0 ? result : too_many_columns(r);
    if (r->place[CARD] < 0 || (r->place[BUY] < 0 && r->place[PER_HOUR] < 0))
        return fail(r, start, "expected the columns card, and buy or per_hour, in the first line");
    return 0;
}

static int read_price(struct reader *r, size_t at, const char *field, double *ret_price)
{
    const char *end;
    const double price = plim_decimal(field, &end);
    if (!*field)
        return 0;
    if (end == field || *end || price < 0 || price > 1e12)
        return fail(r, at, "expected a price: digits with a decimal point");
    *ret_price = price;
    return 0;
}

/* Cards of one name and size are one to the look-up; their prices are one as well. */
static void set_price(struct reader *r, const char *name, const struct plim_price *price)
{
    struct plim_card card, other;
    if (plim_catalogue_find(name, &card, NULL) < 0) {
        if (r->prices->n_unknown++ == 0)
            snprintf(r->prices->unknown, sizeof r->prices->unknown, "%.79s", name);
        return;
    }
    for (size_t i = 0; i < plim_catalogue_size(); i++) {
        plim_catalogue_card(i, &other);
        if (!strcmp(other.name, card.name))
            r->prices->of_card[i] = *price;
    }
}

static int read_row(struct reader *r)
{
    char field[FIELD_BYTES], name[FIELD_BYTES] = "";
    struct plim_price price = { 0 };
    int n = 0, result;
    do {
        const size_t at = r->at;
        result = read_field(r, field);
        if (result == 0 && n == r->place[CARD])
            memcpy(name, field, sizeof name);
        if (result == 0 && n == r->place[BUY])
            result = read_price(r, at, field, &price.buy);
        if (result == 0 && n == r->place[PER_HOUR])
            result = read_price(r, at, field, &price.per_hour);
    } while (result == 0 && next_field(r) && ++n < MAX_COLUMNS);
    if (result == 0 && n == MAX_COLUMNS)
        return too_many_columns(r);
    if (result == 0 && *name)
        set_price(r, name, &price);
    return result;
}

int plim_prices_read(const char *text, size_t length, struct plim_prices *ret_prices, struct plim_error *reterr)
{
    static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8, as spreadsheets write it */
    struct reader r = { text, length, 0, { -1, -1, -1 }, ret_prices, reterr };
    *ret_prices = (struct plim_prices){ .of_card = plim_alloc(plim_catalogue_size(), sizeof(struct plim_price)) };
    if (!ret_prices->of_card)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    if (length >= sizeof mark - 1 && !memcmp(text, mark, sizeof mark - 1))
        r.at = sizeof mark - 1;
    int result = read_head(&r);
    skip_remarks(&r);
    for (unsigned n = 0; result == 0 && r.at < r.length; n++) {
        if (n == PLIM_MAX_PRICES)
            return fail(&r, r.at, "there are too many rows");
        result = read_row(&r);
        skip_remarks(&r);
    }
    return result;
}

/* --- files --- */

static int read_file(struct plim_file *file, struct plim_prices *ret_prices, struct plim_error *reterr)
{
    struct plim_cursor cursor = plim_file_cursor(file, PLIM_MAX_PRICES_BYTES);
    const size_t length = (size_t)file->file_bytes;
    if (file->file_bytes > PLIM_MAX_PRICES_BYTES)
        return plim_fail(reterr, PLIM_E_CORRUPT, PLIM_NO_OFFSET, "the file is larger than a list of prices can be");
    char *text = plim_alloc(length + 1, 1);
    if (!text)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    const unsigned char *part;
    size_t n = 0;
    for (size_t step; n < length; n += step) {
        step = length - n < PLIM_CURSOR_MOST ? length - n : PLIM_CURSOR_MOST;
        if (!plim_cursor_take(&cursor, step, &part))
            break;
        memcpy(text + n, part, step);
    }
    int result = n < length ? plim_fail(reterr, PLIM_E_CORRUPT, n, "the file ends, or cannot be read further")
                            : plim_prices_read(text, length, ret_prices, reterr);
    plim_free(text);
    return result;
}

static void hint_at_form(struct plim_error *reterr)
{
    plim_error_hint(reterr, "a list of prices begins with the line card,buy,per_hour; RTX 3090,700,0.20 may follow");
}

int plim_prices_open(const char *path, struct plim_prices *ret_prices, struct plim_error *reterr)
{
    struct plim_file file;
    *ret_prices = (struct plim_prices){ .of_card = NULL };
    int result = plim_file_open(path, &file, reterr);
    if (result < 0) {
        if (reterr)
            reterr->hint[0] = '\0'; /* it is for models */
        hint_at_form(reterr);
        return result;
    }
    result = read_file(&file, ret_prices, reterr);
    plim_file_close(&file);
    if (result < 0) {
        plim_error_where(reterr, path);
        hint_at_form(reterr);
    }
    return result;
}

void plim_prices_done(struct plim_prices *prices)
{
    plim_free(prices->of_card);
    prices->of_card = NULL;
}

double plim_price_break_even_hours(const struct plim_price *price)
{
    return price->buy > 0 && price->per_hour > 0 ? price->buy / price->per_hour : 0;
}
