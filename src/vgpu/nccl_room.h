/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_NCCL_ROOM_H
#define PLIMSOLL_VGPU_NCCL_ROOM_H

/*
 * Where the ranks of one communicator meet: shared memory without a name. Who makes the room keeps its file open until
 * all have come in, so it vanishes with the last process that has it, however that ends.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLIM_ROOM_MAX_RANKS = 256, PLIM_ROOM_SMALL_BYTES = 64 << 10, PLIM_ROOM_RING = 16, PLIM_ROOM_HISTORY = 64 };

/* How another process finds a room. */
struct plim_room_id {
    uint64_t magic, nonce;
    int32_t pid, fd;
};

/* Values of up to 64 KiB, and for each byte whether it is known (enum plim_shadow_known). */
struct plim_room_slot {
    _Atomic uint64_t number; /* of the collective or message they belong to */
    uint64_t size;
    uint8_t known[PLIM_ROOM_SMALL_BYTES], bytes[PLIM_ROOM_SMALL_BYTES];
};

struct plim_room_rank {
    atomic_int pid; /* 0: not there yet */
    uint64_t start_ticks;
    int32_t card; /* of the ledger */
    atomic_bool has_left;
    _Atomic uint64_t n_arrived;                  /* the collective it has come to */
    _Atomic uint64_t history[PLIM_ROOM_HISTORY]; /* number << 32 | what it was, in short */
};

/* Messages from one rank to another. */
struct plim_room_pair {
    _Atomic uint64_t n_posted, n_taken;
    struct plim_room_slot ring[PLIM_ROOM_RING];
};

struct plim_room_head {
    uint64_t magic, nonce;
    atomic_int n_ranks;
    atomic_uint bell; /* counts what happened; a futex */
    struct plim_room_rank rank[PLIM_ROOM_MAX_RANKS];
};

struct plim_room {
    struct plim_room_head *head;
    size_t size;
    struct plim_room_id id;
    int n_ranks, rank;
};

/* False: the system refused. */
bool plim_room_make(struct plim_room_id *ret_id);

/* Nobody will use it. */
void plim_room_forget(const struct plim_room_id *id);

enum plim_room_result {
    PLIM_ROOM_OK,
    PLIM_ROOM_GONE,    /* the one who made it ended */
    PLIM_ROOM_OTHER_N, /* others said another number of ranks */
    PLIM_ROOM_TAKEN,   /* the rank is there already */
    PLIM_ROOM_NO_MEMORY,
    PLIM_ROOM_DEAD, /* a rank ended before it came */
    PLIM_ROOM_TIMEOUT,
    PLIM_ROOM_ABORTED
};

enum plim_room_result plim_room_join(const struct plim_room_id *id, int n_ranks, int rank, int card,
                                     struct plim_room **ret_room);
void plim_room_leave(struct plim_room *room);

/* This rank's values for the turn-th exchange, or another's. */
struct plim_room_slot *plim_room_slot(struct plim_room *room, int rank, uint64_t turn);
struct plim_room_pair *plim_room_pair(struct plim_room *room, int from, int to);

/* Something happened that others may wait for. */
void plim_room_ring(struct plim_room *room);

/* Wait until is_so; lacks: a rank whose coming it depends on, -1 for none. Stops when that rank is gone. */
typedef bool plim_room_condition(struct plim_room *room, void *about, int *ret_lacks);
enum plim_room_result plim_room_wait(struct plim_room *room, plim_room_condition *is_so, void *about,
                                     const atomic_bool *is_aborted, int *ret_rank);

#endif
