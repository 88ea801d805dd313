/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ERROR_H
#define PLIMSOLL_ERROR_H

/*
 * Errors, in a form that a program can branch on and a person can act on.
 *
 * Every function of the library that can fail returns 0 on success or one of the negative codes below, and fills the
 * struct plim_error it is given (which may be NULL). Outputs named ret_* are written only on success. The library
 * never exits, prints or reads the environment.
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum plim_error_code {
    PLIM_OK = 0,
    PLIM_E_NOT_FOUND = -1,   /* no such file, card or key */
    PLIM_E_DENIED = -2,      /* permission */
    PLIM_E_TRUNCATED = -3,   /* the input ends too early */
    PLIM_E_CORRUPT = -4,     /* the input contradicts itself */
    PLIM_E_UNSUPPORTED = -5, /* well-formed, but of a kind that Plimsoll does not read */
    PLIM_E_TOO_BIG = -6,     /* over a limit of src/base/limits.h */
    PLIM_E_NO_DEVICE = -7,   /* no GPU */
    PLIM_E_NO_DRIVER = -8,   /* a GPU may be there, its driver is not */
    PLIM_E_NOMEM = -9,
    PLIM_E_IO = -10,
    PLIM_E_USAGE = -11, /* the request itself is invalid */
    PLIM_E_INTERNAL = -12,
    PLIM_E_NETWORK = -13, /* a server was not reached, or did not answer as it should */
};

/* `at` of an error without a position in a file. */
#define PLIM_NO_OFFSET UINT64_MAX

struct plim_error {
    int code;        /* enum plim_error_code */
    uint64_t at;     /* byte offset in the input, or PLIM_NO_OFFSET */
    char what[208];  /* the fact, with the value */
    char hint[512];  /* the next step; may be empty */
    char where[256]; /* the file; may be empty */
};

/* The exit status of the program for this error: 2 usage, 3 input, 4 device, 5 network, 70 internal (plimsoll(1)). */
int plim_error_exit_status(int code);

#ifdef __cplusplus
}
#endif

#endif
