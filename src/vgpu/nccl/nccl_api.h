/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_NCCL_NCCL_API_H
#define PLIMSOLL_VGPU_NCCL_NCCL_API_H

/*
 * The functions of the NCCL API that have a body in libnccl.so.2: our own declarations after the NCCL user guide
 * (2.30).
 */

#include "vgpu/nccl/nccl.h"

/* --- communicators --- */

nccl_result ncclGetVersion(int *version);
const char *ncclGetErrorString(nccl_result result);
void ncclResetDebugInit(void);
nccl_result ncclGetUniqueId(struct nccl_id *id);
nccl_result ncclCommInitRankConfig(struct nccl_comm **new_comm, int n_ranks, struct nccl_id id, int rank,
                                   const struct nccl_config *config);
nccl_result ncclCommInitRank(struct nccl_comm **new_comm, int n_ranks, struct nccl_id id, int rank);
nccl_result ncclCommInitRankScalable(struct nccl_comm **new_comm, int n_ranks, int rank, int n_ids,
                                     const struct nccl_id *ids, const struct nccl_config *config);
nccl_result ncclCommInitAll(struct nccl_comm **comms, int n_devices, const int *devices);
nccl_result ncclCommSplit(struct nccl_comm *comm, int color, int key, struct nccl_comm **new_comm,
                          const struct nccl_config *config);
const char *ncclGetLastError(struct nccl_comm *comm);
nccl_result ncclCommFinalize(struct nccl_comm *comm);
nccl_result ncclCommAbort(struct nccl_comm *comm);
nccl_result ncclCommDestroy(struct nccl_comm *comm);
nccl_result ncclCommRevoke(struct nccl_comm *comm, int flags);
nccl_result ncclCommCount(const struct nccl_comm *comm, int *count);
nccl_result ncclCommCuDevice(const struct nccl_comm *comm, int *device);
nccl_result ncclCommUserRank(const struct nccl_comm *comm, int *rank);
nccl_result ncclCommGetAsyncError(struct nccl_comm *comm, nccl_result *error);
nccl_result ncclCommMemStats(const struct nccl_comm *comm, int what, uint64_t *value);

/* --- groups --- */

nccl_result ncclGroupStart(void);
nccl_result ncclGroupEnd(void);

/* --- communication --- */

nccl_result ncclAllReduce(const void *send, void *receive, size_t count, int type, int reduction,
                          struct nccl_comm *comm, void *stream);
nccl_result ncclReduce(const void *send, void *receive, size_t count, int type, int reduction, int root,
                       struct nccl_comm *comm, void *stream);
nccl_result ncclReduceScatter(const void *send, void *receive, size_t count, int type, int reduction,
                              struct nccl_comm *comm, void *stream);
nccl_result ncclBroadcast(const void *send, void *receive, size_t count, int type, int root, struct nccl_comm *comm,
                          void *stream);
nccl_result ncclBcast(void *buffer, size_t count, int type, int root, struct nccl_comm *comm, void *stream);
nccl_result ncclAllGather(const void *send, void *receive, size_t count, int type, struct nccl_comm *comm,
                          void *stream);
nccl_result ncclAlltoAll(const void *send, void *receive, size_t count, int type, struct nccl_comm *comm, void *stream);
nccl_result ncclGather(const void *send, void *receive, size_t count, int type, int root, struct nccl_comm *comm,
                       void *stream);
nccl_result ncclScatter(const void *send, void *receive, size_t count, int type, int root, struct nccl_comm *comm,
                        void *stream);
nccl_result ncclSend(const void *send, size_t count, int type, int peer, struct nccl_comm *comm, void *stream);
nccl_result ncclRecv(void *receive, size_t count, int type, int peer, struct nccl_comm *comm, void *stream);
nccl_result ncclRedOpCreatePreMulSum(int *ret_reduction, void *scalar, int type, int residence, struct nccl_comm *comm);
nccl_result ncclRedOpDestroy(int reduction, struct nccl_comm *comm);

/* --- memory --- */

nccl_result ncclMemAlloc(void **pointer, size_t size);
nccl_result ncclMemFree(void *pointer);
nccl_result ncclCommRegister(const struct nccl_comm *comm, void *buffer, size_t size, void **handle);
nccl_result ncclCommDeregister(const struct nccl_comm *comm, void *handle);

#endif
