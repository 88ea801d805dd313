/* SPDX-License-Identifier: MIT */
#include "vgpu/libs/cublas/packed.h"

#include <string.h>

static const struct plim_packed_attribute *find(const struct plim_packed_kind *kind, int id)
{
    for (uint32_t i = 0; i < kind->n; i++)
        if (kind->attribute[i].id == id)
            return &kind->attribute[i];
    return NULL;
}

/* The low bytes of a number come first: x86-64 and arm64 are little-endian. */
void plim_packed_init(void *data, const struct plim_packed_kind *kind)
{
    memset(data, 0, kind->size);
    memcpy(data, &kind->tag, sizeof kind->tag);
    for (uint32_t i = 0; i < kind->n; i++)
        memcpy((char *)data + kind->attribute[i].offset, &kind->attribute[i].initial, kind->attribute[i].size);
}

bool plim_packed_is(const void *data, const struct plim_packed_kind *kind)
{
    return data && !memcmp(data, &kind->tag, sizeof kind->tag);
}

bool plim_packed_set(void *data, const struct plim_packed_kind *kind, int id, const void *value, size_t size)
{
    const struct plim_packed_attribute *a = plim_packed_is(data, kind) ? find(kind, id) : NULL;
    if (!a || !value || size != a->size)
        return false;
    memcpy((char *)data + a->offset, value, size);
    return true;
}

bool plim_packed_get(const void *data, const struct plim_packed_kind *kind, int id, void *value, size_t size,
                     size_t *ret_written)
{
    const struct plim_packed_attribute *a = plim_packed_is(data, kind) ? find(kind, id) : NULL;
    if (!a || (size == 0 ? !ret_written : !value || size != a->size))
        return false;
    if (size)
        memcpy(value, (const char *)data + a->offset, size);
    if (ret_written)
        *ret_written = a->size;
    return true;
}

int64_t plim_packed_value(const void *data, const struct plim_packed_kind *kind, int id)
{
    const struct plim_packed_attribute *a = find(kind, id);
    int64_t value = 0;
    if (a)
        memcpy(&value, (const char *)data + a->offset, a->size);
    return value;
}

void plim_packed_put(void *data, const struct plim_packed_kind *kind, int id, int64_t value)
{
    const struct plim_packed_attribute *a = find(kind, id);
    if (a)
        memcpy((char *)data + a->offset, &value, a->size);
}
