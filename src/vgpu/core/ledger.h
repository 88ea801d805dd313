/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_CORE_LEDGER_H
#define PLIMSOLL_VGPU_CORE_LEDGER_H

/*
 * The ledger of a rehearsal: one shared file in which every process of the rehearsal writes what it takes on the
 * virtual cards. The launcher makes it, describes the cards and reads it; the virtual libraries find it through the
 * environment (PLIM_VGPU_LEDGER) and charge it. Everything in it is guarded by one robust mutex, so that a process
 * that dies in the middle leaves a ledger that the next one puts right.
 *
 * Links libc only: this code lives inside other people's programs.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PLIM_LEDGER_MAX_CARDS = 16,
    PLIM_LEDGER_MAX_PROCESSES = 256,
    PLIM_LEDGER_MAX_RECORDS = 1 << 20,
    PLIM_LEDGER_MAX_WARNINGS = 64,
    PLIM_LEDGER_MAX_POINTS = 512,
    PLIM_LEDGER_MAX_SITES = 4096,
    PLIM_LEDGER_MAX_CYCLES = 512,
    PLIM_LEDGER_STACK_BYTES = 2560,
    PLIM_LEDGER_NAME_BYTES = 80,
    PLIM_LEDGER_WHAT_BYTES = 120,
};

/* What an amount was taken for. */
enum plim_ledger_kind {
    PLIM_KIND_CONTEXT, /* what the driver takes for a process */
    PLIM_KIND_KERNELS, /* code, once something is launched */
    PLIM_KIND_ALLOC,   /* cudaMalloc, cuMemAlloc */
    PLIM_KIND_VMM,     /* cuMemCreate: the memory pool of ggml */
    PLIM_KIND_CUBLAS,  /* the workspace of a cuBLAS handle */
    PLIM_KIND_MANAGED, /* cudaMallocManaged: may exceed the card */
    PLIM_KIND_PINNED,  /* host memory */
    PLIM_KIND_NCCL,    /* buffers of communicators */
    PLIM_KIND_LIBRARY, /* what other math libraries take for handles, plans and generators */
    PLIM_KIND_MAX_
};

/* A fixed amount that is charged whole, with the range in which the truth lies. */
struct plim_ledger_band {
    uint64_t bytes, low_bytes, high_bytes;
};

struct plim_ledger_point {
    uint64_t time_us, bytes;
    uint32_t site; /* who asked last */
};

/* A place in the program that asks for memory: one stack, one card, one kind. Number 0 stands for places not known. */
struct plim_ledger_site {
    uint64_t hash;
    uint32_t device, kind;
    uint64_t n_taken, first_us;
    uint64_t live_bytes;
    uint64_t settled_bytes, settled_peak; /* what it held at that peak: plim_ledger_site_peak() */
};

/* Of the site with the same number: apart, so that whoever goes through the sites need not touch the words. */
struct plim_ledger_stack {
    char native[PLIM_LEDGER_STACK_BYTES]; /* "library function", a line for each frame, the innermost first */
    char python[PLIM_LEDGER_STACK_BYTES]; /* "file:line function" */
};

struct plim_ledger_card {
    /* described by the launcher */
    char name[PLIM_LEDGER_NAME_BYTES];
    uint64_t total_bytes;    /* what NVML reports */
    uint64_t reserved_bytes; /* of it, kept by the driver: CUDA never shows it */
    uint64_t others_bytes;   /* of the rest, held by other programs from the start */
    struct plim_ledger_band context, kernels, cublas;
    uint32_t compute_capability; /* 89 is 8.9 */
    uint32_t sm_count, bus_bits;
    /* the account */
    uint64_t used_bytes; /* charged: with rounding */
    uint64_t peak_bytes, peak_us;
    uint64_t n_peaks;                    /* how often it rose */
    uint64_t kind_bytes[PLIM_KIND_MAX_]; /* as asked for */
    uint64_t peak_kind_bytes[PLIM_KIND_MAX_];
    struct plim_ledger_band nccl; /* what communicators took from the start to now, given back or not */
    uint64_t n_taken;
    uint64_t point_us; /* points nearer than this are one */
    uint32_t n_points;
    struct plim_ledger_point point[PLIM_LEDGER_MAX_POINTS];
};

struct plim_ledger_record {
    uint64_t address; /* in its process; 0: none */
    uint64_t size, charged_bytes;
    uint64_t time_us;
    int32_t pid;
    uint16_t process; /* its slot */
    uint8_t device;
    uint8_t kind; /* enum plim_ledger_kind */
    uint32_t is_used;
    uint32_t next; /* the next free one; of one in use: its site */
};

/* What a process launched between two moments at which it waited for a card or copied from or to it. */
struct plim_ledger_cycle {
    uint64_t hash, n_launches, used_bytes;
};

struct plim_ledger_process {
    int32_t pid;          /* 0: free */
    uint64_t start_ticks; /* a pid alone may be reused */
    uint64_t small_bytes[PLIM_LEDGER_MAX_CARDS];
    uint64_t used_bytes[PLIM_LEDGER_MAX_CARDS];
    uint64_t refused_bytes[PLIM_LEDGER_MAX_CARDS]; /* the last request that did not fit, until as much is taken */
    /* written without the lock (steps.h) */
    _Atomic uint64_t n_launches, cycle_launches, cycle_hash, n_cycles;
    _Atomic uint64_t n_optimizer_steps;
    _Atomic uint32_t has_optimizers; /* PyTorch counts its steps for us: there is no need to look at launches */
};

struct plim_ledger_warning {
    uint64_t count;
    char kind[24];
    char what[PLIM_LEDGER_WHAT_BYTES];
};

/* The first request that did not fit, and was not met later. */
struct plim_ledger_oom {
    uint32_t is_set;
    uint32_t device, kind;
    int32_t pid;
    uint32_t site;
    uint64_t size, free_bytes, used_bytes, time_us;
};

struct plim_ledger {
    uint64_t magic;
    pthread_mutex_t lock;
    uint32_t is_raw; /* charge what is asked for, to the byte: for tests */
    uint32_t n_cards;
    uint64_t start_us;
    uint64_t pinned_bytes, pinned_peak_bytes, n_pinned_peaks;
    uint32_t is_listening; /* a process of the rehearsal takes connections */
    uint32_t wants_steps;  /* the launcher waits for optimizer steps */
    uint64_t n_out_of_memory, n_met_later;
    struct plim_ledger_oom oom;
    uint32_t n_warnings;
    uint32_t n_records;   /* ever used: those above are fresh */
    uint32_t free_record; /* 1 + the first of a list; 0: none */
    uint32_t n_sites;
    struct plim_ledger_warning warning[PLIM_LEDGER_MAX_WARNINGS];
    struct plim_ledger_process process[PLIM_LEDGER_MAX_PROCESSES];
    struct plim_ledger_cycle cycle[PLIM_LEDGER_MAX_PROCESSES][PLIM_LEDGER_MAX_CYCLES]; /* the last, by number modulo */
    struct plim_ledger_card card[PLIM_LEDGER_MAX_CARDS];
    struct plim_ledger_site site[PLIM_LEDGER_MAX_SITES];
    struct plim_ledger_stack stack[PLIM_LEDGER_MAX_SITES];
    struct plim_ledger_record record[PLIM_LEDGER_MAX_RECORDS];
};

/* A fresh ledger in an empty file, or (fd -1) in memory that only forked children share. NULL: out of memory. */
struct plim_ledger *plim_ledger_create(int fd);

/* The ledger another process made; NULL when there is none at path, or of another version. */
struct plim_ledger *plim_ledger_open(const char *path);

void plim_ledger_close(struct plim_ledger *ledger);

/* Enter this process; its slot, or -1 when there is no room. */
int plim_ledger_join(struct plim_ledger *ledger);

enum plim_ledger_result { PLIM_LEDGER_TAKEN, PLIM_LEDGER_FULL, PLIM_LEDGER_NO_RECORD };

/* Charge size bytes asked for by site (0: not known); *ret_record is its number. Nothing is charged unless it is taken.
 */
enum plim_ledger_result plim_ledger_take(struct plim_ledger *ledger, int process, uint32_t device,
                                         enum plim_ledger_kind kind, uint64_t size, uint32_t site,
                                         uint32_t *ret_record);

/* The site with this hash (not 0) of its stack, card and kind, entered when it is new; 0 when there is no room. */
uint32_t plim_ledger_site(struct plim_ledger *ledger, uint32_t device, enum plim_ledger_kind kind, uint64_t hash,
                          const struct plim_ledger_stack *stack);

/* What a site held when its card was at its peak; of pinned memory: when most was pinned. */
uint64_t plim_ledger_site_peak(const struct plim_ledger *ledger, const struct plim_ledger_site *site);

/* Where the program finds what it took. */
void plim_ledger_place(struct plim_ledger *ledger, uint32_t record, uint64_t address);

void plim_ledger_give(struct plim_ledger *ledger, uint32_t record);

/* How many cards it describes: never more than there is room for, whatever a program wrote into it. */
uint32_t plim_ledger_n_cards(const struct plim_ledger *ledger);

/* What a program can still get on a card. */
uint64_t plim_ledger_free_bytes(const struct plim_ledger_card *card);

/* When a process began, in ticks since boot; 0: there is none. Gone: it has ended and waits to be asked how. */
uint64_t plim_process_start_ticks(int pid, bool *ret_is_gone);

/* Give back what dead processes hold. */
void plim_ledger_reap(struct plim_ledger *ledger);

/* Count a remark: kind is a short word; the same remark counts up. Returns true the first time. */
bool plim_ledger_warn(struct plim_ledger *ledger, const char *kind, const char *what);

void plim_ledger_lock(struct plim_ledger *ledger);
void plim_ledger_unlock(struct plim_ledger *ledger);

/* Microseconds since the ledger was made. */
uint64_t plim_ledger_now_us(const struct plim_ledger *ledger);

#endif
