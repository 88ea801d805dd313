/* SPDX-License-Identifier: MIT */
#include "vgpu/driver/graphs/work.h"

#include "vgpu/values/shadow.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct plim_work {
    atomic_uint n_users;
    const struct plim_work_kind *kind;
    _Alignas(16) unsigned char context[];
};

struct plim_work *plim_work_make(const struct plim_work_kind *kind, const void *context, size_t size)
{
    struct plim_work *work = malloc(sizeof *work + size);
    if (work) {
        atomic_init(&work->n_users, 1);
        work->kind = kind;
        if (size)
            memcpy(work->context, context, size);
    } else if (kind->drop) {
        kind->drop((void *)(uintptr_t)context);
    }
    return work;
}

static void run_unknown(const void *context)
{
    (void)context;
    plim_shadow_forget(NULL, SIZE_MAX);
}

struct plim_work *plim_work_unknown(void)
{
    static const struct plim_work_kind kind = { run_unknown, NULL };
    static struct plim_work unknown = { .n_users = 1, .kind = &kind }; /* never freed */
    return plim_work_hold(&unknown);
}

struct plim_work *plim_work_hold(struct plim_work *work)
{
    if (work)
        atomic_fetch_add(&work->n_users, 1);
    return work;
}

void plim_work_release(struct plim_work *work)
{
    if (!work || atomic_fetch_sub(&work->n_users, 1) > 1)
        return;
    if (work->kind->drop)
        work->kind->drop(work->context);
    free(work);
}

void plim_work_run(const struct plim_work *work)
{
    if (work)
        work->kind->run(work->context);
}
