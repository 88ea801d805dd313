/* SPDX-License-Identifier: MIT */
#include "engine/llamacpp/llama.h"

#include "base/mem.h"
#include "base/numbers.h"
#include "engine/llamacpp/memory.h"

#include <string.h>

/* --- names --- */

static const struct role_name {
    const char *name;
    unsigned length;
} layer_roles[] = {
#define NAME(id, name) { name, sizeof name - 1 },
    PLIM_LAYER_ROLES(NAME)
}, global_roles[] = { PLIM_GLOBAL_ROLES(NAME)
#undef NAME
};

static unsigned role_named(const struct role_name *roles, unsigned n, const char *name, unsigned length)
{
    for (unsigned i = 0; i < n; i++)
        if (roles[i].length == length && !memcmp(roles[i].name, name, length))
            return i;
    return n;
}

enum plim_tensor_role plim_tensor_role_named(const char *name, unsigned length)
{
    return (enum plim_tensor_role)role_named(layer_roles, PLIM_TENSOR_ROLE_MAX_, name, length);
}

enum plim_global plim_global_named(const char *name, unsigned length)
{
    return (enum plim_global)role_named(global_roles, PLIM_GLOBAL_MAX_, name, length);
}

/* Take ".weight", ".bias" or ".scale" off the end of a name; without one the tensor counts as a weight. */
static enum plim_suffix take_suffix(const char *name, unsigned *length)
{
    static const struct {
        const char *text;
        unsigned length;
        enum plim_suffix suffix;
    } suffixes[] = { { ".weight", 7, PLIM_WEIGHT }, { ".bias", 5, PLIM_BIAS }, { ".scale", 6, PLIM_SCALE } };
    for (unsigned i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (*length > suffixes[i].length &&
            !memcmp(name + *length - suffixes[i].length, suffixes[i].text, suffixes[i].length)) {
            *length -= suffixes[i].length;
            return suffixes[i].suffix;
        }
    return PLIM_WEIGHT;
}

int plim_llama_layer_of_name(const char *name, const char **ret_rest)
{
    const char *p = name;
    if (!strncmp(p, "enc.", 4) || !strncmp(p, "dec.", 4))
        p += 4;
    if (strncmp(p, "blk.", 4))
        return -1;
    int number = 0, n_digits = 0;
    for (p += 4; *p >= '0' && *p <= '9' && n_digits < 4; p++, n_digits++)
        number = number * 10 + (*p - '0');
    if (n_digits == 0 || *p != '.')
        return -1;
    *ret_rest = p + 1;
    return number;
}

/* --- the slots of tensors --- */

static int global_slot(const struct plim_llama *llama, enum plim_global role)
{
    switch (role) {
    case PLIM_GLOBAL_TOKEN_EMBD:
    case PLIM_GLOBAL_POS_EMBD:
    case PLIM_GLOBAL_TOKEN_TYPES:
    case PLIM_GLOBAL_PER_LAYER_TOKEN_EMBD:
        return PLIM_SLOT_INPUT;
    case PLIM_GLOBAL_TOKEN_EMBD_NORM:
        /* LFM2 calls its output norm by this name */
        if (!strncmp(llama->hp.arch->name, "lfm2", 4))
            return llama->epoch->has_lfm2_norm ? PLIM_SLOT_OUTPUT : PLIM_SLOT_INPUT;
        return llama->epoch->has_layer_norms ? 0 /* drawn from the first layer's buffers */ : PLIM_SLOT_INPUT;
    case PLIM_GLOBAL_PER_LAYER_MODEL_PROJ:
    case PLIM_GLOBAL_PER_LAYER_PROJ_NORM:
        return llama->epoch->has_layer_norms ? 0 : PLIM_SLOT_OUTPUT;
    case PLIM_GLOBAL_ROPE_FREQS:
    case PLIM_GLOBAL_ROPE_FACTORS_LONG:
    case PLIM_GLOBAL_ROPE_FACTORS_SHORT:
        return PLIM_SLOT_ROPE;
    default:
        return PLIM_SLOT_OUTPUT;
    }
}

/* The names that -cmoe matches: \.ffn_(up|down|gate|gate_up)_(ch|)exps */
static bool is_expert_name(const char *rest)
{
    static const char *const names[] = { "ffn_up_", "ffn_down_", "ffn_gate_up_", "ffn_gate_" };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        if (!strncmp(rest, names[i], n))
            return !strncmp(rest + n, "exps", 4) || !strncmp(rest + n, "chexps", 6);
    }
    return false;
}

/*
 * A weight whose operation the GPU lacks is kept on the CPU (llama-model-loader.cpp: weight_buft_supported). The test
 * takes the shape from the tensor alone, not from the graph.
 */
static bool stays_on_cpu(const struct plim_llama *llama, enum plim_tensor_role role, enum plim_suffix suffix,
                         const struct plim_tensor *tensor)
{
    const struct plim_hparams *hp = &llama->hp;
    const uint64_t width = tensor->ne[0], n_head = tensor->ne[1];
    if (suffix != PLIM_WEIGHT)
        return false;
    if (role == PLIM_TENSOR_ROLE_SSM_CONV1D || role == PLIM_TENSOR_ROLE_SHORTCONV_CONV)
        return !plim_cuda_has_ssm_conv(tensor->ne[1]);
    if (role == PLIM_TENSOR_ROLE_SSM_A && hp->arch->has_scan)
        return !plim_cuda_has_ssm_scan(width, width == 1 ? hp->ssm_d_state : width,
                                       n_head ? hp->ssm_d_inner / n_head : 0, n_head,
                                       hp->ssm_n_group ? hp->ssm_n_group : 1);
    return false;
}

static void add_to_layer(struct plim_layer *layer, const struct plim_tensor *tensor, bool is_expert)
{
    uint64_t device_bytes = plim_llama_device_bytes(tensor);
    layer->device_bytes += device_bytes;
    layer->host_bytes += plim_align_up(tensor->bytes, PLIM_HOST_ALIGNMENT);
    layer->expert_bytes += is_expert ? device_bytes : 0;
    if (layer->end_byte == 0 || tensor->offset < layer->first_byte)
        layer->first_byte = tensor->offset;
    if (tensor->offset + tensor->bytes > layer->end_byte)
        layer->end_byte = tensor->offset + tensor->bytes;
}

static void place_tensor(struct plim_llama *llama, size_t i)
{
    const struct plim_tensor *tensor = &llama->tensors[i];
    const char *rest = NULL;
    int il = plim_llama_layer_of_name(tensor->name, &rest);
    if (il < 0) {
        unsigned length = (unsigned)strlen(tensor->name);
        enum plim_suffix suffix = take_suffix(tensor->name, &length);
        enum plim_global role = plim_global_named(tensor->name, length);
        if (role != PLIM_GLOBAL_MAX_)
            llama->global[role][suffix] = (int32_t)i + 1;
        llama->slot[i] = (int16_t)global_slot(llama, role);
        if (llama->slot[i] >= 0)
            add_to_layer(&llama->layer[llama->slot[i]], tensor, false);
        return;
    }
    if ((uint32_t)il >= llama->hp.n_layer_all) {
        llama->slot[i] = PLIM_SLOT_UNUSED;
        llama->has_unmodelled = true;
        return;
    }
    struct plim_layer *layer = &llama->layer[il];
    unsigned length = (unsigned)strlen(rest);
    enum plim_suffix suffix = take_suffix(rest, &length);
    enum plim_tensor_role role = plim_tensor_role_named(rest, length);
    /* with both, the graph whose buffers are reserved is the decoder's */
    const bool is_other_side = !strncmp(tensor->name, "enc.", 4) && !(llama->hp.arch->graph & PLIM_GGML_GRAPH_ENCODER);
    if (role != PLIM_TENSOR_ROLE_MAX_ && !is_other_side)
        layer->tensor[role][suffix] = (int32_t)i + 1;
    if (stays_on_cpu(llama, role, suffix, tensor)) {
        llama->slot[i] = PLIM_SLOT_INPUT;
        return;
    }
    llama->slot[i] = (int16_t)il;
    llama->is_expert[i] = is_expert_name(rest);
    add_to_layer(layer, tensor, llama->is_expert[i]);
}

/* Later runs through the layers read the tensors of the first; the bytes are counted there. */
static void share_tensors(struct plim_llama *llama)
{
    const uint32_t n = llama->hp.n_layer_file;
    for (uint32_t il = n; il < llama->hp.n_layer; il++)
        memcpy(llama->layer[il].tensor, llama->layer[il - n].tensor, sizeof llama->layer[il].tensor);
}

/* --- layers that build the same graph --- */

/* True when both layers have the same tensors in shape (their types may differ) and the same memory. */
static bool same_kind(const struct plim_llama *llama, uint32_t a, uint32_t b)
{
    const struct plim_hparams *hp = &llama->hp;
    if (hp->is_swa[a] != hp->is_swa[b] || hp->is_recurrent[a] != hp->is_recurrent[b] ||
        hp->is_indexer[a] != hp->is_indexer[b] || hp->n_head[a] != hp->n_head[b] ||
        hp->n_head_kv[a] != hp->n_head_kv[b] || hp->n_expert_used_in[a] != hp->n_expert_used_in[b] ||
        plim_hparams_has_kv(hp, a) != plim_hparams_has_kv(hp, b))
        return false;
    bool by_fours = hp->arch->rope == PLIM_ROPE_NOT_4TH || hp->arch->rope == PLIM_ROPE_NOT_FIRST_OF_4;
    if (by_fours && a % 4 != b % 4)
        return false;
    if (hp->adds_deepstack[a] != hp->adds_deepstack[b] || hp->has_no_rope[a] != hp->has_no_rope[b])
        return false;
    for (unsigned role = 0; role < PLIM_TENSOR_ROLE_MAX_; role++)
        for (unsigned suffix = 0; suffix < PLIM_SUFFIX_MAX_; suffix++) {
            const struct plim_tensor *x =
                plim_llama_layer_tensor(llama, a, (enum plim_tensor_role)role, (enum plim_suffix)suffix);
            const struct plim_tensor *y =
                plim_llama_layer_tensor(llama, b, (enum plim_tensor_role)role, (enum plim_suffix)suffix);
            if (!x != !y || (x && memcmp(x->ne, y->ne, sizeof x->ne)))
                return false;
        }
    return true;
}

static bool same_types(const struct plim_llama *llama, uint32_t a, uint32_t b)
{
    if (llama->layer[a].kind != llama->layer[b].kind)
        return false;
    for (unsigned role = 0; role < PLIM_TENSOR_ROLE_MAX_; role++)
        for (unsigned suffix = 0; suffix < PLIM_SUFFIX_MAX_; suffix++) {
            int32_t x = llama->layer[a].tensor[role][suffix], y = llama->layer[b].tensor[role][suffix];
            if (x && y && llama->tensors[x - 1].type != llama->tensors[y - 1].type)
                return false;
        }
    return true;
}

typedef bool same_layers(const struct plim_llama *llama, uint32_t a, uint32_t b);

/* The number of layer il's sort among those met so far; a new sort is added, with il as its first layer. */
static uint16_t sort_of(const struct plim_llama *llama, same_layers *is_same, uint32_t *first, uint16_t *n, uint32_t il)
{
    uint16_t sort = 0;
    while (sort < *n && !is_same(llama, first[sort], il))
        sort++;
    if (sort == *n)
        first[(*n)++] = il;
    return sort;
}

static void find_kinds(struct plim_llama *llama)
{
    uint32_t first_of_kind[PLIM_MAX_LAYERS], first_of_types[PLIM_MAX_LAYERS];
    uint16_t n_kinds = 0, n_types = 0;
    for (uint32_t il = 0; il < llama->hp.n_layer_all; il++) {
        llama->layer[il].kind = sort_of(llama, same_kind, first_of_kind, &n_kinds, il);
        llama->layer[il].types = sort_of(llama, same_types, first_of_types, &n_types, il);
    }
}

/* --- */

static void find_sums(struct plim_llama *llama)
{
    const struct plim_tensor *embd = plim_llama_global_tensor(llama, PLIM_GLOBAL_TOKEN_EMBD, PLIM_WEIGHT);
    bool has_output = plim_llama_global_tensor(llama, PLIM_GLOBAL_OUTPUT, PLIM_WEIGHT) != NULL;
    llama->is_tied = embd && !has_output && !llama->hp.arch->no_output;
    for (size_t i = 0; llama->tensors && i < llama->n_tensors; i++) {
        if (llama->slot[i] < 0 && llama->slot[i] != PLIM_SLOT_UNUSED)
            llama->outside[llama->n_outside++] = (uint32_t)i;
        if (llama->slot[i] == PLIM_SLOT_OUTPUT)
            llama->output_device_bytes += plim_llama_device_bytes(&llama->tensors[i]);
        else if (llama->slot[i] == PLIM_SLOT_ROPE)
            llama->rope_device_bytes += plim_llama_device_bytes(&llama->tensors[i]);
    }
    if (llama->is_tied)
        llama->output_device_bytes += plim_llama_device_bytes(embd);
}

/* The memory of a product beside its operands is proportional to these (see overhead.c). */
static void find_widths(struct plim_llama *llama)
{
    for (size_t i = 0; i < llama->n_tensors; i++) {
        const struct plim_tensor *t = &llama->tensors[i];
        if (t->n_dims < 2 || llama->slot[i] == PLIM_SLOT_INPUT || llama->slot[i] == PLIM_SLOT_UNUSED)
            continue;
        const uint64_t n_times = llama->is_expert[i] ? llama->hp.n_expert_used : 1;
        if (plim_dtype_is_quantized(t->type))
            llama->quantized_width = plim_max_u64(llama->quantized_width, t->ne[0] * n_times);
        else
            llama->float_width = plim_max_u64(llama->float_width, (t->ne[0] + t->ne[1]) * n_times);
    }
}

struct plim_llama *plim_llama_free(struct plim_llama *llama)
{
    if (llama) {
        plim_free(llama->slot);
        plim_free(llama->is_expert);
        plim_free(llama->layer);
        plim_free(llama->outside);
        plim_free(llama);
    }
    return NULL;
}

/* An architecture that llama.cpp does not have (yet) is treated as a plain decoder, and never called exact. */
static const struct plim_arch *arch_of(const struct plim_model *model)
{
    static const struct plim_arch unknown = { .name = "unknown", .memory = PLIM_LLAMA_MEMORY_OTHER };
    const struct plim_arch *arch = plim_arch_find(plim_model_arch(model));
    return arch ? arch : &unknown;
}

static int refuse_step(const struct plim_model *model, struct plim_error *reterr)
{
    int code = plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET,
                         "llama.cpp reads GGUF files, and this is a recorded step of PyTorch");
    plim_error_hint(reterr, "--engine torch answers for it");
    plim_error_where(reterr, plim_model_path(model));
    return code;
}

int plim_llama_check_format(const struct plim_model *model, struct plim_error *reterr)
{
    if (plim_model_format(model) == PLIM_FORMAT_GGUF)
        return 0;
    if (plim_model_format(model) == PLIM_FORMAT_STEP)
        return refuse_step(model, reterr);
    int code = plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "llama.cpp reads GGUF files, and this is %s",
                         plim_model_format(model) == PLIM_FORMAT_HF_CONFIG ? "a config.json" : "safetensors");
    plim_error_hint(reterr, "convert the model with llama.cpp's convert_hf_to_gguf.py, or download a .gguf file of it");
    plim_error_where(reterr, plim_model_path(model));
    return code;
}

int plim_llama_new(const struct plim_model *model, const struct plim_epoch *epoch, struct plim_llama **ret_llama,
                   struct plim_error *reterr)
{
    struct plim_llama *llama = plim_alloc(1, sizeof *llama);
    if (!llama)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    llama->model = model;
    llama->epoch = epoch;
    llama->tensors = plim_model_tensors(model, &llama->n_tensors);
    int result = plim_hparams_read(model, arch_of(model), &llama->hp, reterr);
    if (result < 0) {
        plim_error_where(reterr, plim_model_path(model));
        plim_llama_free(llama);
        return result;
    }
    llama->slot = plim_alloc(llama->n_tensors, sizeof *llama->slot);
    llama->is_expert = plim_alloc(llama->n_tensors, sizeof *llama->is_expert);
    llama->layer = plim_alloc(llama->hp.n_layer_all, sizeof *llama->layer);
    llama->outside = plim_alloc(llama->n_tensors, sizeof *llama->outside);
    if (!llama->slot || !llama->is_expert || !llama->layer || !llama->outside) {
        plim_llama_free(llama);
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    }
    for (size_t i = 0; i < llama->n_tensors; i++)
        place_tensor(llama, i);
    share_tensors(llama);
    find_kinds(llama);
    plim_llama_memory_find(llama);
    find_sums(llama);
    find_widths(llama);
    *ret_llama = llama;
    return 0;
}
