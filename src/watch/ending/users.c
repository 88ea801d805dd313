/* SPDX-License-Identifier: MIT */
#include "watch/ending/users.h"

#include "watch/ending/devices.h"
#include "watch/ending/rules.h"

static bool is_listed(const struct plim_sample *sample, int64_t pid)
{
    for (uint32_t i = 0; i < sample->n_holdings; i++)
        if (sample->process[sample->holding[i].process].pid == pid)
            return true;
    return false;
}

uint32_t plim_device_users(const struct plim_kinship *kinship, const char *root, const struct plim_sample *sample,
                           const struct plim_kin **ret_users, uint32_t max)
{
    uint32_t n = 0;
    for (size_t i = 0; i < kinship->n; i++) {
        const struct plim_kin *kin = &kinship->kin[i];
        if (kin->is_kernel || is_listed(sample, kin->pid) || plim_devices_of(root, kin->pid) != PLIM_DEVICES_OPEN ||
            plim_kin_is_service(kin))
            continue;
        if (n < max)
            ret_users[n] = kin;
        n++;
    }
    return n;
}
