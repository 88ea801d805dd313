/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_BASE_TEXT_H
#define PLIMSOLL_BASE_TEXT_H

/* Text from files and from users, made safe to show. */

/* Replace control characters and what is not UTF-8 by '?', in place: nothing a file says reaches a terminal raw. */
void plim_text_clean(char *text);

#endif
