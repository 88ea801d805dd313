/* SPDX-License-Identifier: MIT */
#include "engine/ollama/ollama.h"

#include "base/units.h"

enum { NUM_BATCH = 512 };

/* Tokens of context by the total memory of all cards. */
static uint32_t context_of_tier(const struct plim_machine *machine)
{
    uint64_t total_bytes = 0;
    for (uint32_t i = 0; i < machine->n_cards; i++)
        total_bytes += machine->card[i].total_bytes;
    return total_bytes >= 47 * PLIM_GIB ? 262144 : total_bytes >= 23 * PLIM_GIB ? 32768 : 4096;
}

void plim_ollama_defaults(const struct plim_machine *machine, uint32_t n_ctx_train, struct plim_llamacpp_setup *setup)
{
    if (setup->n_parallel == 0)
        setup->n_parallel = 1;
    if (setup->n_ctx == 0) {
        uint32_t n_ctx = context_of_tier(machine);
        n_ctx = n_ctx_train && n_ctx > n_ctx_train ? n_ctx_train : n_ctx;
        setup->n_ctx = n_ctx * setup->n_parallel;
    }
    if (setup->n_batch == 0)
        setup->n_batch = NUM_BATCH;
    if (setup->n_ubatch == 0)
        setup->n_ubatch = setup->n_batch;
}
