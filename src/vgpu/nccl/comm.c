/* SPDX-License-Identifier: MIT */
/* The life of communicators. A thread that waits inside a call keeps its communicator alive. */
#include "vgpu/core/cuda_api.h"
#include "vgpu/nccl/charge.h"
#include "vgpu/nccl/nccl.h"
#include "vgpu/nccl/nccl_api.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nccl_comm *all;

bool plim_nccl_is_comm(const struct nccl_comm *comm)
{
    pthread_mutex_lock(&lock);
    const struct nccl_comm *c = all;
    while (c && c != comm)
        c = c->next;
    pthread_mutex_unlock(&lock);
    return c != NULL;
}

int plim_nccl_device(void)
{
    int device;
    return cuCtxGetDevice(&device) ? 0 : device;
}

/* --- making --- */

nccl_result plim_nccl_read_config(const struct nccl_config *config, struct nccl_limits *ret_limits)
{
    struct nccl_config c = { .magic = 0 };
    *ret_limits = (struct nccl_limits){ NCCL_UNDEFINED, NCCL_UNDEFINED };
    if (!config)
        return NCCL_SUCCESS;
    size_t size;
    memcpy(&size, config, sizeof size);
    memcpy(&c, config, size < sizeof c ? size : sizeof c);
    if (c.magic != 0xcafebeef)
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT,
                              "ncclConfig_t argument not initialized via NCCL_CONFIG_INITIALIZER");
    if (c.version >= 21400 && c.blocking != NCCL_UNDEFINED && c.blocking != 0 && c.blocking != 1)
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "Invalid config blocking attribute value %d", c.blocking);
    if (c.version < 21700 || size < offsetof(struct nccl_config, net_name))
        return NCCL_SUCCESS;
    const bool is_min_said = c.min_ctas != NCCL_UNDEFINED, is_max_said = c.max_ctas != NCCL_UNDEFINED;
    if ((is_min_said && c.min_ctas <= 0) || (is_max_said && c.max_ctas <= 0) ||
        (is_min_said && is_max_said && c.min_ctas > c.max_ctas))
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "Invalid config min/max channels attribute value %d/%d",
                              c.min_ctas, c.max_ctas);
    *ret_limits = (struct nccl_limits){ c.min_ctas, c.max_ctas };
    return NCCL_SUCCESS;
}

nccl_result plim_nccl_comm_new(int n_ranks, int rank, int device, struct nccl_limits limits,
                               struct nccl_comm **ret_comm)
{
    if (n_ranks < 1 || rank < 0 || rank >= n_ranks)
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "Invalid rank requested : %d/%d", rank, n_ranks);
    if (n_ranks > PLIM_NCCL_SHM_MAX_RANKS)
        return plim_nccl_fail(NCCL_SYSTEM_ERROR, "the virtual GPU supports at most %d ranks", PLIM_NCCL_SHM_MAX_RANKS);
    const int error = plim_vgpu_need_context(device);
    if (error)
        return plim_nccl_fail(NCCL_UNHANDLED_CUDA_ERROR, "Cuda failure %d '%s'", error, plim_vgpu_error_text(error));
    struct nccl_comm *comm = calloc(1, sizeof *comm);
    uint64_t *counts = calloc((size_t)n_ranks, 2 * sizeof *counts);
    bool *is_peer = calloc((size_t)n_ranks, sizeof *is_peer);
    if (!comm || !counts || !is_peer) {
        free(comm);
        free(counts);
        free(is_peer);
        return NCCL_SYSTEM_ERROR;
    }
    comm->n_ranks = n_ranks;
    comm->rank = rank;
    comm->device = device;
    comm->limits = limits;
    comm->n_sent = counts;
    comm->n_received = counts + n_ranks;
    comm->is_peer = is_peer;
    pthread_mutex_lock(&lock);
    comm->next = all;
    all = comm;
    pthread_mutex_unlock(&lock);
    *ret_comm = comm;
    return NCCL_SUCCESS;
}

static int card_number(int device)
{
    int error;
    const struct plim_ledger *ledger = plim_vgpu_ledger(&error);
    const struct plim_ledger_card *card = plim_vgpu_card(device);
    return ledger && card ? (int)(card - ledger->card) : device;
}

nccl_result plim_nccl_comm_join(struct nccl_comm *comm, const struct plim_nccl_shm_id *id)
{
    switch (plim_nccl_shm_join(id, comm->n_ranks, comm->rank, card_number(comm->device), &comm->shm)) {
    case PLIM_NCCL_SHM_OK:
        return NCCL_SUCCESS;
    case PLIM_NCCL_SHM_GONE:
        return plim_nccl_fail(NCCL_REMOTE_ERROR, "the process that made the unique id has ended");
    case PLIM_NCCL_SHM_OTHER_N:
        return plim_nccl_fail(NCCL_INVALID_USAGE, "the ranks disagree about their number; this one has %d",
                              comm->n_ranks);
    case PLIM_NCCL_SHM_TAKEN:
        return plim_nccl_fail(NCCL_INVALID_USAGE, "rank %d has joined already", comm->rank);
    default:
        return plim_nccl_fail(NCCL_SYSTEM_ERROR, "no shared memory for %d ranks", comm->n_ranks);
    }
}

static bool all_are_in(struct plim_nccl_shm *shm, void *about, int *ret_lacks)
{
    (void)about;
    for (int r = 0; r < shm->n_ranks; r++)
        if (atomic_load(&shm->head->rank[r].pid) == 0) {
            *ret_lacks = r;
            return false;
        }
    return true;
}

/* NCCL refuses ranks that share a card, unless NCCL_MULTI_RANK_GPU_ENABLE is set. */
static bool is_card_shared(const struct plim_nccl_shm *shm)
{
    const char *text = getenv("NCCL_MULTI_RANK_GPU_ENABLE");
    bool is_shared = false;
    for (int r = 0; r < shm->n_ranks; r++)
        is_shared = is_shared || (r != shm->rank && shm->head->rank[r].card == shm->head->rank[shm->rank].card);
    return is_shared && !(text && atoi(text));
}

nccl_result plim_nccl_comm_meet(struct nccl_comm *comm)
{
    int rank;
    switch (plim_nccl_shm_wait(comm->shm, all_are_in, NULL, &comm->is_aborted, &rank)) {
    case PLIM_NCCL_SHM_OK:
        break;
    case PLIM_NCCL_SHM_DEAD:
        return plim_nccl_fail(NCCL_REMOTE_ERROR,
                              "rank %d has not joined, and the process that made the unique id has ended", rank);
    case PLIM_NCCL_SHM_ABORTED:
        return NCCL_INTERNAL_ERROR;
    default:
        return plim_nccl_fail(NCCL_SYSTEM_ERROR, "rank %d has not joined in time", rank);
    }
    plim_nccl_shm_forget(&comm->shm->id);
    if (is_card_shared(comm->shm))
        return plim_nccl_fail(NCCL_INVALID_USAGE, "Multiple Ranks are using the same GPU/Partition. Set "
                                                  "NCCL_MULTI_RANK_GPU_ENABLE=1 to enable this");
    return plim_nccl_charge_start(comm);
}

/* --- ending --- */

void plim_nccl_comm_free(struct nccl_comm *comm)
{
    static const struct timespec moment = { 0, 1000 * 1000 };
    pthread_mutex_lock(&lock);
    struct nccl_comm **link = &all;
    while (*link && *link != comm)
        link = &(*link)->next;
    if (*link)
        *link = comm->next;
    pthread_mutex_unlock(&lock);
    while (atomic_load(&comm->n_users) > 0) /* they see is_aborted */
        nanosleep(&moment, NULL);
    plim_nccl_uncharge(comm);
    plim_nccl_shm_leave(comm->shm);
    free(comm->n_sent);
    free(comm->is_peer);
    free(comm);
}

nccl_result ncclCommFinalize(struct nccl_comm *comm)
{
    if (!plim_nccl_is_comm(comm))
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "CommFinalize : comm argument is not a communicator");
    if (comm->is_finalized)
        return plim_nccl_fail(NCCL_INVALID_USAGE, "the communicator is already finalized");
    comm->is_finalized = true;
    return NCCL_SUCCESS;
}
NCCL_OTHER_NAME(ncclCommFinalize);

nccl_result ncclCommAbort(struct nccl_comm *comm)
{
    if (!comm)
        return NCCL_SUCCESS;
    if (!plim_nccl_is_comm(comm))
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "CommAbort : comm argument is not a communicator");
    atomic_store(&comm->is_aborted, true);
    if (comm->shm)
        plim_nccl_shm_ring(comm->shm);
    plim_nccl_comm_free(comm);
    return NCCL_SUCCESS;
}
NCCL_OTHER_NAME(ncclCommAbort);

nccl_result ncclCommDestroy(struct nccl_comm *comm)
{
    if (!comm)
        return NCCL_SUCCESS;
    if (!plim_nccl_is_comm(comm))
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "CommDestroy : comm argument is not a communicator");
    plim_nccl_comm_free(comm);
    return NCCL_SUCCESS;
}
NCCL_OTHER_NAME(ncclCommDestroy);

/* Other ranks stop waiting for this one; the communicator itself stays usable for its administration. */
nccl_result ncclCommRevoke(struct nccl_comm *comm, int flags)
{
    if (!plim_nccl_is_comm(comm) || flags)
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "CommRevoke : invalid argument");
    atomic_store(&comm->is_aborted, true);
    plim_nccl_shm_ring(comm->shm);
    return NCCL_SUCCESS;
}
NCCL_OTHER_NAME(ncclCommRevoke);

/* --- queries --- */

static nccl_result answer(const struct nccl_comm *comm, int *ret, int value)
{
    if (!plim_nccl_is_comm(comm) || !ret)
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "invalid argument");
    *ret = value;
    return NCCL_SUCCESS;
}

nccl_result ncclCommCount(const struct nccl_comm *comm, int *count)
{
    return answer(comm, count, plim_nccl_is_comm(comm) ? comm->n_ranks : 0);
}
NCCL_OTHER_NAME(ncclCommCount);

nccl_result ncclCommCuDevice(const struct nccl_comm *comm, int *device)
{
    return answer(comm, device, plim_nccl_is_comm(comm) ? comm->device : 0);
}
NCCL_OTHER_NAME(ncclCommCuDevice);

nccl_result ncclCommUserRank(const struct nccl_comm *comm, int *rank)
{
    return answer(comm, rank, plim_nccl_is_comm(comm) ? comm->rank : 0);
}
NCCL_OTHER_NAME(ncclCommUserRank);

nccl_result ncclCommGetAsyncError(struct nccl_comm *comm, nccl_result *error)
{
    return answer(comm, error, plim_nccl_is_comm(comm) ? atomic_load(&comm->async_error) : 0);
}
NCCL_OTHER_NAME(ncclCommGetAsyncError);

/*
 * what: bytes that may be suspended (0), are suspended (1), may not be (2), total (3). Suspending is not supported
 * here.
 */
nccl_result ncclCommMemStats(const struct nccl_comm *comm, int what, uint64_t *value)
{
    if (!plim_nccl_is_comm(comm) || !value || what < 0 || what > 3)
        return plim_nccl_fail(NCCL_INVALID_ARGUMENT, "CommMemStats : invalid argument");
    *value = what >= 2 ? comm->charged_bytes : 0;
    return NCCL_SUCCESS;
}
NCCL_OTHER_NAME(ncclCommMemStats);
