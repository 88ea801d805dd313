/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TESTS_NOISE_H
#define PLIMSOLL_TESTS_NOISE_H

/* What happens to a message on its way into a log: each kind of it, the same for the same seed. */

#include <stddef.h>
#include <stdint.h>

enum noise {
    NOISE_NONE,
    NOISE_SOFT_WRAP, /* at blanks */
    NOISE_HARD_WRAP, /* anywhere, as terminals do */
    NOISE_ANSI,
    NOISE_RANK,
    NOISE_STAMP,
    NOISE_SYSLOG,
    NOISE_COMPOSE,
    NOISE_JSON,
    NOISE_HTML,
    NOISE_QUOTE, /* wrapped, with "> " before each line */
    NOISE_MAIL,  /* quoted-printable */
    NOISE_CRLF,
    NOISE_UTF16,
    NOISE_TRUNCATED,
    NOISE_MAX_
};

const char *noise_name(enum noise noise);

/* The noisy text, malloc()ed; *ret_size its bytes. */
char *noise_add(enum noise noise, const char *text, uint32_t seed, size_t *ret_size);

#endif
