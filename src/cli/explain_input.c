/* SPDX-License-Identifier: MIT */
#include "cli/explain_input.h"

#include "base/mem.h"
#include "base/system.h"
#include "cli/log_file.h"
#include "report/print.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    PIECE_BYTES = 1 << 18,
    QUIET_MS = 400,       /* a traceback is written in one go */
    MIN_BYTES = 64,       /* of a file whose kind can be recognised */
    MAX_CONTROLS_OF = 20, /* one control character in so many bytes is not text */
};

static int fail_errno(int error, struct plim_error *reterr)
{
    const int code = error == ENOENT || error == ENOTDIR ? PLIM_E_NOT_FOUND
                     : error == EACCES                   ? PLIM_E_DENIED
                                                         : PLIM_E_IO;
    return plim_fail(reterr, code, PLIM_NO_OFFSET, "cannot read: %s", strerror(error));
}

/* Compressed logs are common, and say nothing as they are. */
static int check_start(const char *data, size_t n, struct plim_error *reterr)
{
    static const struct {
        const char *magic, *name, *tool;
    } packed[] = { { "\x1f\x8b", "gzip", "zcat" },
                   { "\x28\xb5\x2f\xfd", "zstd", "zstdcat" },
                   { "\xfd"
                     "7zXZ",
                     "xz", "xzcat" },
                   { "BZh", "bzip2", "bzcat" },
                   { "PK\x03\x04", "zip", "unzip -p" },
                   { "GGUF", "GGUF", NULL } };
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        if (n >= strlen(packed[i].magic) && !memcmp(data, packed[i].magic, strlen(packed[i].magic))) {
            int code = plim_fail(reterr, PLIM_E_UNSUPPORTED, 0,
                                 packed[i].tool ? "this is %s data, not a log" : "this is a %s file, not a log",
                                 packed[i].name);
            if (packed[i].tool)
                plim_error_hint(reterr, "%s FILE | plimsoll explain -", packed[i].tool);
            return code;
        }
    return 0;
}

/*
 * Programs, pictures and dumps are full of control characters; text in any encoding has next to none. Zeros are not
 * counted: UTF-16 has them, and a log that was cut while it was written begins with a hole of them. docker's raw stream
 * has one or two in each line.
 */
static bool is_text(const char *data, size_t n)
{
    static const char usual[] = "\t\n\v\f\r\b\033\a";
    size_t n_bytes = 0, n_controls = 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)data[i];
        n_bytes += c != 0;
        n_controls += c != 0 && c < 0x20 && !memchr(usual, c, sizeof usual - 1);
    }
    static const char picture[] = "\x89PNG";
    return (n_bytes < MIN_BYTES || n_controls * MAX_CONTROLS_OF < n_bytes) &&
           !(n >= sizeof picture - 1 && !memcmp(data, picture, sizeof picture - 1));
}

/* The file of this name was cut: read it from its beginning. It is another one now: read that. */
static void follow_name(const char *path, int *ref_file)
{
    struct plim_file_status now, before;
    uint64_t at;
    int file;
    if (plim_system_look(path, true, &now) || plim_system_status(*ref_file, &before))
        return;
    if (now.number == before.number && now.volume == before.volume) {
        if (plim_system_place(*ref_file, &at) == 0 && at > now.bytes)
            plim_system_move(*ref_file, 0);
    } else if (plim_system_open(path, PLIM_OPEN_WAIT, &file) == 0) {
        plim_system_close(*ref_file);
        *ref_file = file;
    }
}

/* Wait for more. False: no more will come. */
static bool wait_for_more(const struct plim_explain_input *input, int *ref_file, struct plim_diagnose *diagnose)
{
    input->when_quiet(diagnose, input->context);
    if (!input->path)
        return false; /* the pipe has ended */
    plim_system_sleep_ms(QUIET_MS);
    follow_name(input->path, ref_file);
    return true;
}

/* How many bytes are read at most. Of a file that is longer, the end is read: that is where the failure is. */
static uint64_t find_extent(const struct plim_explain_input *input, int file, struct plim_explain_extent *ret_extent)
{
    struct plim_file_status status;
    uint64_t at;
    if (input->is_follow)
        return UINT64_MAX;
    if (plim_system_status(file, &status) == 0 && status.kind == PLIM_KIND_FILE && plim_system_place(file, &at) == 0 &&
        status.bytes > at && status.bytes - at > input->max_bytes &&
        plim_system_move(file, status.bytes - input->max_bytes) == 0)
        ret_extent->n_bytes_before = status.bytes - input->max_bytes;
    return input->max_bytes;
}

/* The log has reached its limit: is there more? */
static bool has_more(const struct plim_explain_extent *extent, int file)
{
    char byte;
    size_t n = 0;
    return extent->n_bytes_before == 0 && plim_system_read(file, &byte, 1, &n) == 0 && n > 0;
}

static int read_all(const struct plim_explain_input *input, int *ref_file, char *buffer, struct plim_diagnose *diagnose,
                    struct plim_explain_extent *ret_extent, struct plim_error *reterr)
{
    bool is_first = true;
    for (uint64_t left = find_extent(input, *ref_file, ret_extent); left > 0;) {
        if (input->is_follow && !input->path && !plim_system_wait(*ref_file, QUIET_MS)) {
            input->when_quiet(diagnose, input->context); /* nothing came through the pipe for a while */
            plim_system_wait(*ref_file, -1);
        }
        size_t n = 0;
        const int error = plim_system_read(*ref_file, buffer, left < PIECE_BYTES ? (size_t)left : PIECE_BYTES, &n);
        if (error)
            return fail_errno(error, reterr);
        if (n == 0 && !(input->is_follow && wait_for_more(input, ref_file, diagnose)))
            return 0;
        if (is_first && n > 0 && !input->is_follow && plim_log_file_is_device(*ref_file))
            return plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "a device, not a log");
        const int result = is_first && n > 0 ? check_start(buffer, n, reterr) : 0;
        if (result < 0)
            return result;
        ret_extent->is_no_text = is_first && n > 0 && !is_text(buffer, n);
        if (ret_extent->is_no_text)
            return 0;
        is_first = is_first && n == 0;
        plim_diagnose_feed(diagnose, buffer, n);
        left -= n;
    }
    ret_extent->has_more = has_more(ret_extent, *ref_file);
    return 0;
}

int plim_explain_read(const struct plim_explain_input *input, struct plim_diagnose *diagnose,
                      struct plim_explain_extent *ret_extent, struct plim_error *reterr)
{
    int file = fileno(stdin);
    *ret_extent = (struct plim_explain_extent){ 0 };
    if (!input->path && plim_system_is_terminal(file))
        plim_print(stderr, "plimsoll: reading from the terminal; Ctrl-D ends\n");
    int error = input->path ? plim_system_open(input->path, PLIM_OPEN_WAIT, &file) : 0;
    if (error == ENOENT && input->is_follow) {
        plim_print(stderr, "plimsoll: %s is not there yet: waiting for it; Ctrl-C ends\n", input->path);
        for (; error == ENOENT; error = plim_system_open(input->path, PLIM_OPEN_WAIT, &file))
            plim_system_sleep_ms(QUIET_MS);
    }
    char *buffer = plim_alloc_unset(PIECE_BYTES, 1);
    int result;
    if (!buffer)
        result = plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "not enough memory");
    else if (error)
        result = fail_errno(error, reterr);
    else
        result = read_all(input, &file, buffer, diagnose, ret_extent, reterr);
    if (input->path && !error)
        plim_system_close(file);
    plim_free(buffer);
    if (result < 0)
        plim_error_where(reterr, input->path ? input->path : "standard input");
    return result;
}
