/* SPDX-License-Identifier: MIT */
/*
 * llama.cpp's own adjustment of a setup: --fit is on by default, and fills in an unset context, an unset number of GPU
 * layers and the split so that every device keeps a margin free. First the context shrinks, then layers move to the
 * host; of models with experts the experts move first.
 *
 * Rule: common/fit.cpp (common_params_fit_impl) of llama.cpp v0.4.1 to v0.6.0, on measurements of our own.
 */
#include "engine/llamacpp/engine.h"

#include "base/numbers.h"
#include "base/units.h"
#include "engine/llamacpp/bound.h"
#include "engine/llamacpp/flags/options.h"

#include <stdio.h>
#include <string.h>

#define DEFAULT_TARGET_BYTES ((int64_t)PLIM_GIB)

enum { DEFAULT_FIT_CTX = 4096, CONTEXT_STEP = 256 };

/* The layers of a device, from the back of the model; of n_part of them the experts stay on the host. */
struct share {
    uint32_t n_layer, n_part;
    enum plim_overflow_part part;
    int spill; /* where the first partial layer's rest goes: -1 the host */
};

struct fit {
    struct plim_llamacpp *engine;
    const struct plim_machine *machine;
    struct plim_llamacpp_setup setup; /* as changed so far */
    int n_gpu;
    uint64_t split_bytes[PLIM_MAX_DEVICES];
    int64_t free_bytes[PLIM_MAX_DEVICES], target_bytes; /* target: the memory to keep free per device */
    int64_t state_bytes[PLIM_MAX_DEVICES];              /* recurrent states of the setup measured last */
    struct plim_error *err;
    int result; /* the first failure */
    const struct plim_llama *draft;
};

/* So that sums over devices stay in range. */
static int64_t signed_bytes(uint64_t bytes) { return (int64_t)plim_min_u64(bytes, PLIM_MOST_BYTES); }
static uint32_t saturate(uint64_t n) { return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n; }

/* --- measuring --- */

static void add_draft(struct fit *f, const struct plim_llamacpp_setup *setup, const struct plim_llama_context *main,
                      int64_t *bytes)
{
    struct plim_llamacpp_setup draft_setup;
    struct plim_buffers b;
    if (!f->draft)
        return;
    plim_llamacpp_draft_setup(setup, main, &draft_setup);
    if (plim_buffers_measure(f->engine->workspace, f->draft, &f->engine->epoch, &draft_setup, f->n_gpu, f->split_bytes,
                             true, &b, NULL) < 0)
        return;
    for (int i = 0; i < f->n_gpu; i++)
        bytes[i] += (int64_t)plim_buffers_sum(&b, i);
    plim_buffers_done(&b);
}

/* model + context + compute per GPU of a setup; also the weights alone, if wanted. */
static void measure(struct fit *f, const struct plim_llamacpp_setup *setup, int64_t *bytes, int64_t *ret_weights)
{
    struct plim_buffers b;
    if (f->result < 0)
        return;
    f->result = plim_buffers_measure(f->engine->workspace, f->engine->llama, &f->engine->epoch, setup, f->n_gpu,
                                     f->split_bytes, true, &b, f->err);
    if (f->result < 0)
        return;
    for (int i = 0; i < f->n_gpu; i++) {
        bytes[i] = (int64_t)plim_buffers_sum(&b, i);
        f->state_bytes[i] = (int64_t)b.memory.rs_bytes[i];
        if (ret_weights)
            *ret_weights += (int64_t)b.weights.device_bytes[i];
    }
    add_draft(f, setup, &b.context, bytes);
    plim_buffers_done(&b);
}

static int64_t sum(const int64_t *values, int n)
{
    int64_t total = 0;
    for (int i = 0; i < n; i++)
        total += values[i];
    return total;
}

/* --- the context --- */

/*
 * Choose a context between the smallest and the model's own by linear interpolation; true when the whole model fits
 * with it.
 */
static bool shrink_context(struct fit *f, uint32_t n_seq, uint32_t n_streams, int64_t used_max, int64_t weights)
{
    const struct plim_hparams *hp = &f->engine->llama->hp;
    const uint32_t n_ctx_max = saturate((uint64_t)hp->n_ctx_train * n_seq);
    const uint32_t fit_ctx = f->setup.fit_ctx ? f->setup.fit_ctx : DEFAULT_FIT_CTX;
    const uint32_t n_ctx_min = fit_ctx == UINT32_MAX ? UINT32_MAX : saturate((uint64_t)fit_ctx * n_streams);
    int64_t used[PLIM_MAX_DEVICES] = { 0 };
    if (n_ctx_max <= n_ctx_min)
        return false;
    int64_t target = sum(f->free_bytes, f->n_gpu) - f->n_gpu * f->target_bytes;
    if (f->n_gpu > 1) { /* whole layers do not divide evenly: about half a layer per device is lost */
        const uint32_t n_layers = plim_min_u32((uint32_t)f->setup.n_gpu_layers, hp->n_layer);
        if (n_layers > 0)
            target -= (f->n_gpu + 1) * (weights / n_layers) / (hp->n_expert == 0 ? 2 : 6);
    }
    f->setup.n_ctx = n_ctx_min;
    measure(f, &f->setup, used, NULL);
    int64_t used_min = sum(used, f->n_gpu);
    if (f->result < 0 || target <= used_min || used_max <= used_min)
        return false;
    const uint32_t align = CONTEXT_STEP * n_streams;
    int64_t product;
    if (__builtin_mul_overflow((int64_t)(n_ctx_max - n_ctx_min), target - used_min, &product))
        return false; /* the engine's own arithmetic ends here too */
    uint32_t n_ctx = n_ctx_min + (uint32_t)(product / (used_max - used_min));
    f->setup.n_ctx = plim_max_u32(n_ctx - n_ctx % align, n_ctx_min);
    return f->n_gpu <= 1;
}

/* --- layers --- */

/* The setup in which each device has its share. */
static struct plim_llamacpp_setup with_shares(const struct fit *f, const struct share *shares)
{
    struct plim_llamacpp_setup s = f->setup;
    s.n_gpu_layers = 0;
    s.n_overflows = 0;
    for (int i = 0; i < f->n_gpu; i++) {
        s.n_gpu_layers += (int32_t)shares[i].n_layer;
        s.tensor_split[i] = shares[i].n_layer;
    }
    s.n_tensor_split = f->n_gpu > 1 ? (uint32_t)f->n_gpu : 0;
    uint32_t first = f->engine->llama->hp.n_layer + 1 - (uint32_t)s.n_gpu_layers;
    for (int i = 0; i < f->n_gpu; i++) {
        first += shares[i].n_layer - shares[i].n_part;
        if (shares[i].n_part)
            s.overflow[s.n_overflows++] =
                (struct plim_overflow){ first, shares[i].n_part, shares[i].part, shares[i].spill };
        first += shares[i].n_part;
    }
    return s;
}

static void measure_shares(struct fit *f, const struct share *shares, int64_t *bytes)
{
    struct plim_llamacpp_setup s = with_shares(f, shares);
    measure(f, &s, bytes, NULL);
}

/* The next guess between two bounds: where a straight line between them meets the target. */
static uint32_t next_step(uint32_t delta, int64_t low, int64_t high, int64_t target)
{
    int64_t step = 1;
    if (high > low && !__builtin_mul_overflow((int64_t)delta, target - low, &step))
        step /= high - low;
    uint32_t wrapped = (uint32_t)step; /* a negative step wraps around, and is cut down again: as the engine has it */
    return plim_min_u32(plim_max_u32(wrapped, 1), delta - 1);
}

/* Give device i as many of the layers that are left as its target allows; those with experts without them. */
static void fill_device(struct fit *f, int i, struct share *shares, int64_t *used)
{
    const bool has_experts = f->engine->llama->hp.n_expert > 0;
    const int64_t target = f->free_bytes[i] - f->target_bytes;
    struct share high[PLIM_MAX_DEVICES], test[PLIM_MAX_DEVICES];
    int64_t used_high[PLIM_MAX_DEVICES] = { 0 }, used_test[PLIM_MAX_DEVICES] = { 0 };
    uint32_t n_left = f->engine->llama->hp.n_layer + 1;
    const size_t size = (size_t)f->n_gpu * sizeof *shares, used_size = (size_t)f->n_gpu * sizeof *used;
    for (int j = i + 1; j < f->n_gpu; j++)
        n_left -= shares[j].n_layer;
    memcpy(high, shares, size);
    high[i].n_layer = n_left;
    if (has_experts)
        high[i].n_part = i < f->n_gpu - 1 ? n_left : n_left - 1;
    if (n_left == 0)
        return;
    measure_shares(f, high, used_high);
    if (used_high[i] <= target) {
        memcpy(shares, high, size);
        memcpy(used, used_high, used_size);
        return;
    }
    for (uint32_t delta = n_left - shares[i].n_layer; delta > 1 && f->result >= 0;) {
        uint32_t step = next_step(delta, used[i], used_high[i], target);
        memcpy(test, shares, size);
        test[i].n_layer += step;
        if (has_experts) /* the output layer, which comes first, is never partial */
            test[i].n_part += i == f->n_gpu - 1 && test[i].n_part == 0 ? step - 1 : step;
        measure_shares(f, test, used_test);
        bool fits = used_test[i] <= target;
        memcpy(fits ? shares : high, test, size);
        memcpy(fits ? used : used_high, used_test, used_size);
        delta = high[i].n_layer - shares[i].n_layer;
    }
}

/* --- experts --- */

/* Take n partial layers from the devices at the back, from `from` on, and give them whole to device i. */
static int convert(struct share *shares, int n_gpu, int from, int i, uint32_t n)
{
    uint32_t n_converted = 0;
    for (; from < n_gpu; from++) {
        uint32_t n_here = plim_min_u32(n - n_converted, shares[from].n_part);
        shares[from].n_layer -= n_here;
        shares[from].n_part -= n_here;
        shares[i].n_layer += n_here;
        n_converted += n_here;
        if (shares[from].n_part > 0)
            break;
    }
    return from;
}

static uint32_t n_full(const struct share *share) { return share->n_layer - share->n_part; }

/* Turn partial layers into whole ones on device i while they fit; returns the first device with partial layers left. */
static int convert_layers(struct fit *f, int i, int from, struct share *shares, int64_t *used)
{
    const int64_t target = f->free_bytes[i] - f->target_bytes;
    const int last = f->n_gpu - 1;
    struct share high[PLIM_MAX_DEVICES], test[PLIM_MAX_DEVICES];
    int64_t used_high[PLIM_MAX_DEVICES] = { 0 }, used_test[PLIM_MAX_DEVICES] = { 0 };
    const size_t size = (size_t)f->n_gpu * sizeof *shares, used_size = (size_t)f->n_gpu * sizeof *used;
    memcpy(high, shares, size);
    for (int j = from; j <= last; j++) {
        uint32_t n_move = j < last ? high[j].n_layer : high[j].n_layer - 1;
        high[i].n_layer += n_move;
        high[j].n_layer -= n_move;
        high[j].n_part = 0;
    }
    measure_shares(f, high, used_high);
    if (used_high[i] <= target) {
        memcpy(shares, high, size);
        memcpy(used, used_high, used_size);
        return last;
    }
    for (uint32_t delta = n_full(&high[i]) - n_full(&shares[i]); delta > 1 && f->result >= 0;) {
        uint32_t step = next_step(delta, used[i], used_high[i], target);
        memcpy(test, shares, size);
        int from_test = convert(test, f->n_gpu, from, i, step);
        measure_shares(f, test, used_test);
        if (used_test[i] <= target) {
            memcpy(shares, test, size);
            memcpy(used, used_test, used_size);
            from = from_test;
        } else {
            memcpy(high, test, size);
            memcpy(used_high, used_test, used_size);
        }
        delta = n_full(&high[i]) - n_full(&shares[i]);
    }
    return from;
}

/* True when both devices a layer would touch keep their margin. */
static bool fits_both(const struct fit *f, int i, const int64_t *used)
{
    bool here = used[i] < f->free_bytes[i] - f->target_bytes;
    return here && (i + 1 == f->n_gpu || used[i + 1] < f->free_bytes[i + 1] - f->target_bytes);
}

static bool try_part(struct fit *f, int i, enum plim_overflow_part part, const struct share *test, struct share *shares,
                     int64_t *used)
{
    struct share next[PLIM_MAX_DEVICES];
    int64_t used_next[PLIM_MAX_DEVICES];
    memcpy(next, test, (size_t)f->n_gpu * sizeof *next);
    next[i].part = part;
    measure_shares(f, next, used_next);
    if (f->result < 0 || !fits_both(f, i, used_next))
        return false;
    memcpy(shares, next, (size_t)f->n_gpu * sizeof *next);
    memcpy(used, used_next, (size_t)f->n_gpu * sizeof *used);
    return true;
}

/* One more layer in part: with its up projection, then its gate; or attention alone. */
static int add_part_of_layer(struct fit *f, int i, int from, struct share *shares, int64_t *used)
{
    struct share test[PLIM_MAX_DEVICES];
    if (shares[from].n_layer <= (i < f->n_gpu - 1 ? 0U : 1U))
        return from;
    memcpy(test, shares, (size_t)f->n_gpu * sizeof *test);
    test[from].n_layer--;
    test[from].n_part--;
    test[i].n_layer++;
    test[i].n_part++;
    int from_test = test[from].n_part == 0 ? from + 1 : from;
    int spill = i < f->n_gpu - 1 ? i + 1 : -1;
    test[i].spill = spill;
    if (try_part(f, i, PLIM_OVERFLOW_GATE_AND_DOWN, test, shares, used)) {
        try_part(f, i, PLIM_OVERFLOW_DOWN, test, shares, used);
        return from_test;
    }
    return try_part(f, i, PLIM_OVERFLOW_FFN, test, shares, used) ? from_test : from;
}

static void convert_experts(struct fit *f, struct share *shares, int64_t *used)
{
    int from = f->n_gpu;
    while (from > 0 && shares[from - 1].n_layer > 0)
        from--;
    for (int i = 0; i <= from && from < f->n_gpu && f->result >= 0; i++) {
        from = convert_layers(f, i, from, shares, used);
        from = add_part_of_layer(f, i, from, shares, used);
    }
}

/* The setup with all experts on the host, if memory is left then. */
static bool has_room_for_experts(struct fit *f)
{
    struct plim_llamacpp_setup s = f->setup;
    int64_t used[PLIM_MAX_DEVICES] = { 0 };
    if (f->engine->llama->hp.n_expert == 0)
        return false;
    s.cpu_moe = true;
    measure(f, &s, used, NULL);
    return sum(f->free_bytes, f->n_gpu) - sum(used, f->n_gpu) - f->n_gpu * f->target_bytes > 0;
}

static void distribute(struct fit *f)
{
    struct share shares[PLIM_MAX_DEVICES] = { { 0 } };
    int64_t used[PLIM_MAX_DEVICES] = { 0 };
    const bool has_room = has_room_for_experts(f);
    for (int i = 0; i < f->n_gpu; i++)
        shares[i].spill = -1;
    measure_shares(f, shares, used);
    for (int i = f->n_gpu - 1; i >= 0 && f->result >= 0; i--)
        fill_device(f, i, shares, used);
    if (has_room)
        convert_experts(f, shares, used);
    f->setup = with_shares(f, shares);
}

/* --- */

static bool may_move_layers(const struct plim_llamacpp_setup *setup, int n_gpu)
{
    bool has_split = false;
    for (uint32_t i = 0; i < setup->n_tensor_split; i++)
        has_split = has_split || setup->tensor_split[i] != 0;
    bool has_overrides = setup->n_overrides || setup->cpu_moe || setup->n_cpu_moe || setup->n_cpu_ffn;
    return setup->n_gpu_layers == PLIM_NGL_AUTO && !has_overrides &&
           (n_gpu <= 1 || (!has_split && setup->split_mode != PLIM_SPLIT_ROW));
}

static int run(struct fit *f)
{
    const bool is_auto = f->setup.n_ctx == 0;
    int64_t used[PLIM_MAX_DEVICES] = { 0 }, weights = 0;
    struct plim_llama_context cx;
    plim_llama_context_resolve(f->engine->llama, &f->setup, &f->engine->epoch, f->n_gpu, &cx);
    if (is_auto)
        f->setup.n_ctx = saturate((uint64_t)f->engine->llama->hp.n_ctx_train * cx.n_seq_max);
    measure(f, &f->setup, used, &weights);
    if (f->result < 0)
        return f->result;
    /* while --fit measures nothing is allocated but recurrent states, and it asks for the free memory after that */
    for (int i = 0; i < f->n_gpu; i++)
        f->free_bytes[i] -= f->state_bytes[i];
    bool fits = true;
    for (int i = 0; i < f->n_gpu; i++)
        fits = fits && f->free_bytes[i] - used[i] >= f->target_bytes;
    if (fits)
        return is_auto && cx.n_seq_max > 1; /* the full context, for every slot */
    int64_t surplus = sum(f->free_bytes, f->n_gpu) - sum(used, f->n_gpu) - f->n_gpu * f->target_bytes;
    if (surplus < 0 && is_auto && shrink_context(f, cx.n_seq_max, cx.n_stream, sum(used, f->n_gpu), weights))
        return 1;
    if (f->result < 0)
        return f->result;
    if (!may_move_layers(&f->setup, f->n_gpu))
        return is_auto; /* it gives up, and starts with the smallest context */
    distribute(f);
    return f->result < 0 ? f->result : 1;
}

/* The decisions of --fit, as settings and as flags. */
static void write_adjustment(const struct plim_llamacpp_setup *before, const struct plim_bill *bill,
                             struct plim_adjustment *a)
{
    struct plim_llamacpp_setup *after = &a->setup.llamacpp;
    static const enum plim_llamacpp_option options[] = { PLIM_LLAMACPP_CTX_SIZE, PLIM_LLAMACPP_N_GPU_LAYERS,
                                                         PLIM_LLAMACPP_TENSOR_SPLIT, PLIM_LLAMACPP_EXPERTS_ON_CPU };
    uint32_t n_expert_layers = 0;
    a->n_settings = sizeof options / sizeof *options;
    for (uint32_t i = 0; i < a->n_settings; i++) {
        const struct plim_option *option = &plim_llamacpp_options[options[i]];
        a->settings[i] = (struct plim_setting){ .option = option, .key = option->key };
    }
    a->settings[2].kind = PLIM_SETTING_NUMBERS;
    a->settings[2].numbers = after->tensor_split;
    a->settings[2].n_items = after->n_tensor_split;
    a->settings[3].kind = PLIM_SETTING_LAYERS;
    a->settings[3].layers = a->layers;
    a->settings[3].n_items = after->n_overflows;
    for (uint32_t i = 0; i < after->n_overflows; i++) {
        a->layers[i] = (struct plim_layer_range){ after->overflow[i].first, after->overflow[i].n_layers };
        n_expert_layers += after->overflow[i].n_layers;
    }
    plim_llamacpp_write_flags(before, after, (uint32_t)plim_bill_setting_integer(bill, "n_ctx"), a->flags,
                              sizeof a->flags);
    a->more[0] = a->short_more[0] = '\0';
    if (n_expert_layers) {
        snprintf(a->more, sizeof a->more, "the experts of %u layers in RAM", n_expert_layers);
        snprintf(a->short_more, sizeof a->short_more, "experts of %u in RAM", n_expert_layers);
    }
}

int plim_llamacpp_adjust(struct plim_engine *base, const struct plim_setup *setup, const struct plim_machine *machine,
                         const struct plim_bill *bill, struct plim_adjustment *ret_adjustment,
                         struct plim_error *reterr)
{
    struct plim_llamacpp *engine = (struct plim_llamacpp *)base;
    struct plim_llamacpp_setup copy;
    const struct plim_llamacpp_setup *own = plim_llamacpp_with_backend(&setup->llamacpp, machine, &copy);
    const bool is_on = own->fit == PLIM_ON || (own->fit == PLIM_UNSET && own->client != PLIM_CLIENT_LIBRARY);
    struct fit f = { .engine = engine, .machine = machine, .setup = *own, .err = reterr };
    f.n_gpu = plim_visible_gpus(own, machine, f.split_bytes);
    if (plim_bound_applies(engine->llama)) /* --fit measures; bounds cannot predict it */
        return 0;
    if (!is_on || !engine->epoch.has_fit || f.n_gpu == 0 || own->has_rpc || own->split_mode == PLIM_SPLIT_TENSOR)
        return 0;
    f.target_bytes = own->fit_target_bytes ? signed_bytes(own->fit_target_bytes) : DEFAULT_TARGET_BYTES;
    for (int i = 0; i < f.n_gpu; i++)
        f.free_bytes[i] = signed_bytes(f.split_bytes[i]);
    int result = plim_llamacpp_draft(engine, own, &f.draft, reterr);
    if (result < 0)
        return result;
    result = run(&f);
    if (result <= 0)
        return result;
    ret_adjustment->setup = *setup;
    ret_adjustment->setup.llamacpp = f.setup;
    write_adjustment(&setup->llamacpp, bill, ret_adjustment);
    return result;
}
