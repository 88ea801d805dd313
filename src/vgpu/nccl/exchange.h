/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_NCCL_EXCHANGE_H
#define PLIMSOLL_VGPU_NCCL_EXCHANGE_H

/* How one operation goes through the shared memory. */

#include "vgpu/nccl/group.h"

/* A collective: say what this rank brings; then wait for the others and take what they brought. */
nccl_result plim_nccl_publish(struct nccl_operation *operation);
nccl_result plim_nccl_complete(struct nccl_operation *operation);

/* A message, sent or received: false when it has to wait for the peer. */
bool plim_nccl_try_message(struct nccl_operation *operation);
bool plim_nccl_can_message(const struct nccl_operation *operation);

/* What a wait ended with, in NCCL's words; the communicator remembers it. */
nccl_result plim_nccl_waited(struct nccl_comm *comm, enum plim_nccl_shm_result how, int rank);

#endif
