/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_NCCL_NCCL_H
#define PLIMSOLL_VGPU_NCCL_NCCL_H

/*
 * Shared by the files of the virtual NCCL.
 *
 * Ranks are processes or threads of one machine. They meet in shared memory (nccl/shm.h) and exchange small values
 * there, so that sizes and pickled objects arrive; of large buffers only the size matters. Calls are synchronous: a
 * collective of small values returns when all ranks have arrived, one of large values at once.
 */

#include "vgpu/core/session.h"
#include "vgpu/nccl/shm.h"

typedef int nccl_result;

enum {
    NCCL_SUCCESS = 0,
    NCCL_UNHANDLED_CUDA_ERROR = 1,
    NCCL_SYSTEM_ERROR = 2,
    NCCL_INTERNAL_ERROR = 3,
    NCCL_INVALID_ARGUMENT = 4,
    NCCL_INVALID_USAGE = 5,
    NCCL_REMOTE_ERROR = 6,
    NCCL_IN_PROGRESS = 7,
    NCCL_TIMEOUT = 8,
};

enum { NCCL_UNDEFINED = INT32_MIN, NCCL_NO_COLOR = -1, NCCL_VERSION_CODE = 23007 };

/* The public members of ncclConfig_t that are read; callers of older versions pass fewer. */
struct nccl_config {
    size_t size;
    unsigned magic, version;
    int blocking, cga_cluster_size, min_ctas, max_ctas;
    const char *net_name;
    int split_share, traffic_class;
};
_Static_assert(sizeof(struct nccl_config) == 48, "ncclConfig_t of 2.25 and later begins so");

/* The number of channels that the program wants. */
struct nccl_limits {
    int min_ctas, max_ctas; /* NCCL_UNDEFINED: not set */
};

/* ncclUniqueId */
struct nccl_id {
    struct plim_nccl_shm_id shm;
    char rest[128 - sizeof(struct plim_nccl_shm_id)];
};
_Static_assert(sizeof(struct nccl_id) == 128, "NCCL_UNIQUE_ID_BYTES");

/* ncclRedOp_t: five built-in reductions, then those of the program. */
enum nccl_reduction { NCCL_SUM, NCCL_PROD, NCCL_MAX, NCCL_MIN, NCCL_AVG, NCCL_N_REDUCTIONS };
enum { NCCL_MAX_MADE_REDUCTIONS = 64 };

struct nccl_made_reduction {
    bool is_used;
    int type;
    uint8_t scalar[8];
    const void *device_scalar; /* read when the collective runs; NULL: scalar */
};

enum { NCCL_MAX_CHARGES = 4 + PLIM_NCCL_SHM_MAX_RANKS };

struct nccl_comm {
    struct nccl_comm *next; /* of this process */
    struct plim_nccl_shm *shm;
    int n_ranks, rank, device;
    struct nccl_limits limits;
    bool is_connected, is_finalized;
    atomic_bool is_aborted;
    atomic_int async_error, n_users;
    uint64_t n_operations, n_small; /* n_small: those with values */
    uint64_t *n_sent, *n_received;  /* by peer */
    bool *is_peer;                  /* connected for send and receive */
    uint32_t charge[NCCL_MAX_CHARGES];
    int n_charges;
    uint64_t charged_bytes;
    struct nccl_made_reduction reduction[NCCL_MAX_MADE_REDUCTIONS];
};

/* Keep a text for ncclGetLastError() of this process and return the error. */
__attribute__((format(printf, 2, 3))) nccl_result plim_nccl_fail(nccl_result error, const char *format, ...);

/* Whether this is a live communicator. The pointer is not followed. */
bool plim_nccl_is_comm(const struct nccl_comm *comm);

nccl_result plim_nccl_read_config(const struct nccl_config *config, struct nccl_limits *ret_limits);

/* A communicator that has not joined its shared memory yet. */
nccl_result plim_nccl_comm_new(int n_ranks, int rank, int device, struct nccl_limits limits,
                               struct nccl_comm **ret_comm);
nccl_result plim_nccl_comm_join(struct nccl_comm *comm, const struct plim_nccl_shm_id *id);
/* Wait for all ranks, then charge the memory that NCCL takes at the start. */
nccl_result plim_nccl_comm_meet(struct nccl_comm *comm);
void plim_nccl_comm_free(struct nccl_comm *comm);

/* The current device of this thread. */
int plim_nccl_device(void);

/* The second name of each function (pncclSend), for profilers. */
#define NCCL_OTHER_NAME(name) extern __typeof__(name) p##name __attribute__((alias(#name)))

#endif
