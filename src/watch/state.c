/* SPDX-License-Identifier: MIT */
/*
 * The state file: a line that names it, then a line of numbers for each process. It is small, and read as a whole: a
 * fault anywhere is a file that somebody else wrote or that broke, and then nothing in it is used.
 */
#include "watch/records.h"

#include "base/limits.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char head[] = "plimsoll seen 1\n";

enum { N_NUMBERS = 11, LINE_BYTES = N_NUMBERS * 21, PATH_BYTES = 1100 };

/* --- reading --- */

static bool read_number(const char **p, const char *end, int64_t *ret_number)
{
    const char *start = *p;
    const bool is_negative = *p < end && **p == '-';
    int64_t number = 0;
    *p += is_negative;
    for (; *p < end && **p >= '0' && **p <= '9'; ++*p)
        if (__builtin_mul_overflow(number, 10, &number) || __builtin_add_overflow(number, **p - '0', &number))
            return false;
    *ret_number = is_negative ? -number : number;
    return *p - start > is_negative;
}

static bool read_line(const char **p, const char *end, int64_t numbers[N_NUMBERS])
{
    for (int i = 0; i < N_NUMBERS; i++) {
        if (!read_number(p, end, &numbers[i]) || *p == end || **p != (i + 1 < N_NUMBERS ? ' ' : '\n'))
            return false;
        ++*p;
    }
    return true;
}

/* Numbers that plim_records_save() may have written. */
static bool fill(const int64_t n[N_NUMBERS], struct plim_record *r)
{
    *r = (struct plim_record){ .pid = n[0],
                               .start_ticks = (uint64_t)n[1],
                               .started_unix_s = n[2],
                               .seen_ms = n[3],
                               .cpu_ms = n[4],
                               .bytes = n[5],
                               .gpu_busy_ms = n[6],
                               .idle_since_ms = n[7],
                               .is_idle_at_least = n[8] != 0,
                               .idle_ppm = n[9] < 0 ? -1 : (int32_t)(n[9] & INT32_MAX),
                               .gone_since_ms = n[10] };
    return n[0] > 0 && n[1] >= 0 && n[2] >= -1 && n[2] < INT64_MAX / 1000 && n[3] > 0 && n[4] >= -1 && n[5] >= -1 &&
           n[6] >= -1 && n[7] >= 0 && n[7] <= n[3] && (n[7] == 0 || n[7] / 1000 >= n[2] - 1) && n[8] >= 0 &&
           n[8] <= 1 && n[9] >= -1 && n[9] <= 1000000 && n[10] >= 0;
}

bool plim_records_read(struct plim_records *records, const char *text, size_t length)
{
    const char *p = text + sizeof head - 1, *end = text + length;
    int64_t numbers[N_NUMBERS];
    struct plim_record record;
    bool is_good = length >= sizeof head - 1 && !memcmp(text, head, sizeof head - 1);
    while (is_good && p < end) {
        is_good = read_line(&p, end, numbers) && fill(numbers, &record) && records->n < PLIM_MAX_SEEN_PROCESSES;
        if (is_good) {
            struct plim_record *to = plim_records_get(records, record.pid, record.start_ticks, record.started_unix_s);
            is_good = to != NULL;
            if (to)
                *to = record;
        }
    }
    plim_records_settle(records, 0, 0);
    for (size_t i = 1; i < records->n && is_good; i++)
        is_good = records->at[i].pid != records->at[i - 1].pid ||
                  records->at[i].start_ticks != records->at[i - 1].start_ticks;
    if (!is_good)
        plim_records_done(records);
    return is_good;
}

/* A file of this user that no other may write. */
static bool is_own(int fd, size_t *ret_length)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
        (status.st_mode & (S_IWGRP | S_IWOTH)) || status.st_size > PLIM_MAX_SEEN_BYTES)
        return false;
    *ret_length = (size_t)status.st_size;
    return true;
}

void plim_records_load(struct plim_records *records, const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    size_t length;
    if (fd < 0)
        return;
    if (is_own(fd, &length)) {
        char *text = plim_alloc_unset(length + 1, 1);
        if (text && read(fd, text, length) == (ssize_t)length)
            plim_records_read(records, text, length);
        plim_free(text);
    }
    close(fd);
}

/* --- writing --- */

static size_t write_line(const struct plim_record *r, char line[LINE_BYTES + 1])
{
    return (size_t)snprintf(line, LINE_BYTES + 1,
                            "%" PRId64 " %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
                            " %" PRId64 " %d %d %" PRId64 "\n",
                            r->pid, r->start_ticks, r->started_unix_s, r->seen_ms, r->cpu_ms, r->bytes, r->gpu_busy_ms,
                            r->idle_since_ms, r->is_idle_at_least, (int)r->idle_ppm, r->gone_since_ms);
}

static bool write_all(int fd, const char *text, size_t n)
{
    for (size_t done = 0; done < n;) {
        const ssize_t written = write(fd, text + done, n - done);
        if (written < 0 && errno != EINTR)
            return false;
        done += written > 0 ? (size_t)written : 0;
    }
    return true;
}

/* All of the file in memory; NULL: no memory. */
static char *text_of(const struct plim_records *records, size_t *ret_length)
{
    char *text = plim_alloc_unset(sizeof head + records->n * LINE_BYTES, 1);
    size_t length = sizeof head - 1;
    if (!text)
        return NULL;
    memcpy(text, head, length);
    for (size_t i = 0, n = 0; i < records->n && n < PLIM_MAX_SEEN_PROCESSES; i++)
        if (records->at[i].pid > 0 && records->at[i].seen_ms > 0) {
            length += write_line(&records->at[i], text + length);
            n++;
        }
    *ret_length = length;
    return text;
}

int plim_records_save(const struct plim_records *records, const char *path, struct plim_error *reterr)
{
    char part[PATH_BYTES];
    size_t length;
    const int n = snprintf(part, sizeof part, "%s.XXXXXX", path);
    if (n < 0 || (size_t)n >= sizeof part)
        return plim_fail_errno(reterr, path, "cannot write", ENAMETOOLONG);
    char *text = text_of(records, &length);
    if (!text)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    const int fd = mkstemp(part); /* mode 0600 */
    bool is_written = fd >= 0 && write_all(fd, text, length);
    if (fd >= 0)
        is_written = close(fd) == 0 && is_written;
    int result = 0;
    if (!is_written || rename(part, path) != 0) {
        result = plim_fail_errno(reterr, path, "cannot write", errno);
        if (fd >= 0)
            unlink(part);
    }
    plim_free(text);
    return result;
}
