/* SPDX-License-Identifier: MIT */
/*
 * Tensors that are placed apart from their layer: -ot, -cmoe, -ncmoe, -ncffn, and the choices of --fit. For each tensor
 * the first rule that names it decides (llama_model_loader::create_tensor() of llama.cpp v0.5.0).
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "engine/llamacpp/place.h"

#include "base/mem.h"

#include <pcre2.h>
#include <stdio.h>
#include <string.h>

enum { MATCH_LIMIT = 100000 };

struct run {
    const struct plim_llama *llama;
    const struct plim_placement *place;
    int8_t *tensor;
    bool *is_moved;
};

static void move(struct run *run, size_t i, int backend)
{
    if (run->is_moved[i])
        return;
    run->is_moved[i] = true;
    run->tensor[i] = (int8_t)backend;
}

/* --- by pattern --- */

static uint32_t pattern_bytes(const struct plim_override *override)
{
    return override->pattern_bytes ? override->pattern_bytes : (uint32_t)strlen(override->pattern);
}

static int bad_pattern(struct plim_error *reterr, const struct plim_override *override, int error, const char *where)
{
    enum { SHOWN_BYTES = 60 };
    const uint32_t n = pattern_bytes(override);
    PCRE2_UCHAR message[120];
    pcre2_get_error_message(error, message, sizeof message);
    int code = plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "-ot pattern '%.*s': %.60s at %.60s",
                         (int)(n < SHOWN_BYTES ? n : SHOWN_BYTES), override->pattern, (const char *)message, where);
    plim_error_hint(reterr, "a pattern is a regular expression over tensor names, e.g. 'blk\\.(1|2)\\.ffn_.*=CPU'");
    return code;
}

/* A match that gives up, for patterns that backtrack without end, is no answer: neither "yes" nor "no". */
static int match_names(struct run *run, const pcre2_code *code, pcre2_match_data *match, pcre2_match_context *limits,
                       const struct plim_override *override, int backend, struct plim_error *reterr)
{
    for (size_t i = 0; i < run->llama->n_tensors; i++) {
        if (run->is_moved[i])
            continue;
        const char *name = run->llama->tensors[i].name;
        const int result = pcre2_match(code, (PCRE2_SPTR)name, strlen(name), 0, 0, match, limits);
        if (result < 0 && result != PCRE2_ERROR_NOMATCH)
            return bad_pattern(reterr, override, result, name);
        if (result >= 0)
            move(run, i, backend);
    }
    return 0;
}

static int apply_pattern(struct run *run, const struct plim_override *override, int backend, struct plim_error *reterr)
{
    int error = 0;
    PCRE2_SIZE at = 0;
    pcre2_code *code =
        pcre2_compile((PCRE2_SPTR) override->pattern, pattern_bytes(override), PCRE2_NO_UTF_CHECK, &error, &at, NULL);
    if (!code) {
        char where[40];
        snprintf(where, sizeof where, "character %zu", at);
        return bad_pattern(reterr, override, error, where);
    }
    pcre2_match_data *match = pcre2_match_data_create(1, NULL);
    pcre2_match_context *limits = pcre2_match_context_create(NULL);
    int result = 0;
    if (match && limits) {
        pcre2_set_match_limit(limits, MATCH_LIMIT);
        result = match_names(run, code, match, limits, override, backend, reterr);
    } else {
        result = plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    }
    pcre2_match_context_free(limits);
    pcre2_match_data_free(match);
    pcre2_code_free(code);
    return result;
}

static int apply_patterns(struct run *run, const struct plim_llamacpp_setup *setup, struct plim_error *reterr)
{
    int result = 0;
    for (uint32_t i = 0; result == 0 && i < setup->n_overrides; i++) {
        int device = setup->override[i].device;
        if (device >= run->place->n_gpu)
            return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "-ot names device CUDA%d; there are %d", device,
                             run->place->n_gpu);
        result = apply_pattern(run, &setup->override[i], device < 0 ? run->place->cpu : device, reterr);
    }
    return result;
}

/* --- by role --- */

/* The part of a tensor's name after "blk.N."; "" outside the layers. */
static const char *name_in_layer(const struct plim_llama *llama, size_t i)
{
    const char *rest = "";
    plim_llama_layer_of_name(llama->tensors[i].name, &rest);
    return rest;
}

static bool starts_with(const char *name, const char *prefix) { return !strncmp(name, prefix, strlen(prefix)); }

/* \.ffn_(up|down|gate)\. */
static bool is_dense_ffn(const char *name)
{
    return starts_with(name, "ffn_up.") || starts_with(name, "ffn_down.") || starts_with(name, "ffn_gate.");
}

/* What leaves the first layer of an overflow (common/fit.cpp: get_overflow_pattern). */
static bool leaves(const char *name, bool is_expert, enum plim_overflow_part part)
{
    switch (part) {
    case PLIM_OVERFLOW_EXPERTS:
        return is_expert;
    case PLIM_OVERFLOW_FFN:
        return starts_with(name, "ffn_gate") || starts_with(name, "ffn_up") || starts_with(name, "ffn_down");
    case PLIM_OVERFLOW_GATE_AND_DOWN:
        return starts_with(name, "ffn_gate") || starts_with(name, "ffn_down");
    case PLIM_OVERFLOW_DOWN:
        return starts_with(name, "ffn_down");
    }
    return false;
}

static void apply_overflow(struct run *run, const struct plim_overflow *o)
{
    const int cpu = run->place->cpu;
    for (size_t i = 0; i < run->llama->n_tensors; i++) {
        int slot = run->llama->slot[i];
        if (slot < (int)o->first || slot >= (int)(o->first + o->n_layers))
            continue;
        if (slot > (int)o->first) {
            if (run->llama->is_expert[i])
                move(run, i, cpu);
        } else if (leaves(name_in_layer(run->llama, i), run->llama->is_expert[i], o->part)) {
            move(run, i, o->device < 0 ? cpu : o->device);
        }
    }
}

static void apply_lowest_layers(struct run *run, const struct plim_llamacpp_setup *setup)
{
    for (size_t i = 0; i < run->llama->n_tensors; i++) {
        int slot = run->llama->slot[i];
        bool is_expert = run->llama->is_expert[i];
        if (is_expert && (setup->cpu_moe || (slot >= 0 && (uint32_t)slot < setup->n_cpu_moe)))
            move(run, i, run->place->cpu);
        else if (slot >= 0 && (uint32_t)slot < setup->n_cpu_ffn && is_dense_ffn(name_in_layer(run->llama, i)))
            move(run, i, run->place->cpu);
    }
}

/* --- */

/* A rule that names a tied embedding names its copy for the output too: both are called token_embd. */
static void move_tied_output(const struct run *run, struct plim_placement *placement)
{
    if (!run->llama->is_tied)
        return;
    const struct plim_tensor *embd = plim_llama_global_tensor(run->llama, PLIM_GLOBAL_TOKEN_EMBD, PLIM_WEIGHT);
    const size_t i = (size_t)(embd - run->llama->tensors);
    if (run->is_moved[i])
        placement->tied_output = run->tensor[i];
}

int plim_place_overrides(const struct plim_llama *llama, const struct plim_llamacpp_setup *setup,
                         struct plim_placement *placement, struct plim_error *reterr)
{
    if (setup->n_overrides == 0 && setup->n_overflows == 0 && !setup->cpu_moe && setup->n_cpu_moe == 0 &&
        setup->n_cpu_ffn == 0)
        return 0;
    struct run run = { llama, placement, plim_alloc(llama->n_tensors, sizeof *run.tensor),
                       plim_alloc(llama->n_tensors, sizeof *run.is_moved) };
    int result = run.tensor && run.is_moved ? 0 : plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    if (result == 0) {
        for (size_t i = 0; i < llama->n_tensors; i++)
            run.tensor[i] = (int8_t)plim_place_of(llama, placement, i);
        result = apply_patterns(&run, setup, reterr);
    }
    if (result == 0) {
        apply_lowest_layers(&run, setup);
        for (uint32_t i = 0; i < setup->n_overflows; i++)
            apply_overflow(&run, &setup->overflow[i]);
        move_tied_output(&run, placement);
    }
    plim_free(run.is_moved);
    if (result < 0) {
        plim_free(run.tensor);
        return result;
    }
    placement->tensor = run.tensor;
    placement->has_overrides = true;
    return 0;
}
