/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_NCCL_SHM_H
#define PLIMSOLL_VGPU_NCCL_SHM_H

/*
 * The unnamed shared memory of the ranks of one communicator. The process that makes it keeps its file open until all
 * ranks have joined. So it vanishes with the last process that uses it, however that ends.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PLIM_NCCL_SHM_MAX_RANKS = 256,
    PLIM_NCCL_SHM_SMALL_BYTES = 64 << 10,
    PLIM_NCCL_SHM_RING = 16,
    PLIM_NCCL_SHM_HISTORY = 64
};

/* The way for another process to find it. */
struct plim_nccl_shm_id {
    uint64_t magic, nonce;
    int32_t pid, fd;
};

/* Values of up to 64 KiB, and for each byte whether it is known (enum plim_shadow_known). */
struct plim_nccl_shm_slot {
    _Atomic uint64_t number; /* of the collective or message they belong to */
    uint64_t size;
    uint8_t known[PLIM_NCCL_SHM_SMALL_BYTES], bytes[PLIM_NCCL_SHM_SMALL_BYTES];
};

struct plim_nccl_shm_rank {
    atomic_int pid; /* 0: not joined yet */
    uint64_t start_ticks;
    int32_t card; /* of the ledger */
    atomic_bool has_left;
    _Atomic uint64_t n_arrived;                      /* the collective that it has reached */
    _Atomic uint64_t history[PLIM_NCCL_SHM_HISTORY]; /* number << 32 | a hash of the operation */
};

/* Messages from one rank to another. */
struct plim_nccl_shm_pair {
    _Atomic uint64_t n_posted, n_taken;
    struct plim_nccl_shm_slot ring[PLIM_NCCL_SHM_RING];
};

struct plim_nccl_shm_head {
    uint64_t magic, nonce;
    atomic_int n_ranks;
    atomic_uint bell; /* a futex that counts events */
    struct plim_nccl_shm_rank rank[PLIM_NCCL_SHM_MAX_RANKS];
};

struct plim_nccl_shm {
    struct plim_nccl_shm_head *head;
    size_t size;
    struct plim_nccl_shm_id id;
    int n_ranks, rank;
};

/* False: the system refused. */
bool plim_nccl_shm_make(struct plim_nccl_shm_id *ret_id);

/* It will not be used: free it. */
void plim_nccl_shm_forget(const struct plim_nccl_shm_id *id);

enum plim_nccl_shm_result {
    PLIM_NCCL_SHM_OK,
    PLIM_NCCL_SHM_GONE,    /* the process that made it has ended */
    PLIM_NCCL_SHM_OTHER_N, /* other ranks gave another number of ranks */
    PLIM_NCCL_SHM_TAKEN,   /* the rank has joined already */
    PLIM_NCCL_SHM_NO_MEMORY,
    PLIM_NCCL_SHM_DEAD, /* a rank ended before it arrived */
    PLIM_NCCL_SHM_TIMEOUT,
    PLIM_NCCL_SHM_ABORTED
};

enum plim_nccl_shm_result plim_nccl_shm_join(const struct plim_nccl_shm_id *id, int n_ranks, int rank, int card,
                                             struct plim_nccl_shm **ret_room);
void plim_nccl_shm_leave(struct plim_nccl_shm *shm);

/* The slot of a rank for the turn-th exchange. */
struct plim_nccl_shm_slot *plim_nccl_shm_slot(struct plim_nccl_shm *shm, int rank, uint64_t turn);
struct plim_nccl_shm_pair *plim_nccl_shm_pair(struct plim_nccl_shm *shm, int from, int to);

/* Wake the ranks that wait. */
void plim_nccl_shm_ring(struct plim_nccl_shm *shm);

/* Wait until is_so() holds. *ret_lacks is a rank that it depends on, or -1: the wait ends when that rank has ended. */
typedef bool plim_nccl_shm_condition(struct plim_nccl_shm *shm, void *about, int *ret_lacks);
enum plim_nccl_shm_result plim_nccl_shm_wait(struct plim_nccl_shm *shm, plim_nccl_shm_condition *is_so, void *about,
                                             const atomic_bool *is_aborted, int *ret_rank);

#endif
