/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_NCCL_EXCHANGE_H
#define PLIMSOLL_VGPU_NCCL_EXCHANGE_H

/* One operation, carried out through the shared memory. */

#include "vgpu/nccl/group.h"

/* A collective: publish this rank's values; then wait for the others and take theirs. */
nccl_result plim_nccl_publish(struct nccl_operation *operation);
nccl_result plim_nccl_complete(struct nccl_operation *operation);

/* A message, sent or received. False: it has to wait for the peer. */
bool plim_nccl_try_message(struct nccl_operation *operation);
bool plim_nccl_can_message(const struct nccl_operation *operation);

/* The result of a wait as an error of NCCL, which the communicator keeps. */
nccl_result plim_nccl_waited(struct nccl_comm *comm, enum plim_nccl_shm_result how, int rank);

#endif
