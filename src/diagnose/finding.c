/* SPDX-License-Identifier: MIT */
#include "diagnose/finding.h"

static const char *const number_names[] = {
#define PLIM_X(id, name, kind) #name,
    PLIM_NUMBERS(PLIM_X)
#undef PLIM_X
};

static const unsigned char number_kinds[] = {
#define PLIM_X(id, name, kind) PLIM_NUMBER_##kind,
    PLIM_NUMBERS(PLIM_X)
#undef PLIM_X
};

static const char *const word_names[] = {
#define PLIM_X(id, name) #name,
    PLIM_WORDS(PLIM_X)
#undef PLIM_X
};

static const char *const cause_names[PLIM_CAUSE_MAX_] = {
    [PLIM_CAUSE_MODEL_TOO_BIG] = "model_too_big",
    [PLIM_CAUSE_OTHER_PROCESS] = "other_process",
    [PLIM_CAUSE_FRAGMENTATION] = "fragmentation",
    [PLIM_CAUSE_KV_CACHE_CONTEXT] = "kv_cache_context",
    [PLIM_CAUSE_BATCH_OR_ACTIVATION] = "batch_or_activation",
    [PLIM_CAUSE_LEAK_OR_GROWTH] = "leak_or_growth",
    [PLIM_CAUSE_OPTIMIZER_STATES] = "optimizer_states",
    [PLIM_CAUSE_HOST_RAM] = "host_ram",
    [PLIM_CAUSE_SHM] = "shm",
    [PLIM_CAUSE_ALLOCATOR_LIMIT] = "allocator_limit",
    [PLIM_CAUSE_MISCONFIGURATION_UTILIZATION] = "misconfiguration_utilization",
    [PLIM_CAUSE_DRIVER_OR_CONTEXT] = "driver_or_context",
    [PLIM_CAUSE_NOT_OOM] = "not_oom",
};

const char *plim_number_name(enum plim_number which) { return number_names[which]; }

enum plim_number_kind plim_number_kind(enum plim_number which) { return (enum plim_number_kind)number_kinds[which]; }

const char *plim_word_name(enum plim_word which) { return word_names[which]; }

const char *plim_cause_name(enum plim_cause cause) { return cause < PLIM_CAUSE_MAX_ ? cause_names[cause] : NULL; }

void plim_numbers_init(struct plim_numbers *numbers)
{
    for (int i = 0; i < PLIM_NUMBER_MAX_; i++)
        numbers->value[i] = PLIM_UNKNOWN;
}
