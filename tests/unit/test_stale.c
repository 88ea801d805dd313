/* SPDX-License-Identifier: MIT */
/* Each reason to call a process stale, and each trap in which that would end somebody's work. */
#include "by_hand.h"

#include "watch/records.h"

/* One process, as a case changes it; the second of its card comes with some cases only. */
struct case_of {
    const char *name;
    void (*change)(struct by_hand *h, struct plim_sample_process *p);
    enum plim_stale stale;
    enum plim_stale_reason reason;
    const char *why; /* part of it */
};

static void orphan(struct by_hand *h, struct plim_sample_process *p)
{
    (void)h;
    p->parent = 1;
    p->parent_program = "systemd";
}

#define CHANGE(name, ...)                                                                                              \
    static void name(struct by_hand *h, struct plim_sample_process *p)                                                 \
    {                                                                                                                  \
        (void)h;                                                                                                       \
        __VA_ARGS__                                                                                                    \
    }
#define OF_ORPHAN(name, ...)                                                                                           \
    static void name(struct by_hand *h, struct plim_sample_process *p)                                                 \
    {                                                                                                                  \
        orphan(h, p);                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

/* --- no working process --- */
CHANGE(gone, p->is_gone = true; p->start_ticks = 0;)
CHANGE(gone_in_container, p->is_gone = true; h->sample.is_contained = true;)
CHANGE(outside, p->is_outside = true;)
CHANGE(defunct, p->state = 'Z'; p->n_threads = 1; p->command = "[python]";)
CHANGE(defunct_leader, p->state = 'Z'; p->n_threads = 12;)
CHANGE(defunct_leader_at_work, p->state = 'Z'; p->n_threads = 12; h->holdings[0].gpu_percent = 80;)
CHANGE(stopped, p->state = 'T';)
OF_ORPHAN(stopped_orphan, p->state = 'T';)
CHANGE(traced, p->state = 't';)

/* --- orphans --- */
OF_ORPHAN(of_user_systemd, p->parent = 1234;)
OF_ORPHAN(unknown_init, p->parent_program = "";)
OF_ORPHAN(at_work, h->holdings[0].gpu_percent = 3;)
OF_ORPHAN(worked_lately, h->holdings[0].last_active_unix_ms = BY_HAND_NOW_MS - 60000;)
OF_ORPHAN(runs_now, p->state = 'R';)
OF_ORPHAN(writes_a_log, p->log = "/home/ada/log"; p->log_written_unix_s = BY_HAND_NOW_MS / 1000 - 5;)
OF_ORPHAN(not_watched, h->cards[0].activity_ms = 17000;)
OF_ORPHAN(silent_driver, h->cards[0].activity_ms = -1; h->holdings[0].gpu_percent = -1;)
OF_ORPHAN(who_was_active_only, h->cards[0].activity_ms = 0;)
OF_ORPHAN(young, p->started_unix_s = BY_HAND_NOW_MS / 1000 - 30;)
OF_ORPHAN(nohup, p->ignores_hangup = true;)
OF_ORPHAN(daemon, p->session = p->pid;)
OF_ORPHAN(forked_twice, p->group = p->session; p->is_session_left = true;)
OF_ORPHAN(terminal_closed, p->is_session_left = true;)
OF_ORPHAN(of_a_script, p->group = p->session;)
OF_ORPHAN(forked_twice_worker, p->group = p->session; p->is_session_left = true; p->launcher = "torchrun";)
OF_ORPHAN(with_a_window, h->holdings[0].contexts |= PLIM_CONTEXT_GRAPHICS;)
OF_ORPHAN(desktop_program, p->unit = "app-gnome-blender-4711.scope"; p->command = "blender"; p->program = "blender";)
OF_ORPHAN(snap_program, p->unit = "snap.blender.blender-4711.scope"; p->command = "blender"; p->program = "blender";)
OF_ORPHAN(script_in_a_desktop_terminal, p->unit = "app-org.kde.konsole-4711.scope";)
OF_ORPHAN(torchrun_worker, p->session = p->pid; p->launcher = "torchrun";)
OF_ORPHAN(from_a_notebook, p->ignores_hangup = true; p->launcher = "jupyter";)
OF_ORPHAN(slurm_worker, p->slurm_job = "4711"; p->launcher = "mpirun";)
OF_ORPHAN(kernel_left, p->session = p->pid; p->launcher = "jupyter"; p->command = "python -m ipykernel_launcher -f x";)
OF_ORPHAN(nohup_worker, p->ignores_hangup = true; p->launcher = "mpirun";)
OF_ORPHAN(spawned_worker, p->ignores_hangup = true;
          p->command = "/usr/bin/python3 -c from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=5)";)
OF_ORPHAN(serving_worker, p->listens = 1;
          p->command = "/usr/bin/python3 -c from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=5)";)
OF_ORPHAN(listening_worker, p->listens = 1; p->command = "VLLM::Worker_TP0";)
OF_ORPHAN(systemd_run, p->unit = "run-r4711.scope";)
OF_ORPHAN(listening, p->listens = 1;)
OF_ORPHAN(hidden_sockets, p->listens = -1; p->is_limited = true;)
OF_ORPHAN(service, p->unit = "whisper.service";)
OF_ORPHAN(in_session, p->unit = "session-3.scope";)
OF_ORPHAN(under_sshd, p->unit = "ssh.service";)
OF_ORPHAN(in_terminal, p->unit = "gnome-terminal-server.service";)
OF_ORPHAN(slurm, p->slurm_job = "4711";)
OF_ORPHAN(container_child, p->container = "8f3a"; p->parent_program = "tini";)
OF_ORPHAN(inside_container, h->sample.is_contained = true; p->parent_program = "tini";)
OF_ORPHAN(container_program, h->sample.is_contained = true; p->parent_program = "python3";)
OF_ORPHAN(contained_worker, h->sample.is_contained = true; p->parent_program = ""; p->launcher = "torchrun";)
OF_ORPHAN(screen_child, p->parent = 77; p->parent_program = "screen";)
OF_ORPHAN(tmux_child, p->parent = 77; p->parent_program = "tmux: server";)

/* --- servers --- */
OF_ORPHAN(llama_server, p->command = "/opt/llama.cpp/llama-server -m /models/qwen.gguf"; p->program = "llama-server";)
OF_ORPHAN(vllm, p->command = "/usr/bin/python3 /usr/local/bin/vllm serve Qwen/Qwen3-8B";)
OF_ORPHAN(comfy, p->command = "python main.py --listen"; p->folder = "/home/ada/ComfyUI";)
OF_ORPHAN(web_ui, p->command = "python server.py --api"; p->folder = "/srv/text-generation-webui";)
OF_ORPHAN(uvicorn, p->command = "/venv/bin/python -m uvicorn app:app";)
CHANGE(ollama_runner, p->command = "/usr/local/bin/ollama runner --model /m/sha256-1 --port 4";
       p->program = p->parent_program = "ollama";)
OF_ORPHAN(ollama_runner_left, p->command = "/usr/local/bin/ollama runner --model /m/sha256-1"; p->program = "ollama";)
CHANGE(vllm_worker, p->command = "VLLM::EngineCore"; p->parent_program = "vllm";)
OF_ORPHAN(vllm_worker_left, p->command = "VLLM::Worker_TP0";)
OF_ORPHAN(vllm_worker_in_its_container, p->command = "VLLM::EngineCore"; h->sample.is_contained = true;
          p->parent_program = "vllm";)

/* --- desktop, MPS --- */
OF_ORPHAN(xorg, p->command = "/usr/lib/xorg/Xorg vt2"; p->program = "Xorg";
          h->holdings[0].contexts = PLIM_CONTEXT_GRAPHICS;)
OF_ORPHAN(xwayland, p->command = "/usr/bin/Xwayland :0"; p->program = "Xwayland";
          h->holdings[0].contexts = PLIM_CONTEXT_GRAPHICS | PLIM_CONTEXT_COMPUTE;)
OF_ORPHAN(shell, p->command = "/usr/bin/gnome-shell"; p->program = "gnome-shell";)
OF_ORPHAN(game, p->command = "./game"; p->program = "game"; h->holdings[0].contexts = PLIM_CONTEXT_GRAPHICS;)
OF_ORPHAN(mps, p->command = "nvidia-cuda-mps-server"; p->program = "nvidia-cuda-mps-server";)

/* --- containers, notebooks, attached --- */
CHANGE(container_gone, p->is_container_gone = true; p->container = "8f3a";)
CHANGE(container_gone_at_work, p->is_container_gone = true; h->holdings[0].gpu_percent = 30;)
CHANGE(notebook, p->command = "/venv/bin/python -m ipykernel_launcher -f /run/kernel-1.json";
       p->parent_program = "jupyter-lab";)
CHANGE(colab, p->command = "/usr/bin/python3 -m colab_kernel_launcher -f /root/kernel.json";)
CHANGE(notebook_at_work, p->command = "/venv/bin/python -m ipykernel_launcher"; h->holdings[0].gpu_percent = 1;)
CHANGE(prompt, p->command = "python";)
CHANGE(no_parent_seen, p->parent_program = "";)

/* --- earlier runs --- */
static struct plim_sample_process *later(struct by_hand *h, int64_t seconds)
{
    struct plim_sample_process *q = by_hand_process(h, 5000, 0);
    q->started_unix_s = h->processes[0].started_unix_s + seconds;
    h->holdings[1].gpu_percent = 90;
    return q;
}
CHANGE(earlier_run, (void)p; later(h, 3600);)
CHANGE(earlier_both_idle, (void)p; later(h, 3600); h->holdings[1].gpu_percent = 0;)
CHANGE(earlier_and_unwatched, (void)p; later(h, 3600); h->cards[0].activity_ms = 17000;
       h->holdings[0].last_active_unix_ms = BY_HAND_NOW_MS - 7200000; h->holdings[1].gpu_percent = 0;)
CHANGE(earlier_rank, (void)p; later(h, 20);)
CHANGE(earlier_other_folder, (void)p; later(h, 3600)->folder = "/home/ada/other";)
CHANGE(earlier_other_user, (void)p; later(h, 3600)->uid = 1001;)
CHANGE(earlier_other_words, (void)p; later(h, 3600)->command = "python train.py --lr 2";)
CHANGE(earlier_prompt, p->command = "python"; later(h, 3600)->command = "python";)
CHANGE(earlier_program, p->command = "python -c import torch"; later(h, 3600)->command = "python -c import torch";)
CHANGE(earlier_server, p->listens = 1; later(h, 3600);)
CHANGE(earlier_other_card, (void)p; later(h, 3600); h->holdings[1].card = 1;)
CHANGE(earlier_in_a_terminal, p->has_terminal = true; later(h, 3600);)
CHANGE(earlier_job, p->slurm_job = "4711"; later(h, 3600)->slurm_job = "4712";)
CHANGE(earlier_parent, later(h, 3600)->parent = p->pid;)
CHANGE(earlier_launcher, p->launcher = "torchrun"; later(h, 3600)->launcher = "torchrun";)

#define YES     PLIM_STALE_YES
#define NO      PLIM_STALE_NO
#define UNKNOWN PLIM_STALE_UNKNOWN
#define CASE(change, stale, reason, why)                                                                               \
    {                                                                                                                  \
#change, change, stale, PLIM_REASON_##reason, why                                                              \
    }

static const struct case_of cases[] = {
    CASE(gone, YES, GONE, "no process left to end"),
    CASE(gone_in_container, UNKNOWN, OUTSIDE, "cannot be seen"),
    CASE(outside, UNKNOWN, OUTSIDE, "cannot be seen"),
    CASE(defunct, YES, DEFUNCT, "its parent bash (900)"),
    CASE(defunct_leader, YES, DEFUNCT, "kill -9 4000"),
    CASE(defunct_leader_at_work, NO, ACTIVE, "active"),
    CASE(stopped, UNKNOWN, STOPPED, "kill -CONT 4000"),
    CASE(stopped_orphan, UNKNOWN, STOPPED, "Ctrl-Z"),
    CASE(traced, UNKNOWN, STOPPED, "debugger"),
    CASE(orphan, YES, ORPHAN, "its parent is gone"),
    CASE(of_user_systemd, YES, ORPHAN, "its parent is gone"),
    CASE(unknown_init, YES, ORPHAN, "its parent is gone"),
    CASE(at_work, NO, ACTIVE, "active now"),
    CASE(worked_lately, NO, ACTIVE, "active 60 s ago"),
    CASE(runs_now, NO, ACTIVE, "active now"),
    CASE(writes_a_log, NO, ACTIVE, "active 5 s ago"),
    CASE(not_watched, UNKNOWN, YOUNG, "at least 17 s"),
    CASE(silent_driver, UNKNOWN, UNSEEN, "does not tell"),
    CASE(who_was_active_only, UNKNOWN, YOUNG, "for the first time"),
    CASE(young, NO, ACTIVE, "active 30 s ago"),
    CASE(nohup, UNKNOWN, ON_PURPOSE, "nohup"),
    CASE(daemon, UNKNOWN, ON_PURPOSE, "setsid"),
    CASE(forked_twice, UNKNOWN, ON_PURPOSE, "daemon"),
    CASE(terminal_closed, YES, ORPHAN, "its parent is gone"),
    CASE(of_a_script, YES, ORPHAN, "its parent is gone"),
    CASE(forked_twice_worker, YES, ORPHAN, "its parent is gone"),
    CASE(with_a_window, UNKNOWN, ON_PURPOSE, "draws"),
    CASE(desktop_program, UNKNOWN, ON_PURPOSE, "desktop"),
    CASE(snap_program, UNKNOWN, ON_PURPOSE, "desktop"),
    CASE(script_in_a_desktop_terminal, YES, ORPHAN, "its parent is gone"),
    CASE(torchrun_worker, YES, ORPHAN, "its parent is gone"),
    CASE(from_a_notebook, UNKNOWN, ON_PURPOSE, "nohup"),
    CASE(slurm_worker, UNKNOWN, ON_PURPOSE, "Slurm"),
    CASE(kernel_left, YES, NOTEBOOK, "variables"),
    CASE(nohup_worker, YES, ORPHAN, "its parent is gone"),
    CASE(spawned_worker, YES, ORPHAN, "its parent is gone"),
    CASE(serving_worker, UNKNOWN, ON_PURPOSE, "listens"),
    CASE(listening_worker, YES, ORPHAN, "its parent is gone"),
    CASE(systemd_run, UNKNOWN, ON_PURPOSE, "systemd-run"),
    CASE(listening, UNKNOWN, ON_PURPOSE, "listens"),
    CASE(hidden_sockets, UNKNOWN, ON_PURPOSE, "sockets"),
    CASE(service, NO, SERVICE, "whisper.service"),
    CASE(in_session, YES, ORPHAN, "its parent is gone"),
    CASE(under_sshd, YES, ORPHAN, "its parent is gone"),
    CASE(in_terminal, YES, ORPHAN, "its parent is gone"),
    CASE(slurm, UNKNOWN, ON_PURPOSE, "Slurm"),
    CASE(container_child, UNKNOWN, ON_PURPOSE, "container"),
    CASE(inside_container, UNKNOWN, ON_PURPOSE, "container"),
    CASE(container_program, NO, ATTACHED, "python3 (1) is there"),
    CASE(contained_worker, UNKNOWN, ON_PURPOSE, "cannot be seen"),
    CASE(screen_child, NO, ATTACHED, "screen (77) is there"),
    CASE(tmux_child, NO, ATTACHED, "tmux: server (77) is there"),
    CASE(llama_server, NO, SERVER, "waits for requests"),
    CASE(vllm, NO, SERVER, "waits for requests"),
    CASE(comfy, NO, SERVER, "waits for requests"),
    CASE(web_ui, NO, SERVER, "waits for requests"),
    CASE(uvicorn, NO, SERVER, "waits for requests"),
    CASE(ollama_runner, NO, SERVER, "works for ollama (900)"),
    CASE(ollama_runner_left, YES, ORPHAN, "its parent is gone"),
    CASE(vllm_worker, NO, SERVER, "works for vllm"),
    CASE(vllm_worker_left, YES, ORPHAN, "its parent is gone"),
    CASE(vllm_worker_in_its_container, NO, SERVER, "works for vllm (1)"),
    CASE(xorg, NO, DISPLAY, "desktop"),
    CASE(xwayland, NO, DISPLAY, "desktop"),
    CASE(shell, NO, DISPLAY, "desktop"),
    CASE(game, NO, DISPLAY, "draws"),
    CASE(mps, NO, MPS, "multi-process"),
    CASE(container_gone, YES, CONTAINER_GONE, "8f3a is gone"),
    CASE(container_gone_at_work, NO, ACTIVE, "active"),
    CASE(notebook, YES, NOTEBOOK, "variables are lost"),
    CASE(colab, YES, NOTEBOOK, "notebook"),
    CASE(notebook_at_work, NO, ACTIVE, "active"),
    CASE(prompt, NO, ATTACHED, "bash (900) is there"),
    CASE(no_parent_seen, UNKNOWN, ON_PURPOSE, "cannot be seen"),
    CASE(earlier_run, YES, EARLIER_RUN, "5000 runs the same command"),
    CASE(earlier_both_idle, UNKNOWN, EARLIER_RUN, "both may wait"),
    CASE(earlier_and_unwatched, UNKNOWN, EARLIER_RUN, "both may wait"),
    CASE(earlier_rank, NO, ATTACHED, "is there"),
    CASE(earlier_other_folder, NO, ATTACHED, "is there"),
    CASE(earlier_other_user, NO, ATTACHED, "is there"),
    CASE(earlier_other_words, NO, ATTACHED, "is there"),
    CASE(earlier_prompt, NO, ATTACHED, "is there"),
    CASE(earlier_program, NO, ATTACHED, "is there"),
    CASE(earlier_server, UNKNOWN, EARLIER_RUN, "both may wait"),
    CASE(earlier_other_card, UNKNOWN, EARLIER_RUN, "on another card"),
    CASE(earlier_in_a_terminal, UNKNOWN, EARLIER_RUN, "terminal of this one"),
    CASE(earlier_job, NO, ATTACHED, "is there"),
    CASE(earlier_parent, NO, ATTACHED, "is there"),
    CASE(earlier_launcher, NO, ATTACHED, "is there"),
};

static struct plim_watch_row judged(struct by_hand *h)
{
    struct plim_error error = { 0 };
    struct plim_watch *watch;
    assert_int_equal(plim_watch_open(NULL, &watch, &error), 0);
    assert_int_equal(plim_watch_add(watch, &h->sample, &error), 0);
    const struct plim_watch_row row = plim_watch_rows(watch)[0];
    plim_watch_close(watch);
    return row;
}

static void test_rules(void **state)
{
    struct by_hand h;
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        by_hand_begin(&h);
        cases[i].change(&h, by_hand_process(&h, 4000, 0));
        const struct plim_watch_row row = judged(&h);
        if (row.stale != cases[i].stale || row.reason != cases[i].reason || !strstr(row.why, cases[i].why))
            fail_msg("%s: stale %d, %s: '%s'", cases[i].name, row.stale, plim_stale_reason_name(row.reason), row.why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_rules) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
