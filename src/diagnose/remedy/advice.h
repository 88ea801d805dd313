/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_REMEDY_ADVICE_H
#define PLIMSOLL_DIAGNOSE_REMEDY_ADVICE_H

/* How the lists of remedy.h are written: one function for each kind of program or trouble, best remedy first. */

#include "diagnose/cause/rules.h"
#include "diagnose/remedy/remedy.h"

struct plim_advice {
    const struct plim_finding *finding;
    const struct plim_log_context *context;
    const struct plim_cause_answer *answer;
    enum plim_trace trace;
    int64_t missing_bytes; /* a remedy that frees less is left out; PLIM_UNKNOWN: all stay */
    struct plim_remedies *remedies;
};

/*
 * Add a remedy: what to change, what it costs, what it frees (PLIM_UNKNOWN: not known). Returns it for
 * its command, or NULL when it is left out: it frees too little, or the list is full.
 */
struct plim_remedy *plim_advise(struct plim_advice *advice, int64_t frees_bytes, const char *costs, const char *change,
                                ...) __attribute__((format(printf, 4, 5)));
/* The same, of a value that was computed from figures of the log. */
struct plim_remedy *plim_advise_exact(struct plim_advice *advice, int64_t frees_bytes, const char *costs,
                                      const char *change, ...) __attribute__((format(printf, 4, 5)));
void plim_advise_command(struct plim_remedy *remedy, const char *format, ...) __attribute__((format(printf, 2, 3)));
void plim_advise_useless(struct plim_advice *advice, const char *what, const char *why, ...)
    __attribute__((format(printf, 3, 4)));

int64_t plim_advice_number(const struct plim_advice *advice, enum plim_number which);
bool plim_advice_is(const struct plim_advice *advice, const char *framework); /* one or more, separated by blanks */
bool plim_advice_is_stage(const struct plim_advice *advice, const char *stage);
const char *plim_advice_kind(const struct plim_advice *advice); /* id of the pattern */
/* "CUDA", "HIP", "XPU", "SYCL", "MPS", "Metal", "Vulkan", "CPU"; "" when nothing says it. */
const char *plim_advice_backend(const struct plim_advice *advice);
/* Whether the log shows that program beside the one that failed. */
bool plim_advice_beside(const struct plim_advice *advice, const char *program);
bool plim_advice_in_evidence(const struct plim_advice *advice, const char *text);
/* What a shell takes as one plain word: nothing else of a log is put into a command. */
bool plim_advice_is_plain(const char *text);
/* Whole steps; 0 for what is beyond any context. */
int64_t plim_advice_round_down(double value, int64_t step);
/* The model as the log names it, or "MODEL". */
const char *plim_advice_model(const struct plim_advice *advice);
/* PyTorch, or a program on top of it: its settings and functions are there. */
bool plim_advice_has_torch(const struct plim_advice *advice);
/* PyTorch that knows expandable_segments: from 2.1 on, by its version or by how it writes the message. */
bool plim_advice_has_segments(const struct plim_advice *advice);
/* "PYTORCH_CUDA_ALLOC_CONF", or what this version and backend call it. */
const char *plim_advice_alloc_conf(const struct plim_advice *advice);
/* Write NAME=VALUE before the program, or `export NAME=VALUE` when the log does not show it. */
void plim_advise_setting(const struct plim_advice *advice, struct plim_remedy *remedy, const char *name,
                         const char *value);

/* Remedies from a message's own figures, when its entry has a list of its own. */
void plim_advise_figures(struct plim_advice *advice);
/* Ray, Kubernetes: request the memory that the killed program had. */
void plim_advise_use(struct plim_advice *advice);
/* A limit on RAM that the message names: how high it has to be, for programs with a setting of their own. */
void plim_advise_limit_of_ram(struct plim_advice *advice);

/* By program, asked first. False: it has no list of its own for this cause. */
bool plim_advise_llama(struct plim_advice *advice);
bool plim_advise_library(struct plim_advice *advice);
/* A Mac: a higher limit for the GPU; needed_bytes is what all its buffers take, or PLIM_UNKNOWN. */
void plim_advise_wired_limit(struct plim_advice *advice, int64_t needed_bytes);
/* llama.cpp, or a program built on it. */
bool plim_advice_is_llama(const struct plim_advice *advice);

/* By cause. */
void plim_advise_others(struct plim_advice *advice);
void plim_advise_pieces(struct plim_advice *advice);
void plim_advise_step(struct plim_advice *advice);
void plim_advise_optimizer(struct plim_advice *advice);
void plim_advise_model(struct plim_advice *advice);
void plim_advise_context(struct plim_advice *advice);
void plim_advise_share(struct plim_advice *advice);
void plim_advise_limit(struct plim_advice *advice);
void plim_advise_growth(struct plim_advice *advice);
void plim_advise_host(struct plim_advice *advice);
/* No machine has what was asked for (plim_is_absurd): a program asked for what it does not mean. */
void plim_advise_wrong_size(struct plim_advice *advice);
void plim_advise_shm(struct plim_advice *advice);
void plim_advise_driver(struct plim_advice *advice);

#endif
