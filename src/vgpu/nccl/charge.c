/* SPDX-License-Identifier: MIT */
/*
 * Basis: assumed. The allocations follow NCCL's public source (2.30.7). The number of channels depends on links that
 * the catalogue does not have, so the band is wide.
 *
 * - Each allocation is made with cuMemCreate and rounded up to 2 MiB, unless NCCL_CUMEM_ENABLE=0 (include/alloc.h).
 * - At the start: two allocations for the communicator, three for each channel (init.cc devCommSetup, channel.cc
 *   initChannel).
 * - At the first collective, for each channel and neighbour in the ring: buffers of the three protocols on one side, a
 *   header on the other (transport/p2p.cc). Trees go both ways, so twice that with more than two ranks. Cards without
 *   direct access to each other have these buffers in host memory (transport/shm.cc).
 * - Sizes: LL 8 * 512 * 8 steps * 16 B, LL128 120 * 640 * 8 steps * 8 B, simple 4 MiB (init.cc; NCCL_BUFFSIZE and
 *   others).
 * - Channels: at least 2 (graph/connect.cc doubles them), at most 32 on one machine. Logs of NVLink cards show 24 for
 *   collectives and 32 for messages. GeForce cards have no direct access to each other without a bridge.
 */
#include "vgpu/nccl/charge.h"

#include "vgpu/core/attributes.h"

#include <stdlib.h>
#include <string.h>

enum { FEW_CHANNELS = 2, MANY_CHANNELS = 32, NVLINK_CHANNELS = 24, MAX_CHANNELS = 64 };
static const uint64_t unit_bytes = 2 << 20, header_bytes = 4096;

static uint64_t round_up(uint64_t n, uint64_t unit) { return (n + unit - 1) / unit * unit; }

static uint64_t parameter(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    char *end;
    const long long value = text ? strtoll(text, &end, 0) : -1;
    return text && end != text && value >= 0 ? (uint64_t)value : otherwise;
}

static uint64_t allocation(uint64_t size)
{
    return round_up(size, parameter("NCCL_CUMEM_ENABLE", 1) ? unit_bytes : 512);
}

/* --- links --- */

static bool has_nvlink(const struct plim_ledger_card *card)
{
    return strstr(card->name, "SXM") || strstr(card->name, "NVL") || strstr(card->name, "GB200") ||
           strstr(card->name, "GB300");
}

static bool has_direct_access(const struct plim_ledger_card *card)
{
    return plim_card_has_peers(card) && !parameter("NCCL_P2P_DISABLE", 0);
}

/* n channels within the limits that the user sets. */
static uint64_t channels(const struct nccl_comm *comm, uint64_t n)
{
    uint64_t least = parameter("NCCL_MIN_NCHANNELS", parameter("NCCL_MIN_CTAS", 0));
    uint64_t most = parameter("NCCL_MAX_NCHANNELS", parameter("NCCL_MAX_CTAS", MAX_CHANNELS));
    if (comm->limits.min_ctas > 0)
        least = (uint64_t)comm->limits.min_ctas;
    if (comm->limits.max_ctas > 0)
        most = (uint64_t)comm->limits.max_ctas;
    n = n > most ? most : n;
    n = n < least ? least : n;
    return n < 1 ? 1 : n > MAX_CHANNELS ? MAX_CHANNELS : n;
}

/* --- amounts --- */

static uint64_t start_bytes(uint64_t n_channels) { return (2 + 3 * n_channels) * allocation(1); }

static uint64_t connection_bytes(uint64_t n_channels)
{
    const uint64_t ll = parameter("NCCL_LL_BUFFSIZE", 8 * 512 * 8 * 16);
    const uint64_t ll128 = parameter("NCCL_LL128_BUFFSIZE", 120 * 640 * 8 * 8);
    const uint64_t simple = parameter("NCCL_BUFFSIZE", 4 << 20);
    /* CUDA_IPC_MIN: of 2 MiB, whatever they are made with */
    return n_channels * (round_up(header_bytes + ll + ll128 + simple, unit_bytes) + round_up(header_bytes, unit_bytes));
}

static nccl_result charge(struct nccl_comm *comm, struct plim_ledger_band band)
{
    struct plim_ledger_card *card = plim_vgpu_card(comm->device);
    int error;
    struct plim_ledger *ledger = plim_vgpu_ledger(&error);
    if (!ledger || !card || ledger->is_raw || comm->n_charges == NCCL_MAX_CHARGES)
        return NCCL_SUCCESS;
    if (band.bytes &&
        (error = plim_vgpu_charge(comm->device, PLIM_KIND_NCCL, band.bytes, &comm->charge[comm->n_charges])))
        return plim_nccl_fail(NCCL_UNHANDLED_CUDA_ERROR, "Cuda failure %d '%s'", error, plim_vgpu_error_text(error));
    comm->n_charges += band.bytes > 0;
    comm->charged_bytes += band.bytes;
    plim_ledger_lock(ledger);
    card->nccl.bytes += band.bytes;
    card->nccl.low_bytes += band.low_bytes;
    card->nccl.high_bytes += band.high_bytes;
    plim_ledger_unlock(ledger);
    return NCCL_SUCCESS;
}

nccl_result plim_nccl_charge_start(struct nccl_comm *comm)
{
    const struct plim_ledger_card *card = plim_vgpu_card(comm->device);
    if (!card || comm->n_ranks == 1)
        return NCCL_SUCCESS;
    const uint64_t n = has_nvlink(card) ? MANY_CHANNELS : FEW_CHANNELS;
    return charge(comm,
                  (struct plim_ledger_band){ start_bytes(channels(comm, n)), start_bytes(channels(comm, FEW_CHANNELS)),
                                             start_bytes(channels(comm, MANY_CHANNELS)) });
}

nccl_result plim_nccl_charge_collectives(struct nccl_comm *comm)
{
    const struct plim_ledger_card *card = plim_vgpu_card(comm->device);
    if (!card || comm->n_ranks == 1 || comm->is_connected)
        return NCCL_SUCCESS;
    comm->is_connected = true;
    const uint64_t ways = comm->n_ranks > 2 ? 2 : 1, n = has_nvlink(card) ? NVLINK_CHANNELS : FEW_CHANNELS;
    return charge(comm, (struct plim_ledger_band){ has_direct_access(card) ? connection_bytes(channels(comm, n)) : 0, 0,
                                                   ways * connection_bytes(channels(comm, MANY_CHANNELS)) });
}

/* Messages go over as many channels per peer as fit; two ranks share what the ring has set up for the first ones. */
nccl_result plim_nccl_charge_peer(struct nccl_comm *comm, int peer)
{
    const struct plim_ledger_card *card = plim_vgpu_card(comm->device);
    if (!card || peer == comm->rank || comm->is_peer[peer])
        return NCCL_SUCCESS;
    comm->is_peer[peer] = true;
    const uint64_t n = channels(comm, has_nvlink(card) ? MANY_CHANNELS / (uint64_t)comm->n_ranks + 1 : FEW_CHANNELS);
    return charge(comm, (struct plim_ledger_band){ has_direct_access(card) ? connection_bytes(n) : 0, 0,
                                                   connection_bytes(channels(comm, MANY_CHANNELS)) });
}

void plim_nccl_uncharge(struct nccl_comm *comm)
{
    for (int i = 0; i < comm->n_charges; i++)
        plim_vgpu_uncharge(comm->charge[i]);
    comm->n_charges = 0;
    comm->charged_bytes = 0;
}
