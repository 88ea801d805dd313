/* SPDX-License-Identifier: MIT */
#include "report/columns.h"

#include "base/text.h"
#include "report/print.h"

#include <stdbool.h>
#include <string.h>

/* Bytes of the first n characters, each of which takes a column; all of them when there are fewer. */
static size_t bytes_of(const char *text, size_t length, int n)
{
    size_t at = 0;
    uint32_t code;
    for (; at < length && n > 0; n--)
        at += plim_text_character(text + at, length - at, &code);
    return at;
}

static int characters_in(const char *text, size_t length)
{
    int n = 0;
    uint32_t code;
    for (size_t at = 0; at < length; n++)
        at += plim_text_character(text + at, length - at, &code);
    return n;
}

/* Bytes of a word that fit into so many columns: up to the last separator of a list or a path, if any. */
static size_t piece_of(const char *word, size_t length, int width)
{
    const size_t n = bytes_of(word, length, width), least = bytes_of(word, length, width / 2);
    for (size_t i = n; i > least; i--)
        if (strchr(",;/=|", word[i - 1]))
            return i;
    return n;
}

void plim_print_wrapped(FILE *out, const char *text, int column, int indent)
{
    while (*text) {
        size_t length = strcspn(text, " ");
        int width = characters_in(text, length);
        while (width > PLIM_TEXT_WIDTH - indent) { /* begins on a line of its own */
            const size_t n = piece_of(text, length, PLIM_TEXT_WIDTH - indent);
            if (column > indent)
                plim_print(out, "\n%*s", indent, "");
            plim_print_part(out, text, n);
            column = indent + characters_in(text, n);
            text += n;
            length -= n;
            width = characters_in(text, length);
        }
        if (column > indent && column + 1 + width > PLIM_TEXT_WIDTH) {
            plim_print(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            plim_print(out, " ");
            column++;
        }
        plim_print_part(out, text, length);
        column += width;
        text += length + strspn(text + length, " ");
    }
    plim_print(out, "\n");
}

/* The ways in which a line may be broken. */
enum language { SHELL, CODE, SETTINGS };

/* "f(x, y)", "name = f(x)" and "names=[x]" are code, "name { key: x }" is a file's settings; the rest is shell. */
static enum language language_of(const char *text)
{
    const size_t n = strcspn(text, " ([{='\"");
    const char *at = text + n;
    if (*at == '(' || !strncmp(at, " = ", 3) || !strncmp(at, "=[", 2))
        return CODE;
    return !strncmp(at, " {", 2) || !strncmp(at, " [ {", 4) ? SETTINGS : SHELL;
}

/* A good place: between two commands, before an option or a comment. */
static bool is_joint(const char *text, size_t i)
{
    const char next = text[i + strspn(text + i, " ")], before = text[i - 1];
    return next == '-' || next == '#' || before == ';' || before == '|' || (i > 1 && !strncmp(text + i - 2, "&&", 2));
}

/* Where a line of at most `width` bytes may end; 0 when nowhere. Good places count from the middle of the line on. */
static size_t break_of(const char *text, size_t width, enum language language)
{
    size_t best = 0, best_joint = 0;
    int depth = 0;
    char quote = '\0';
    for (size_t i = 0; text[i] && i <= width; i++) {
        const char c = text[i];
        if (c == '\\' && quote != '\'' && text[i + 1]) { /* the next character is only itself */
            i++;
            continue;
        }
        const bool is_free = language == SETTINGS || (language == CODE) == (depth > 0);
        if (quote) {
            quote = c == quote ? '\0' : quote;
            continue;
        }
        if (i > 0 && language == CODE && text[i - 1] == '(')
            best = i;
        if (c == ' ' && i > 0 && text[i - 1] != ' ' && (is_free || text[i - 1] == ';')) {
            best = i;
            best_joint = is_joint(text, i) ? i : best_joint;
        }
        if (c == '\'' || c == '"')
            quote = c;
        depth += strchr("([{", c) != NULL;
        depth -= strchr(")]}", c) != NULL;
        if (c == '#') /* a comment goes to the end of the line */
            break;
    }
    return best_joint > width / 2 ? best_joint : best;
}

void plim_print_command(FILE *out, const char *text, int indent)
{
    const enum language language = language_of(text);
    int column = indent;
    plim_print(out, "%*s", indent, "");
    while (characters_in(text, strlen(text)) > PLIM_TEXT_WIDTH - column) {
        const size_t n = break_of(text, (size_t)(PLIM_TEXT_WIDTH - column - 2), language);
        if (n == 0)
            break;
        const char *rest = text + n + strspn(text + n, " ");
        plim_print_part(out, text, n);
        plim_print(out, "%s\n%*s", language == SHELL && *rest != '#' ? " \\" : "", indent + 2, "");
        text = rest;
        column = indent + 2;
    }
    plim_print(out, "%s\n", text);
}

int plim_print_width(const char *text) { return characters_in(text, strlen(text)); }

void plim_print_padded(FILE *out, const char *text, int width)
{
    const size_t length = strlen(text);
    const int n = characters_in(text, length);
    if (n <= width) {
        plim_print(out, "%-*s", width, text);
        return;
    }
    const int head = (width - 2) / 3, tail = width - 2 - head;
    plim_print_part(out, text, bytes_of(text, length, head));
    plim_print(out, "..%s", text + bytes_of(text, length, n - tail));
}

void plim_print_last(FILE *out, const char *text, int width)
{
    if (plim_print_width(text) > width)
        plim_print_padded(out, text, width);
    else
        plim_print(out, "%s", text);
    plim_print(out, "\n");
}

char *plim_speed_text(double low, double high, char cell[PLIM_SPEED_TEXT])
{
    snprintf(cell, PLIM_SPEED_TEXT, "-");
    if (high > 0)
        snprintf(cell, PLIM_SPEED_TEXT, "%.*f-%.*f", low < 9.5, low, high < 9.5, high);
    return cell;
}
