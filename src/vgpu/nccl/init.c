/* SPDX-License-Identifier: MIT */
/* Making communicators: by a unique id, from a list of devices, by a split. */
#include "vgpu/nccl/group.h"
#include "vgpu/nccl/nccl_api.h"

#include <string.h>

nccl_result ncclGetUniqueId(struct nccl_id *id)
{
    if (!id)
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "GetUniqueId : id argument is NULL");
    memset(id, 0, sizeof *id);
    return plim_nccl_shm_make(&id->shm) ? NCCL_SUCCESS : plim_nccl_fail(NCCL_SYSTEM_ERROR, "no shared memory");
}
NCCL_OTHER_NAME(ncclGetUniqueId);

/* --- starting --- */

static nccl_result start(struct nccl_comm **new_comm, int n_ranks, const struct plim_nccl_shm_id *shm, int rank,
                         int device, const struct nccl_config *config)
{
    struct nccl_operation operation = { .kind = NCCL_JOIN, .new_comm = new_comm, .shm = *shm };
    if (!new_comm)
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "CommInitRank : newcomm argument is NULL");
    *new_comm = NULL;
    nccl_result result = plim_nccl_read_config(config, &operation.limits);
    if (!result)
        result = plim_nccl_comm_new(n_ranks, rank, device, operation.limits, new_comm);
    return result ? result : plim_nccl_do(&operation);
}

nccl_result ncclCommInitRankConfig(struct nccl_comm **new_comm, int n_ranks, struct nccl_id id, int rank,
                                   const struct nccl_config *config)
{
    return start(new_comm, n_ranks, &id.shm, rank, plim_nccl_device(), config);
}
NCCL_OTHER_NAME(ncclCommInitRankConfig);

nccl_result ncclCommInitRank(struct nccl_comm **new_comm, int n_ranks, struct nccl_id id, int rank)
{
    return start(new_comm, n_ranks, &id.shm, rank, plim_nccl_device(), NULL);
}
NCCL_OTHER_NAME(ncclCommInitRank);

/* Several ids only make NCCL faster: all ranks have the same list, and meet at its first id. */
nccl_result ncclCommInitRankScalable(struct nccl_comm **new_comm, int n_ranks, int rank, int n_ids,
                                     const struct nccl_id *ids, const struct nccl_config *config)
{
    if (n_ids < 1 || n_ids > n_ranks || !ids)
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "CommInitRankScalable : invalid number of ids %d", n_ids);
    return start(new_comm, n_ranks, &ids[0].shm, rank, plim_nccl_device(), config);
}
NCCL_OTHER_NAME(ncclCommInitRankScalable);

nccl_result ncclCommInitAll(struct nccl_comm **comms, int n_devices, const int *devices)
{
    struct nccl_id id;
    if (!comms || n_devices < 1 || n_devices > plim_vgpu_n_cards())
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "Invalid device count requested : %d", n_devices);
    for (int i = 0; devices && i < n_devices; i++)
        if (devices[i] < 0 || devices[i] >= plim_vgpu_n_cards())
            return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "Invalid device %d", devices[i]);
    nccl_result result = ncclGetUniqueId(&id);
    if (result)
        return result;
    ncclGroupStart();
    for (int i = 0; i < n_devices && !result; i++)
        result = start(&comms[i], n_devices, &id.shm, i, devices ? devices[i] : i, NULL);
    const nccl_result end = ncclGroupEnd();
    return result ? result : end;
}
NCCL_OTHER_NAME(ncclCommInitAll);

nccl_result ncclCommSplit(struct nccl_comm *comm, int color, int key, struct nccl_comm **new_comm,
                          const struct nccl_config *config)
{
    struct nccl_operation operation = { .kind = NCCL_SPLIT, .comm = comm, .new_comm = new_comm };
    if (!plim_nccl_is_comm(comm) || !new_comm || (color < 0 && color != NCCL_NO_COLOR))
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "CommSplit : invalid argument");
    *new_comm = NULL;
    nccl_result result = plim_nccl_read_config(config, &operation.limits);
    if (result)
        return result;
    if (!config)
        operation.limits = comm->limits;
    operation.color.color = color;
    operation.color.key = key;
    if (color != NCCL_NO_COLOR && !plim_nccl_shm_make(&operation.color.shm))
        return plim_nccl_fail(NCCL_SYSTEM_ERROR, "no shared memory");
    return plim_nccl_do(&operation);
}
NCCL_OTHER_NAME(ncclCommSplit);
