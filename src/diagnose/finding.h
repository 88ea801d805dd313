/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_FINDING_H
#define PLIMSOLL_DIAGNOSE_FINDING_H

/*
 * What a log shows: findings with the figures that were printed, and the context they stand in. What was not printed is
 * unknown, never zero. Texts are bytes of the log; the reports clean them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Not printed, cut, or impossible. */
#define PLIM_UNKNOWN INT64_MIN

/*
 * Every figure that a message can hold, by the name that it has in JSON and in the groups of data/errors/. BYTES are
 * normalised to bytes, COUNT is a plain number, RATIO is kept in millionths. Available bytes may be negative: vLLM
 * prints them so.
 */
#define PLIM_NUMBERS(X)                                                                                                \
    X(TRIED_BYTES, tried_bytes, BYTES)         /* asked for; in PyTorch the segment, not the tensor */                 \
    X(TOTAL_BYTES, total_bytes, BYTES)         /* of the device, the slice or the machine */                           \
    X(FREE_BYTES, free_bytes, BYTES)           /* at the time of the failure */                                        \
    X(PROCESS_BYTES, process_bytes, BYTES)     /* held by this process, as the driver counts */                        \
    X(ALLOCATED_BYTES, allocated_bytes, BYTES) /* by the framework's allocator, pools included */                      \
    X(RESERVED_BYTES, reserved_bytes, BYTES)   /* allocated and kept back */                                           \
    X(CACHED_BYTES, cached_bytes, BYTES)       /* the oldest PyTorch: kept back, not allocated */                      \
    X(RESERVED_UNALLOCATED_BYTES, reserved_unallocated_bytes, BYTES)                                                   \
    X(PRIVATE_POOL_BYTES, private_pool_bytes, BYTES)           /* inside allocated */                                  \
    X(ALLOWED_BYTES, allowed_bytes, BYTES)                     /* by a fraction or watermark */                        \
    X(OTHER_ALLOCATIONS_BYTES, other_allocations_bytes, BYTES) /* MPS: not by this allocator */                        \
    X(USED_BYTES, used_bytes, BYTES)                           /* of the device or machine, by everybody */            \
    X(CARD_USED_BYTES, card_used_bytes, BYTES)                 /* by a table of nvidia-smi: of the fullest card */     \
    X(CARD_TOTAL_BYTES, card_total_bytes, BYTES)               /* by such a table: of the largest card */              \
    X(LIMIT_BYTES, limit_bytes, BYTES)                         /* a cap: arena, pool, cgroup, job */                   \
    X(NEEDED_BYTES, needed_bytes, BYTES)                       /* that the program says it needs */                    \
    X(AVAILABLE_BYTES, available_bytes, BYTES)                 /* that it says it has for it; may be negative */       \
    X(LARGEST_BYTES, largest_bytes, BYTES)                     /* the largest piece of what is free */                 \
    X(DESIRED_BYTES, desired_bytes, BYTES)                     /* vLLM: utilization times total */                     \
    X(MODEL_BYTES, model_bytes, BYTES)                         /* weights loaded */                                    \
    X(KV_BYTES, kv_bytes, BYTES)                                                                                       \
    X(COMPUTE_BYTES, compute_bytes, BYTES)                                                                             \
    X(ACTIVATION_BYTES, activation_bytes, BYTES) /* vLLM: profiled peak */                                             \
    X(GRAPH_BYTES, graph_bytes, BYTES)           /* CUDA graphs */                                                     \
    X(PARAMETER_BYTES, parameter_bytes, BYTES)   /* XLA: arguments */                                                  \
    X(TEMP_BYTES, temp_bytes, BYTES)             /* XLA: temporaries */                                                \
    X(FRAGMENTATION_BYTES, fragmentation_bytes, BYTES)                                                                 \
    X(PEAK_BYTES, peak_bytes, BYTES)                                                                                   \
    X(RSS_BYTES, rss_bytes, BYTES) /* of the process that was killed */                                                \
    X(VIRTUAL_BYTES, virtual_bytes, BYTES)                                                                             \
    X(SHMEM_BYTES, shmem_bytes, BYTES)                                                                                 \
    X(SWAP_BYTES, swap_bytes, BYTES)                                                                                   \
    X(MEMORY_BYTES, memory_bytes, BYTES) /* of a series */                                                             \
    X(UTILIZATION, utilization, RATIO)   /* gpu_memory_utilization */                                                  \
    X(MEM_FRACTION, mem_fraction, RATIO) /* SGLang's static fraction, JAX's, Triton's */                               \
    X(DEVICE, device, COUNT)                                                                                           \
    X(RANK, rank, COUNT)                                                                                               \
    X(WORLD_SIZE, world_size, COUNT)                                                                                   \
    X(TENSOR_PARALLEL, tensor_parallel, COUNT)                                                                         \
    X(MAX_SEQ_LEN, max_seq_len, COUNT)             /* the model's or the request's context */                          \
    X(ESTIMATED_MAX_LEN, estimated_max_len, COUNT) /* what the program says would fit */                               \
    X(MAX_MODEL_LEN, max_model_len, COUNT)                                                                             \
    X(MAX_NUM_SEQS, max_num_seqs, COUNT)                                                                               \
    X(TOKENS_NEEDED, tokens_needed, COUNT)                                                                             \
    X(TOKENS_AVAILABLE, tokens_available, COUNT)                                                                       \
    X(KV_TOKENS, kv_tokens, COUNT) /* the cache holds so many */                                                       \
    X(BLOCK_SIZE, block_size, COUNT)                                                                                   \
    X(N_CTX, n_ctx, COUNT)                                                                                             \
    X(N_BATCH, n_batch, COUNT)                                                                                         \
    X(N_UBATCH, n_ubatch, COUNT)                                                                                       \
    X(N_SEQ, n_seq, COUNT)                                                                                             \
    X(N_GPU_LAYERS, n_gpu_layers, COUNT)                                                                               \
    X(N_LAYERS, n_layers, COUNT)                                                                                       \
    X(BATCH_SIZE, batch_size, COUNT)                                                                                   \
    X(N_WORKERS, n_workers, COUNT)                                                                                     \
    X(STEP, step, COUNT)                                                                                               \
    X(PID, pid, COUNT)                                                                                                 \
    X(EXIT_STATUS, exit_status, COUNT)                                                                                 \
    X(SIGNAL, signal, COUNT)                                                                                           \
    X(ERROR_CODE, error_code, COUNT)                                                                                   \
    X(XID, xid, COUNT)                                                                                                 \
    X(ORDER, order, COUNT)            /* of pages, in the kernel */                                                    \
    X(STARTED_AT, started_at, TIME)   /* what was killed: since 1970 */                                                \
    X(FINISHED_AT, finished_at, TIME) /* likewise */                                                                   \
    X(LIFETIME_S, lifetime_s, TIME)   /* how long it ran, as printed */                                                \
    X(N_EVENTS, n_events, COUNT)      /* as the message itself counts */

/* Every word that a message can hold. */
#define PLIM_WORDS(X)                                                                                                  \
    X(MODEL, model)                                                                                                    \
    X(CARD, card)                                                                                                      \
    X(VERSION, version) /* of the framework */                                                                         \
    X(TORCH_VERSION, torch_version)                                                                                    \
    X(CUDA_VERSION, cuda_version)                                                                                      \
    X(BACKEND, backend)       /* CUDA, HIP, XPU, MPS, Vulkan, CPU */                                                   \
    X(ALLOC_CONF, alloc_conf) /* the text of PYTORCH_*_ALLOC_CONF */                                                   \
    X(BUFFER, buffer)         /* llama.cpp: CUDA0 */                                                                   \
    X(ALLOCATOR, allocator)   /* TensorFlow: GPU_0_bfc */                                                              \
    X(SHAPE, shape)                                                                                                    \
    X(DTYPE, dtype)                                                                                                    \
    X(OPERATION, operation) /* the op, executable or API call that failed */                                           \
    X(PROCESS, process)     /* the name of a process */                                                                \
    X(CGROUP, cgroup)                                                                                                  \
    X(CONSTRAINT, constraint) /* of the kernel: MEMCG, CPUSET, NONE ... */                                             \
    X(JOB, job)               /* Slurm job or step, pod, container, unit */                                            \
    X(SCRIPT, script)                                                                                                  \
    X(PLATFORM, platform)   /* linux, wsl, windows, mac, jetson */                                                     \
    X(CONTAINER, container) /* "yes" when the log shows one */                                                         \
    X(POOL, pool)           /* SGLang: which token pool; CUDA: which kind */                                           \
    X(PHASE, phase)         /* the work it was doing: loading, training, evaluating, generating */                     \
    X(WORK, work)           /* what somebody says it was at: loading, step, late (told.patterns) */                    \
    X(TREND, trend)         /* rising: somebody says that memory keeps growing */                                      \
    X(TOLD, told)           /* what somebody says of it: smaller_batch, others ... (told.patterns) */                  \
    X(DETAIL, detail)       /* details in the message's own words */

enum plim_number {
#define PLIM_X(id, name, kind) PLIM_N_##id,
    PLIM_NUMBERS(PLIM_X)
#undef PLIM_X
        PLIM_NUMBER_MAX_
};

enum plim_word {
#define PLIM_X(id, name) PLIM_W_##id,
    PLIM_WORDS(PLIM_X)
#undef PLIM_X
        PLIM_WORD_MAX_
};

/* TIME: seconds, of a span or since 1970 */
enum plim_number_kind { PLIM_NUMBER_BYTES, PLIM_NUMBER_COUNT, PLIM_NUMBER_RATIO, PLIM_NUMBER_TIME };

enum plim_cause {
    PLIM_CAUSE_UNKNOWN = 0,
    PLIM_CAUSE_MODEL_TOO_BIG,
    PLIM_CAUSE_OTHER_PROCESS,
    PLIM_CAUSE_FRAGMENTATION,
    PLIM_CAUSE_KV_CACHE_CONTEXT,
    PLIM_CAUSE_BATCH_OR_ACTIVATION,
    PLIM_CAUSE_LEAK_OR_GROWTH,
    PLIM_CAUSE_OPTIMIZER_STATES,
    PLIM_CAUSE_HOST_RAM,
    PLIM_CAUSE_SHM,
    PLIM_CAUSE_ALLOCATOR_LIMIT,
    PLIM_CAUSE_MISCONFIGURATION_UTILIZATION,
    PLIM_CAUSE_DRIVER_OR_CONTEXT,
    PLIM_CAUSE_NOT_OOM,
    PLIM_CAUSE_MAX_
};

enum {
    PLIM_WORD_BYTES = 96,
    PLIM_MAX_OTHERS = 16,
    PLIM_MAX_EVIDENCE = 6,
    PLIM_EVIDENCE_BYTES = 320,
    PLIM_MAX_FRAMES = 48,
    PLIM_FRAME_FILE_BYTES = 120,
    PLIM_FRAME_NAME_BYTES = 64,
    PLIM_FRAME_CODE_BYTES = 128,
    PLIM_MAX_SERIES = 64,
    PLIM_MAX_PROGRAMS = 48,
    PLIM_MAX_FINDINGS = 48,
    PLIM_MAX_UNKNOWN = 32,
    PLIM_LINES_OF_A_FAILURE = 40, /* within which two messages are about the same failure */
    PLIM_LINES_TO_FOLLOW = 400,   /* within which failures of the same kind are one event: other ranks, other workers */
};

struct plim_numbers {
    int64_t value[PLIM_NUMBER_MAX_]; /* PLIM_UNKNOWN: not known */
};

struct plim_words {
    char text[PLIM_WORD_MAX_][PLIM_WORD_BYTES]; /* "": not known */
};

struct plim_other {
    int64_t pid, bytes; /* either may be PLIM_UNKNOWN */
};

/* A line of the log, as it stands there but for control characters; long ones are cut around what was found. */
struct plim_evidence {
    uint64_t line; /* from 1 */
    char text[PLIM_EVIDENCE_BYTES];
};

/* One level of a traceback. */
struct plim_frame {
    char file[PLIM_FRAME_FILE_BYTES]; /* the end of a longer path */
    char name[PLIM_FRAME_NAME_BYTES];
    char code[PLIM_FRAME_CODE_BYTES]; /* the line of the source, or its beginning; "" where it is not shown, and of
                                         frames that are not the user's */
    uint32_t line;                    /* of the source; 0 unknown */
    bool is_user;                     /* not in site-packages, dist-packages or the standard library */
};

struct plim_pattern;

struct plim_finding {
    const struct plim_pattern *pattern; /* id, role, stage, cause when the text decides; see diagnose/pattern.h */
    const char *framework;              /* the outermost program that the log shows */
    uint64_t line, offset;              /* where it begins */
    uint64_t last_line;                 /* of its last repetition */
    uint64_t count;                     /* how many times the message occurred */
    bool is_recovered;                  /* the program went on */
    bool is_related;                    /* follows from the root */
    bool is_last;                       /* the log ends with it: what came of it is not shown */
    bool is_bare;                       /* a few words of anybody's, in a text without a sign of a log */
    bool has_impossible; /* a figure was dropped that cannot be, like 2^64 bytes: WSL and WDDM print it */
    struct plim_numbers numbers;
    struct plim_words words;
    struct plim_other others[PLIM_MAX_OTHERS]; /* processes that the message lists */
    uint32_t n_others;
    struct plim_evidence evidence[PLIM_MAX_EVIDENCE];
    uint32_t n_evidence;
};

/* What a time is counted from: only two of one kind have a difference. */
enum plim_stamp_kind {
    PLIM_STAMP_NONE,
    PLIM_STAMP_DATE,     /* year, month and day: since 1970 */
    PLIM_STAMP_YEARLESS, /* "Nov 03 04:11:02", "11-03 04:11:02" */
    PLIM_STAMP_DAYLESS,  /* "04:11:02" */
    PLIM_STAMP_BOOT,     /* "[  812.310]" of the kernel */
};

/* The time at the beginning of a line. */
struct plim_stamp {
    enum plim_stamp_kind kind;
    int64_t seconds;
};

struct plim_point {
    int64_t step, bytes; /* step may be PLIM_UNKNOWN */
    struct plim_stamp stamp;
};

/* What a short text says of sizes in passing (told_size.h); 0: nothing. */
struct plim_told_size {
    int64_t parameters; /* of the model */
    int bits;           /* of each, the least that is named */
    int64_t card_bytes; /* of the largest card that is named */
    bool is_several;    /* cards, or processes, that share the work */
};

/* What a figure of memory is for, or how that memory is, by a word beside it (purpose.h). */
enum plim_purpose {
    PLIM_PURPOSE_NONE,
    PLIM_PURPOSE_WEIGHTS,
    PLIM_PURPOSE_OPTIMIZER,
    PLIM_PURPOSE_KV,
    PLIM_PURPOSE_WORK, /* of a step: activations, a matrix, a volume */
    PLIM_PURPOSE_FREE,
    PLIM_PURPOSE_USED,
    PLIM_PURPOSE_TOTAL,
    PLIM_PURPOSE_MEMORY,  /* of the card, nothing else is said */
    PLIM_PURPOSE_HOST,    /* not of the card */
    PLIM_PURPOSE_LOADING, /* the line is of the loading of something */
    PLIM_PURPOSE_CARD,    /* a part of its name */
    PLIM_PURPOSE_OTHERS,  /* the line is of others, or of the time before the program had anything */
    PLIM_PURPOSE_MAX_
};

enum { PLIM_PRINTED_TEXT_BYTES = 64 };

struct plim_printed_figure {
    int64_t bytes;                      /* 0: not printed */
    char text[PLIM_PRINTED_TEXT_BYTES]; /* the words around it, as printed */
};

/* What the program printed of memory in its own words before it failed (printed.h). */
struct plim_printed {
    struct plim_printed_figure figure[PLIM_PURPOSE_MAX_]; /* the last; of weights and total the largest */
    struct plim_printed_figure first_free;                /* with no figure of another kind before it */
    char card[PLIM_PRINTED_TEXT_BYTES];                   /* its name; "" */
    int64_t first_grab_bytes, last_grab_bytes;            /* XLA: a row of requests, each a tenth less, all refused */
    uint32_t n_grabs;
    enum plim_purpose last;                    /* of the last figure that says what it is of */
    bool is_adam;                              /* the optimizer is named */
    enum plim_purpose series_of;               /* what rose from line to line */
    struct plim_point series[PLIM_MAX_SERIES]; /* the last ones, without steps; of what is free less than 0 */
    uint32_t n_series;
};

enum { PLIM_MAX_BAG_ROWS = 2048 };

/* Which words of data/causes/weights.csv, by row, a short text has (cause/bag.h); n is how many. */
struct plim_bag {
    uint64_t rows[PLIM_MAX_BAG_ROWS / 64];
    uint32_t n;
};

/* A line near the end that says that something failed and is no finding. */
struct plim_unknown_line {
    uint64_t line;
    bool is_other_exception; /* "RuntimeError: ...", in words that are not about memory */
};

/* What else the log says: of the time before the root failure, or, when there is none, to its end. */
struct plim_log_context {
    struct plim_numbers numbers;
    struct plim_words words;
    struct plim_frame frames[PLIM_MAX_FRAMES]; /* of the root's traceback, the innermost last; the outermost are left
                                                  out when there are more */
    uint32_t n_frames;
    struct plim_point series[PLIM_MAX_SERIES]; /* the last ones */
    uint32_t n_series;
    uint64_t n_points;                                      /* of the whole series */
    const struct plim_pattern *programs[PLIM_MAX_PROGRAMS]; /* as first seen */
    uint32_t n_programs;
    struct plim_told_size told_size;
    struct plim_printed printed;
    struct plim_bag bag;
    struct plim_unknown_line unknown[PLIM_MAX_UNKNOWN]; /* in order; the last ones */
    uint32_t n_unknown;
};

enum { PLIM_MAX_UNREAD_RANGES = 8 };

/* Lines that were to be read and were not: so many of those from one to another. */
struct plim_unread_range {
    uint64_t from, to, n_lines;
};

struct plim_unread {
    struct plim_unread_range range[PLIM_MAX_UNREAD_RANGES]; /* in order; the last takes what there is no room for */
    uint32_t n;
    uint64_t n_lines;
    bool is_closed; /* the next line begins a range */
};

/* findings[0] is the root, then what follows from it (is_related), then what stands apart; in order of time. */
struct plim_diagnosis {
    struct plim_finding *findings;
    uint32_t n_findings;
    uint64_t n_left_out;   /* findings beyond PLIM_MAX_FINDINGS */
    const char *framework; /* of findings[0]; without a finding the outermost program that was seen, or NULL */
    struct plim_log_context context;
    uint64_t n_lines, n_bytes;
    uint64_t n_steps;          /* that reading it took (scan/budget.h) */
    struct plim_unread unread; /* n_lines is 0: all was read */
};

static inline int64_t plim_number(const struct plim_numbers *numbers, enum plim_number which)
{
    return numbers->value[which];
}

/* "tried_bytes"; its kind. */
const char *plim_number_name(enum plim_number which);
enum plim_number_kind plim_number_kind(enum plim_number which);
const char *plim_word_name(enum plim_word which);

/* "host_ram"; NULL for PLIM_CAUSE_UNKNOWN. */
const char *plim_cause_name(enum plim_cause cause);

/* All unknown. */
void plim_numbers_init(struct plim_numbers *numbers);

#endif
