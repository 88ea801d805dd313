/* SPDX-License-Identifier: MIT */
#include "card/proc/process.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/system.h"
#include "card/proc/group.h"
#include "card/proc/stat.h"
#include "plimsoll/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHILDREN_AGAIN_MS = 5000,
    FACTS_AGAIN_MS = 10000,  /* a young process opens its model, names itself, and changes its folder */
    FACTS_SELDOM_MS = 60000, /* an older one seldom does */
    YOUNG_MS = 10 * 60 * 1000,
    TREE_PAGE_BYTES = 4096, /* of the machine that a tree of files is from */
    STATUS_BYTES = 1 << 15, /* has 1.5 KB, and up to 11 bytes for each group of the user */
    ENVIRONMENT_BYTES = 1 << 16,
    PASSWORD_FILE_BYTES = 1 << 16,
};

/* The number of the pid namespace that the machine starts with (PROC_PID_INIT_INO, include/linux/proc_ns.h). */
static const char initial_namespace[] = "pid:[4026531836]";

/* --- files --- */

static long read_of(const struct plim_proc_reader *reader, int64_t pid, const char *name, char *buffer, size_t size)
{
    char path[PLIM_PROC_PATH_BYTES];
    plim_proc_path(reader, pid, name, path);
    return plim_proc_read_file(path, buffer, size);
}

/* --- looks --- */

void plim_proc_open(const char *root, struct plim_proc_reader *ret_reader)
{
    char path[PLIM_PROC_PATH_BYTES], target[64];
    *ret_reader = (struct plim_proc_reader){ .root = root ? root : "" };
    snprintf(path, sizeof path, "%s/proc/self/ns/pid", ret_reader->root);
    const bool is_told = plim_system_link(path, target, sizeof target) == 0;
    ret_reader->is_contained = is_told && strcmp(target, initial_namespace) != 0;
    plim_proc_begin(ret_reader);
}

void plim_proc_close(struct plim_proc_reader *reader)
{
    plim_free(reader->listening);
    reader->listening = NULL;
}

void plim_proc_begin(struct plim_proc_reader *reader)
{
    char path[PLIM_PROC_PATH_BYTES], text[64];
    reader->now_ms = (int64_t)(plim_system_now_us() / 1000);
    reader->now_unix_ms = plim_system_wall_ms();
    snprintf(path, sizeof path, "%s/proc/uptime", reader->root);
    const bool is_told = plim_proc_read_file(path, text, sizeof text) > 0;
    const double uptime_s = is_told ? strtod(text, NULL) : 0;
    const double most_s = 1e10; /* three hundred years */
    reader->uptime_ms = uptime_s > 0 && uptime_s < most_s ? (int64_t)(uptime_s * 1000) : -1;
}

/* --- texts --- */

static int keep_text(struct plim_proc_entry *entry, enum plim_proc_text which, const char *text)
{
    return plim_proc_keep(entry, which, text, strlen(text));
}

static const char *text_of(const struct plim_proc_entry *entry, enum plim_proc_text which)
{
    return entry->text[which] ? entry->text[which] : "";
}

/* Let the process have the texts of its entry. */
static void publish(struct plim_proc_entry *entry)
{
    struct plim_sample_process *process = &entry->process;
    process->command = text_of(entry, PLIM_PROC_COMMAND);
    process->program = text_of(entry, PLIM_PROC_PROGRAM);
    process->folder = text_of(entry, PLIM_PROC_FOLDER);
    process->parent_program = text_of(entry, PLIM_PROC_PARENT);
    process->container = text_of(entry, PLIM_PROC_CONTAINER);
    process->pod = text_of(entry, PLIM_PROC_POD);
    process->slurm_job = text_of(entry, PLIM_PROC_JOB);
    process->unit = text_of(entry, PLIM_PROC_UNIT);
    process->launcher = text_of(entry, PLIM_PROC_LAUNCHER);
    process->runtime = text_of(entry, PLIM_PROC_RUNTIME);
    process->log = text_of(entry, PLIM_PROC_LOG);
    for (int i = 0; i < PLIM_SAMPLE_MODELS; i++)
        process->models[i] = text_of(entry, (enum plim_proc_text)(PLIM_PROC_MODEL + i));
}

/* --- users --- */

/* From the tree's own list of users; a line is "ada:x:1000:1000:...". */
static void find_user_in(const char *root, int64_t uid, char *name, size_t size)
{
    char path[PLIM_PROC_PATH_BYTES];
    char *text = plim_alloc_unset(PASSWORD_FILE_BYTES, 1);
    snprintf(path, sizeof path, "%s/etc/passwd", root);
    if (!text || plim_proc_read_file(path, text, PASSWORD_FILE_BYTES) < 0) {
        plim_free(text);
        return;
    }
    for (char *rest, *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *first = strchr(line, ':'), *second = first ? strchr(first + 1, ':') : NULL;
        if (second && second[1] >= '0' && second[1] <= '9' && strtoll(second + 1, NULL, 10) == uid) {
            snprintf(name, size, "%.*s", (int)(first - line), line);
            break;
        }
    }
    plim_free(text);
}

/* The number of a user that the system does not know. */
static void read_user(struct plim_proc_reader *reader, int64_t uid, char name[33])
{
    const uint32_t n_known = reader->n_users < PLIM_PROC_USERS ? reader->n_users : PLIM_PROC_USERS;
    name[0] = '\0';
    for (uint32_t i = 0; i < n_known; i++)
        if (reader->user[i].uid == uid) {
            memcpy(name, reader->user[i].name, sizeof reader->user[i].name);
            return;
        }
    if (*reader->root)
        find_user_in(reader->root, uid, name, sizeof reader->user->name);
    else if (plim_system_user(uid, name, sizeof reader->user->name) != 0)
        name[0] = '\0';
    if (!name[0])
        snprintf(name, sizeof reader->user->name, "%" PRId64, uid);
    const uint32_t slot = reader->n_users++ % PLIM_PROC_USERS;
    reader->user[slot].uid = uid;
    memcpy(reader->user[slot].name, name, sizeof reader->user[slot].name);
}

/* --- one process --- */

static int64_t milliseconds(uint64_t ticks)
{
    return ticks < INT64_MAX / 1000 ? (int64_t)ticks * (1000 / PLIM_TICKS_PER_S) : -1;
}

static void read_children(const struct plim_proc_reader *reader, const struct plim_proc_stat *stat,
                          struct plim_proc_entry *entry)
{
    if (entry->children_ms == 0 || reader->now_ms - entry->children_ms >= CHILDREN_AGAIN_MS) {
        entry->children_ticks = plim_proc_children_ticks(reader, entry->process.pid, stat->waited_ticks);
        entry->children_ms = reader->now_ms;
    }
    entry->process.cpu_ms = milliseconds(stat->cpu_ticks + entry->children_ticks);
}

static void read_figures(const struct plim_proc_reader *reader, const struct plim_proc_stat *stat,
                         struct plim_sample_process *process)
{
    const int64_t page_bytes = *reader->root ? TREE_PAGE_BYTES : (int64_t)plim_system_page_bytes();
    const int64_t most_pages = INT64_MAX / 65536 / page_bytes;
    process->state = stat->state;
    process->session = stat->session;
    process->group = stat->group;
    process->has_terminal = stat->has_terminal;
    process->n_threads = stat->n_threads;
    process->start_ticks = stat->start_ticks;
    process->rss_bytes = stat->rss_pages >= 0 && stat->rss_pages < most_pages ? stat->rss_pages * page_bytes : -1;
    process->started_unix_s = -1;
    if (reader->uptime_ms >= 0 && stat->start_ticks < INT64_MAX / 1000) {
        const int64_t age_ms = reader->uptime_ms - (int64_t)stat->start_ticks * (1000 / PLIM_TICKS_PER_S);
        process->started_unix_s = (reader->now_unix_ms - (age_ms > 0 ? age_ms : 0)) / 1000;
    }
}

static int read_parent(const struct plim_proc_reader *reader, const struct plim_proc_stat *stat,
                       struct plim_proc_entry *entry)
{
    char name[64] = "";
    if (entry->process.parent == stat->parent && entry->text[PLIM_PROC_PARENT])
        return 0;
    entry->process.parent = stat->parent;
    if (stat->parent > 0 && read_of(reader, stat->parent, "comm", name, sizeof name) > 0)
        name[strcspn(name, "\n")] = '\0';
    return keep_text(entry, PLIM_PROC_PARENT, name);
}

/* The number of a session is not given away while a process is in it (kernel/pid.c, __change_pid()). */
static bool has_lost_leader(const struct plim_proc_reader *reader, const struct plim_proc_stat *stat)
{
    char text[1024];
    struct plim_proc_stat leader;
    if (stat->session <= 0)
        return false;
    return read_of(reader, stat->session, "stat", text, sizeof text) <= 0 || !plim_proc_parse_stat(text, &leader) ||
           leader.state == 'Z';
}

static int read_command(const struct plim_proc_reader *reader, const struct plim_proc_stat *stat,
                        struct plim_proc_entry *entry)
{
    char words[PLIM_MAX_COMMAND_BYTES];
    long length = read_of(reader, entry->process.pid, "cmdline", words, sizeof words);
    if (length <= 0) {
        const int n = snprintf(words, sizeof words, "[%s]", stat->name);
        return plim_proc_keep(entry, PLIM_PROC_COMMAND, words, (size_t)n);
    }
    int result = plim_proc_read_words(entry, words, (size_t)length);
    while (length > 0 && (words[length - 1] == '\0' || words[length - 1] == ' '))
        length--;
    for (long i = 0; i < length; i++)
        words[i] = words[i] ? words[i] : ' ';
    return result ? result : plim_proc_keep(entry, PLIM_PROC_COMMAND, words, (size_t)length);
}

static int read_program(const struct plim_proc_reader *reader, const struct plim_proc_stat *stat,
                        struct plim_proc_entry *entry)
{
    char path[PLIM_PROC_PATH_BYTES], target[PLIM_PROC_PATH_BYTES];
    plim_proc_path(reader, entry->process.pid, "exe", path);
    if (plim_system_link(path, target, sizeof target) != 0)
        return keep_text(entry, PLIM_PROC_PROGRAM, stat->name);
    const char *slash = strrchr(target, '/'), *name = slash ? slash + 1 : target;
    const char *deleted = strstr(name, " (deleted)"); /* the package was upgraded while it ran */
    return plim_proc_keep(entry, PLIM_PROC_PROGRAM, name, deleted ? (size_t)(deleted - name) : strlen(name));
}

static int read_folder(const struct plim_proc_reader *reader, struct plim_proc_entry *entry)
{
    char path[PLIM_PROC_PATH_BYTES], target[PLIM_PROC_PATH_BYTES];
    plim_proc_path(reader, entry->process.pid, "cwd", path);
    return keep_text(entry, PLIM_PROC_FOLDER, plim_system_link(path, target, sizeof target) == 0 ? target : "");
}

static int read_groups(const struct plim_proc_reader *reader, struct plim_proc_entry *entry)
{
    char text[PLIM_MAX_COMMAND_BYTES];
    struct plim_proc_group group = { 0 };
    if (read_of(reader, entry->process.pid, "cgroup", text, sizeof text) > 0)
        plim_proc_parse_group(text, &group);
    entry->process.is_container_gone = group.is_gone && (group.container[0] || group.pod[0]);
    int result = keep_text(entry, PLIM_PROC_CONTAINER, group.container);
    result = result ? result : keep_text(entry, PLIM_PROC_POD, group.pod);
    result = result ? result : keep_text(entry, PLIM_PROC_JOB, group.slurm_job);
    return result ? result : keep_text(entry, PLIM_PROC_UNIT, group.unit);
}

/* Launchers by a variable that they set (torch/distributed/elastic/agent, Open MPI's orted, ipykernel's parentpoller).
 */
static int read_launcher(const struct plim_proc_reader *reader, struct plim_proc_entry *entry)
{
    static const struct {
        const char *variable, *launcher;
    } known[] = {
        { "TORCHELASTIC_RUN_ID=", "torchrun" },
        { "OMPI_COMM_WORLD_RANK=", "mpirun" },
        { "JPY_PARENT_PID=", "jupyter" },
    };
    char text[ENVIRONMENT_BYTES];
    const long length = read_of(reader, entry->process.pid, "environ", text, sizeof text);
    for (long at = 0; at < length; at += (long)strlen(text + at) + 1)
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (!strncmp(text + at, known[i].variable, strlen(known[i].variable)))
                return keep_text(entry, PLIM_PROC_LAUNCHER, known[i].launcher);
    return keep_text(entry, PLIM_PROC_LAUNCHER, "");
}

static void read_owner(struct plim_proc_reader *reader, struct plim_sample_process *process)
{
    char text[STATUS_BYTES];
    struct plim_proc_status status = { .uid = -1, .inner_pid = -1 };
    if (read_of(reader, process->pid, "status", text, sizeof text) > 0)
        plim_proc_parse_status(text, &status);
    process->inner_pid = status.inner_pid;
    process->uid = status.uid;
    process->ignores_hangup = status.ignores_hangup;
    process->user[0] = '\0';
    if (status.uid >= 0)
        read_user(reader, status.uid, process->user);
}

/* All that seldom changes. */
static int read_facts(struct plim_proc_reader *reader, const struct plim_proc_stat *stat, struct plim_proc_entry *entry)
{
    read_owner(reader, &entry->process);
    entry->process.is_session_left = has_lost_leader(reader, stat);
    entry->process.n_models = 0;
    entry->process.log_written_unix_s = -1;
    plim_free(entry->text[PLIM_PROC_LOG]);
    entry->text[PLIM_PROC_LOG] = NULL;
    int result = plim_proc_read_files(reader, entry); /* before the command line: an open file is surer than a name */
    result = result ? result : read_command(reader, stat, entry);
    result = result ? result : read_program(reader, stat, entry);
    result = result ? result : read_folder(reader, entry);
    result = result ? result : read_groups(reader, entry);
    result = result ? result : read_launcher(reader, entry);
    entry->facts_ms = reader->now_ms;
    return result;
}

static void forget(struct plim_proc_entry *entry)
{
    const int64_t pid = entry->process.pid;
    const bool is_wanted = entry->is_wanted;
    plim_proc_entry_done(entry);
    entry->process = (struct plim_sample_process){
        .pid = pid,
        .inner_pid = -1,
        .parent = -1,
        .started_unix_s = -1,
        .session = -1,
        .group = -1,
        .uid = -1,
        .cpu_ms = -1,
        .rss_bytes = -1,
        .log_written_unix_s = -1,
        .n_threads = -1,
        .listens = -1,
    };
    entry->is_wanted = is_wanted;
}

/* A process that has no folder below /proc: it has ended, or it cannot be seen from here. */
static void mark_absent(const struct plim_proc_reader *reader, struct plim_proc_entry *entry)
{
    /* /proc may be mounted so that it hides other users' processes, and not every system has one */
    const bool is_ended = *reader->root || plim_system_has_process(entry->process.pid) == ESRCH;
    forget(entry);
    entry->process.is_outside = reader->is_contained;
    entry->process.is_gone = !reader->is_contained && is_ended;
}

int plim_proc_read(struct plim_proc_reader *reader, struct plim_proc_entry *entry)
{
    char text[1024];
    struct plim_proc_stat stat;
    int result = 0;
    if (read_of(reader, entry->process.pid, "stat", text, sizeof text) <= 0 || !plim_proc_parse_stat(text, &stat)) {
        mark_absent(reader, entry);
        publish(entry);
        return 0;
    }
    if (entry->facts_ms == 0 || stat.start_ticks != entry->process.start_ticks || entry->process.is_outside)
        forget(entry); /* another process */
    read_figures(reader, &stat, &entry->process);
    read_children(reader, &stat, entry);
    result = read_parent(reader, &stat, entry);
    const int64_t age_ms = reader->now_unix_ms - entry->process.started_unix_s * 1000;
    const int64_t again_ms = age_ms < YOUNG_MS ? FACTS_AGAIN_MS : FACTS_SELDOM_MS;
    if (result == 0 && (entry->facts_ms == 0 || reader->now_ms - entry->facts_ms >= again_ms))
        result = read_facts(reader, &stat, entry);
    if (reader->is_contained && !entry->has_device) {
        /* the driver may have said the pid of a process outside, and this is another of the same number */
        forget(entry);
        entry->process.is_outside = true;
    }
    publish(entry);
    return result;
}
