/* SPDX-License-Identifier: MIT */
/* Remedies for the computer's memory: RAM, limits of control groups, shared memory. */
#include "diagnose/remedy/advice.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 96 };

/* Whole GiB, rounded up, 1.2 times what was used at most: headroom for peaks that were not measured. [assumed] */
static int64_t limit_gib(const struct plim_advice *advice, int64_t *ret_used_bytes)
{
    static const enum plim_number uses[] = { PLIM_N_PEAK_BYTES, PLIM_N_RSS_BYTES, PLIM_N_LIMIT_BYTES,
                                             PLIM_N_MEMORY_BYTES };
    int64_t most = 0;
    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++) {
        int64_t bytes = plim_figure(advice->finding, NULL, uses[i]);
        most = plim_is_known(bytes) && bytes > most ? bytes : most;
    }
    *ret_used_bytes = most;
    if (most <= 0 || most > INT64_C(1) << 50)
        return PLIM_UNKNOWN;
    return (int64_t)((double)most * 1.2 / (double)PLIM_GIB + 0.999);
}

static const char *job(const struct plim_advice *advice, const char *otherwise)
{
    const char *name = advice->finding->words.text[PLIM_W_JOB];
    return plim_advice_is_plain(name) ? name : otherwise;
}

/* "812345" of "StepId=812345.batch" in the lines that were read. */
static const char *slurm_job(const struct plim_advice *advice, char name[NAME_BYTES])
{
    static const char *const marks[] = { "StepId=", "JobId=", "JOB ", "Job " };
    for (uint32_t i = 0; i < advice->finding->n_evidence; i++)
        for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
            const char *at = strstr(advice->finding->evidence[i].text, marks[k]);
            const size_t n = at ? strspn(at + strlen(marks[k]), "0123456789") : 0;
            if (n > 0 && n < NAME_BYTES) {
                snprintf(name, NAME_BYTES, "%.*s", (int)n, at + strlen(marks[k]));
                return name;
            }
        }
    return job(advice, "JOBID");
}

/* The last part of a group's path that ends so: "ollama.service" of "/system.slice/ollama.service". */
static const char *unit_of(const struct plim_advice *advice, char name[NAME_BYTES])
{
    const char *group = advice->finding->words.text[PLIM_W_CGROUP], *end = strstr(group, ".service");
    const char *begin = end;
    while (begin && begin > group && begin[-1] != '/')
        begin--;
    if (!end || end - begin >= NAME_BYTES - 16)
        return job(advice, "UNIT");
    snprintf(name, NAME_BYTES, "%.*s.service", (int)(end - begin), begin);
    return plim_advice_is_plain(name) ? name : "UNIT";
}

/* The setter of the limit: the program that wrote the message, or by the group's name. */
enum setter { BY_NOBODY, BY_SLURM, BY_KUBERNETES, BY_DOCKER, BY_SYSTEMD, BY_GROUP };

static enum setter setter_of(const struct plim_advice *advice)
{
    const char *group = advice->finding->words.text[PLIM_W_CGROUP], *kind = plim_advice_kind(advice);
    if (!strcmp(kind, "earlyoom") || !strcmp(kind, "systemd-oomd") || !strncmp(kind, "kubernetes-evict", 16) ||
        !strcmp(kind, "kubernetes-system-oom") || plim_advice_is(advice, "ray"))
        return BY_NOBODY; /* the machine was full */
    if (plim_advice_is(advice, "slurm") || strstr(group, "slurm"))
        return BY_SLURM;
    if (plim_advice_is(advice, "kubernetes") || strstr(group, "kubepods"))
        return BY_KUBERNETES;
    if (plim_advice_is(advice, "docker") || strstr(group, "docker"))
        return BY_DOCKER;
    if (plim_advice_is(advice, "systemd") || strstr(group, ".service") || strstr(group, "system.slice"))
        return BY_SYSTEMD;
    return *group || strstr(advice->finding->words.text[PLIM_W_CONSTRAINT], "MEMCG") ||
                   plim_is_known(plim_figure(advice->finding, NULL, PLIM_N_LIMIT_BYTES))
               ? BY_GROUP
               : BY_NOBODY;
}

/* What asks for the limit and the peak, where the log does not have them. */
static void ask_limit(struct plim_advice *advice, enum setter setter)
{
    char name[NAME_BYTES];
    struct plim_remedy *remedy = plim_advise(
        advice, PLIM_UNKNOWN, "nothing", "%s",
        setter == BY_DOCKER       ? "ask docker whether it was memory, and for the limit (0: none)"
        : setter == BY_KUBERNETES ? "see the limit"
                                  : "see the limit and the highest use; 1.2 times of that is what to ask for");
    if (setter == BY_SLURM)
        plim_advise_command(remedy, "sacct -j %s --format=JobID,State,ReqMem,MaxRSS", slurm_job(advice, name));
    else if (setter == BY_KUBERNETES)
        plim_advise_command(remedy, "kubectl describe pod %s | grep -i -A 3 limits", job(advice, "POD"));
    else if (setter == BY_DOCKER)
        plim_advise_command(remedy, "docker inspect --format '{{.State.OOMKilled}} {{.HostConfig.Memory}}' %s",
                            job(advice, "CONTAINER"));
    else if (setter == BY_SYSTEMD)
        plim_advise_command(remedy, "systemctl show %s -p MemoryMax -p MemoryPeak", unit_of(advice, name));
    else
        plim_advise_command(remedy, "cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory.peak");
}

void plim_advise_use(struct plim_advice *advice)
{
    const int64_t used = plim_figure(advice->finding, NULL, PLIM_N_RSS_BYTES);
    struct plim_size_texts texts = { .n = 0 };
    if (!plim_is_known(used) || used <= 0 || used > INT64_C(1) << 50)
        return;
    const int64_t gib = (used + (int64_t)PLIM_GIB - 1) / (int64_t)PLIM_GIB;
    if (plim_advice_is(advice, "ray"))
        plim_advise_command(
            plim_advise_exact(advice, PLIM_UNKNOWN, "fewer tasks run side by side",
                              "say what a task takes, so that Ray starts fewer at once: this one had %s",
                              plim_say(&texts, used)),
            "@ray.remote(memory=%" PRId64 " * 1024**3)", gib);
    else if (!strcmp(plim_advice_kind(advice), "kubernetes-evicted"))
        plim_advise_command(plim_advise_exact(advice, PLIM_UNKNOWN, "a node with that much free is needed",
                                              "request what it uses, %s: it gets a node that has that",
                                              plim_say(&texts, used)),
                            "kubectl set resources deployment/NAME --requests=memory=%" PRId64 "Gi", gib);
}

/* Whoever set it: how far it has to go. */
static struct plim_remedy *raise_to(struct plim_advice *advice, int64_t gib, int64_t used)
{
    const int64_t limit = plim_figure(advice->finding, NULL, PLIM_N_LIMIT_BYTES);
    struct plim_size_texts texts = { .n = 0 };
    return plim_advise_exact(advice, PLIM_UNKNOWN, "RAM for others",
                             "raise the limit to %" PRId64 " GiB: 1.2 times %s of %s, where it was stopped", gib,
                             plim_is_known(limit) && used == limit ? "the limit" : "the use", plim_say(&texts, used));
}

void plim_advise_limit_of_ram(struct plim_advice *advice)
{
    int64_t used;
    const int64_t gib = limit_gib(advice, &used);
    if (plim_is_known(plim_figure(advice->finding, NULL, PLIM_N_LIMIT_BYTES)) && plim_is_known(gib))
        raise_to(advice, gib, used);
}

static void raise_limit(struct plim_advice *advice, enum setter setter)
{
    int64_t used, gib = limit_gib(advice, &used);
    struct plim_remedy *remedy;
    char name[NAME_BYTES], value[24] = "SIZE";
    if (!plim_is_known(gib)) {
        ask_limit(advice, setter);
        remedy = plim_advise(advice, PLIM_UNKNOWN, "RAM for others", "then raise the limit");
    } else {
        remedy = raise_to(advice, gib, used);
        snprintf(value, sizeof value, "%" PRId64, gib);
    }
    if (setter == BY_SLURM)
        plim_advise_command(remedy, "sbatch --mem=%sG JOB.sh", value);
    else if (setter == BY_KUBERNETES)
        plim_advise_command(remedy, "kubectl set resources deployment/NAME --limits=memory=%sGi", value);
    else if (setter == BY_DOCKER)
        plim_advise_command(remedy, "docker run --memory=%sg ...", value);
    else if (setter == BY_SYSTEMD)
        plim_advise_command(remedy, "sudo systemctl set-property %s MemoryMax=%sG", unit_of(advice, name), value);
    else if (plim_is_known(gib))
        plim_advise_command(remedy, "docker run --memory=%sg ...    # Slurm: --mem=%sG; systemd: MemoryMax=%sG", value,
                            value, value);
}

void plim_advise_wrong_size(struct plim_advice *advice)
{
    plim_advise(
        advice, PLIM_UNKNOWN, "nothing",
        "see where the size comes from: a file that is broken or of another format, a shape, a number that overflowed");
    if (plim_advice_is(advice, "llama.cpp ollama koboldcpp lmstudio"))
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "nothing", "see whether the file of the model is whole"),
                            "plimsoll check %s", plim_advice_model(advice));
    else if (plim_advice_is(advice, "numpy") || plim_advice_has_torch(advice))
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "nothing", "print the shapes right before that line"),
                            "print(a.shape, a.dtype)");
}

/* A piece that was refused: the count of numbers tells whether the size was intended. */
static void check_shape(struct plim_advice *advice)
{
    const int64_t tried = advice->answer->tried_bytes;
    const char *dtype = advice->finding->words.text[PLIM_W_DTYPE];
    struct plim_size_texts texts = { .n = 0 };
    struct plim_remedy *remedy;
    if (plim_is_known(tried) && tried >= (int64_t)PLIM_GIB)
        remedy = plim_advise_exact(advice, PLIM_UNKNOWN, "nothing",
                                   "check the shape: %s are %.2f billion numbers of 4 bytes, or %.2f of 8. Is it what "
                                   "you mean?",
                                   plim_say(&texts, tried), (double)tried / 4e9, (double)tried / 8e9);
    else
        remedy = plim_advise(advice, PLIM_UNKNOWN, "nothing", "check the shape: is it what you mean?");
    plim_advise_command(remedy, "print(a.shape, a.dtype)    # of what goes in");
    if (!strcmp(dtype, "float64") && plim_is_known(tried))
        plim_advise_command(plim_advise_exact(advice, tried / 2, "digits: 7 instead of 16",
                                              "float32 instead of float64: %s", plim_say(&texts, tried / 2)),
                            "a = a.astype(\"float32\")    # before it is combined");
    plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "time", "in pieces, or in a file instead of RAM"),
                        "numpy.memmap(\"big.dat\", dtype=\"float32\", mode=\"w+\", shape=shape)");
}

static void ollama_host(struct plim_advice *advice)
{
    const int64_t needed = plim_figure(advice->finding, NULL, PLIM_N_NEEDED_BYTES),
                  available = plim_figure(advice->finding, NULL, PLIM_N_AVAILABLE_BYTES);
    struct plim_size_texts texts = { .n = 0 };
    struct plim_remedy *remedy;
    if (plim_is_known(needed) && plim_is_known(available) && available > 0 && needed > available)
        remedy = plim_advise_exact(advice, PLIM_UNKNOWN, "quality",
                                   "a smaller model or quantisation: at most %.0f %% of this one, %s",
                                   100 * (double)available / (double)needed, plim_say(&texts, available));
    else
        remedy = plim_advise(advice, PLIM_UNKNOWN, "quality", "a smaller model or quantisation");
    plim_advise_command(remedy, "ollama run llama3.2:3b    # 2 GB, to see that it works");
    plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "conversations longer than that are cut off",
                                    "a shorter context (a service: systemctl edit ollama, Environment=)"),
                        "OLLAMA_CONTEXT_LENGTH=4096 ollama serve");
    plim_advise_command(
        plim_advise(advice, PLIM_UNKNOWN, "nothing", "unload other models, and see which processes hold the RAM"),
        "ollama ps; ps -eo pid,user,rss,args --sort=-rss | head");
}

/* Workers that load data each take RAM of their own. */
static void fewer_workers(struct plim_advice *advice)
{
    const int64_t workers = plim_advice_number(advice, PLIM_N_N_WORKERS);
    if (plim_is_known(workers) && workers > 1)
        plim_advise_command(plim_advise_exact(advice, PLIM_UNKNOWN, "batches are prepared slower",
                                              "%" PRId64 " workers instead of %" PRId64, workers / 2, workers),
                            "DataLoader(..., num_workers=%" PRId64 ")", workers / 2);
    else
        plim_advise_command(
            plim_advise(advice, PLIM_UNKNOWN, "batches are prepared slower", "fewer workers, fewer batches in advance"),
            "DataLoader(..., num_workers=2, prefetch_factor=2)");
}

void plim_advise_host(struct plim_advice *advice)
{
    const int64_t workers = plim_advice_number(advice, PLIM_N_N_WORKERS);
    const char *kind = plim_advice_kind(advice);
    const enum setter setter = setter_of(advice);
    const bool is_nine = plim_figure(advice->finding, NULL, PLIM_N_SIGNAL) == 9 ||
                         plim_figure(advice->finding, NULL, PLIM_N_EXIT_STATUS) == 137;
    const bool is_guess = advice->answer->best.rule && !strcmp(advice->answer->best.rule, "killed");
    const bool is_windows = !strcmp(plim_figure_word(advice->finding, advice->context, PLIM_W_PLATFORM), "windows");
    const bool is_refused = !strncmp(kind, "pytorch-cpu", 11) || plim_advice_is(advice, "numpy");
    const bool is_loader = plim_advice_is_stage(advice, "dataloader") || !strncmp(kind, "pytorch-workers", 15) ||
                           (plim_is_known(workers) && workers > 1);
    if (is_guess)
        plim_advise_command(
            plim_advise(advice, PLIM_UNKNOWN, "nothing", "ask the kernel whether it was RAM, and how much was used"),
            "sudo dmesg -T | grep -i -E 'oom-kill|killed process'");
    if (!strcmp(kind, "gunicorn-killed"))
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "requests wait", "fewer workers: each loads the model"),
                            "gunicorn --workers 1 --preload app:app");
    if (plim_advice_is(advice, "ollama"))
        ollama_host(advice);
    else if (setter != BY_NOBODY)
        raise_limit(advice, setter);
    if (is_loader)
        fewer_workers(advice);
    if (is_refused && (!plim_is_known(advice->answer->tried_bytes) || advice->answer->tried_bytes >= (int64_t)PLIM_GIB))
        check_shape(advice);
    if (is_refused || (plim_advice_is(advice, "linux-kernel") && setter == BY_NOBODY))
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "nothing", "see which other processes hold RAM"), "%s",
                            is_windows ? "tasklist /fi \"memusage gt 1000000\""
                                       : "ps -eo pid,user,rss,args --sort=-rss | head");
    if (strstr(advice->finding->words.text[PLIM_W_CONSTRAINT], "CPUSET") ||
        strstr(advice->finding->words.text[PLIM_W_CONSTRAINT], "MEMORY_POLICY"))
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "a little speed", "take memory from all nodes"),
                            "numactl --interleave=all python train.py");
    if (plim_advice_is(advice, "torchrun deepspeed accelerate transformers pytorch vllm") && !is_loader && !is_refused)
        plim_advise(advice, PLIM_UNKNOWN, "nothing",
                    "let one process after the other load, or map the file (safetensors) instead of reading it");
    if (advice->remedies->n && !plim_advice_is(advice, "ollama"))
        plim_advise(advice, PLIM_UNKNOWN, "time", "less at once: smaller pieces, fewer processes");
    if (plim_advice_is(advice, "ray"))
        plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "the kernel may then kill at random",
                                        "another threshold for ending tasks"),
                            "RAY_memory_usage_threshold=0.98 ray start --head");
    if (is_nine && setter == BY_NOBODY)
        plim_advise(advice, PLIM_UNKNOWN, "disk; slow when it is used for long", "swap, for peaks that are rare");
    plim_advise_useless(advice, "settings of the GPU, a smaller batch for its sake",
                        is_refused ? "this is the computer's RAM"
                                   : "a full GPU gives an error message; it never ends a process");
    const bool is_limit = setter == BY_SLURM || setter == BY_KUBERNETES || setter == BY_GROUP ||
                          plim_is_known(plim_figure(advice->finding, NULL, PLIM_N_LIMIT_BYTES)) ||
                          strstr(advice->finding->words.text[PLIM_W_CONSTRAINT], "MEMCG");
    if (setter != BY_NOBODY && !is_guess && is_limit)
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
    plim_advise_command(plim_advise(advice, PLIM_UNKNOWN, "nothing", "see how large and how full it is"),
                        "df -h /dev/shm");
    plim_advise(advice, PLIM_UNKNOWN, "RAM, as far as it is used",
                "Kubernetes: an emptyDir with medium: Memory, mounted at /dev/shm");
    plim_advise(advice, PLIM_UNKNOWN, "batches are prepared slower",
                "fewer workers, or num_workers=0 to see that this is it");
    plim_advise_useless(advice, "a higher memory limit of the container", "/dev/shm has a size of its own");
}
