/* SPDX-License-Identifier: MIT */
/*
 * The rules, in order; the first that speaks decides. "Yes" needs a process that does nothing and a reason why nobody
 * waits for it; what could speak against that makes it "unknown".
 */
#include "watch/stale.h"

#include "base/text.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    NAME_CHARACTERS = 32,
    ENDING_MS = 5000, /* a driver takes that long to clear up after a process at most, in the cases seen */
    LATER_RUN_S = 60, /* processes of one launch start within seconds of each other */
};

static const struct plim_sample_process *process_of(const struct plim_stale_case *c)
{
    return &c->sample->process[c->process];
}

static bool say(struct plim_stale_verdict *v, enum plim_stale stale, enum plim_stale_reason reason) PLIM_MUST_CHECK;
static bool say(struct plim_stale_verdict *v, enum plim_stale stale, enum plim_stale_reason reason)
{
    v->stale = stale;
    v->reason = reason;
    return true;
}

#define WHY(v, ...) snprintf((v)->why, sizeof(v)->why, __VA_ARGS__)

/* "idle for 3 h", "idle for at least 12 min" */
static const char *idle_text(const struct plim_watch_activity *a, char buffer[64])
{
    char span[PLIM_SPAN_TEXT_BYTES];
    snprintf(buffer, 64, "idle for %s%s", a->is_idle_at_least ? "at least " : "", plim_span_text(span, a->idle_s));
    return buffer;
}

static bool is_idle(const struct plim_stale_case *c, uint32_t process)
{
    const struct plim_watch_activity *a = &c->activities[process];
    return a->idle_s >= c->idle_after_s && !a->is_busy;
}

/* Known to have worked since then: what was not watched for as long may have been idle before. */
static bool is_active(const struct plim_stale_case *c, uint32_t process)
{
    const struct plim_watch_activity *a = &c->activities[process];
    return a->is_busy || (a->idle_s >= 0 && !a->is_idle_at_least && a->idle_s < c->idle_after_s);
}

/* --- what is no working process --- */

static bool judge_outside(const struct plim_stale_case *c, struct plim_stale_verdict *v)
{
    const struct plim_sample_process *p = process_of(c);
    if (!p->is_outside && !(p->is_gone && c->sample->is_contained))
        return false;
    WHY(v, "cannot be seen from here: a process of the host or of another container");
    return say(v, PLIM_STALE_UNKNOWN, PLIM_REASON_OUTSIDE);
}

static bool judge_gone(const struct plim_stale_case *c, struct plim_stale_verdict *v)
{
    char span[PLIM_SPAN_TEXT_BYTES];
    if (!process_of(c)->is_gone)
        return false;
    if (c->gone_ms >= ENDING_MS)
        WHY(v,
            "no process left to end: ended at least %s ago, its memory is still held; 'sudo fuser -v /dev/nvidia*' "
            "shows what shares it, else only a reset of the card helps",
            plim_span_text(span, c->gone_ms / 1000));
    else
        WHY(v, "no process left to end: it has ended; if its memory does not come back within seconds, another process "
               "shares it ('sudo fuser -v /dev/nvidia*') or the card has to be reset");
    return say(v, PLIM_STALE_YES, PLIM_REASON_GONE);
}

/* The state of a process is that of its main thread. While others run it may be at work, or stuck while it ends. */
static bool judge_defunct(const struct plim_stale_case *c, struct plim_stale_verdict *v)
{
    const struct plim_sample_process *p = process_of(c);
    if (p->state != 'Z' && p->state != 'X')
        return false;
    if (p->n_threads > 1) {
        WHY(v, "defunct: its main thread has ended, and others of its threads hold the memory: 'kill -9 %" PRId64 "'",
            p->pid);
        return is_idle(c, c->process) && say(v, PLIM_STALE_YES, PLIM_REASON_DEFUNCT);
    }
    WHY(v, "defunct: it has ended, and its parent %.*s%s%" PRId64 "%s has not taken note; look at that one",
        NAME_CHARACTERS, p->parent_program, *p->parent_program ? " (" : "", p->parent, *p->parent_program ? ")" : "");
    return say(v, PLIM_STALE_YES, PLIM_REASON_DEFUNCT);
}

static bool judge_system(const struct plim_stale_case *c, struct plim_stale_verdict *v)
{
    const enum plim_watch_role role = c->programs[c->process].role;
    if (role == PLIM_ROLE_MPS) {
        WHY(v, "the server of NVIDIA's multi-process service: its clients need it");
        return say(v, PLIM_STALE_NO, PLIM_REASON_MPS);
    }
    if (role != PLIM_ROLE_DISPLAY && c->contexts != PLIM_CONTEXT_GRAPHICS)
        return false;
    WHY(v, "%s", role == PLIM_ROLE_DISPLAY ? "part of the desktop" : "draws on the screen");
    return say(v, PLIM_STALE_NO, PLIM_REASON_DISPLAY);
}

static bool judge_stopped(const struct plim_stale_case *c, struct plim_stale_verdict *v)
{
    const struct plim_sample_process *p = process_of(c);
    if (p->state != 'T' && p->state != 't')
        return false;
    if (p->state == 't')
        WHY(v, "stopped by a debugger");
    else
        WHY(v, "stopped, as by Ctrl-Z: 'kill -CONT %" PRId64 "' or 'fg' in its terminal continues it", p->pid);
    return say(v, PLIM_STALE_UNKNOWN, PLIM_REASON_STOPPED);
}

/* --- what is at work, or waits for work --- */

static bool judge_active(const struct plim_stale_case *c, struct plim_stale_verdict *v)
{
    const struct plim_watch_activity *a = &c->activities[c->process];
    char span[PLIM_SPAN_TEXT_BYTES];
    if (!is_active(c, c->process))
        return false;
    if (a->is_busy || a->idle_s == 0)
        WHY(v, "active now");
    else
        WHY(v, "active %s ago", plim_span_text(span, a->idle_s));
    return say(v, PLIM_STALE_NO, PLIM_REASON_ACTIVE);
}

bool plim_stale_is_reaper(const char *program)
{
    return plim_text_has_word("systemd init tini tini-static dumb-init docker-init catatonit s6-svscan runit", program);
}

static bool is_contained(const struct plim_stale_case *c)
{
    const struct plim_sample_process *p = process_of(c);
    return c->sample->is_contained || *p->container || *p->pod;
}

/* Inside a container process 1 can be the program itself, whose children are no orphans. */
static bool has_lost_parent(const struct plim_stale_case *c)
{
    const struct plim_sample_process *p = process_of(c);
    if (*p->parent_program)
        return plim_stale_is_reaper(p->parent_program);
    return p->parent == 1 && !is_contained(c);
}

/*
 * Launched processes do their work together with the launcher, and are of no use without it. A launcher is known by
 * what it sets in the environment, which whatever a notebook starts has as well: of that only the kernel counts.
 */
static bool is_worker(const struct plim_stale_case *c)
{
    const char *launcher = process_of(c)->launcher;
    return c->programs[c->process].role == PLIM_ROLE_WORKER || (*launcher && strcmp(launcher, "jupyter") != 0);
}

/*
 * Units that run what somebody has started by hand: sessions, terminals, timers of users. Everything in another
 * service was put there by the administrator or by the user.
 */
static bool is_service(const char *unit)
{
    static const char *const hosts[] = { "user@",
                                         "ssh",
                                         "gnome-terminal-server",
                                         "konsole",
                                         "xfce4-terminal",
                                         "tmux",
                                         "cron",
                                         "getty@",
                                         "atd",
                                         "serial-getty@",
                                         "anacron",
                                         "gdm",
                                         "sddm",
                                         "lightdm",
                                         "xrdp",
                                         "jupyter",
                                         "slurm",
                                         "code-server",
                                         "screen",
                                         "terminal" };
    const size_t n = strlen(unit), end = sizeof ".service" - 1;
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        if (!strncmp(unit, hosts[i], strlen(hosts[i])))
            return false;
    return n > end && !strcmp(unit + n - end, ".service");
}

static bool judge_container(const struct plim_stale_case *c, struct plim_stale_verdict *v)
{
    const struct plim_sample_process *p = process_of(c);
    char idle[64];
    if (!p->is_container_gone || !is_idle(c, c->process))
        return false;
    WHY(v, "its container%s%.*s is gone, and it has been %s", *p->container ? " " : "", NAME_CHARACTERS, p->container,
        idle_text(&c->activities[c->process], idle));
    return say(v, PLIM_STALE_YES, PLIM_REASON_CONTAINER_GONE);
}

static bool judge_server(const struct plim_stale_case *c, struct plim_stale_verdict *v)
{
    const struct plim_sample_process *p = process_of(c);
    if (c->programs[c->process].role == PLIM_ROLE_SERVER) {
        WHY(v, "a server: it waits for requests");
        return say(v, PLIM_STALE_NO, PLIM_REASON_SERVER);
    }
    if (c->programs[c->process].role == PLIM_ROLE_WORKER && *p->parent_program && !has_lost_parent(c)) {
        WHY(v, "works for %.*s (%" PRId64 "), which is there", NAME_CHARACTERS, p->parent_program, p->parent);
        return say(v, PLIM_STALE_NO, PLIM_REASON_SERVER);
    }
    if (is_service(p->unit)) {
        WHY(v, "of the service %.64s", p->unit);
        return say(v, PLIM_STALE_NO, PLIM_REASON_SERVICE);
    }
    return false;
}

static bool judge_unseen(const struct plim_stale_case *c, struct plim_stale_verdict *v)
{
    const struct plim_watch_activity *a = &c->activities[c->process];
    char span[PLIM_SPAN_TEXT_BYTES], limit[PLIM_SPAN_TEXT_BYTES];
    if (a->is_gpu_silent || a->idle_s < 0) {
        WHY(v, "the driver does not tell when this process last worked");
        return say(v, PLIM_STALE_UNKNOWN, PLIM_REASON_UNSEEN);
    }
    if (a->idle_s >= c->idle_after_s)
        return false;
    if (a->idle_s == 0)
        WHY(v, "seen for the first time: ask again later; stale needs %s without activity",
            plim_span_text(limit, c->idle_after_s));
    else
        WHY(v, "idle for at least %s; stale needs %s without activity", plim_span_text(span, a->idle_s),
            plim_span_text(limit, c->idle_after_s));
    return say(v, PLIM_STALE_UNKNOWN, PLIM_REASON_YOUNG);
}

/* --- idle for long enough: does anybody wait for it? --- */

/*
 * daemon(7) and start-stop-daemon: a child leads a session and has a child of its own, then ends. What a shell at a
 * terminal starts is in a group of its own instead.
 */
static bool is_daemon(const struct plim_sample_process *p)
{
    return p->session > 0 && p->group == p->session && p->is_session_left && !p->has_terminal;
}

/*
 * Desktops start programs without a parent, in a scope that is named after the program
 * (systemd.io/DESKTOP_ENVIRONMENTS, snapd's snap.NAME). Scripts are known to be in a terminal there.
 */
static bool is_application(const struct plim_stale_case *c)
{
    const char *unit = process_of(c)->unit;
    return c->programs[c->process].role != PLIM_ROLE_SCRIPT &&
           (!strncmp(unit, "app-", 4) || !strncmp(unit, "snap.", 5) || !strncmp(unit, "flatpak-", 8));
}

/* The workers of uvicorn and of others are made by multiprocessing and go on serving when what made them has ended. */
static bool is_serving(const struct plim_sample_process *p)
{
    return p->listens == 1 && strstr(p->command, "from multiprocessing.") != NULL;
}

/* Why an idle process without a parent may be there on purpose; NULL when nothing speaks for it. */
static const char *purpose(const struct plim_stale_case *c)
{
    const struct plim_sample_process *p = process_of(c);
    return is_worker(c) && !is_serving(p) && !*p->slurm_job ? NULL
           : *p->slurm_job                                  ? "it belongs to a Slurm job ('scancel' ends that)"
           : is_contained(c)                                ? "it may be what its container was started for"
           : p->ignores_hangup                              ? "it was started to outlive its terminal (nohup)"
           : p->session == p->pid                           ? "it leads a session of its own, as a daemon does (setsid)"
           : is_daemon(p)                        ? "it was started as a daemon, in a session without a terminal"
           : c->contexts & PLIM_CONTEXT_GRAPHICS ? "it draws on the screen as well: it may have a window"
           : is_application(c)                   ? "it may be a program of the desktop"
           : !strncmp(p->unit, "run-", 4)        ? "it was started with systemd-run"
           : p->listens == 1                     ? "it listens for connections, as a server does"
           : p->listens < 0 && p->is_limited     ? "its sockets may not be read: it may be a server"
                                                 : NULL;
}

static bool judge_orphan(const struct plim_stale_case *c, struct plim_stale_verdict *v)
{
    char idle[64];
    if (!has_lost_parent(c) || c->programs[c->process].role == PLIM_ROLE_NOTEBOOK)
        return false;
    const char *doubt = purpose(c);
    idle_text(&c->activities[c->process], idle);
    if (doubt) {
        WHY(v, "its parent is gone and it has been %s, but %s", idle, doubt);
        return say(v, PLIM_STALE_UNKNOWN, PLIM_REASON_ON_PURPOSE);
    }
    WHY(v, "its parent is gone, and it has been %s", idle);
    return say(v, PLIM_STALE_YES, PLIM_REASON_ORPHAN);
}

static bool is_same_work(const struct plim_sample_process *a, const struct plim_sample_process *b)
{
    return a->uid == b->uid && *a->folder && !strcmp(a->folder, b->folder) && !strcmp(a->command, b->command) &&
           !strcmp(a->container, b->container);
}

/* A later run of the same work, by the same user in the same folder; -1: none. */
static int64_t later_run(const struct plim_stale_case *c)
{
    const struct plim_sample_process *p = process_of(c), *all = c->sample->process;
    if (p->started_unix_s <= 0 || p->uid < 0)
        return -1;
    for (uint32_t i = 0; i < c->sample->n_processes; i++)
        if (i != c->process && !all[i].is_gone && all[i].state != 'Z' && all[i].parent != p->pid &&
            all[i].started_unix_s >= p->started_unix_s + LATER_RUN_S && is_same_work(p, &all[i]))
            return (int64_t)i;
    return -1;
}

static bool is_on(const struct plim_sample *s, uint32_t card, uint32_t process)
{
    for (uint32_t i = 0; i < s->n_holdings; i++)
        if (s->holding[i].card == card && s->holding[i].process == process)
            return true;
    return false;
}

static bool share_a_card(const struct plim_sample *s, uint32_t a, uint32_t b)
{
    for (uint32_t card = 0; card < s->n_cards; card++)
        if (is_on(s, card, a) && is_on(s, card, b))
            return true;
    return false;
}

/* Why two that run the same command may both be wanted: workers are started one by one, and one for each card. */
static const char *both_wanted(const struct plim_stale_case *c, uint32_t later)
{
    const struct plim_sample_process *p = process_of(c);
    return !is_active(c, later) || p->listens == 1       ? "both may wait for work"
           : !share_a_card(c->sample, c->process, later) ? "on another card"
           : p->has_terminal                             ? "the terminal of this one is still open"
                                                         : NULL;
}

static bool judge_earlier_run(const struct plim_stale_case *c, struct plim_stale_verdict *v)
{
    const struct plim_sample_process *p = process_of(c);
    const enum plim_watch_role role = c->programs[c->process].role;
    char idle[64];
    if ((role != PLIM_ROLE_SCRIPT && role != PLIM_ROLE_UNKNOWN) || is_worker(c) || *p->slurm_job ||
        !plim_watch_is_script(p))
        return false;
    const int64_t later = later_run(c);
    if (later < 0)
        return false;
    idle_text(&c->activities[c->process], idle);
    const char *doubt = both_wanted(c, (uint32_t)later);
    if (doubt) {
        WHY(v, "%s; %" PRId64 " runs the same command, but %s", idle, c->sample->process[later].pid, doubt);
        return say(v, PLIM_STALE_UNKNOWN, PLIM_REASON_EARLIER_RUN);
    }
    WHY(v, "%s, and %" PRId64 " runs the same command in the same folder now", idle, c->sample->process[later].pid);
    return say(v, PLIM_STALE_YES, PLIM_REASON_EARLIER_RUN);
}

static bool judge_notebook(const struct plim_stale_case *c, struct plim_stale_verdict *v)
{
    char idle[64];
    if (c->programs[c->process].role != PLIM_ROLE_NOTEBOOK)
        return false;
    WHY(v, "a kernel of a notebook, %s: shut it down there; its variables are lost with it",
        idle_text(&c->activities[c->process], idle));
    return say(v, PLIM_STALE_YES, PLIM_REASON_NOTEBOOK);
}

static bool judge_attached(const struct plim_stale_case *c, struct plim_stale_verdict *v)
{
    const struct plim_sample_process *p = process_of(c);
    char idle[64];
    idle_text(&c->activities[c->process], idle);
    if (!*p->parent_program) {
        WHY(v, "%s, and its parent cannot be seen", idle);
        return say(v, PLIM_STALE_UNKNOWN, PLIM_REASON_ON_PURPOSE);
    }
    WHY(v, "%s, but its parent %.*s (%" PRId64 ") is there", idle, NAME_CHARACTERS, p->parent_program, p->parent);
    return say(v, PLIM_STALE_NO, PLIM_REASON_ATTACHED);
}

void plim_stale_judge(const struct plim_stale_case *c, struct plim_stale_verdict *ret_verdict)
{
    static bool (*const rules[])(const struct plim_stale_case *, struct plim_stale_verdict *) = {
        judge_outside, judge_gone,   judge_defunct, judge_system,      judge_stopped,  judge_active,  judge_container,
        judge_server,  judge_unseen, judge_orphan,  judge_earlier_run, judge_notebook, judge_attached
    };
    *ret_verdict = (struct plim_stale_verdict){ 0 };
    for (size_t i = 0; i < sizeof rules / sizeof *rules && !rules[i](c, ret_verdict); i++)
        ;
}
