/* SPDX-License-Identifier: MIT */
/*
 * One table, in the order of enum plim_ending_keep. What cannot be told for certain holds: a process whose start is
 * unknown cannot be recognised later, one whose files cannot be read may not be the one that holds the memory.
 */
#include "watch/ending/rules.h"

#include "base/text.h"
#include "base/units.h"
#include "watch/ending/devices.h"

#include <stdio.h>
#include <string.h>

enum { KERNEL_NAME_BYTES = 15 }; /* TASK_COMM_LEN - 1, linux/sched.h */

/* --- programs --- */

/* Display servers, compositors, window managers, login screens, remote desktops. */
static const char displays[] =
    "Xorg Xorg.bin X Xwayland Xvfb Xvnc Xtigervnc Xephyr x0vncserver xrdp gnome-shell gnome-session-binary mutter gdm "
    "gdm3 gdm-x-session gdm-wayland-session kwin_wayland kwin_x11 kwin plasmashell ksmserver ksplashqml sddm "
    "sddm-greeter lightdm lightdm-gtk-greeter sway swayfx Hyprland hyprland weston wayfire labwc river niri cage "
    "gamescope gamescope-wl cosmic-comp cosmic-greeter cinnamon muffin xfwm4 xfce4-session mate-session marco compiz "
    "picom compton i3 bspwm awesome openbox budgie-wm gala phoc wlroots mir gnome-remote-desktop-daemon krdpserver "
    "sunshine nxnode.bin dcvxvfb dcvagent plymouthd";

/* They hold memory of a card for others, or run what everybody needs. */
static const char services[] =
    "nvidia-persistenced nvidia-powerd nvidia-cuda-mps-control nvidia-cuda-mps-server nv-hostengine "
    "nv-fabricmanager nvidia-fabricmanager nvsm_core nvidia-imex nvidia-gridd dcgm-exporter nvidia-dcgm systemd "
    "systemd-logind systemd-udevd dbus-daemon dbus-broker sshd sshd-session dockerd containerd containerd-shim "
    "containerd-shim-runc-v2 crio conmon podman kubelet slurmd slurmstepd slurmctld supervisord runsv init";

/* As the name of a file, or cut by the kernel. */
static bool is_one_of(const char *list, const char *program)
{
    if (plim_text_has_word(list, program))
        return true;
    const size_t n = strlen(program);
    for (const char *word = list; n == KERNEL_NAME_BYTES && *word; word += strspn(word, " ")) {
        const size_t length = strcspn(word, " ");
        if (length > n && !strncmp(word, program, n))
            return true;
        word += length;
    }
    return false;
}

bool plim_program_is_display(const char *program) { return is_one_of(displays, program); }
bool plim_program_is_service(const char *program) { return is_one_of(services, program); }

bool plim_kin_is_service(const struct plim_kin *kin)
{
    char name[PLIM_KIN_PROGRAM_BYTES];
    return plim_program_is_service(plim_kin_program(kin, name));
}

/* A program may be a script: its own name is the second word then, and that is of no service. */
static bool has_program(const struct plim_ending_subject *s, bool (*is_kind)(const char *))
{
    char name[PLIM_KIN_PROGRAM_BYTES];
    if (s->process && s->process->program && is_kind(s->process->program))
        return true;
    return s->kin && is_kind(plim_kin_program(s->kin, name));
}

/* --- rules --- */

static int64_t pid_of(const struct plim_ending_subject *s)
{
    return s->process ? s->process->pid : s->kin ? s->kin->pid : 0;
}
static int64_t uid_of(const struct plim_ending_subject *s)
{
    return s->kin ? s->kin->uid : s->process ? s->process->uid : -1;
}
static const char *text_of(const char *text) { return text ? text : ""; }

static bool is_gone(const struct plim_ending_subject *s) { return s->process && s->process->is_gone; }
static bool is_outside(const struct plim_ending_subject *s) { return s->process && s->process->is_outside; }

static bool has_changed(const struct plim_ending_subject *s)
{
    return !s->kin || s->kin->start_ticks == 0 ||
           (s->process && (s->process->start_ticks != s->kin->start_ticks || s->process->pid != s->kin->pid));
}

/* While other threads run, a process whose main thread has ended can be ended. */
static bool is_defunct(const struct plim_ending_subject *s)
{
    const bool is_main_thread = s->kin->state == 'Z' && s->kin->n_threads > 1;
    return !is_main_thread && ((s->process && (s->process->state == 'Z' || s->process->state == 'X')) ||
                               s->kin->state == 'Z' || s->kin->state == 'X');
}

static bool is_init(const struct plim_ending_subject *s) { return pid_of(s) <= 1; }

/* kthreadd is 2 where the list is that of the machine. */
static bool is_kernel(const struct plim_ending_subject *s) { return s->kin->is_kernel; }
static bool is_self(const struct plim_ending_subject *s)
{
    return !s->scene->asker.is_elsewhere && pid_of(s) == s->scene->asker.pid;
}

/* Without this command in the list its ancestors are unknown, and every process may be one. */
static bool is_ancestor(const struct plim_ending_subject *s)
{
    const int64_t self = s->scene->asker.pid;
    return !s->scene->asker.is_elsewhere &&
           (!plim_kinship_find(s->scene->kinship, self) || plim_kinship_descends(s->scene->kinship, self, pid_of(s)));
}

static bool is_other_user(const struct plim_ending_subject *s)
{
    const int64_t uid = s->scene->asker.uid;
    return uid != 0 && (s->kin->uid != uid || s->kin->effective_uid != uid);
}

/*
 * By its pid namespace, or by its control group where containers share the namespace of the machine; inside a container
 * all groups may be that container's.
 */
static bool is_contained(const struct plim_ending_subject *s)
{
    const struct plim_sample_process *p = s->process;
    const bool has_group = p && !s->scene->sample->is_contained && (*text_of(p->container) || *text_of(p->pod));
    return (s->kin->is_nested || has_group) && !(p && p->is_container_gone);
}

static bool is_display(const struct plim_ending_subject *s)
{
    return (s->row && (s->row->role == PLIM_ROLE_DISPLAY || s->row->reason == PLIM_REASON_DISPLAY)) ||
           has_program(s, plim_program_is_display);
}

static bool is_service(const struct plim_ending_subject *s)
{
    return (s->row && s->row->role == PLIM_ROLE_MPS) || has_program(s, plim_program_is_service);
}

static bool is_other_job(const struct plim_ending_subject *s)
{
    const char *job = s->process ? text_of(s->process->slurm_job) : "";
    const struct plim_asker *asker = &s->scene->asker;
    return *job && strcmp(job, text_of(asker->slurm_job)) != 0 && !(asker->uid == 0 && s->is_named);
}

static bool has_no_device(const struct plim_ending_subject *s)
{
    return s->scene->asker.needs_device && s->process &&
           plim_devices_of(s->scene->root, pid_of(s)) != PLIM_DEVICES_OPEN;
}

static bool is_not_users(const struct plim_ending_subject *s)
{
    const char *user = s->wish->user;
    return user && !plim_sample_is_user(s->process ? s->process->user : "", uid_of(s), user);
}

static bool is_not_on_card(const struct plim_ending_subject *s) { return !s->is_on_card; }
static bool must_be_stale(const struct plim_ending_subject *s) { return s->wish->is_stale || !s->is_named; }

/* A launcher is what those are that work for it, and they are judged one by one. */
static bool is_stale(const struct plim_ending_subject *s)
{
    return !s->process || (s->row && s->row->stale == PLIM_STALE_YES);
}

static bool is_server(const struct plim_ending_subject *s)
{
    return must_be_stale(s) && !is_stale(s) && s->row && s->row->role == PLIM_ROLE_SERVER;
}

static bool is_not_stale(const struct plim_ending_subject *s) { return must_be_stale(s) && !is_stale(s); }

/* It lives, and nobody can tell from here what for. */
static bool is_without_main_thread(const struct plim_ending_subject *s)
{
    return !s->is_named && s->kin && s->kin->state == 'Z';
}

static bool is_notebook(const struct plim_ending_subject *s)
{
    return !s->is_named && s->row && (s->row->role == PLIM_ROLE_NOTEBOOK || s->row->reason == PLIM_REASON_NOTEBOOK);
}

static bool is_young(const struct plim_ending_subject *s)
{
    const int64_t now = s->scene->sample->taken_unix_ms / 1000, started = s->process ? s->process->started_unix_s : 0;
    return s->wish->older_s > 0 && s->process && (started <= 0 || now - started < s->wish->older_s);
}

struct rule {
    enum plim_ending_keep keep;
    bool (*holds)(const struct plim_ending_subject *);
    const char *why;
};

static const struct rule protection[] = {
    { PLIM_KEEP_GONE, is_gone, "it has ended: there is no process left to end" },
    { PLIM_KEEP_OUTSIDE, is_outside, "it cannot be seen from here" },
    { PLIM_KEEP_CHANGED, has_changed, "it has ended, or cannot be told from a later process of its number" },
    { PLIM_KEEP_INIT, is_init, "it is the first process of the system" },
    { PLIM_KEEP_KERNEL, is_kernel, "it is a thread of the kernel" },
    { PLIM_KEEP_SELF, is_self, "it is this command itself" },
    { PLIM_KEEP_ANCESTOR, is_ancestor, "this command runs in it" },
    { PLIM_KEEP_DEFUNCT, is_defunct, "it has ended, and its parent has not taken note" },
    { PLIM_KEEP_USER, is_other_user, "it is another user's" },
    { PLIM_KEEP_CONTAINER, is_contained, "it runs in a container, which may start it again: end that" },
    { PLIM_KEEP_DISPLAY, is_display, "it is part of the desktop" },
    { PLIM_KEEP_SERVICE, is_service, "it is a service of the driver or the system" },
    { PLIM_KEEP_SLURM, is_other_job, "it belongs to another Slurm job" },
    { PLIM_KEEP_DEVICE, has_no_device,
      "it has no device file of a card open, as far as that may be read: the memory may be that of an earlier "
      "process" },
};

static const struct rule wishes[] = {
    { PLIM_KEEP_OTHER_USER, is_not_users, "it is not of the user that was asked for" },
    { PLIM_KEEP_OTHER_CARD, is_not_on_card, "it holds no memory on the card that was asked for" },
    { PLIM_KEEP_SERVER, is_server, "it is a server and not stale; name its pid to end it" },
    { PLIM_KEEP_NOT_STALE, is_not_stale, "it is not stale" },
    { PLIM_KEEP_NOT_STALE, is_without_main_thread,
      "its main thread has ended, others of its threads go on; name its pid to end it" },
    { PLIM_KEEP_NOTEBOOK, is_notebook,
      "it is a notebook's kernel: what its variables hold would be lost; name its pid to end it" },
    { PLIM_KEEP_YOUNG, is_young, "it was started later than asked for, or at an unknown time" },
};

static enum plim_ending_keep apply(const struct rule *rules, size_t n, const struct plim_ending_subject *subject,
                                   char why[PLIM_CANDIDATE_WHY_BYTES])
{
    for (size_t i = 0; i < n; i++) {
        if (!rules[i].holds(subject))
            continue;
        snprintf(why, PLIM_CANDIDATE_WHY_BYTES, "%s", rules[i].why);
        return rules[i].keep;
    }
    why[0] = '\0';
    return PLIM_KEEP_NOT;
}

enum plim_ending_keep plim_rules_protect(const struct plim_ending_subject *subject,
                                         char ret_why[PLIM_CANDIDATE_WHY_BYTES])
{
    return apply(protection, sizeof protection / sizeof *protection, subject, ret_why);
}

enum plim_ending_keep plim_rules_apply(const struct plim_ending_subject *subject,
                                       char ret_why[PLIM_CANDIDATE_WHY_BYTES])
{
    const enum plim_ending_keep keep = plim_rules_protect(subject, ret_why);
    return keep != PLIM_KEEP_NOT ? keep : apply(wishes, sizeof wishes / sizeof *wishes, subject, ret_why);
}
