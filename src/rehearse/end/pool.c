/* SPDX-License-Identifier: MIT */
#include "rehearse/end/pool.h"

#include <string.h>

/* JAX takes 75 % of a card by default, TensorFlow all that is free: their documents on GPU memory. */
static const uint64_t least_percent = 70;

static const struct plim_rehearsal_pool pools[] = {
    { .framework = "jax", .setting = "XLA_PYTHON_CLIENT_PREALLOCATE=false" },
    { .framework = "tensorflow", .setting = "TF_FORCE_GPU_ALLOW_GROWTH=true" },
};

/* Whether a frame is in a library of it, as their wheels name the files. */
static bool is_of(const char *native, const char *framework)
{
    return !strcmp(framework, "jax") ? strstr(native, "xla_cuda") || strstr(native, "xla_extension") ||
                                           strstr(native, "libjax") || strstr(native, "_jax.")
                                     : strstr(native, "libtensorflow") || strstr(native, "_pywrap_tensorflow");
}

void plim_pool_find(struct plim_rehearsal *rehearsal)
{
    for (uint32_t i = 0; i < rehearsal->n_call_sites; i++) {
        const struct plim_call_site *site = &rehearsal->call_site[i];
        if (site->device >= rehearsal->n_cards || site->peak_bytes <= rehearsal->pool.bytes || site->n_requests > 1 ||
            site->peak_bytes / least_percent < rehearsal->receipt.device[site->device].total_bytes / 100)
            continue;
        for (size_t k = 0; k < sizeof pools / sizeof *pools; k++)
            if (is_of(site->native, pools[k].framework)) {
                rehearsal->pool = pools[k];
                rehearsal->pool.device = site->device;
                rehearsal->pool.bytes = site->peak_bytes;
                break;
            }
    }
}
