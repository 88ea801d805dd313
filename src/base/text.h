/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_BASE_TEXT_H
#define PLIMSOLL_BASE_TEXT_H

/* Text from files and from users: made safe to show, read as a number, compared for slips in typing. */

#include <stdbool.h>

/* Replace control characters and invalid UTF-8 by '?', in place: no text of a file reaches a terminal raw. */
void plim_text_clean(char *text);

/*
 * True when one text may be a slip in typing the other: a letter is wrong, missing, too much or swapped with the next;
 * two such slips in words of eight letters or more. Words of more than 63 letters are never near.
 */
bool plim_text_is_near(const char *a, const char *b);

/* True when `word` is one of the words in a list separated by spaces; a list of NULL is empty. */
bool plim_text_has_word(const char *list, const char *word);

/*
 * The decimal number that text begins with ("7.5", "-0.25"; no exponent), 0 when it begins with no number.
 * *ret_end is the rest, text itself without a number; ret_end may be NULL. Unlike strtod(), the point is a point in
 * every locale: a program that uses the library may have set one.
 */
double plim_decimal(const char *text, const char **ret_end);

#endif
