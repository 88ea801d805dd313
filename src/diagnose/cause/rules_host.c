/* SPDX-License-Identifier: MIT */
/* Rules for the computer's memory: RAM, control groups, processes that were killed. */
#include "diagnose/cause/growth.h"
#include "diagnose/cause/rules.h"
#include "diagnose/scan/patterns/pattern.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *limit_words(const struct plim_facts *facts)
{
    const char *constraint = facts->finding->words.text[PLIM_W_CONSTRAINT];
    if (strstr(constraint, "MEMCG"))
        return " A limit of its control group was hit, not the RAM of the machine.";
    if (strstr(constraint, "CPUSET") || strstr(constraint, "MEMORY_POLICY"))
        return " The memory of the nodes it is tied to was full; others may have some.";
    return "";
}

/*
 * A message without figures, by the beginning of its pattern's id. Who ends programs for want of RAM, or refuses it,
 * knows why; a program that was refused knows only that it was: a limit, or a size that overflowed, looks the same.
 */
struct bare_message {
    const char *id, *words;
    bool is_judge;
};

static const struct bare_message *bare_message(const struct plim_facts *facts)
{
    static const struct bare_message other = { "", "", false };
    static const struct bare_message rows[] = {
        { "docker-oomkilled", "Docker notes that the container ran out of memory: of its limit, or of the machine.",
          true },
        { "kubernetes-evict", "The node ran out of RAM, and Kubernetes evicted this pod to save it.", true },
        { "kubernetes-system", "The node itself ran out of RAM, not a limit of one container.", true },
        { "kubernetes-", "A container used more RAM than its limit. The limit is not in this log.", true },
        { "slurm-touched",
          "The limit of RAM was touched at some time, as Slurm saw afterwards. Whether a process was ended for it is "
          "not in this line: caches of files touch it as well.",
          false },
        { "slurm-", "The job used more RAM than it had requested. How much that was is not in this log.", true },
        { "job-", "The job used more RAM than it had requested.", true },
        { "python-memory", "Python asked for RAM and did not get it. How much is not in the message.", false },
        { "cpp-bad-alloc", "A C++ program asked for RAM and did not get it. How much is not in the message.", false },
        { "host-errno", "A call of the system was refused for want of RAM, or of a limit on it.", false },
        { "llama-mmap", "The model's file could not be put into memory.", false },
        { "systemd-oomd", "systemd-oomd ended it because the RAM was under pressure, before the kernel would have.",
          true },
        { "systemd-", "The kernel ended a process of this unit for want of RAM: of its limit, or of the machine.",
          true },
        { "ray-init", "Ray counts the RAM of the node less its object store, and too little was left for tasks.",
          false },
        { "ray-", "Ray ended the task because the RAM of the node was nearly full.", true },
        { "kernel-overcommit", "The kernel would not promise so much memory (vm.overcommit_memory).", true },
        { "kernel-", "The kernel had no RAM left and began to end processes.", true },
        { "onnxruntime-host", "The allocator of ONNX Runtime for the CPU got no RAM.", false },
        { "said-", "The text says so; a log would have the figures.", false },
        { "paddle-host", "Paddle got no RAM for pinned or ordinary memory of the computer.", false },
        { "windows-memory", "A program was refused RAM, or a limit on it was hit.", false },
        { "windows-", "Windows promises no more than RAM and page file together, and that was used up.", true },
        { "macos-compressor",
          "macOS had no room left for compressed memory, and the whole system stood still until it was restarted.",
          false },
        { "jetsam", "macOS ended it because the RAM was nearly full.", true },
        { "earlyoom", "earlyoom ended it because the RAM was nearly full.", true },
        { "nohang", "", true },
        { "talos-oom", "", true },
        { "flux-oom", "", true },
        { "condor-memory", "", true },
        { "yarn-memory", "", true },
        { "cloud-memory-limit", "", true },
        { "ollama-", "", true },
    };
    const char *id = facts->finding->pattern ? facts->finding->pattern->id : "";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strncmp(id, rows[i].id, strlen(rows[i].id)))
            return &rows[i];
    return &other;
}

/* The program that ended the process. */
static const char *killer(const struct plim_facts *facts)
{
    const char *id = facts->finding->pattern ? facts->finding->pattern->id : "";
    return !strncmp(id, "earlyoom", 8)           ? "earlyoom"
           : !strncmp(id, "systemd-oomd", 12)    ? "systemd-oomd"
           : !strncmp(id, "kubernetes-evic", 15) ? "Kubernetes"
           : !strncmp(id, "ray-", 4)             ? "Ray"
                                                 : "Linux";
}

static bool guess_host(const struct plim_facts *facts, struct plim_guess *guess)
{
    int64_t rss = plim_fact_own(facts, PLIM_N_RSS_BYTES), limit = plim_fact_own(facts, PLIM_N_LIMIT_BYTES),
            pid = plim_fact_own(facts, PLIM_N_PID);
    int64_t needed = plim_fact_own(facts, PLIM_N_NEEDED_BYTES),
            available = plim_fact_own(facts, PLIM_N_AVAILABLE_BYTES);
    int64_t tried = facts->answer->tried_bytes;
    struct plim_size_texts texts = { .n = 0 };
    char who[160] = "the process";
    const char *name = facts->finding->words.text[PLIM_W_PROCESS];
    if (!plim_fact_is_host(facts))
        return false;
    if (plim_is_known(pid))
        snprintf(who, sizeof who, "process %" PRId64 "%s%s%s", pid, *name ? " (" : "", name, *name ? ")" : "");
    else if (*name)
        snprintf(who, sizeof who, "%s", name);
    if (plim_is_known(rss) && plim_is_known(limit))
        return plim_guess_set(guess, PLIM_CAUSE_HOST_RAM, PLIM_CONFIDENCE_HIGH,
                              "%s ended %s, which held %s of RAM; its limit was %s.", killer(facts), who,
                              plim_say(&texts, rss), plim_say(&texts, limit));
    if (plim_is_known(rss))
        return plim_guess_set(guess, PLIM_CAUSE_HOST_RAM, PLIM_CONFIDENCE_HIGH, "%s ended %s, which held %s of RAM.%s",
                              killer(facts), who, plim_say(&texts, rss), limit_words(facts));
    const bool is_beside = plim_fact_is_llama(facts);
    if (!plim_is_known(needed))
        needed = plim_fact_own(facts, PLIM_N_DESIRED_BYTES);
    if (plim_is_known(needed) && plim_is_known(available) && needed > available)
        return plim_guess_set(guess, PLIM_CAUSE_HOST_RAM, PLIM_CONFIDENCE_HIGH,
                              "It wants %s of RAM%s, and %s is available.", plim_say(&texts, needed),
                              is_beside ? " beside what goes to the card" : "", plim_say(&texts, available));
    if (plim_is_known(needed) && plim_is_known(facts->answer->total_bytes) && needed > facts->answer->total_bytes)
        return plim_guess_set(guess, PLIM_CAUSE_HOST_RAM, PLIM_CONFIDENCE_HIGH,
                              "It wants %s of RAM, and the machine has %s in all.", plim_say(&texts, needed),
                              plim_say(&texts, facts->answer->total_bytes));
    /* XLA's client of the CPU has these words; since 2025 one of its clients of the GPU too (MaybeOwningGpuMemory). */
    if (plim_is_known(tried) && facts->finding->pattern && !strcmp(facts->finding->pattern->id, "jax-host"))
        return plim_guess_set(guess, PLIM_CAUSE_HOST_RAM, PLIM_CONFIDENCE_MEDIUM,
                              "A piece of %s was tried and refused. In most versions these are the words of JAX on the "
                              "CPU, which means RAM.",
                              plim_say(&texts, tried));
    if (plim_is_known(tried))
        return plim_guess_set(
            guess, PLIM_CAUSE_HOST_RAM, PLIM_CONFIDENCE_HIGH,
            "A piece of %s of RAM was tried and refused. This is the computer's memory, not the card's.",
            plim_say(&texts, tried));
    if (plim_is_known(limit))
        return plim_guess_set(guess, PLIM_CAUSE_HOST_RAM, PLIM_CONFIDENCE_HIGH, "Its limit of RAM, %s, was reached.",
                              plim_say(&texts, limit));
    const struct bare_message *message = bare_message(facts);
    return plim_guess_set(
        guess, PLIM_CAUSE_HOST_RAM, message->is_judge ? PLIM_CONFIDENCE_HIGH : PLIM_CONFIDENCE_MEDIUM, "%s%s",
        *message->words ? message->words : "The message itself says so; it has no more figures than that.",
        limit_words(facts));
}

enum { SHORT_LIFE_S = 600, LONG_LIFE_S = 24 * 3600 };

/* How long it ran tells need from growth: what does not fit dies at once, what leaks takes its time. */
static void say_lifetime(const struct plim_facts *facts, struct plim_guess *guess)
{
    const int64_t seconds = plim_lifetime(facts->finding);
    const size_t n = strlen(guess->why);
    char span[PLIM_SPAN_TEXT_BYTES];
    if (!plim_is_known(seconds) || n >= sizeof guess->why)
        return;
    snprintf(guess->why + n, sizeof guess->why - n, " It had run for %s%s.", plim_span_text(span, seconds),
             seconds < SHORT_LIFE_S  ? ": it does not fit as it is"
             : seconds > LONG_LIFE_S ? ": what takes so long to fill a limit is more likely growth than need"
                                     : "");
}

bool plim_rule_host(const struct plim_facts *facts, struct plim_guess *guess)
{
    if (!guess_host(facts, guess))
        return false;
    say_lifetime(facts, guess);
    return true;
}

/* Signal 9 without a word about memory: nearly always RAM, but another sender is possible. */
bool plim_rule_killed(const struct plim_facts *facts, struct plim_guess *guess)
{
    int64_t status = plim_fact_own(facts, PLIM_N_EXIT_STATUS), signal = plim_fact_own(facts, PLIM_N_SIGNAL);
    const char *detail = facts->finding->words.text[PLIM_W_DETAIL];
    bool is_nine = signal == 9 || status == 137 || status == -9;
    if (!is_nine || !plim_fact_is_host(facts) || plim_is_known(plim_fact_own(facts, PLIM_N_RSS_BYTES)) ||
        plim_is_known(plim_fact_own(facts, PLIM_N_LIMIT_BYTES)) || strstr(detail, "OOM") ||
        strstr(facts->finding->pattern->id, "oom"))
        return false;
    if (!strcmp(plim_figure_word(facts->finding, facts->context, PLIM_W_TOLD), "no_oom"))
        return plim_guess_set(guess, PLIM_CAUSE_NOT_OOM, PLIM_CONFIDENCE_MEDIUM,
                              "%s is signal 9: the program was ended from outside. The text says that it was not for "
                              "memory; then somebody else sent it: a probe, a time limit, a stop.",
                              status == 137 ? "Exit status 137" : "This");
    if (!strcmp(plim_figure_word(facts->finding, facts->context, PLIM_W_TOLD), "stopped"))
        return plim_guess_set(
            guess, PLIM_CAUSE_NOT_OOM, PLIM_CONFIDENCE_MEDIUM,
            "%s is signal 9: the program was ended from outside. The log says that something else than "
            "memory ends programs here: a limit of time, or no sign of life.",
            status == 137 ? "Exit status 137" : "This");
    return plim_guess_set(
        guess, PLIM_CAUSE_HOST_RAM, PLIM_CONFIDENCE_MEDIUM,
        "%s is signal 9: the program was ended from outside and could not say why. On Linux that is nearly "
        "always want of RAM; a full GPU never does it.",
        status == 137 ? "Exit status 137" : "This");
}
