/* SPDX-License-Identifier: MIT */
#include "vgpu/values/policy.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum plim_values_policy plim_values_policy(void)
{
    static atomic_int policy = -1;
    int found = atomic_load_explicit(&policy, memory_order_relaxed);
    if (found < 0) {
        const char *text = getenv("PLIM_VGPU_VALUES");
        found = text && !strcmp(text, "off")   ? PLIM_VALUES_OFF
                : text && !strcmp(text, "max") ? PLIM_VALUES_MAX
                                               : PLIM_VALUES_ZERO;
        atomic_store_explicit(&policy, found, memory_order_relaxed);
    }
    return (enum plim_values_policy)found;
}
