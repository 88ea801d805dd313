/* SPDX-License-Identifier: MIT */
#include "vgpu/nccl/values.h"

#include "vgpu/driver/memory/host.h"
#include "vgpu/values/shadow.h"

#include <string.h>

size_t plim_nccl_type_bytes(int type)
{
    static const uint8_t bytes[] = { 1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1 };
    return type >= 0 && (size_t)type < sizeof bytes ? bytes[type] : 0;
}

/* A card stops at the end of registered memory, but after the call: nothing is read or written here. */
static bool ends_beyond(const void *buffer, size_t size)
{
    enum plim_ledger_kind kind;
    return !plim_vgpu_host_holds(buffer, size, &kind);
}

void plim_nccl_read(const void *buffer, size_t size, uint8_t *ret_bytes, uint8_t *ret_known)
{
    if (plim_vgpu_is_device(buffer)) {
        plim_shadow_read_each(ret_bytes, ret_known, buffer, size);
    } else if (ends_beyond(buffer, size)) {
        memset(ret_bytes, 0, size);
        memset(ret_known, PLIM_SHADOW_UNKNOWN, size);
    } else {
        memcpy(ret_bytes, buffer, size);
        memset(ret_known, PLIM_SHADOW_KNOWN, size);
    }
}

void plim_nccl_write(void *buffer, size_t size, const uint8_t *bytes, const uint8_t *known)
{
    uint8_t *to = buffer;
    if (!plim_vgpu_is_device(buffer)) {
        if (!ends_beyond(buffer, size))
            memcpy(buffer, bytes, size);
        return;
    }
    for (size_t i = 0, n; i < size; i += n) {
        for (n = 1; i + n < size && known[i + n] == known[i];)
            n++;
        plim_shadow_write(to + i, bytes + i, n, known[i]);
    }
    plim_shadow_join(to, size);
}

void plim_nccl_overwrite(void *buffer, size_t size)
{
    if (plim_vgpu_is_device(buffer))
        plim_shadow_forget(buffer, size);
}
