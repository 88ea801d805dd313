/* SPDX-License-Identifier: MIT */
#include "report/columns.h"

#include <stdbool.h>
#include <string.h>

/* Bytes of the first n characters of UTF-8; all of them when there are fewer. */
static size_t bytes_of(const char *text, int n)
{
    size_t i = 0;
    while (text[i] && n > 0) {
        i++;
        while ((text[i] & 0xC0) == 0x80)
            i++;
        n--;
    }
    return i;
}

/* Colours take no room. */
static int characters_in(const char *text, size_t length)
{
    int n = 0;
    bool is_colour = false;
    for (size_t i = 0; i < length; i++) {
        is_colour = is_colour || text[i] == '\033';
        n += !is_colour && (text[i] & 0xC0) != 0x80;
        is_colour = is_colour && text[i] != 'm';
    }
    return n;
}

void plim_print_wrapped(FILE *out, const char *text, int column, int indent)
{
    while (*text) {
        size_t length = strcspn(text, " ");
        int width = characters_in(text, length);
        if (column > indent && column + 1 + width > PLIM_TEXT_WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fwrite(text, 1, length, out);
        column += width;
        text += length + strspn(text + length, " ");
    }
    fputc('\n', out);
}

void plim_print_padded(FILE *out, const char *text, int width)
{
    int n = characters_in(text, strlen(text));
    if (n <= width) {
        fprintf(out, "%s%*s", text, width - n, "");
        return;
    }
    int head = (width - 2) / 3, tail = width - 2 - head;
    fwrite(text, 1, bytes_of(text, head), out);
    fprintf(out, "..%s", text + bytes_of(text, n - tail));
}
