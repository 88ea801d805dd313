/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_NCCL_GROUP_H
#define PLIMSOLL_VGPU_NCCL_GROUP_H

/* Operations of a thread: one at a time or, between ncclGroupStart() and ncclGroupEnd(), together. */

#include "vgpu/nccl/nccl.h"

enum nccl_kind {
    NCCL_ALL_REDUCE,
    NCCL_BROADCAST,
    NCCL_REDUCE,
    NCCL_ALL_GATHER,
    NCCL_REDUCE_SCATTER,
    NCCL_ALL_TO_ALL,
    NCCL_GATHER,
    NCCL_SCATTER,
    NCCL_SPLIT, /* exchanges struct nccl_color */
    NCCL_SEND,
    NCCL_RECEIVE,
    NCCL_JOIN
};

struct nccl_color {
    int color, key;
    struct plim_nccl_shm_id shm;
};

struct nccl_operation {
    enum nccl_kind kind;
    struct nccl_comm *comm;
    const void *send;
    void *receive;
    size_t count;
    int type, reduction;
    int root; /* or the peer */
    void *stream;
    /* of those that make a communicator */
    struct nccl_comm **new_comm;
    struct plim_nccl_shm_id shm;
    struct nccl_color color;
    struct nccl_limits limits;
    /* while it runs */
    bool is_published, is_done, is_small;
    uint64_t number, turn;
};

/* Now, or when the group ends. */
nccl_result plim_nccl_do(const struct nccl_operation *operation);

#endif
