/* SPDX-License-Identifier: MIT */
/*
 * The drivers are asked first; then the processes that they named are looked up, once each. What is known of a process
 * stays until it holds memory no more, so that a look costs little while nothing changes.
 */
#include "card/sample.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "card/draft.h"
#include "card/drm/look.h"
#include "card/nvml/look.h"
#include "card/proc/process.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plim_sampler {
    char *nvml_path, *root;
    struct plim_nvml_look nvml;
    struct plim_drm_look drm;
    struct plim_proc_reader reader;
    struct plim_draft draft;
    struct plim_proc_entry *entry; /* by pid */
    uint32_t n_entries, entry_room;
    struct plim_sample_process *process;
    struct plim_holding *holding;
    struct plim_sample sample;
};

static char *copy(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *result = plim_alloc(bytes, 1);
    if (result)
        memcpy(result, text, bytes);
    return result;
}

/* --- the processes that hold memory --- */

static int compare_pids(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* The pids of all holdings in their order, each once; NULL when memory is short. */
static int64_t *sorted_pids(const struct plim_draft *draft, uint32_t *ret_n)
{
    int64_t *pid = plim_alloc(draft->n_holdings, sizeof *pid);
    uint32_t n = 0;
    if (!pid)
        return NULL;
    for (uint32_t i = 0; i < draft->n_holdings; i++)
        pid[i] = draft->holding[i].pid;
    qsort(pid, draft->n_holdings, sizeof *pid, compare_pids);
    for (uint32_t i = 0; i < draft->n_holdings; i++)
        if (i == 0 || pid[i] != pid[i - 1])
            pid[n++] = pid[i];
    *ret_n = n;
    return pid;
}

/* Entries for these pids: those known stay, the others go. */
static int match_entries(struct plim_sampler *sampler, const int64_t *pid, uint32_t n)
{
    struct plim_proc_entry *entry = plim_alloc(n, sizeof *entry);
    uint32_t old = 0;
    if (!entry)
        return PLIM_E_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        for (; old < sampler->n_entries && sampler->entry[old].process.pid < pid[i]; old++)
            plim_proc_entry_done(&sampler->entry[old]);
        if (old < sampler->n_entries && sampler->entry[old].process.pid == pid[i])
            entry[i] = sampler->entry[old++];
        else
            entry[i].process.pid = pid[i];
    }
    for (; old < sampler->n_entries; old++)
        plim_proc_entry_done(&sampler->entry[old]);
    plim_free(sampler->entry);
    sampler->entry = entry;
    sampler->n_entries = n;
    return 0;
}

static int read_processes(struct plim_sampler *sampler)
{
    uint32_t n = 0;
    int64_t *pid = sorted_pids(&sampler->draft, &n);
    int result = pid ? match_entries(sampler, pid, n) : PLIM_E_NOMEM;
    plim_free(pid);
    if (result)
        return result;
    plim_free(sampler->process);
    sampler->process = plim_alloc(n, sizeof *sampler->process);
    if (!sampler->process)
        return PLIM_E_NOMEM;
    for (uint32_t i = 0; i < n && result == 0; i++) {
        result = plim_proc_read(&sampler->reader, &sampler->entry[i]);
        sampler->process[i] = sampler->entry[i].process;
    }
    return result;
}

/* --- the holdings --- */

/* By card, then by bytes, largest first and unknown last; then by pid, so that rows of equal bytes keep their places.
 */
static int compare_holdings(const void *a, const void *b)
{
    const struct plim_holding *left = a, *right = b;
    if (left->card != right->card)
        return left->card < right->card ? -1 : 1;
    if (left->bytes != right->bytes)
        return left->bytes > right->bytes ? -1 : 1;
    return (left->process > right->process) - (left->process < right->process);
}

static uint32_t index_of(const struct plim_sampler *sampler, int64_t pid)
{
    uint32_t low = 0, high = sampler->n_entries;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (sampler->entry[middle].process.pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int place_holdings(struct plim_sampler *sampler)
{
    const struct plim_draft *draft = &sampler->draft;
    uint32_t n = 0;
    plim_free(sampler->holding);
    sampler->holding = plim_alloc(draft->n_holdings, sizeof *sampler->holding);
    if (!sampler->holding)
        return PLIM_E_NOMEM;
    for (uint32_t i = 0; i < draft->n_holdings; i++) {
        struct plim_holding holding = draft->holding[i].holding;
        holding.process = index_of(sampler, draft->holding[i].pid);
        if (holding.card < draft->n_cards)
            sampler->holding[n++] = holding;
    }
    qsort(sampler->holding, n, sizeof *sampler->holding, compare_holdings);
    sampler->sample.n_holdings = n;
    return 0;
}

/* --- */

int plim_sampler_open(const struct plim_sampler_options *options, struct plim_sampler **ret_sampler,
                      struct plim_error *reterr)
{
    struct plim_sampler *sampler = plim_alloc(1, sizeof *sampler);
    if (!sampler)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    sampler->root = copy(options->sysroot ? options->sysroot : "");
    sampler->nvml_path = options->nvml ? copy(options->nvml) : NULL;
    if (!sampler->root || (options->nvml && !sampler->nvml_path)) {
        plim_sampler_close(sampler);
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    }
    plim_nvml_look_open(sampler->nvml_path, sampler->root, options->wants_load, &sampler->nvml);
    plim_drm_look_open(sampler->root, &sampler->drm);
    plim_proc_open(sampler->root, &sampler->reader);
    *ret_sampler = sampler;
    return 0;
}

/* The number for the next card's name: "gpu2" after "gpu0" and "gpu1:3". */
static uint32_t next_number(const struct plim_draft *draft)
{
    unsigned next = 0, number;
    for (uint32_t i = 0; i < draft->n_cards; i++)
        if (sscanf(draft->card[i].id, "gpu%u", &number) == 1 && number >= next)
            next = number + 1;
    return next;
}

int plim_sampler_read(struct plim_sampler *sampler, const struct plim_sample **ret_sample, struct plim_error *reterr)
{
    struct plim_draft *draft = &sampler->draft;
    plim_draft_clear(draft);
    plim_proc_begin(&sampler->reader);
    const int64_t now_ms = sampler->reader.now_ms, now_unix_ms = sampler->reader.now_unix_ms;
    int result = plim_nvml_look_read(&sampler->nvml, now_ms, now_unix_ms, draft);
    if (result == 0)
        result = plim_drm_look_read(&sampler->drm, now_ms, now_unix_ms, next_number(draft), draft);
    if (result == 0)
        result = read_processes(sampler);
    if (result == 0)
        result = place_holdings(sampler);
    if (result)
        return plim_fail(reterr, result, PLIM_NO_OFFSET, "out of memory");
    struct plim_sample *sample = &sampler->sample;
    sample->taken_ms = now_ms;
    sample->taken_unix_ms = now_unix_ms;
    sample->n_cards = draft->n_cards;
    sample->n_processes = sampler->n_entries;
    sample->card = draft->card;
    sample->process = sampler->process;
    sample->holding = sampler->holding;
    sample->is_contained = sampler->reader.is_contained;
    snprintf(sample->why, sizeof sample->why, "%s", sampler->nvml.why);
    *ret_sample = sample;
    return 0;
}

void plim_sampler_close(struct plim_sampler *sampler)
{
    if (!sampler)
        return;
    plim_nvml_look_close(&sampler->nvml);
    plim_drm_look_close(&sampler->drm);
    for (uint32_t i = 0; i < sampler->n_entries; i++)
        plim_proc_entry_done(&sampler->entry[i]);
    plim_free(sampler->entry);
    plim_proc_close(&sampler->reader);
    plim_draft_done(&sampler->draft);
    plim_free(sampler->process);
    plim_free(sampler->holding);
    plim_free(sampler->nvml_path);
    plim_free(sampler->root);
    plim_free(sampler);
}

bool plim_sample_is_user(const char *user, int64_t uid, const char *wanted)
{
    char number[24];
    snprintf(number, sizeof number, "%" PRId64, uid);
    return !strcmp(user, wanted) || (uid >= 0 && !strcmp(number, wanted));
}
