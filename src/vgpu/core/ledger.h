/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_CORE_LEDGER_H
#define PLIMSOLL_VGPU_CORE_LEDGER_H

/*
 * The ledger of a rehearsal: one shared file with every allocation that a process of the rehearsal holds on the virtual
 * cards. The launcher makes it, describes the cards and reads it; the virtual libraries find it through the environment
 * (PLIM_VGPU_LEDGER) and charge it. Everything in it is guarded by one robust mutex, so that after a process has died
 * in the middle of a change, the next one recounts.
 *
 * Links libc only: this code runs inside programs that it knows nothing of.
 */

#include "vgpu/core/activity.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PLIM_LEDGER_MAX_CARDS = 16,
    PLIM_LEDGER_MAX_PROCESSES = 256,
    PLIM_LEDGER_MAX_RECORDS = 1 << 23, /* as many as the address space of a process has slots (space.c) */
    PLIM_LEDGER_MAX_WARNINGS = 64,
    PLIM_LEDGER_MAX_POINTS = 512,
    PLIM_LEDGER_MAX_SITES = 4096,
    PLIM_LEDGER_MAX_CYCLES = 512,
    PLIM_LEDGER_STACK_BYTES = 2560,
    PLIM_LEDGER_NAME_BYTES = 80,
    PLIM_LEDGER_WHAT_BYTES = 120,
    PLIM_LEDGER_MAX_GUESSES = 512,
    PLIM_LEDGER_FRAME_BYTES = 320,
    PLIM_LEDGER_SAID_BYTES = 16384,
};

/* The purpose of an allocation. */
enum plim_ledger_kind {
    PLIM_KIND_CONTEXT, /* the driver's memory for a process */
    PLIM_KIND_KERNELS, /* code of kernels, from the first launch */
    PLIM_KIND_ALLOC,   /* cudaMalloc, cuMemAlloc */
    PLIM_KIND_VMM,     /* cuMemCreate: the memory pool of ggml */
    PLIM_KIND_CUBLAS,  /* the workspace of a cuBLAS handle */
    PLIM_KIND_MANAGED, /* cudaMallocManaged: may exceed the card */
    PLIM_KIND_PINNED,  /* host memory */
    PLIM_KIND_NCCL,    /* buffers of communicators */
    PLIM_KIND_LIBRARY, /* handles, plans and generators of other math libraries */
    PLIM_KIND_MAX_
};

/* An amount that is charged as `bytes`, with the range that the real amount is in. */
struct plim_ledger_band {
    uint64_t bytes, low_bytes, high_bytes;
};

struct plim_ledger_point {
    uint64_t time_us, bytes;
    uint32_t site; /* the last change's call site */
};

/* A call site: one stack, one card, one kind. Number 0 stands for unknown call sites. */
struct plim_ledger_site {
    uint64_t hash;
    uint32_t device, kind;
    uint64_t n_taken, first_us;
    uint64_t live_bytes;
    uint64_t settled_bytes, settled_peak; /* bytes held at the peak with this number: plim_ledger_site_peak() */
};

/* The text of the call site with the same number: kept apart, so that a walk over all call sites touches few pages. */
struct plim_ledger_stack {
    char native[PLIM_LEDGER_STACK_BYTES]; /* "library function", a line for each frame, the innermost first */
    char python[PLIM_LEDGER_STACK_BYTES]; /* "file:line function" */
};

struct plim_ledger_card {
    /* described by the launcher */
    char name[PLIM_LEDGER_NAME_BYTES];
    uint64_t total_bytes;    /* as NVML reports it */
    uint64_t reserved_bytes; /* of the total: the driver's reserve, which CUDA never shows */
    uint64_t others_bytes;   /* of the rest: memory of other programs from the start */
    struct plim_ledger_band context, kernels, cublas;
    uint32_t compute_capability; /* 89 is 8.9 */
    uint32_t sm_count;
    uint32_t bus_bits, memory_mhz, pci_id; /* 0: unknown */
    struct {
        uint32_t bus_bits, memory_mhz, clock_mhz, l2_kib;
    } cuda; /* the CUDA API has to answer (rehearse/card_figures.h) */
    /* the account */
    uint32_t n_points;
    uint64_t used_bytes; /* charged, with rounding */
    uint64_t peak_bytes, peak_us;
    uint64_t n_peaks;                    /* the number of new peaks */
    uint64_t kind_bytes[PLIM_KIND_MAX_]; /* as requested, without rounding */
    uint64_t peak_kind_bytes[PLIM_KIND_MAX_];
    struct plim_ledger_band nccl; /* all that communicators have taken, freed or not */
    uint64_t n_taken;
    uint64_t point_us; /* closer points are merged */
    struct plim_ledger_point point[PLIM_LEDGER_MAX_POINTS];
};

struct plim_ledger_record {
    uint64_t address; /* in its process; 0: no address */
    uint64_t size, charged_bytes;
    uint64_t time_us;
    int32_t pid;
    uint16_t process; /* its slot */
    uint8_t device;
    uint8_t kind; /* enum plim_ledger_kind */
    uint32_t is_used;
    uint32_t next; /* of a free record: the next one; of one in use: its call site */
};

/* The launches of a process between two synchronizations (steps.h). */
struct plim_ledger_cycle {
    uint64_t hash, n_launches, used_bytes;
};

/* What PyTorch's allocator counts on a card: the largest peaks that were seen, each of its own moment. */
struct plim_ledger_pytorch {
    _Atomic uint64_t allocated_bytes, active_bytes, reserved_bytes;
};

/* Identified by its pid, its start time and its pid namespace: pids are reused, and each namespace has a pid 1. */
struct plim_ledger_process {
    int32_t pid;                         /* in its own namespace; 0: the slot is free */
    uint32_t is_ended;                   /* someone saw it: of a process of another namespace, only the launcher can */
    uint32_t has_left;                   /* ended, and its memory was freed: its counts stay until the slot is needed */
    uint64_t start_ticks, pid_namespace; /* 0: unknown */
    uint64_t small_bytes[PLIM_LEDGER_MAX_CARDS];
    uint64_t used_bytes[PLIM_LEDGER_MAX_CARDS], pinned_bytes;
    uint64_t joined_us, peak_bytes[PLIM_LEDGER_MAX_CARDS];
    uint64_t ended_us; /* when the launcher saw that it had ended; 0: not yet */
    uint64_t left_us;  /* when its memory was freed for it, and what it was: has_left */
    uint64_t left_bytes[PLIM_LEDGER_MAX_CARDS];
    uint64_t refused_bytes[PLIM_LEDGER_MAX_CARDS]; /* the last refused request, until one of its size is granted */
    /* written without the lock (steps.h) */
    _Atomic uint64_t n_launches, cycle_launches, cycle_hash, n_cycles;
    _Atomic uint64_t n_optimizer_steps;
    _Atomic uint32_t has_optimizers;     /* PyTorch's optimizers are counted: launches need not be watched */
    _Atomic uint32_t has_made_optimizer; /* of PyTorch's */
    _Atomic uint32_t n_without_states;   /* optimizers that have stepped and should have states */
    _Atomic uint32_t has_pytorch;        /* its peaks are noted (python/peaks.c) */
    _Atomic uint32_t has_last_peaks;     /* they were noted as it ended */
    _Atomic uint32_t has_missed_peaks;   /* PyTorch forgot peaks, or could not be asked, before they were noted */
    struct plim_ledger_pytorch pytorch[PLIM_LEDGER_MAX_CARDS];
    struct plim_activity activity[PLIM_LEDGER_MAX_CARDS];
};

struct plim_ledger_warning {
    uint64_t count;
    char kind[24];
    char what[PLIM_LEDGER_WHAT_BYTES];
};

/* Frames of a Python stack, "file:line function", with whole paths. */
struct plim_ledger_frames {
    char innermost[PLIM_LEDGER_FRAME_BYTES];
    char package[PLIM_LEDGER_FRAME_BYTES]; /* the innermost one of an installed package other than PyTorch */
    char user[PLIM_LEDGER_FRAME_BYTES];    /* the innermost one of the program's own code */
};

/* A place in the program where the host read a value that is a guess. Number 0: those that found no room. */
struct plim_ledger_guess {
    uint64_t hash, first_us;
    uint64_t count, n_zero; /* n_zero: of them, those whose value was zero */
    uint32_t size_bytes, known /* enum plim_shadow_known */, is_answer /* a library's result */;
    char what[PLIM_LEDGER_WHAT_BYTES]; /* what was guessed; empty: a value of device memory */
    char native[1024];                 /* as of a call site */
    struct plim_ledger_frames python;
};

/* The first request that was refused and not granted later; when its process went on, the first one after that. */
struct plim_ledger_oom {
    uint32_t is_set;
    uint32_t device, kind;
    int32_t pid;
    uint32_t process; /* its slot */
    uint32_t site;
    uint64_t size, free_bytes, used_bytes, time_us;
    uint64_t n_launches; /* of its process, until then: with more of them it went on */
};

struct plim_ledger {
    uint64_t magic;
    pthread_mutex_t lock;
    uint32_t is_raw; /* charge exactly the requested bytes: for tests */
    uint32_t n_cards;
    uint64_t start_us;
    uint64_t pinned_bytes, pinned_peak_bytes, n_pinned_peaks;
    uint32_t is_listening;         /* a process of the rehearsal accepts connections */
    uint32_t wants_steps;          /* the launcher waits for optimizer steps */
    uint32_t has_ranks;            /* a process is one of several that train together, or waits for them */
    uint32_t n_guesses;            /* places */
    _Atomic uint64_t n_data_reads; /* larger reads of guesses: written without the lock */
    uint64_t n_out_of_memory, n_met_later;
    _Atomic uint64_t n_said;
    _Atomic uint64_t written_bytes, written_us; /* to files, in large parts */
    char said[PLIM_LEDGER_SAID_BYTES];          /* a ring: the end of what went to standard error */
    struct plim_ledger_oom oom;
    uint32_t n_warnings;
    uint32_t n_records;   /* records ever used: the rest is untouched */
    uint32_t free_record; /* 1 + the first of the free list; 0: the list is empty */
    uint32_t n_sites;
    struct plim_ledger_warning warning[PLIM_LEDGER_MAX_WARNINGS];
    struct plim_ledger_process process[PLIM_LEDGER_MAX_PROCESSES];
    struct plim_ledger_cycle cycle[PLIM_LEDGER_MAX_PROCESSES][PLIM_LEDGER_MAX_CYCLES]; /* a ring: the latest cycles */
    struct plim_ledger_card card[PLIM_LEDGER_MAX_CARDS];
    struct plim_ledger_site site[PLIM_LEDGER_MAX_SITES];
    struct plim_ledger_stack stack[PLIM_LEDGER_MAX_SITES];
    struct plim_ledger_guess guess[PLIM_LEDGER_MAX_GUESSES];
    struct plim_ledger_record record[PLIM_LEDGER_MAX_RECORDS];
};

/* A new ledger in an empty file or, with fd -1, in memory shared with forked children only. NULL: out of memory. */
struct plim_ledger *plim_ledger_create(int fd);

/* The ledger that another process made; NULL: no ledger of this version at path. */
struct plim_ledger *plim_ledger_open(const char *path);

void plim_ledger_close(struct plim_ledger *ledger);

/* Enter this process; returns its slot, or -1: the table is full. Processes that have ended leave first. */
int plim_ledger_join(struct plim_ledger *ledger);

/* Before it joins: what this process held before it became another program (execve) is freed. */
void plim_ledger_leave_former(struct plim_ledger *ledger);

enum plim_ledger_result { PLIM_LEDGER_TAKEN, PLIM_LEDGER_FULL, PLIM_LEDGER_NO_RECORD };

/* Charge size bytes to a call site (0: unknown); *ret_record is the record's number. Only TAKEN charges anything. */
enum plim_ledger_result plim_ledger_take(struct plim_ledger *ledger, int process, uint32_t device,
                                         enum plim_ledger_kind kind, uint64_t size, uint32_t site,
                                         uint32_t *ret_record);

/* The call site with this hash (not 0) of stack, card and kind; a new one is entered. 0: the table is full. */
uint32_t plim_ledger_site(struct plim_ledger *ledger, uint32_t device, enum plim_ledger_kind kind, uint64_t hash,
                          const struct plim_ledger_stack *stack);

/* Bytes that a call site held at the peak of its card or, for pinned memory, at the peak of pinned memory. */
uint64_t plim_ledger_site_peak(const struct plim_ledger *ledger, const struct plim_ledger_site *site);

/* Note the address that the program got. */
void plim_ledger_place(struct plim_ledger *ledger, uint32_t record, uint64_t address);

void plim_ledger_give(struct plim_ledger *ledger, uint32_t record);

/* The number of cards, at most PLIM_LEDGER_MAX_CARDS, whatever a program wrote into the file. */
uint32_t plim_ledger_n_cards(const struct plim_ledger *ledger);

/* Bytes that programs can still allocate on a card. */
uint64_t plim_ledger_free_bytes(const struct plim_ledger_card *card);

/* The same as this process is told: others that have ended give their memory back first. */
uint64_t plim_ledger_free_now(struct plim_ledger *ledger, int process, uint32_t device);

/*
 * Free the memory of processes that have ended: of those that hold some on a card, or of those with a pid, as a monitor
 * asks about each of many; 0: any pid.
 */
enum { PLIM_LEDGER_EVERYWHERE = -1 };
void plim_ledger_reap_of(struct plim_ledger *ledger, int card, int pid);
static inline void plim_ledger_reap(struct plim_ledger *ledger)
{
    plim_ledger_reap_of(ledger, PLIM_LEDGER_EVERYWHERE, 0);
}

/* Whether the process whose request was refused has launched kernels since. */
bool plim_ledger_has_gone_on(const struct plim_ledger *ledger);

/* Count a remark: kind is a short word. Returns true the first time. */
bool plim_ledger_warn(struct plim_ledger *ledger, const char *kind, const char *what);

/*
 * Count a read of a guess at the place with this hash (not 0); a new place is entered with what `guess` says of it.
 * Returns its number, with which the next reads there are counted; 0: the table is full.
 */
uint32_t plim_ledger_guessed(struct plim_ledger *ledger, uint64_t hash, const struct plim_ledger_guess *guess,
                             bool is_zero);
void plim_ledger_guessed_again(struct plim_ledger *ledger, uint32_t number, bool is_zero);

void plim_ledger_lock(struct plim_ledger *ledger);

/*
 * For the launcher: a process of the rehearsal may hang, or be stopped, with the lock held, or write over it. False
 * when the lock was not to be had in that time.
 */
bool plim_ledger_lock_within(struct plim_ledger *ledger, unsigned most_ms);

void plim_ledger_unlock(struct plim_ledger *ledger);

/* Microseconds since the ledger was made. */
uint64_t plim_ledger_now_us(const struct plim_ledger *ledger);

#endif
