/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_NCCL_CHARGE_H
#define PLIMSOLL_VGPU_NCCL_CHARGE_H

/* The memory that NVIDIA's NCCL takes on a card for a communicator. */

#include "vgpu/nccl/nccl.h"

/* At the start; at the first collective; at the first message to or from a peer. */
nccl_result plim_nccl_charge_start(struct nccl_comm *comm);
nccl_result plim_nccl_charge_collectives(struct nccl_comm *comm);
nccl_result plim_nccl_charge_peer(struct nccl_comm *comm, int peer);

void plim_nccl_uncharge(struct nccl_comm *comm);

#endif
