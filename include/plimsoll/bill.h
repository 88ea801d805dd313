/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_BILL_H
#define PLIMSOLL_BILL_H

/*
 * A bill: the memory that a setup will allocate, line by line and device by device, and whether it fits.
 *
 * A line is held in some phases of a run, or in all. The need of a device is the largest sum of the lines that are held
 * in one phase; where no line has phases of its own, it is the sum of all lines. The driver's reserve and the memory of
 * other processes are lines too, so that the need is compared with the whole card. A bill is a plain struct that owns
 * nothing; labels and reasons are static text.
 */

#include "plimsoll/basis.h"
#include "plimsoll/card.h"
#include "plimsoll/dtype.h"
#include "plimsoll/option.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum plim_pillar {
    PLIM_PILLAR_WEIGHTS = 0,
    PLIM_PILLAR_KV_CACHE,
    PLIM_PILLAR_ACTIVATIONS, /* compute buffers, logits, workspaces */
    PLIM_PILLAR_GRADIENTS,
    PLIM_PILLAR_OPTIMIZER,
    PLIM_PILLAR_OVERHEAD, /* driver, context, runtime */
    PLIM_PILLAR_OTHERS,   /* other processes */
    PLIM_PILLAR_MAX_
};

/* The phases of a run, in the order in which they follow each other. */
enum plim_phase {
    PLIM_PHASE_LOAD = 0,
    PLIM_PHASE_PREFILL,
    PLIM_PHASE_DECODE,
    PLIM_PHASE_FORWARD,
    PLIM_PHASE_BACKWARD,
    PLIM_PHASE_STEP, /* of the optimizer */
    PLIM_PHASE_EVALUATE,
    PLIM_PHASE_MAX_
};

#define PLIM_IN_PHASE(phase) (1U << (phase))

enum { PLIM_BILL_MAX_LINES = 20, PLIM_BILL_MAX_SETTINGS = 24, PLIM_WHY_ARGUMENTS = 6, PLIM_WHY_BYTES = 256 };

struct plim_line {
    const char *label; /* the engine's own label where it prints one: "model buffer", "KV buffer", "compute buffer" */
    enum plim_pillar pillar;
    enum plim_basis basis;
    unsigned phases; /* PLIM_IN_PHASE() of those in which it is held; 0: all */
    uint64_t bytes, low_bytes, high_bytes;
    bool is_elastic;      /* it takes the memory that the others leave (plim_bill_stretch()), ... */
    uint64_t least_bytes; /* ... and at least this much */
    const char *why;      /* a template: plim_line_why() fills in the arguments */
    uint64_t argument[PLIM_WHY_ARGUMENTS];
    const char *text_argument;
    const char *remark; /* said after it; NULL: nothing */
};

struct plim_device_bill {
    bool is_host;
    uint32_t index;       /* gpu0, gpu1 ...; 0 for the host */
    uint64_t total_bytes; /* 0: unknown */
    uint64_t total_low_bytes;
    uint64_t free_bytes;
    enum plim_basis total_basis;
    uint64_t need_bytes, need_low_bytes, need_high_bytes; /* the largest sum of lines held in one phase */
    bool has_phases;                                      /* some line is not held in all of them: */
    enum plim_phase binding;                              /* then the phase of need_bytes */
    uint64_t idle_bytes; /* of the need: mapped from a file but never read, so that no RAM is held */
    uint32_t n_lines;
    struct plim_line line[PLIM_BILL_MAX_LINES];
};

enum plim_verdict {
    PLIM_VERDICT_UNKNOWN = 0, /* the rules of this architecture are not known, or its file contradicts itself */
    PLIM_VERDICT_FITS,        /* the high end fits, with the margin */
    PLIM_VERDICT_TIGHT,       /* the figures fit, the high end or the margin does not */
    PLIM_VERDICT_NO,
    PLIM_VERDICT_MAX_
};

/* Capacity: the work that fits the elastic lines of engines that size their cache by the memory left; 0: unknown. */
struct plim_capacity {
    uint64_t kv_n_tokens;
    uint32_t n_seq, n_ctx; /* so many sequences of this length */
};

struct plim_bill {
    uint32_t n_settings; /* the setup as the engine understands it */
    struct plim_setting settings[PLIM_BILL_MAX_SETTINGS];
    uint32_t n_devices; /* the GPUs, then the host */
    struct plim_device_bill device[PLIM_MAX_DEVICES + 1];
    struct plim_capacity capacity;
    enum plim_verdict verdict;
    uint32_t limiting_device;                   /* the device that decides */
    const struct plim_line *limiting_line;      /* and its largest line that a setup can change; NULL: none */
    double tokens_per_s_low, tokens_per_s_high; /* of one sequence; 0: unknown */
    bool is_bound;                              /* the figures are upper bounds: no verdict follows from them */
    bool is_at_most;                            /* what is on other machines is missing: only "fits" follows */
    bool is_at_least;                           /* it ends where memory ran out: only "no" follows */
    bool is_contradicted;                       /* the model's file contradicts itself: no verdict follows either */
    bool is_refused;                            /* the engine would not start with this setup at all: */
    const char *refusal;
    const char *caveat; /* why the figures are not called exact; NULL: they are */
};

/* How much must stay free for a verdict of "fits"; 0 and 0: 512 MiB or 5 % of the card, whichever is more. */
struct plim_margin {
    uint64_t bytes;
    double ratio;
};

const char *plim_pillar_name(enum plim_pillar pillar);    /* "weights", "kv_cache" ... */
const char *plim_verdict_name(enum plim_verdict verdict); /* "fits", "tight", "no", "unknown" */

const char *plim_phase_name(enum plim_phase phase); /* "load", "prefill" ... */

/* The setting of this key ("n_ctx"), or NULL; and its number, 0 without such a setting. */
const struct plim_setting *plim_bill_setting(const struct plim_bill *bill, const char *key);
int64_t plim_bill_setting_integer(const struct plim_bill *bill, const char *key);

/* The reason of a line in words, with its numbers: "32 layers x 8192 cells x ...". Returns buffer. */
char *plim_line_why(const struct plim_line *line, char buffer[PLIM_WHY_BYTES]);

/* True for the lines in the device's need: those held in its binding phase. */
static inline bool plim_line_is_needed(const struct plim_device_bill *device, const struct plim_line *line)
{
    return !device->has_phases || line->phases == 0 || (line->phases & PLIM_IN_PHASE(device->binding));
}

/* The memory that a device has to hold: the need without pages that are mapped and never read. */
static inline uint64_t plim_device_held_bytes(const struct plim_device_bill *device)
{
    return device->need_bytes > device->idle_bytes ? device->need_bytes - device->idle_bytes : 0;
}

/* The memory left on a device: its total less the memory it has to hold; negative when the bill does not fit. */
static inline int64_t plim_device_left_bytes(const struct plim_device_bill *device)
{
    const uint64_t held_bytes = plim_device_held_bytes(device), total_bytes = device->total_bytes;
    const bool is_short = held_bytes > total_bytes;
    const uint64_t bytes = is_short ? held_bytes - total_bytes : total_bytes - held_bytes;
    const int64_t left_bytes = bytes < INT64_MAX ? (int64_t)bytes : INT64_MAX;
    return is_short ? -left_bytes : left_bytes;
}

/* The bytes a verdict of "fits" wants free on this device. */
uint64_t plim_margin_bytes(const struct plim_margin *margin, uint64_t total_bytes);

/* The verdict on one device: the host is judged by its expected need, as its caches can be dropped. */
enum plim_verdict plim_device_verdict(const struct plim_device_bill *device, const struct plim_margin *margin);

/* Fill in the verdict and what decides it from the devices' figures. */
void plim_bill_judge(struct plim_bill *bill, const struct plim_margin *margin);

#ifdef __cplusplus
}
#endif

#endif
