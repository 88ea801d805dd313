/* SPDX-License-Identifier: MIT */
/*
 * Collectives of a communicator are numbered, and every rank writes the number that it has reached into the shared
 * memory. With small values, each rank waits for all others. So a rank that is two exchanges ahead knows that its
 * values of the exchange before the last have been read, and two slots per rank are enough. Collectives of large values
 * do not wait, as on a card, where the call returns at once.
 */
#include "vgpu/nccl/exchange.h"

#include "vgpu/nccl/charge.h"
#include "vgpu/nccl/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_reducing(enum nccl_kind kind)
{
    return kind == NCCL_ALL_REDUCE || kind == NCCL_REDUCE || kind == NCCL_REDUCE_SCATTER;
}

/* Bytes of count elements. */
static size_t part_bytes(const struct nccl_operation *o) { return o->count * plim_nccl_type_bytes(o->type); }

/* The bytes that a rank contributes; in collectives with a root, the largest contribution. */
static size_t brought_bytes(const struct nccl_operation *o)
{
    const bool is_for_each = o->kind == NCCL_REDUCE_SCATTER || o->kind == NCCL_ALL_TO_ALL || o->kind == NCCL_SCATTER;
    if (o->kind == NCCL_SPLIT)
        return sizeof o->color;
    return part_bytes(o) * (is_for_each ? (size_t)o->comm->n_ranks : 1);
}

static bool brings(const struct nccl_operation *o)
{
    return (o->kind != NCCL_BROADCAST && o->kind != NCCL_SCATTER) || o->comm->rank == o->root;
}

/* --- publishing --- */

/* Equal for all ranks that make the same call. */
static uint32_t in_short(const struct nccl_operation *o)
{
    const bool has_root =
        o->kind == NCCL_BROADCAST || o->kind == NCCL_REDUCE || o->kind == NCCL_GATHER || o->kind == NCCL_SCATTER;
    const uint64_t words[] = { o->kind, brought_bytes(o), has_root ? (uint64_t)o->root : 0,
                               is_reducing(o->kind) ? (uint64_t)o->type : 0 };
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        hash = (hash ^ words[i]) * 0x100000001b3;
    return (uint32_t)(hash ^ hash >> 32);
}

/* A scalar of ncclRedOpCreatePreMulSum() is applied to each rank's values. */
static void premultiply(const struct nccl_operation *o, struct plim_nccl_shm_slot *slot)
{
    const struct nccl_made_reduction *made = &o->comm->reduction[o->reduction - NCCL_N_REDUCTIONS];
    uint8_t scalar[8], known[8];
    const size_t width = plim_nccl_type_bytes(o->type);
    memcpy(scalar, made->scalar, sizeof scalar);
    if (made->device_scalar)
        plim_nccl_read(made->device_scalar, width, scalar, known);
    plim_nccl_multiply(slot->bytes, brought_bytes(o) / width, o->type, scalar);
}

nccl_result plim_nccl_publish(struct nccl_operation *o)
{
    struct nccl_comm *comm = o->comm;
    struct plim_nccl_shm_rank *me = &comm->shm->head->rank[comm->rank];
    nccl_result result = o->kind == NCCL_SPLIT ? NCCL_SUCCESS : plim_nccl_charge_collectives(comm);
    if (result)
        return result;
    o->number = ++comm->n_operations;
    o->is_small = brought_bytes(o) <= PLIM_NCCL_SHM_SMALL_BYTES;
    if (o->is_small) {
        o->turn = comm->n_small++;
        struct plim_nccl_shm_slot *slot = plim_nccl_shm_slot(comm->shm, comm->rank, o->turn);
        slot->size = brought_bytes(o);
        if (o->kind == NCCL_SPLIT)
            memcpy(slot->bytes, &o->color, sizeof o->color);
        else if (brings(o))
            plim_nccl_read(o->send, slot->size, slot->bytes, slot->known);
        if (is_reducing(o->kind) && o->reduction >= NCCL_N_REDUCTIONS)
            premultiply(o, slot);
        atomic_store(&slot->number, o->number);
    }
    atomic_store(&me->history[o->number % PLIM_NCCL_SHM_HISTORY], o->number << 32 | in_short(o));
    atomic_store(&me->n_arrived, o->number);
    plim_nccl_shm_ring(comm->shm);
    o->is_published = true;
    return NCCL_SUCCESS;
}

/* --- completing --- */

static bool all_arrived(struct plim_nccl_shm *shm, void *about, int *ret_lacks)
{
    const struct nccl_operation *o = about;
    for (int r = 0; r < shm->n_ranks; r++)
        if (atomic_load(&shm->head->rank[r].n_arrived) < o->number) {
            *ret_lacks = r;
            return false;
        }
    return true;
}

nccl_result plim_nccl_waited(struct nccl_comm *comm, enum plim_nccl_shm_result how, int rank)
{
    nccl_result result = NCCL_SUCCESS;
    if (how == PLIM_NCCL_SHM_DEAD)
        result = plim_nccl_fail(NCCL_REMOTE_ERROR, "rank %d (process %d) has ended and will not take part", rank,
                                atomic_load(&comm->shm->head->rank[rank].pid));
    else if (how == PLIM_NCCL_SHM_TIMEOUT)
        result = plim_nccl_fail(NCCL_SYSTEM_ERROR, "timed out waiting for rank %d (process %d)", rank,
                                atomic_load(&comm->shm->head->rank[rank].pid));
    else if (how != PLIM_NCCL_SHM_OK)
        result = plim_nccl_fail(NCCL_INTERNAL_ERROR, "the communicator was aborted");
    if (result)
        atomic_store(&comm->async_error, result);
    return result;
}

/* On a card, ranks that make different calls hang or mix up their data. Here that is an error if it is seen in time. */
static nccl_result check_all_do_this(const struct nccl_operation *o)
{
    char text[PLIM_LEDGER_WHAT_BYTES];
    for (int r = 0; r < o->comm->n_ranks; r++) {
        const uint64_t theirs = atomic_load(&o->comm->shm->head->rank[r].history[o->number % PLIM_NCCL_SHM_HISTORY]);
        if (theirs >> 32 != o->number || (uint32_t)theirs == in_short(o))
            continue;
        snprintf(text, sizeof text, "ranks %d and %d do not call the same collective with the same size (number %u)",
                 o->comm->rank, r, (unsigned)o->number);
        int error;
        struct plim_ledger *ledger = plim_vgpu_ledger(&error);
        if (ledger)
            plim_ledger_warn(ledger, "nccl_mismatch", text);
        atomic_store(&o->comm->async_error, NCCL_INVALID_USAGE);
        return plim_nccl_fail(NCCL_INVALID_USAGE, "%s", text);
    }
    return NCCL_SUCCESS;
}

struct values {
    uint8_t bytes[PLIM_NCCL_SHM_SMALL_BYTES], known[PLIM_NCCL_SHM_SMALL_BYTES];
};

static const struct plim_nccl_shm_slot *slot_of(const struct nccl_operation *o, int rank)
{
    const struct plim_nccl_shm_slot *slot = plim_nccl_shm_slot(o->comm->shm, rank, o->turn);
    return atomic_load(&slot->number) == o->number ? slot : NULL; /* NULL: that rank contributed no values */
}

static void write_from(const struct nccl_operation *o, int rank, size_t offset, void *to, size_t size)
{
    const struct plim_nccl_shm_slot *slot = slot_of(o, rank);
    if (slot)
        plim_nccl_write(to, size, slot->bytes + offset, slot->known + offset);
    else
        plim_nccl_overwrite(to, size);
}

static void write_sum(const struct nccl_operation *o, size_t offset)
{
    const enum nccl_reduction reduction =
        o->reduction < NCCL_N_REDUCTIONS ? (enum nccl_reduction)o->reduction : NCCL_SUM;
    const size_t size = part_bytes(o);
    struct values *sum = malloc(sizeof *sum);
    bool is_whole = sum != NULL;
    for (int r = 0; is_whole && r < o->comm->n_ranks; r++) {
        const struct plim_nccl_shm_slot *slot = slot_of(o, r);
        if (!(is_whole = slot != NULL))
            break;
        if (r == 0) {
            memcpy(sum->bytes, slot->bytes + offset, size);
            memcpy(sum->known, slot->known + offset, size);
        } else {
            plim_nccl_combine(sum->bytes, sum->known, slot->bytes + offset, slot->known + offset, o->count, o->type,
                              reduction);
        }
    }
    if (is_whole && reduction == NCCL_AVG)
        plim_nccl_divide(sum->bytes, o->count, o->type, o->comm->n_ranks);
    if (is_whole)
        plim_nccl_write(o->receive, size, sum->bytes, sum->known);
    else
        plim_nccl_overwrite(o->receive, size);
    free(sum);
}

static void write_small(const struct nccl_operation *o)
{
    const size_t size = part_bytes(o), mine = size * (size_t)o->comm->rank;
    const bool is_root = o->comm->rank == o->root;
    char *to = o->receive;
    switch (o->kind) {
    case NCCL_ALL_REDUCE:
        write_sum(o, 0);
        break;
    case NCCL_REDUCE:
        if (is_root)
            write_sum(o, 0);
        break;
    case NCCL_REDUCE_SCATTER:
        write_sum(o, mine);
        break;
    case NCCL_BROADCAST:
        write_from(o, o->root, 0, to, size);
        break;
    case NCCL_SCATTER:
        write_from(o, o->root, mine, to, size);
        break;
    case NCCL_ALL_GATHER:
    case NCCL_ALL_TO_ALL:
    case NCCL_GATHER:
        for (int r = 0; r < o->comm->n_ranks && (o->kind != NCCL_GATHER || is_root); r++)
            write_from(o, r, o->kind == NCCL_ALL_TO_ALL ? mine : 0, to + (size_t)r * size, size);
        break;
    default:
        break;
    }
}

static void forget_large(const struct nccl_operation *o)
{
    const bool is_many = o->kind == NCCL_ALL_GATHER || o->kind == NCCL_ALL_TO_ALL || o->kind == NCCL_GATHER;
    const bool is_roots = o->kind == NCCL_REDUCE || o->kind == NCCL_GATHER;
    if (!is_roots || o->comm->rank == o->root)
        plim_nccl_overwrite(o->receive, part_bytes(o) * (is_many ? (size_t)o->comm->n_ranks : 1));
}

/* The ranks of one color, in the order of their keys. */
static nccl_result split(struct nccl_operation *o)
{
    int n_ranks = 0, rank = 0, leader = -1, leader_key = 0;
    struct plim_nccl_shm_id shm = { 0 };
    nccl_result result = NCCL_SUCCESS;
    for (int r = 0; r < o->comm->n_ranks; r++) {
        struct nccl_color theirs = { NCCL_NO_COLOR, 0, { 0 } };
        const struct plim_nccl_shm_slot *slot = slot_of(o, r);
        if (slot)
            memcpy(&theirs, slot->bytes, sizeof theirs);
        if (o->color.color == NCCL_NO_COLOR || theirs.color != o->color.color)
            continue;
        n_ranks++;
        rank += theirs.key < o->color.key || (theirs.key == o->color.key && r < o->comm->rank);
        if (leader < 0 || theirs.key < leader_key) {
            leader = r;
            leader_key = theirs.key;
            shm = theirs.shm;
        }
    }
    *o->new_comm = NULL;
    if (n_ranks)
        result = plim_nccl_comm_new(n_ranks, rank, o->comm->device, o->limits, o->new_comm);
    if (!result && n_ranks && (result = plim_nccl_comm_join(*o->new_comm, &shm))) {
        plim_nccl_comm_free(*o->new_comm);
        *o->new_comm = NULL;
    }
    if (leader != o->comm->rank)
        plim_nccl_shm_forget(&o->color.shm);
    return result;
}

nccl_result plim_nccl_complete(struct nccl_operation *o)
{
    int rank = -1;
    nccl_result result;
    if (!o->is_small) {
        forget_large(o);
        return check_all_do_this(o);
    }
    const enum plim_nccl_shm_result how = plim_nccl_shm_wait(o->comm->shm, all_arrived, o, &o->comm->is_aborted, &rank);
    if ((result = plim_nccl_waited(o->comm, how, rank)) || (result = check_all_do_this(o)))
        return result;
    if (o->kind == NCCL_SPLIT)
        return split(o);
    write_small(o);
    return NCCL_SUCCESS;
}

/* --- messages --- */

static bool is_small_message(const struct nccl_operation *o) { return part_bytes(o) <= PLIM_NCCL_SHM_SMALL_BYTES; }

bool plim_nccl_can_message(const struct nccl_operation *o)
{
    struct nccl_comm *comm = o->comm;
    if (!is_small_message(o))
        return true;
    if (o->kind == NCCL_SEND)
        return comm->n_sent[o->root] <
               atomic_load(&plim_nccl_shm_pair(comm->shm, comm->rank, o->root)->n_taken) + PLIM_NCCL_SHM_RING;
    return atomic_load(&plim_nccl_shm_pair(comm->shm, o->root, comm->rank)->n_posted) > comm->n_received[o->root];
}

bool plim_nccl_try_message(struct nccl_operation *o)
{
    struct nccl_comm *comm = o->comm;
    const size_t size = part_bytes(o);
    const bool is_send = o->kind == NCCL_SEND;
    if (!plim_nccl_can_message(o))
        return false;
    struct plim_nccl_shm_pair *pair = is_send ? plim_nccl_shm_pair(comm->shm, comm->rank, o->root)
                                              : plim_nccl_shm_pair(comm->shm, o->root, comm->rank);
    uint64_t *count = is_send ? &comm->n_sent[o->root] : &comm->n_received[o->root];
    struct plim_nccl_shm_slot *slot = &pair->ring[*count % PLIM_NCCL_SHM_RING];
    if (is_small_message(o) && is_send) {
        slot->size = size;
        plim_nccl_read(o->send, size, slot->bytes, slot->known);
        atomic_store(&slot->number, *count);
    } else if (is_small_message(o) && atomic_load(&slot->number) == *count && slot->size == size) {
        plim_nccl_write(o->receive, size, slot->bytes, slot->known);
    } else if (!is_send) {
        plim_nccl_overwrite(o->receive, size);
    }
    atomic_store(is_send ? &pair->n_posted : &pair->n_taken, ++*count);
    plim_nccl_shm_ring(comm->shm);
    return true;
}
