/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_BASE_GNU_STRING_H
#define PLIMSOLL_BASE_GNU_STRING_H

/*
 * memmem(), memrchr() and strcasestr(), which glibc, musl and wasi-libc have, tuned: here for the systems whose libc
 * lacks them: Windows all three, macOS memrchr().
 */

#include <string.h>

#if defined(_WIN32) || defined(__APPLE__)

static inline void *memrchr(const void *text, int byte, size_t n)
{
    const unsigned char *p = text;
    while (n > 0)
        if (p[--n] == (unsigned char)byte)
            return (void *)(p + n);
    return NULL;
}

#endif
#ifdef _WIN32

#include <strings.h>

static inline void *memmem(const void *text, size_t n, const void *what, size_t length)
{
    const char *p = text, *const end = p + n;
    if (length == 0)
        return (void *)p;
    for (; (size_t)(end - p) >= length && (p = memchr(p, *(const char *)what, (size_t)(end - p) - length + 1)); p++)
        if (!memcmp(p, what, length))
            return (void *)p;
    return NULL;
}

static inline char *strcasestr(const char *text, const char *what)
{
    const size_t length = strlen(what);
    for (; *text; text++)
        if (!strncasecmp(text, what, length))
            return (char *)text;
    return length ? NULL : (char *)text;
}

#endif
#endif
