/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_BASE_ERROR_H
#define PLIMSOLL_BASE_ERROR_H

/* Filling struct plim_error from inside the library. */

#include "plimsoll/error.h"

#define PLIM_PRINTF(string, first) __attribute__((format(printf, string, first)))
#define PLIM_MUST_CHECK            __attribute__((warn_unused_result))

/* Record an error and return its code; reterr may be NULL. The first error recorded stays. */
int plim_fail(struct plim_error *reterr, int code, uint64_t at, const char *format, ...) PLIM_PRINTF(4, 5);

/* A static analyzer sees one file at a time: this tells it that plim_fail() never returns 0. */
#ifdef __clang_analyzer__
#define plim_fail(...) ((void)plim_fail(__VA_ARGS__), PLIM_E_INTERNAL)
#endif

/* Record an error of the system: "cannot open: No such file or directory". Returns the code for that errno. */
int plim_fail_errno(struct plim_error *reterr, const char *path, const char *what, int error);

/* Add the next step to a recorded error, and the file it happened in (the end of the path if it is long). */
void plim_error_hint(struct plim_error *reterr, const char *format, ...) PLIM_PRINTF(2, 3);
void plim_error_where(struct plim_error *reterr, const char *path);

#endif
