/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CARD_PROC_ENTRY_H
#define PLIMSOLL_CARD_PROC_ENTRY_H

/* What is remembered of a process from one look to the next, and the reading of files below /proc. */

#include "card/sample.h"

enum { PLIM_PROC_USERS = 16 };

struct plim_proc_reader {
    const char *root; /* before each path: "" or that of a tree */
    int64_t now_ms, now_unix_ms, uptime_ms;
    bool is_contained;
    struct {
        int64_t uid;
        char name[33];
    } user[PLIM_PROC_USERS];
    uint32_t n_users; /* asked for so far */
    /* The sockets that wait for connections, of the network namespace asked for last. */
    char network[64];
    int64_t network_ms; /* when that was; 0: never */
    uint64_t *listening;
    uint32_t n_listening;
};

enum plim_proc_text {
    PLIM_PROC_COMMAND,
    PLIM_PROC_PROGRAM,
    PLIM_PROC_FOLDER,
    PLIM_PROC_PARENT,
    PLIM_PROC_CONTAINER,
    PLIM_PROC_POD,
    PLIM_PROC_JOB,
    PLIM_PROC_UNIT,
    PLIM_PROC_LAUNCHER,
    PLIM_PROC_RUNTIME,
    PLIM_PROC_LOG,
    PLIM_PROC_MODEL, /* and the next PLIM_SAMPLE_MODELS - 1 */
    PLIM_PROC_TEXTS = PLIM_PROC_MODEL + PLIM_SAMPLE_MODELS,
};

/* A process that is remembered from one look to the next. All zero but for the pid in the beginning. */
struct plim_proc_entry {
    struct plim_sample_process process; /* its texts are those below, or "" */
    char *text[PLIM_PROC_TEXTS];
    int64_t facts_ms;    /* when all but its figures was read; 0: never */
    int64_t children_ms; /* when the processor time of its children was read; 0: never */
    uint64_t children_ticks;
    bool has_device; /* it has a card's device open, or a driver's library mapped */
    bool is_wanted;  /* in this look */
};

void plim_proc_entry_done(struct plim_proc_entry *entry);

/* "ROOT/proc/PID/NAME". */
enum { PLIM_PROC_PATH_BYTES = 4096 };
void plim_proc_path(const struct plim_proc_reader *reader, int64_t pid, const char *name,
                    char ret_path[PLIM_PROC_PATH_BYTES]);

/* The beginning of a file, with a NUL after it. Returns its length, or -1 - errno. */
long plim_proc_read_file(const char *path, char *buffer, size_t size);

int plim_proc_keep(struct plim_proc_entry *entry, enum plim_proc_text which, const char *text, size_t length);

/* The files that it has open and mapped: models, the log, devices, the runtime; sockets that wait for connections. */
int plim_proc_read_files(struct plim_proc_reader *reader, struct plim_proc_entry *entry);

/* True when one of these sockets, which the process has, waits for connections; -1 when that cannot be told. */
int8_t plim_proc_listens(struct plim_proc_reader *reader, int64_t pid, const uint64_t *socket, uint32_t n);

/* The processor time of its children and theirs, those that have ended too, in ticks; of the first of them only. */
uint64_t plim_proc_children_ticks(const struct plim_proc_reader *reader, int64_t pid, uint64_t waited_ticks);

/* The models that a command line names; its words end with a NUL each. */
int plim_proc_read_words(struct plim_proc_entry *entry, const char *words, size_t length);

#endif
