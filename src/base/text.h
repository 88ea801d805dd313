/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_BASE_TEXT_H
#define PLIMSOLL_BASE_TEXT_H

/* Text from files and from users: made safe to show, read as a number, compared for slips in typing. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The character that text begins with; no more than `length` bytes belong to text, and length is not 0. Returns its
 * bytes. A byte that is not UTF-8 (overlong forms and surrogates are not) is a character of its own, PLIM_TEXT_INVALID.
 */
enum { PLIM_TEXT_INVALID = 0x110000 };
size_t plim_text_character(const char *text, size_t length, uint32_t *ret_code);

/*
 * True for a character that a terminal shows as a glyph or a blank. Not shown: invalid bytes; the controls C0, DEL and
 * C1, which terminals obey; the line ends U+2028 and U+2029; controls of direction, which change the order of what is
 * read; and all others that have no glyph (Default_Ignorable_Code_Point of Unicode 15.1), by which two names that look
 * the same may differ. The joiners and selectors of emoji are among those: a '?' in a picture is the lesser harm.
 */
bool plim_text_is_shown(uint32_t code);

/* Replace each character that is not shown by '?', in place. What goes to a terminal is cleaned by report/print.h. */
void plim_text_clean(char *text);

/*
 * True when one text may be a slip in typing the other: a letter is wrong, missing, too much or swapped with the next;
 * two such slips in words of eight letters or more. Words of more than 63 letters are never near.
 */
bool plim_text_is_near(const char *a, const char *b);

/* How many letters have to be changed, inserted or removed to turn one text into the other; of the first 160 bytes. */
unsigned plim_text_distance(const char *a, const char *b);

/* True when `word` is one of the words in a list separated by spaces; a list of NULL is empty. */
bool plim_text_has_word(const char *list, const char *word);

/*
 * The decimal number that text begins with ("7.5", "-0.25"; no exponent), 0 when it begins with no number.
 * *ret_end is the rest, text itself without a number; ret_end may be NULL. Unlike strtod(), the point is a point in
 * every locale: a program that uses the library may have set one.
 */
double plim_decimal(const char *text, const char **ret_end);

#endif
