/* SPDX-License-Identifier: MIT */
/* Collectives, messages, and reductions that programs define. */
#include "vgpu/driver/launches.h"
#include "vgpu/nccl/group.h"
#include "vgpu/nccl/nccl_api.h"
#include "vgpu/nccl/values.h"

#include <string.h>

static nccl_result check_reduction(const struct nccl_operation *o)
{
    const int made = o->reduction - NCCL_N_REDUCTIONS;
    if (o->reduction >= 0 && made < 0)
        return NCCL_SUCCESS;
    if (made < 0 || made >= NCCL_MAX_MADE_REDUCTIONS || !o->comm->reduction[made].is_used ||
        o->comm->reduction[made].type != o->type)
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "reduction operation %d unknown to this communicator",
                              o->reduction);
    return NCCL_SUCCESS;
}

static bool is_big(size_t count, int type, int n_ranks)
{
    return count > ((size_t)1 << 50) / plim_nccl_type_bytes(type) / (size_t)n_ranks;
}

/* What a rank of a graph receives is not known: the ranks do not meet when they launch it. */
struct received {
    void *buffer;
    size_t size;
};

static void lose_received(const void *context)
{
    const struct received *received = context;
    plim_nccl_overwrite(received->buffer, received->size);
}

static struct received received_by(const struct nccl_operation *o)
{
    const bool is_of_all = o->kind == NCCL_ALL_GATHER || o->kind == NCCL_ALL_TO_ALL || o->kind == NCCL_GATHER;
    const size_t n = is_of_all ? (size_t)o->comm->n_ranks : 1;
    return (struct received){ o->receive, o->receive ? o->count * plim_nccl_type_bytes(o->type) * n : 0 };
}

static nccl_result communicate(const struct nccl_operation *o)
{
    const bool is_reducing = o->kind == NCCL_ALL_REDUCE || o->kind == NCCL_REDUCE || o->kind == NCCL_REDUCE_SCATTER;
    if (!plim_nccl_is_comm(o->comm) || o->comm->is_finalized)
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "comm argument is not a usable communicator");
    if (!plim_nccl_type_bytes(o->type) || is_big(o->count, o->type, o->comm->n_ranks))
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "invalid type %d or count %zu", o->type, o->count);
    if (o->root < 0 || o->root >= o->comm->n_ranks)
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "invalid root or peer %d (must be in 0..%d)", o->root,
                              o->comm->n_ranks - 1);
    const bool is_at_root = o->comm->rank == o->root;
    const bool needs_send = o->kind == NCCL_BROADCAST || o->kind == NCCL_SCATTER ? is_at_root : o->kind != NCCL_RECEIVE;
    const bool needs_receive = o->kind == NCCL_REDUCE || o->kind == NCCL_GATHER ? is_at_root : o->kind != NCCL_SEND;
    if (o->count && ((needs_send && !o->send) || (needs_receive && !o->receive)))
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "a buffer argument is NULL");
    nccl_result result = is_reducing ? check_reduction(o) : NCCL_SUCCESS;
    if (!result && !o->count && (o->kind == NCCL_SEND || o->kind == NCCL_RECEIVE))
        return NCCL_SUCCESS; /* nothing is transferred, so no rank waits */
    if (!result) {
        const struct received received = received_by(o);
        const int error = plim_vgpu_launch(o->stream, plim_vgpu_captures(o->stream) ? lose_received : NULL, &received,
                                           sizeof received);
        if (error)
            result =
                plim_nccl_fail(NCCL_UNHANDLED_CUDA_ERROR, "Cuda failure %d '%s'", error, plim_vgpu_error_text(error));
    }
    return result ? result : plim_nccl_do(o);
}

/* An operation with the arguments that all of these functions have, and those that are given. */
#define COMMUNICATE(which, ...)                                                                                        \
    communicate(&(struct nccl_operation){                                                                              \
        .kind = which, .comm = comm, .count = count, .type = type, .stream = stream, __VA_ARGS__ })

nccl_result ncclAllReduce(const void *send, void *receive, size_t count, int type, int reduction,
                          struct nccl_comm *comm, void *stream)
{
    return COMMUNICATE(NCCL_ALL_REDUCE, .send = send, .receive = receive, .reduction = reduction);
}
NCCL_OTHER_NAME(ncclAllReduce);

nccl_result ncclReduce(const void *send, void *receive, size_t count, int type, int reduction, int root,
                       struct nccl_comm *comm, void *stream)
{
    return COMMUNICATE(NCCL_REDUCE, .send = send, .receive = receive, .reduction = reduction, .root = root);
}
NCCL_OTHER_NAME(ncclReduce);

nccl_result ncclReduceScatter(const void *send, void *receive, size_t count, int type, int reduction,
                              struct nccl_comm *comm, void *stream)
{
    return COMMUNICATE(NCCL_REDUCE_SCATTER, .send = send, .receive = receive, .reduction = reduction);
}
NCCL_OTHER_NAME(ncclReduceScatter);

nccl_result ncclBroadcast(const void *send, void *receive, size_t count, int type, int root, struct nccl_comm *comm,
                          void *stream)
{
    return COMMUNICATE(NCCL_BROADCAST, .send = send, .receive = receive, .root = root);
}
NCCL_OTHER_NAME(ncclBroadcast);

nccl_result ncclBcast(void *buffer, size_t count, int type, int root, struct nccl_comm *comm, void *stream)
{
    return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}
NCCL_OTHER_NAME(ncclBcast);

nccl_result ncclAllGather(const void *send, void *receive, size_t count, int type, struct nccl_comm *comm, void *stream)
{
    return COMMUNICATE(NCCL_ALL_GATHER, .send = send, .receive = receive);
}
NCCL_OTHER_NAME(ncclAllGather);

nccl_result ncclAlltoAll(const void *send, void *receive, size_t count, int type, struct nccl_comm *comm, void *stream)
{
    return COMMUNICATE(NCCL_ALL_TO_ALL, .send = send, .receive = receive);
}
NCCL_OTHER_NAME(ncclAlltoAll);

nccl_result ncclGather(const void *send, void *receive, size_t count, int type, int root, struct nccl_comm *comm,
                       void *stream)
{
    return COMMUNICATE(NCCL_GATHER, .send = send, .receive = receive, .root = root);
}
NCCL_OTHER_NAME(ncclGather);

nccl_result ncclScatter(const void *send, void *receive, size_t count, int type, int root, struct nccl_comm *comm,
                        void *stream)
{
    return COMMUNICATE(NCCL_SCATTER, .send = send, .receive = receive, .root = root);
}
NCCL_OTHER_NAME(ncclScatter);

nccl_result ncclSend(const void *send, size_t count, int type, int peer, struct nccl_comm *comm, void *stream)
{
    return COMMUNICATE(NCCL_SEND, .send = send, .root = peer);
}
NCCL_OTHER_NAME(ncclSend);

nccl_result ncclRecv(void *receive, size_t count, int type, int peer, struct nccl_comm *comm, void *stream)
{
    return COMMUNICATE(NCCL_RECEIVE, .receive = receive, .root = peer);
}
NCCL_OTHER_NAME(ncclRecv);

/* --- reductions of the program --- */

/* residence 0: the scalar is on the card and read later; 1: it is read now. */
nccl_result ncclRedOpCreatePreMulSum(int *ret_reduction, void *scalar, int type, int residence, struct nccl_comm *comm)
{
    const size_t width = plim_nccl_type_bytes(type);
    if (!plim_nccl_is_comm(comm) || !ret_reduction || !scalar || !width || residence < 0 || residence > 1)
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "RedOpCreatePreMulSum : invalid argument");
    for (int i = 0; i < NCCL_MAX_MADE_REDUCTIONS; i++) {
        struct nccl_made_reduction *made = &comm->reduction[i];
        if (made->is_used)
            continue;
        *made = (struct nccl_made_reduction){ .is_used = true, .type = type };
        if (residence == 1)
            memcpy(made->scalar, scalar, width);
        else
            made->device_scalar = scalar;
        *ret_reduction = NCCL_N_REDUCTIONS + i;
        return NCCL_SUCCESS;
    }
    return plim_nccl_fail(NCCL_INTERNAL_ERROR, "more than %d reductions", NCCL_MAX_MADE_REDUCTIONS);
}
NCCL_OTHER_NAME(ncclRedOpCreatePreMulSum);

nccl_result ncclRedOpDestroy(int reduction, struct nccl_comm *comm)
{
    const int made = reduction - NCCL_N_REDUCTIONS;
    if (!plim_nccl_is_comm(comm) || made < 0 || made >= NCCL_MAX_MADE_REDUCTIONS || !comm->reduction[made].is_used)
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "ncclRedOpDestroy : operator unknown to this communicator");
    comm->reduction[made].is_used = false;
    return NCCL_SUCCESS;
}
NCCL_OTHER_NAME(ncclRedOpDestroy);
