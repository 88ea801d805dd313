/* SPDX-License-Identifier: MIT */
#include "rehearse/end/said.h"

#include "diagnose/diagnose.h"
#include "diagnose/scan/patterns/pattern.h"
#include "vgpu/core/ledger.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOG_BYTES = 256 << 10 };

/* A request for memory on a card that failed, with its size; frameworks name the host's memory in other messages. */
static bool is_of_a_card(const struct plim_finding *finding)
{
    return finding->pattern->role == PLIM_PATTERN_ROLE_FAILURE && !finding->pattern->is_said &&
           !finding->is_recovered && finding->pattern->cause != PLIM_CAUSE_HOST_RAM &&
           finding->pattern->cause != PLIM_CAUSE_SHM && finding->pattern->cause != PLIM_CAUSE_NOT_OOM &&
           plim_number(&finding->numbers, PLIM_N_TRIED_BYTES) != PLIM_UNKNOWN;
}

static void take(const struct plim_diagnosis *diagnosis, struct plim_rehearsal_said *said)
{
    for (uint32_t i = 0; i < diagnosis->n_findings && !said->is_set; i++) {
        const struct plim_finding *finding = &diagnosis->findings[i];
        if (!is_of_a_card(finding))
            continue;
        said->is_set = true;
        said->framework = finding->framework;
        said->tried_bytes = (uint64_t)plim_number(&finding->numbers, PLIM_N_TRIED_BYTES);
        if (finding->n_evidence)
            snprintf(said->text, sizeof said->text, "%s", finding->evidence[0].text);
    }
}

static void feed_ledger(struct plim_diagnose *diagnose, const struct plim_ledger *ledger)
{
    const uint64_t n = atomic_load(&ledger->n_said), at = n % PLIM_LEDGER_SAID_BYTES;
    if (n > PLIM_LEDGER_SAID_BYTES)
        plim_diagnose_feed(diagnose, ledger->said + at, PLIM_LEDGER_SAID_BYTES - at);
    plim_diagnose_feed(diagnose, ledger->said, n > PLIM_LEDGER_SAID_BYTES ? at : n);
}

static void feed_log(struct plim_diagnose *diagnose, const char *path)
{
    char buffer[4096];
    struct stat status;
    ssize_t n;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
        if (status.st_size > LOG_BYTES)
            lseek(fd, -(off_t)LOG_BYTES, SEEK_END);
        while ((n = read(fd, buffer, sizeof buffer)) > 0)
            plim_diagnose_feed(diagnose, buffer, (size_t)n);
    }
    if (fd >= 0)
        close(fd);
}

/* The last traceback of Python, with those of the exceptions that led to it; NULL: there is none. */
static const char *last_traceback(const char *text)
{
    static const char first_line[] = "Traceback (most recent call last)", link[] = "above exception";
    const char *start = strstr(text, first_line), *last = start;
    for (const char *next; last && (next = strstr(last + 1, first_line)); last = next) {
        const char *linked = strstr(last, link);
        if (!linked || linked > next)
            start = next;
    }
    return start;
}

/* What ended a program that had gone on: an exception about memory that it did not catch? */
static bool has_ended_for_memory(struct plim_diagnose *diagnose, const struct plim_ledger *ledger)
{
    static char text[PLIM_LEDGER_SAID_BYTES + 1]; /* large; a process runs one rehearsal at a time */
    const uint64_t n = atomic_load(&ledger->n_said), at = n > PLIM_LEDGER_SAID_BYTES ? n % PLIM_LEDGER_SAID_BYTES : 0;
    struct plim_rehearsal_said said = { .is_set = false };
    memcpy(text, ledger->said + at, PLIM_LEDGER_SAID_BYTES - at);
    memcpy(text + PLIM_LEDGER_SAID_BYTES - at, ledger->said, at);
    const char *traceback = last_traceback(text);
    if (!traceback)
        return false;
    plim_diagnose_feed(diagnose, traceback, strlen(traceback));
    take(plim_diagnose_end(diagnose), &said);
    return said.is_set;
}

void plim_said_read(struct plim_rehearsal *rehearsal, const char *log)
{
    const bool is_asked = rehearsal->exit_code != 0 && (!rehearsal->oom.is_set || rehearsal->oom.has_gone_on);
    struct plim_diagnose *diagnose = is_asked ? plim_diagnose_new() : NULL;
    if (!diagnose)
        return;
    if (rehearsal->oom.is_set) {
        rehearsal->oom.has_gone_on = !has_ended_for_memory(diagnose, rehearsal->ledger);
        plim_diagnose_free(diagnose);
        return;
    }
    feed_ledger(diagnose, rehearsal->ledger);
    take(plim_diagnose_end(diagnose), &rehearsal->said);
    if (!rehearsal->said.is_set && log) {
        plim_diagnose_reset(diagnose);
        feed_log(diagnose, log);
        take(plim_diagnose_end(diagnose), &rehearsal->said);
    }
    plim_diagnose_free(diagnose);
}
