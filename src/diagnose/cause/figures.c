/* SPDX-License-Identifier: MIT */
#include "diagnose/cause/figures.h"

#include <math.h>
#include <string.h>

/* Beyond these, sums would overflow; nothing real is there. A share of the card is not above a hundred times of it. */
#define MAX_FIGURE ((int64_t)1 << 61)
#define MAX_RATIO  ((int64_t)100000000)
#define MAX_COUNT  ((int64_t)1 << 40)

/* No machine has so much in one piece, whatever its cards. */
#define ABSURD_BYTES ((int64_t)1 << 50)

int64_t plim_figure(const struct plim_finding *finding, const struct plim_log_context *context, enum plim_number which)
{
    int64_t value = plim_number(&finding->numbers, which);
    enum plim_number_kind kind = plim_number_kind(which);
    int64_t most = kind == PLIM_NUMBER_RATIO ? MAX_RATIO : kind == PLIM_NUMBER_COUNT ? MAX_COUNT : MAX_FIGURE;
    if (!plim_is_known(value) && context)
        value = plim_number(&context->numbers, which);
    return value > most || value < -most ? PLIM_UNKNOWN : value;
}

bool plim_is_absurd(const struct plim_finding *finding)
{
    return plim_number(&finding->numbers, PLIM_N_TRIED_BYTES) >= ABSURD_BYTES;
}

const char *plim_figure_word(const struct plim_finding *finding, const struct plim_log_context *context,
                             enum plim_word which)
{
    return finding->words.text[which][0] || !context ? finding->words.text[which] : context->words.text[which];
}

const char *plim_say(struct plim_size_texts *texts, int64_t bytes)
{
    char *text = texts->text[texts->n++ % 10];
    if (!plim_is_known(bytes))
        return "?";
    return bytes < 0 ? plim_size_text_signed(text, bytes) : plim_size_text(text, (uint64_t)bytes);
}

/* What a message cannot mean is not known: more than 2^50 bytes on one card, or less than none. */
static int64_t sane(int64_t bytes) { return bytes < 0 || bytes > INT64_C(1) << 50 ? PLIM_UNKNOWN : bytes; }

static int64_t get(const struct plim_finding *finding, enum plim_number which)
{
    return plim_figure(finding, NULL, which);
}

static bool has(const struct plim_finding *finding, enum plim_number which)
{
    return plim_is_known(get(finding, which));
}

/* "Cached" was kept and not allocated (to 1.3), "reserved" includes the allocated (1.4 to 2.0), then "unallocated". */
static void read_allocator(const struct plim_finding *finding, struct plim_cause_answer *answer)
{
    answer->allocated_bytes = sane(get(finding, PLIM_N_ALLOCATED_BYTES));
    answer->unallocated_bytes = sane(get(finding, PLIM_N_RESERVED_UNALLOCATED_BYTES));
    if (!plim_is_known(answer->unallocated_bytes) && has(finding, PLIM_N_RESERVED_BYTES) &&
        plim_is_known(answer->allocated_bytes)) {
        int64_t rest = get(finding, PLIM_N_RESERVED_BYTES) - answer->allocated_bytes;
        answer->unallocated_bytes = rest < 0 ? 0 : rest;
    }
    if (!plim_is_known(answer->unallocated_bytes))
        answer->unallocated_bytes = sane(get(finding, PLIM_N_CACHED_BYTES));
    answer->private_bytes = sane(get(finding, PLIM_N_PRIVATE_POOL_BYTES));
    answer->allowed_bytes = sane(get(finding, PLIM_N_ALLOWED_BYTES));
}

/*
 * In a container the driver counts processes by the numbers of the host, PyTorch does not find its own among them, and
 * it is listed as a stranger. Its use is what PyTorch has plus a context; of several that could be it, the one with the
 * smallest context: they hold the same, so it does not matter which. And one that would not fit on the card beside what
 * PyTorch has is PyTorch's own, whatever its context.
 */
static int own_among_others(const struct plim_finding *finding, int64_t reserved_bytes, int64_t total_bytes)
{
    int own = -1;
    for (uint32_t i = 0; i < finding->n_others && reserved_bytes > 0; i++) {
        const int64_t bytes = sane(finding->others[i].bytes);
        const int64_t rest = plim_is_known(bytes) ? bytes - reserved_bytes : -1;
        const bool is_beyond = plim_is_known(total_bytes) && plim_is_known(bytes) && rest >= -PLIM_ROUNDING_BYTES &&
                               bytes > total_bytes + PLIM_ROUNDING_BYTES - reserved_bytes;
        const bool is_context = rest >= PLIM_CONTEXT_LOW_BYTES - PLIM_ROUNDING_BYTES &&
                                rest <= PLIM_CONTEXT_HIGH_BYTES + PLIM_ROUNDING_BYTES;
        if ((is_beyond || is_context) && (own < 0 || bytes < finding->others[own].bytes))
            own = (int)i;
    }
    return own;
}

/*
 * The message ends before it says what PyTorch has. The one process that is listed and what is free are all of the
 * card, and this one has at least a context there: so the one that is listed is this one.
 */
static bool is_only_process(const struct plim_finding *finding, const struct plim_cause_answer *answer)
{
    const int64_t bytes = finding->n_others == 1 ? sane(finding->others[0].bytes) : PLIM_UNKNOWN;
    return plim_is_known(bytes) && bytes > 0 && plim_is_known(answer->total_bytes) &&
           plim_is_known(answer->free_bytes) && answer->allocated_bytes != 0 &&
           answer->total_bytes - answer->free_bytes - bytes < PLIM_CONTEXT_LOW_BYTES;
}

static void read_processes(const struct plim_finding *finding, struct plim_cause_answer *answer)
{
    int64_t sum = 0, reserved_bytes = PLIM_UNKNOWN;
    bool is_whole = true;
    if (plim_is_known(answer->allocated_bytes))
        reserved_bytes =
            answer->allocated_bytes + (plim_is_known(answer->unallocated_bytes) ? answer->unallocated_bytes : 0);
    answer->own_bytes = sane(get(finding, PLIM_N_PROCESS_BYTES));
    if (answer->own_bytes == 0 && reserved_bytes != 0)
        answer->own_bytes = PLIM_UNKNOWN; /* the driver did not tell: "0 bytes" of a process that has tensors, or may */
    answer->own_index =
        plim_is_known(answer->own_bytes) ? -1 : own_among_others(finding, reserved_bytes, answer->total_bytes);
    if (answer->own_index < 0 && !plim_is_known(answer->own_bytes) && !plim_is_known(reserved_bytes) &&
        is_only_process(finding, answer))
        answer->own_index = 0;
    if (answer->own_index >= 0)
        answer->own_bytes = finding->others[answer->own_index].bytes;
    else if (!plim_is_known(answer->own_bytes) && plim_is_known(reserved_bytes) &&
             (plim_is_known(answer->unallocated_bytes) || reserved_bytes == 0)) /* else what it keeps is not said */
        answer->own_bytes = reserved_bytes + PLIM_CONTEXT_BYTES;

    for (uint32_t i = 0; i < finding->n_others; i++) {
        int64_t bytes = sane(finding->others[i].bytes);
        if ((int)i == answer->own_index)
            continue;
        if (!plim_is_known(bytes)) {
            is_whole = false;
            continue;
        }
        /* "0 bytes" of a process on a full card: the driver did not tell, and another process holds the rest. */
        answer->is_others_listed = answer->is_others_listed || bytes > 0;
        sum += bytes;
        if (!plim_is_known(answer->other_pid_bytes) || bytes > answer->other_pid_bytes) {
            answer->other_pid_bytes = bytes;
            answer->other_pid = finding->others[i].pid;
        }
    }
    if (answer->is_others_listed)
        answer->others_bytes = sum;
    else if (is_whole && plim_is_known(answer->total_bytes) && plim_is_known(answer->free_bytes) &&
             plim_is_known(answer->own_bytes)) {
        int64_t rest = answer->total_bytes - answer->free_bytes - answer->own_bytes;
        answer->others_bytes = rest < 0 ? 0 : rest;
    }
}

int64_t plim_left_by_weights(const struct plim_finding *finding, const struct plim_log_context *context)
{
    int64_t before = sane(plim_figure(finding, context, PLIM_N_FREE_BYTES));
    int64_t weights = sane(plim_figure(finding, context, PLIM_N_MODEL_BYTES));
    return plim_is_known(before) && plim_is_known(weights) && weights <= before ? before - weights : PLIM_UNKNOWN;
}

bool plim_is_unix(const struct plim_log_context *context)
{
    for (uint32_t i = 0; context && i < context->n_frames; i++)
        if (context->frames[i].file[0] == '/')
            return true;
    return false;
}

const char *plim_spill_words(const char *platform, const struct plim_log_context *context)
{
    return plim_is_windows(platform) ? "Windows keeps the rest in RAM"
           : plim_is_unix(context)   ? "under WSL, or with managed memory, the rest is in RAM"
                                     : "on Windows and WSL the rest is in RAM";
}

bool plim_is_windows(const char *platform) { return !strcmp(platform, "wsl") || !strcmp(platform, "windows"); }

void plim_cause_figures(const struct plim_finding *finding, const struct plim_log_context *context,
                        struct plim_cause_answer *answer)
{
    answer->tried_bytes = get(finding, PLIM_N_TRIED_BYTES);
    if (answer->tried_bytes < 0)
        answer->tried_bytes = PLIM_UNKNOWN;
    answer->total_bytes = sane(get(finding, PLIM_N_TOTAL_BYTES));
    answer->free_bytes = sane(get(finding, PLIM_N_FREE_BYTES));
    if (!plim_is_known(answer->free_bytes) && plim_is_known(answer->total_bytes) && has(finding, PLIM_N_USED_BYTES) &&
        get(finding, PLIM_N_USED_BYTES) <= answer->total_bytes)
        answer->free_bytes = answer->total_bytes - get(finding, PLIM_N_USED_BYTES);
    answer->own_index = -1;
    answer->others_bytes = answer->other_pid = answer->other_pid_bytes = PLIM_UNKNOWN;
    answer->shortfall_bytes = answer->missing_bytes_of_kv = PLIM_UNKNOWN;
    read_allocator(finding, answer);
    answer->is_process_unreliable = finding->has_impossible ||
                                    plim_is_windows(plim_figure_word(finding, context, PLIM_W_PLATFORM)) ||
                                    (plim_is_known(answer->allocated_bytes) && plim_is_known(answer->total_bytes) &&
                                     answer->allocated_bytes > answer->total_bytes + PLIM_ROUNDING_BYTES);
    read_processes(finding, answer);
    if (plim_is_known(answer->tried_bytes) && plim_is_known(answer->free_bytes) &&
        answer->tried_bytes > answer->free_bytes)
        answer->shortfall_bytes = answer->tried_bytes - answer->free_bytes;
    int64_t needed = get(finding, PLIM_N_NEEDED_BYTES), available = get(finding, PLIM_N_AVAILABLE_BYTES);
    if (plim_is_known(needed) && plim_is_known(available) && needed > available)
        answer->missing_bytes_of_kv = needed - available;
}
