/* SPDX-License-Identifier: MIT */
/*
 * A thread may hold several ranks, so what a group starts must all be published before any of it is waited for. Of each
 * communicator one collective at a time is under way: they go in rounds. Messages of a group make progress together.
 */
#include "vgpu/nccl/group.h"

#include "vgpu/nccl/charge.h"
#include "vgpu/nccl/exchange.h"
#include "vgpu/nccl/nccl_api.h"

#include <stdlib.h>

struct nccl_group {
    int depth;
    nccl_result result; /* of a call within the group */
    size_t n, n_room;
    struct nccl_operation *operation;
};
static _Thread_local struct nccl_group group;

static bool is_message(const struct nccl_operation *o) { return o->kind == NCCL_SEND || o->kind == NCCL_RECEIVE; }
static bool is_collective(const struct nccl_operation *o) { return !is_message(o) && o->kind != NCCL_JOIN; }

static void keep(nccl_result *first, nccl_result result)
{
    if (!*first)
        *first = result;
}

/* --- collectives --- */

static bool is_under_way(const struct nccl_operation *before, const struct nccl_operation *end,
                         const struct nccl_comm *comm)
{
    for (; before < end; before++)
        if (is_collective(before) && before->comm == comm && !before->is_done)
            return true;
    return false;
}

static nccl_result run_collectives(struct nccl_operation *operations, size_t n)
{
    nccl_result first = NCCL_SUCCESS;
    for (bool is_more = true; is_more;) {
        is_more = false;
        for (struct nccl_operation *o = operations; o < operations + n; o++) {
            if (!is_collective(o) || o->is_done || is_under_way(operations, o, o->comm))
                continue;
            nccl_result result = atomic_load(&o->comm->async_error);
            if (!result)
                result = plim_nccl_publish(o);
            o->is_done = result != NCCL_SUCCESS;
            keep(&first, result);
            is_more = true;
        }
        for (struct nccl_operation *o = operations; o < operations + n; o++)
            if (o->is_published && !o->is_done) {
                keep(&first, plim_nccl_complete(o));
                o->is_done = true;
            }
    }
    return first;
}

/* --- messages --- */

struct pending {
    struct nccl_operation *operation;
    size_t n;
    const struct nccl_comm *comm; /* the communicator whose shared memory is watched */
};

/* Of the messages in one direction between two ranks, only the first unfinished one may go. */
static bool is_first(const struct nccl_operation *operations, const struct nccl_operation *o)
{
    for (const struct nccl_operation *p = operations; p < o; p++)
        if (p->kind == o->kind && p->comm == o->comm && p->root == o->root && !p->is_done)
            return false;
    return true;
}

static bool any_may_go(struct plim_nccl_shm *shm, void *about, int *ret_lacks)
{
    const struct pending *pending = about;
    (void)shm;
    *ret_lacks = -1;
    for (const struct nccl_operation *o = pending->operation; o < pending->operation + pending->n; o++)
        if (is_message(o) && !o->is_done && is_first(pending->operation, o)) {
            if (plim_nccl_can_message(o))
                return true;
            if (o->comm == pending->comm && *ret_lacks < 0)
                *ret_lacks = o->root;
        }
    return false;
}

static nccl_result run_messages(struct nccl_operation *operations, size_t n)
{
    nccl_result first = NCCL_SUCCESS;
    for (;;) {
        const struct nccl_operation *waiting = NULL;
        bool is_any_done = false;
        for (struct nccl_operation *o = operations; o < operations + n; o++) {
            if (!is_message(o) || o->is_done)
                continue;
            nccl_result result = atomic_load(&o->comm->async_error);
            if (!result)
                result = plim_nccl_charge_peer(o->comm, o->root);
            o->is_done = result || (is_first(operations, o) && plim_nccl_try_message(o));
            keep(&first, result);
            is_any_done = is_any_done || o->is_done;
            if (!o->is_done && !waiting)
                waiting = o;
        }
        if (!waiting)
            return first;
        if (is_any_done)
            continue;
        struct pending pending = { operations, n, waiting->comm };
        int rank = waiting->root;
        const enum plim_nccl_shm_result how =
            plim_nccl_shm_wait(waiting->comm->shm, any_may_go, &pending, &waiting->comm->is_aborted, &rank);
        keep(&first, plim_nccl_waited(waiting->comm, how, rank < 0 ? waiting->root : rank));
    }
}

/* --- communicators --- */

static nccl_result drop_new(struct nccl_operation *o, nccl_result result)
{
    plim_nccl_comm_free(*o->new_comm);
    *o->new_comm = NULL;
    return result;
}

static nccl_result join(struct nccl_operation *o)
{
    nccl_result result = plim_nccl_comm_join(*o->new_comm, &o->shm);
    return result ? drop_new(o, result) : NCCL_SUCCESS;
}

static nccl_result meet(struct nccl_operation *o)
{
    nccl_result result = plim_nccl_comm_meet(*o->new_comm);
    return result ? drop_new(o, result) : NCCL_SUCCESS;
}

static void count_users(struct nccl_operation *operations, size_t n, int change)
{
    for (struct nccl_operation *o = operations; o < operations + n; o++)
        if (o->comm)
            atomic_fetch_add(&o->comm->n_users, change);
}

static nccl_result run(struct nccl_operation *operations, size_t n)
{
    nccl_result first = NCCL_SUCCESS;
    count_users(operations, n, 1);
    for (struct nccl_operation *o = operations; o < operations + n; o++)
        if (o->kind == NCCL_JOIN)
            keep(&first, join(o));
    /* send whatever can be sent before the first wait */
    for (struct nccl_operation *o = operations; o < operations + n; o++)
        if (o->kind == NCCL_SEND && !atomic_load(&o->comm->async_error) && is_first(operations, o)) {
            nccl_result result = plim_nccl_charge_peer(o->comm, o->root);
            o->is_done = result || plim_nccl_try_message(o);
            keep(&first, result);
        }
    keep(&first, run_collectives(operations, n));
    keep(&first, run_messages(operations, n));
    for (struct nccl_operation *o = operations; o < operations + n; o++)
        if (o->new_comm && *o->new_comm && (o->kind == NCCL_JOIN || o->kind == NCCL_SPLIT))
            keep(&first, meet(o));
    count_users(operations, n, -1);
    return first;
}

nccl_result plim_nccl_do(const struct nccl_operation *operation)
{
    if (!group.depth) {
        struct nccl_operation one = *operation;
        return run(&one, 1);
    }
    if (group.n == group.n_room) {
        const size_t n_room = group.n_room ? 2 * group.n_room : 16;
        struct nccl_operation *more = realloc(group.operation, n_room * sizeof *more);
        if (!more)
            return group.result = plim_nccl_fail(NCCL_SYSTEM_ERROR, "out of memory");
        group.operation = more;
        group.n_room = n_room;
    }
    group.operation[group.n++] = *operation;
    return NCCL_SUCCESS;
}

nccl_result ncclGroupStart(void)
{
    group.depth++;
    return NCCL_SUCCESS;
}
NCCL_OTHER_NAME(ncclGroupStart);

nccl_result ncclGroupEnd(void)
{
    if (!group.depth)
        return plim_nccl_fail(NCCL_INVALID_USAGE, "ncclGroupEnd: not in a group call.");
    if (--group.depth)
        return NCCL_SUCCESS;
    struct nccl_group g = group;
    group = (struct nccl_group){ 0 };
    nccl_result result = run(g.operation, g.n);
    free(g.operation);
    return g.result ? g.result : result;
}
NCCL_OTHER_NAME(ncclGroupEnd);
