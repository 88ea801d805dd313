/* SPDX-License-Identifier: MIT */
#include "card/proc/stat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The fields after the name, in their order from the state on (proc_pid_stat(5), where the state is number 3). */
enum field {
    FIELD_PARENT = 1,
    FIELD_GROUP = 2,
    FIELD_SESSION = 3,
    FIELD_TERMINAL = 4,
    FIELD_USER_TICKS = 11,
    FIELD_SYSTEM_TICKS = 12,
    FIELD_WAITED_USER_TICKS = 13,
    FIELD_WAITED_SYSTEM_TICKS = 14,
    FIELD_THREADS = 17,
    FIELD_START = 19,
    FIELD_RSS = 21,
    N_FIELDS = 22,
};

static bool next_number(const char **text, int64_t *ret_number)
{
    char *end;
    errno = 0;
    const long long number = strtoll(*text, &end, 10);
    if (end == *text || errno)
        return false;
    *ret_number = number;
    *text = end;
    return true;
}

bool plim_proc_parse_stat(const char *text, struct plim_proc_stat *ret_stat)
{
    const char *open = strchr(text, '('), *close = strrchr(text, ')');
    int64_t field[N_FIELDS] = { 0 };
    if (!open || !close || close < open || close[1] != ' ' || !close[2] || close[3] != ' ')
        return false;
    const char *at = close + 3;
    for (int i = 1; i < N_FIELDS; i++)
        if (!next_number(&at, &field[i]))
            return false;
    const int64_t waited_user = field[FIELD_WAITED_USER_TICKS], waited_system = field[FIELD_WAITED_SYSTEM_TICKS];
    if (field[FIELD_USER_TICKS] < 0 || field[FIELD_SYSTEM_TICKS] < 0 || field[FIELD_START] < 0)
        return false;
    *ret_stat = (struct plim_proc_stat){
        .state = close[2],
        .parent = field[FIELD_PARENT],
        .group = field[FIELD_GROUP],
        .session = field[FIELD_SESSION],
        .has_terminal = field[FIELD_TERMINAL] != 0,
        .n_threads = field[FIELD_THREADS] > 0 && field[FIELD_THREADS] <= INT32_MAX ? (int32_t)field[FIELD_THREADS] : -1,
        .cpu_ticks = (uint64_t)field[FIELD_USER_TICKS] + (uint64_t)field[FIELD_SYSTEM_TICKS],
        .waited_ticks =
            (waited_user > 0 ? (uint64_t)waited_user : 0) + (waited_system > 0 ? (uint64_t)waited_system : 0),
        .start_ticks = (uint64_t)field[FIELD_START],
        .rss_pages = field[FIELD_RSS],
    };
    size_t length = (size_t)(close - open - 1);
    length = length < sizeof ret_stat->name ? length : sizeof ret_stat->name - 1;
    memcpy(ret_stat->name, open + 1, length);
    return true;
}

/* What follows "\nNAME:" in the text; NULL without such a line. */
static const char *line_of(const char *text, const char *name)
{
    const size_t length = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!strncmp(line, name, length) && line[length] == ':')
            return line + length + 1;
        if (!*line)
            return NULL;
    }
    return NULL;
}

/* The numbers of a line, from `text` to its end: their number, and the one of this index or the last. */
static int number_in_line(const char *text, int index, int64_t *ret_number)
{
    int n = 0;
    while (*text && *text != '\n') {
        if (*text == ' ' || *text == '\t') {
            text++;
            continue;
        }
        int64_t number;
        if (!next_number(&text, &number))
            break;
        if (n <= index)
            *ret_number = number;
        n++;
    }
    return n;
}

void plim_proc_parse_status(const char *text, struct plim_proc_status *ret_status)
{
    const char *uids = line_of(text, "Uid"), *pids = line_of(text, "NSpid"), *ignored = line_of(text, "SigIgn");
    int64_t uid = -1, pid = -1;
    /* namespaces nest 32 deep (MAX_PID_NS_LEVEL, include/linux/pid_namespace.h); SIGHUP is the first signal */
    enum { EFFECTIVE = 1, LAST = 32, HANGUP = 1 << 0 };
    const bool has_uid = uids && number_in_line(uids, EFFECTIVE, &uid) > EFFECTIVE;
    const bool is_inside = pids && number_in_line(pids, LAST, &pid) > 1;
    *ret_status = (struct plim_proc_status){
        .uid = has_uid ? uid : -1,
        .inner_pid = is_inside ? pid : -1,
        .ignores_hangup = ignored && (strtoull(ignored, NULL, 16) & HANGUP),
    };
}
