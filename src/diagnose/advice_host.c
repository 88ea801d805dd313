/* SPDX-License-Identifier: MIT */
/* Remedies for the computer's memory: RAM, limits of control groups, shared memory. */
#include "diagnose/advice.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Whole GiB, rounded up, 1.2 times what was used at most: headroom for the peaks that nobody measured. [assumed] */
static int64_t limit_gib(const struct plim_advice *advice)
{
    static const enum plim_number uses[] = { PLIM_N_PEAK_BYTES, PLIM_N_RSS_BYTES, PLIM_N_LIMIT_BYTES,
                                             PLIM_N_MEMORY_BYTES };
    int64_t most = 0;
    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++) {
        int64_t bytes = plim_figure(advice->finding, NULL, uses[i]);
        most = plim_is_known(bytes) && bytes > most ? bytes : most;
    }
    if (most <= 0 || most > INT64_C(1) << 50)
        return PLIM_UNKNOWN;
    return (int64_t)((double)most * 1.2 / (double)PLIM_GIB + 0.999);
}

static const char *job(const struct plim_advice *advice, const char *otherwise)
{
    const char *name = advice->finding->words.text[PLIM_W_JOB];
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/@:";
    return *name && *name != '-' && strspn(name, plain) == strlen(name) ? name : otherwise;
}

/* A limit was hit: who set it is in the group's name or the program that speaks. */
static void raise_limit(struct plim_advice *advice)
{
    const char *group = advice->finding->words.text[PLIM_W_CGROUP];
    const int64_t gib = limit_gib(advice);
    char value[24] = "SIZE", reason[80] = "raise the limit";
    if (plim_is_known(gib)) {
        snprintf(value, sizeof value, "%" PRId64, gib);
        snprintf(reason, sizeof reason, "raise the limit to %" PRId64 " GiB: 1.2 times what it used", gib);
    }
    struct plim_remedy *remedy = plim_is_known(gib)
                                     ? plim_advise_exact(advice, PLIM_UNKNOWN, "RAM for others", "%s", reason)
                                     : plim_advise(advice, PLIM_UNKNOWN, "RAM for others", "%s", reason);
    if (plim_advice_is(advice, "slurm") || strstr(group, "slurm"))
        plim_advise_command(remedy, "sbatch --mem=%sG JOB.sh", value);
    else if (plim_advice_is(advice, "kubernetes") || strstr(group, "kubepods"))
        plim_advise_command(remedy, "kubectl set resources %s --limits=memory=%sGi", job(advice, "deployment/NAME"),
                            value);
    else if (plim_advice_is(advice, "docker") || strstr(group, "docker"))
        plim_advise_command(remedy, "docker run --memory=%sg ...", value);
    else if (plim_advice_is(advice, "systemd") || strstr(group, ".service") || strstr(group, "system.slice"))
        plim_advise_command(remedy, "sudo systemctl set-property %s MemoryMax=%sG", job(advice, "UNIT"), value);
}

static bool is_limited(const struct plim_advice *advice)
{
    return plim_advice_is(advice, "slurm kubernetes docker systemd") || advice->finding->words.text[PLIM_W_CGROUP][0] ||
           strstr(advice->finding->words.text[PLIM_W_CONSTRAINT], "MEMCG") != NULL ||
           plim_is_known(plim_figure(advice->finding, NULL, PLIM_N_LIMIT_BYTES));
}

void plim_advise_host(struct plim_advice *advice)
{
    const int64_t workers = plim_advice_number(advice, PLIM_N_N_WORKERS),
                  pid = plim_figure(advice->finding, NULL, PLIM_N_PID);
    const bool is_nine = plim_figure(advice->finding, NULL, PLIM_N_SIGNAL) == 9 ||
                         plim_figure(advice->finding, NULL, PLIM_N_EXIT_STATUS) == 137;
    const bool is_known_killed = plim_is_known(plim_figure(advice->finding, NULL, PLIM_N_RSS_BYTES));
    if (is_nine && !is_known_killed)
        plim_advise_command(
            plim_advise(advice, PLIM_UNKNOWN, "nothing", "ask the kernel whether it was RAM, and how much was used"),
            "sudo dmesg -T | grep -i -E 'oom-kill|killed process'");
    if (plim_advice_is(advice, "ollama")) {
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "quality", "a smaller model or quantisation"),
                            "ollama run llama3.2:3b");
        plim_advise_command(
            plim_advise(advice, PLIM_UNKNOWN, "conversations longer than that are cut off", "a shorter context"),
            "OLLAMA_CONTEXT_LENGTH=4096 ollama serve");
    } else if (is_limited(advice)) {
        raise_limit(advice);
    }
    if (plim_advice_is_stage(advice, "dataloader") || (plim_is_known(workers) && workers > 1)) {
        if (plim_is_known(workers) && workers > 1)
            plim_advise_command(plim_advise_exact(advice, PLIM_UNKNOWN, "batches are prepared slower",
                                                  "%" PRId64 " workers instead of %" PRId64, workers / 2, workers),
                                "DataLoader(..., num_workers=%" PRId64 ")", workers / 2);
        else
            plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "batches are prepared slower",
                                            "fewer workers, fewer batches in advance"),
                                "DataLoader(..., num_workers=2, prefetch_factor=2)");
    }
    if (plim_advice_is(advice, "numpy"))
        plim_advise(advice, PLIM_UNKNOWN, "nothing",
                    "check the shape: is it what you mean? Then a smaller type, or work in pieces");
    if (plim_advice_is(advice, "linux-kernel") && !is_limited(advice))
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "nothing", "see who else holds RAM"),
                            "ps -eo pid,user,rss,args --sort=-rss | head");
    if (plim_advice_is(advice, "torchrun deepspeed accelerate transformers pytorch vllm") &&
        !plim_advice_is_stage(advice, "dataloader"))
        plim_advise(advice, PLIM_UNKNOWN, "nothing",
                    "let one process after the other load, or map the file (safetensors) instead of reading it");
    if (advice->remedies->n)
        plim_advise(advice, PLIM_UNKNOWN, "time", "less at once: smaller pieces, fewer processes");
    if (plim_is_known(pid) && is_nine)
        plim_advise(advice, PLIM_UNKNOWN, "disk; slow when it is used for long", "swap, for peaks that are rare");
    plim_advise_useless(advice, "settings of the GPU, a smaller batch for its sake",
                        "a full GPU gives an error message; it never ends a process");
    if (is_limited(advice))
        plim_advise_useless(advice, "more RAM in the machine", "the limit was reached, not the end of the RAM");
}

void plim_advise_shm(struct plim_advice *advice)
{
    plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "the container sees the shared memory of the host",
                                    "share /dev/shm of the host"),
                        "docker run --ipc=host ...");
    plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "RAM, as far as it is used",
                                    "or give the container a larger one; the default is 64 MiB"),
                        "docker run --shm-size=8g ...");
    plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "nothing", "see how full it is"), "df -h /dev/shm");
    plim_advise(advice, PLIM_UNKNOWN, "batches are prepared slower",
                "fewer workers, or num_workers=0 to see that this is it");
    plim_advise_useless(advice, "a higher memory limit of the container", "/dev/shm has a size of its own");
}
