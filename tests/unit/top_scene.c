/* SPDX-License-Identifier: MIT */
#include "top_scene.h"

#include <stdio.h>
#include <string.h>

#define GIB ((double)((int64_t)1 << 30))
#define MIB ((int64_t)1 << 20)

/* A ramp that ends at what is held now. */
static uint32_t history(const void *context, uint32_t card, uint32_t holding, int64_t *ret_bytes, uint32_t max)
{
    const struct top_scene *scene = context;
    const int64_t now = holding == UINT32_MAX ? scene->card[card].used_bytes : scene->holding[holding].bytes;
    const uint32_t n = max < 60 ? max : 60;
    for (uint32_t i = 0; i < n; i++)
        ret_bytes[i] = now / 2 + now / 2 * (i + 1) / n;
    return n;
}

void top_scene_empty(struct top_scene *scene)
{
    memset(scene, 0, sizeof *scene);
    scene->sample = (struct plim_sample){
        .taken_unix_ms = 1800000000000, .card = scene->card, .process = scene->process, .holding = scene->holding
    };
    scene->machine = (struct plim_top_machine){
        .sample = &scene->sample, .rows = scene->row, .cards = scene->seen, .history = history, .history_context = scene
    };
    scene->view = (struct plim_top_view){ .interval_ms = 1000, .only_card = UINT32_MAX, .clock = "14:03:22" };
}

uint32_t top_scene_card(struct top_scene *scene, const char *name, double used_gib)
{
    const uint32_t i = scene->sample.n_cards++;
    struct plim_sample_card *card = &scene->card[i];
    card->gpu_percent = 42;
    card->memory_percent = 10;
    card->temperature_c = 61;
    card->power_mw = 215500;
    snprintf(card->card.name, sizeof card->card.name, "%s", name);
    snprintf(card->id, sizeof card->id, "gpu%u", i);
    card->card.total_bytes = (uint64_t)(24 * GIB);
    card->card.reserved_bytes = (uint64_t)(0.4 * GIB);
    card->used_bytes = (int64_t)(used_gib * GIB);
    card->free_bytes = (int64_t)((23.6 - used_gib) * GIB);
    scene->seen[i].growth = (struct plim_watch_growth){ .trend = PLIM_TREND_STEADY, .full_s = -1 };
    return i;
}

uint32_t top_scene_process(struct top_scene *scene, uint32_t card, int64_t pid, const char *user, double gib,
                           const char *command)
{
    const uint32_t i = scene->sample.n_processes++;
    snprintf(scene->command[i], sizeof scene->command[i], "%s", command);
    scene->process[i] = (struct plim_sample_process){
        .pid = pid,
        .state = 'S',
        .parent = 1,
        .start_ticks = 1000 + (uint64_t)i,
        .started_unix_s = 1799990000,
        .uid = 1000,
        .cpu_ms = 754000,
        .rss_bytes = 812 * MIB,
        .command = scene->command[i],
        .program = "python3.11",
        .folder = "/home/anna/work",
        .parent_program = "bash",
        .container = "",
        .pod = "",
        .slurm_job = "",
        .log = "",
    };
    snprintf(scene->process[i].user, sizeof scene->process[i].user, "%s", user);
    scene->holding[i] = (struct plim_holding){ .card = card,
                                               .process = i,
                                               .contexts = PLIM_CONTEXT_COMPUTE,
                                               .bytes = (int64_t)(gib * GIB),
                                               .peak_bytes = -1,
                                               .gpu_percent = 0 };
    scene->row[i] = (struct plim_watch_row){ .framework = "PyTorch",
                                             .model = "",
                                             .role = PLIM_ROLE_SCRIPT,
                                             .idle_s = 0,
                                             .stale = PLIM_STALE_NO,
                                             .reason = PLIM_REASON_ACTIVE,
                                             .growth = { .trend = PLIM_TREND_STEADY, .full_s = -1 } };
    scene->sample.n_holdings = scene->sample.n_processes;
    return i;
}

static void set_stale(struct plim_watch_row *row, enum plim_stale stale, enum plim_stale_reason reason, const char *why)
{
    row->stale = stale;
    row->reason = reason;
    snprintf(row->why, sizeof row->why, "%s", why);
}

static void add_growing(struct top_scene *scene)
{
    const uint32_t i =
        top_scene_process(scene, 0, 41233, "anna", 15.2, "/usr/bin/python3 /home/anna/work/train.py --lr 3e-4 --bf16");
    scene->holding[i].gpu_percent = 97;
    scene->process[i].state = 'R';
    scene->process[i].log = "/home/anna/work/train.log";
    scene->process[i].log_written_unix_s = 1799999996;
    scene->row[i].growth = (struct plim_watch_growth){ PLIM_TREND_GROWING, 120 * MIB, 1260, 300 };
    scene->seen[0].growth = scene->row[i].growth;
    set_stale(&scene->row[i], PLIM_STALE_NO, PLIM_REASON_ACTIVE, "it works: 97% of the GPU in the last second");
}

void top_scene_usual(struct top_scene *scene)
{
    uint32_t i;
    top_scene_empty(scene);
    top_scene_card(scene, "NVIDIA GeForce RTX 4090", 20.1);
    top_scene_card(scene, "NVIDIA GeForce RTX 3090", 9.3);
    scene->seen[1].unattributed_bytes = 310 * MIB;
    scene->seen[1].stale_bytes = (int64_t)(2.5 * GIB);
    add_growing(scene);
    i = top_scene_process(scene, 0, 2210, "ollama", 4.9, "/usr/local/bin/llama-server -m /models/llama-3.1-8B.gguf");
    scene->row[i].framework = "llama.cpp";
    scene->row[i].model = "/models/llama-3.1-8B.gguf";
    scene->row[i].role = PLIM_ROLE_SERVER;
    scene->row[i].idle_s = 3 * 3600 + 720;
    set_stale(&scene->row[i], PLIM_STALE_NO, PLIM_REASON_SERVER, "a server waits for requests");
    i = top_scene_process(scene, 1, 30111, "bert", 2.5, "python old_run.py");
    scene->row[i].idle_s = 26 * 3600;
    scene->row[i].is_idle_at_least = true;
    set_stale(&scene->row[i], PLIM_STALE_YES, PLIM_REASON_ORPHAN, "its parent is gone and it is idle for 26 h or more");
    i = top_scene_process(scene, 1, 977, "root", 0.35, "/usr/lib/xorg/Xorg :0");
    scene->row[i].framework = "";
    scene->row[i].role = PLIM_ROLE_DISPLAY;
    i = top_scene_process(scene, 1, 5150, "", 6.0, "");
    scene->process[i].is_gone = true;
    scene->row[i].framework = "";
    scene->row[i].idle_s = -1;
    set_stale(&scene->row[i], PLIM_STALE_YES, PLIM_REASON_GONE, "the process has ended, its memory is still held");
    i = top_scene_process(scene, 1, 41240, "anna", 0.15, "/usr/bin/python3 -c from multiprocessing.spawn import main");
    scene->process[i].parent = 41233;
    scene->row[i].growth = (struct plim_watch_growth){ PLIM_TREND_WARM_UP, 3 * MIB, -1, 60 };
    set_stale(&scene->row[i], PLIM_STALE_UNKNOWN, PLIM_REASON_YOUNG, "watched for 60 s only");
}

void top_scene_large(struct top_scene *scene)
{
    top_scene_empty(scene);
    for (int i = 0; i < SCENE_MAX_CARDS; i++)
        top_scene_card(scene, "NVIDIA H100 80GB HBM3", 1.5 * i);
    for (int i = 0; i < 200; i++) {
        char command[64];
        snprintf(command, sizeof command, "/opt/venv/bin/python worker.py --rank %d", i);
        top_scene_process(scene, (uint32_t)(i % SCENE_MAX_CARDS), 10000 + i * 37, i % 3 ? "anna" : "bert",
                          0.1 + i % 16 / 8.0, command);
    }
}

void top_scene_hostile(struct top_scene *scene)
{
    uint32_t i;
    top_scene_empty(scene);
    top_scene_card(scene, "Card \033]0;pwn\a\033[2J of a very long name that goes on and on and on \xe2\x80\xae abc",
                   20);
    snprintf(scene->card[0].why, sizeof scene->card[0].why, "why\n\033[31m%s", "red");
    top_scene_process(scene, 0, 1, "an\na", 4,
                      "\033[2J\033[Hpython \xe2\x80\xaegpj.exe\xe2\x80\xac \x9b"
                      "2J");
    i = top_scene_process(
        scene, 0, 4194304, "abcdefghijklmnop", 3,
        "/opt/\xe6\xbc\xa2\xe5\xad\x97/\xe6\xa8\xa1\xe5\x9e\x8b "
        "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97"
        "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97");
    scene->row[i].framework =
        "\xf0\x9f\x9a\x80\xf0\x9f\x9a\x80\xf0\x9f\x9a\x80\xf0\x9f\x9a\x80\xf0\x9f\x9a\x80\xf0\x9f\x9a\x80";
    top_scene_process(scene, 0, 3, "root", 2, "cafe\xcc\x81\xcc\x81 caf\xe9 %s%n%d");
    i = top_scene_process(scene, 0, 4, "root", 1,
                          "a command of one hundred and twenty letters and more, so that it is cut at the end of every "
                          "line here");
    scene->row[i].idle_s = 100LL * 365 * 86400;
    scene->row[i].growth = (struct plim_watch_growth){ PLIM_TREND_GROWING, INT64_MAX, 0, 1 };
    i = top_scene_process(scene, 0, -5, "", -1, "");
    scene->holding[i].bytes = -1;
    scene->process[i].is_outside = true;
}
