/* SPDX-License-Identifier: MIT */
#include "emit/flags.h"

#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct plim_flag_info flags[PLIM_FLAG_MAX_] = {
#define INFO(id, names, negative, value, help) [PLIM_FLAG_##id] = { names, negative, value, help },
    PLIM_FLAGS(INFO)
#undef INFO
};

const struct plim_flag_info *plim_flag_info(enum plim_flag flag) { return &flags[flag]; }

bool plim_flag_is_in(const char *name, const char *list)
{
    const size_t n = strlen(name);
    while (list && *list) {
        size_t length = strcspn(list, " ");
        if (length == n && !memcmp(list, name, n))
            return true;
        list += length + strspn(list + length, " ");
    }
    return false;
}

/* llama.cpp takes underscores for hyphens in long names. */
static const char *with_hyphens(const char *name, char *buffer, size_t size)
{
    if (strncmp(name, "--", 2) || !strchr(name, '_') || strlen(name) >= size)
        return name;
    strcpy(buffer, name);
    for (char *p = buffer; *p; p++)
        *p = *p == '_' ? '-' : *p;
    return buffer;
}

enum plim_flag plim_flag_named(const char *name, bool *ret_on)
{
    char buffer[64];
    name = with_hyphens(name, buffer, sizeof buffer);
    for (int flag = PLIM_FLAG_NONE + 1; flag < PLIM_FLAG_MAX_; flag++) {
        *ret_on = plim_flag_is_in(name, flags[flag].names);
        if (*ret_on || plim_flag_is_in(name, flags[flag].negative))
            return (enum plim_flag)flag;
    }
    *ret_on = false;
    return PLIM_FLAG_NONE;
}

/* --- values --- */

static int bad_value(enum plim_flag flag, const char *value, const char *expected, struct plim_error *reterr)
{
    const char *names = flags[flag].names;
    return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "%.*s: '%.60s' is not %s", (int)strcspn(names, " "), names,
                     value, expected);
}

static int take_integer(enum plim_flag flag, const char *text, long min, long max, long *ret_value,
                        struct plim_error *reterr)
{
    char *end, expected[64];
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < min || value > max) {
        snprintf(expected, sizeof expected, "a number from %ld to %ld", min, max);
        return bad_value(flag, text, expected, reterr);
    }
    *ret_value = value;
    return 0;
}

static int take_u32(enum plim_flag flag, const char *text, long min, uint32_t *ret_value, struct plim_error *reterr)
{
    enum { MAX = 1 << 30 };
    long value;
    int result = take_integer(flag, text, min, MAX, &value, reterr);
    if (result == 0)
        *ret_value = (uint32_t)value;
    return result;
}

static int take_layers(enum plim_flag flag, const char *text, int32_t *ret_value, struct plim_error *reterr)
{
    long value;
    if (!strcmp(text, "auto") || !strcmp(text, "all")) {
        *ret_value = text[1] == 'u' ? PLIM_NGL_AUTO : PLIM_NGL_ALL;
        return 0;
    }
    int result = take_integer(flag, text, -2, 100000, &value, reterr);
    if (result == 0)
        *ret_value = (int32_t)value;
    return result;
}

/* The types llama.cpp accepts for a cache (common/arg.cpp: kv_cache_types). */
static int take_cache_type(enum plim_flag flag, const char *text, enum plim_dtype *ret_type, struct plim_error *reterr)
{
    static const enum plim_dtype types[] = { PLIM_DTYPE_F32,    PLIM_DTYPE_F16,  PLIM_DTYPE_BF16,
                                             PLIM_DTYPE_Q8_0,   PLIM_DTYPE_Q4_0, PLIM_DTYPE_Q4_1,
                                             PLIM_DTYPE_IQ4_NL, PLIM_DTYPE_Q5_0, PLIM_DTYPE_Q5_1 };
    enum plim_dtype type = plim_dtype_named(text);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (type == types[i] && !strcasecmp(text, plim_dtype_name(type))) { /* not by another program's name */
            *ret_type = type;
            return 0;
        }
    return bad_value(flag, text, "a cache type: f32 f16 bf16 q8_0 q5_1 q5_0 q4_1 q4_0 iq4_nl", reterr);
}

/* on, off and their synonyms; auto where it is allowed. */
static int take_switch(enum plim_flag flag, const char *text, bool has_auto, enum plim_switch *ret_value,
                       struct plim_error *reterr)
{
    if (plim_flag_is_in(text, "on 1 true enabled"))
        *ret_value = PLIM_ON;
    else if (plim_flag_is_in(text, "off 0 false disabled"))
        *ret_value = PLIM_OFF;
    else if (has_auto && plim_flag_is_in(text, "auto -1"))
        *ret_value = PLIM_UNSET;
    else
        return bad_value(flag, text, has_auto ? "on, off or auto" : "on or off", reterr);
    return 0;
}

static int take_split(const char *text, struct plim_setup *setup, struct plim_error *reterr)
{
    setup->n_tensor_split = 0;
    for (const char *p = text; *p;) {
        const char *end;
        double part = plim_decimal(p, &end);
        if (end == p || !(part >= 0 && part < 1e9) || setup->n_tensor_split == PLIM_SETUP_MAX_DEVICES ||
            (*end && !strchr(",/", *end)))
            return bad_value(PLIM_FLAG_TENSOR_SPLIT, text, "a list of at most 16 shares, like 3,1", reterr);
        setup->tensor_split[setup->n_tensor_split++] = part;
        p = *end ? end + 1 : end;
    }
    return 0;
}

static int take_split_mode(const char *text, struct plim_setup *setup, struct plim_error *reterr)
{
    static const char *const names[PLIM_SPLIT_MAX_] = { "layer", "none", "row", "tensor" };
    for (int i = 0; i < PLIM_SPLIT_MAX_; i++)
        if (!strcmp(text, names[i])) {
            setup->split_mode = (enum plim_split_mode)i;
            return 0;
        }
    return bad_value(PLIM_FLAG_SPLIT_MODE, text, "none, layer, row or tensor", reterr);
}

/* "CUDA0,CUDA1" or "none" */
static int take_devices(const char *text, struct plim_device_list *devices, struct plim_error *reterr)
{
    struct plim_device_list list = { .is_given = true };
    const char *p = strcmp(text, "none") ? text : "";
    while (*p) {
        size_t letters = strspn(p, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
        size_t digits = strspn(p + letters, "0123456789"), length = letters + digits;
        unsigned long index = strtoul(p + letters, NULL, 10);
        bool is_last = p[length] == '\0';
        if (!letters || !digits || digits > 3 || (!is_last && (p[length] != ',' || !p[length + 1])) ||
            list.n == PLIM_SETUP_MAX_DEVICES)
            return bad_value(PLIM_FLAG_DEVICE, text, "a list of devices like CUDA0,CUDA1, or none", reterr);
        for (uint32_t i = 0; i < list.n; i++)
            if (list.index[i] == index)
                return bad_value(PLIM_FLAG_DEVICE, text, "a list that names each device once", reterr);
        list.index[list.n++] = (uint32_t)index;
        p += length + !is_last;
    }
    if (!*text)
        return bad_value(PLIM_FLAG_DEVICE, text, "a list of devices like CUDA0,CUDA1, or none", reterr);
    *devices = list;
    return 0;
}

/* "CPU" and "CUDA_Host" are the host, "CUDA1" is the second GPU. */
static int take_buffer(const char *text, size_t length, int *ret_device)
{
    int device = -1, end = 0;
    char name[32];
    if (length >= sizeof name)
        return -1;
    memcpy(name, text, length);
    name[length] = '\0';
    if (!strcasecmp(name, "CPU") || !strcasecmp(name, "CUDA_Host"))
        *ret_device = -1;
    else if (sscanf(name, "%*[A-Za-z]%d%n", &device, &end) == 1 && !name[end] && device >= 0)
        *ret_device = device;
    else
        return -1;
    return 0;
}

/* "pattern=buffer,pattern=buffer": a pattern may hold commas, so a rule ends at a buffer that is followed by one. */
static int take_overrides(const char *text, struct plim_arguments *a, struct plim_error *reterr)
{
    for (const char *p = text; *p;) {
        size_t length = strcspn(p, ",");
        const char *equals = memchr(p, '=', length);
        struct plim_setup *setup = &a->setup;
        int device;
        if (!equals || equals == p || setup->n_overrides == PLIM_SETUP_MAX_OVERRIDES ||
            take_buffer(equals + 1, (size_t)(p + length - equals - 1), &device) < 0) {
            int code = bad_value(PLIM_FLAG_OVERRIDE_TENSOR, p, "pattern=buffer", reterr);
            plim_error_hint(reterr, "like '\\.ffn_.*_exps=CPU' or 'blk\\.3\\.=CUDA1'; at most %d rules",
                            PLIM_SETUP_MAX_OVERRIDES);
            return code;
        }
        char *pattern = plim_alloc((size_t)(equals - p) + 1, 1);
        if (!pattern)
            return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
        memcpy(pattern, p, (size_t)(equals - p));
        a->patterns[setup->n_overrides] = pattern;
        setup->override[setup->n_overrides++] = (struct plim_override){ pattern, device };
        p += length + (p[length] == ',');
    }
    return 0;
}

static int take_load_mode(const char *text, struct plim_setup *setup, struct plim_error *reterr)
{
    if (plim_flag_is_in(text, "auto mmap mmap+mlock"))
        setup->mmap = PLIM_ON;
    else if (plim_flag_is_in(text, "none mlock dio"))
        setup->mmap = PLIM_OFF;
    else
        return bad_value(PLIM_FLAG_LOAD_MODE, text, "auto, mmap, none, mlock, mmap+mlock or dio", reterr);
    return 0;
}

static int take_fit_target(const char *text, struct plim_setup *setup, struct plim_error *reterr)
{
    char *end;
    unsigned long long mib =
        strtoull(text, &end, 10); /* one value for all devices; further ones are for further devices */
    if (end == text || (*end && *end != ',') || mib > 1U << 20)
        return bad_value(PLIM_FLAG_FIT_TARGET, text, "a number of MiB", reterr);
    setup->fit_target_bytes = mib * PLIM_MIB;
    return 0;
}

static int take_lora(const char *text, struct plim_arguments *a, struct plim_error *reterr)
{
    if (a->n_loras == PLIM_SETUP_MAX_LORAS)
        return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "--lora: at most %d adapters", PLIM_SETUP_MAX_LORAS);
    a->lora[a->n_loras++] = text;
    return 0;
}

/* --- applying --- */

static enum plim_switch as_switch(bool on) { return on ? PLIM_ON : PLIM_OFF; }

static int apply_switch(enum plim_flag flag, bool on, struct plim_arguments *a)
{
    struct plim_setup *s = &a->setup;
    switch (flag) {
    case PLIM_FLAG_KV_OFFLOAD:
        s->kv_offload = as_switch(on);
        break;
    case PLIM_FLAG_KV_UNIFIED:
        s->kv_unified = as_switch(on);
        break;
    case PLIM_FLAG_SWA_FULL:
        s->swa_full = as_switch(on);
        break;
    case PLIM_FLAG_CPU_MOE:
        s->cpu_moe = true;
        break;
    case PLIM_FLAG_OP_OFFLOAD:
        s->op_offload = as_switch(on);
        break;
    case PLIM_FLAG_MMAP:
        s->mmap = as_switch(on);
        break;
    case PLIM_FLAG_MMPROJ_AUTO:
        a->no_mmproj = !on;
        break;
    case PLIM_FLAG_MMPROJ_OFFLOAD:
        s->mmproj_offload = as_switch(on);
        break;
    case PLIM_FLAG_MTP:
        s->mtp = on;
        break;
    default: /* EMBEDDINGS, RERANKING */
        s->embedding = PLIM_ON;
        break;
    }
    return 0;
}

static int apply_number(enum plim_flag flag, const char *value, struct plim_arguments *a, struct plim_error *reterr)
{
    struct plim_setup *s = &a->setup;
    long number;
    int result;
    switch (flag) {
    case PLIM_FLAG_CTX_SIZE:
        result = take_u32(flag, value, 0, &s->n_ctx, reterr);
        if (result == 0 && s->n_ctx == 0)
            s->fit_ctx = UINT32_MAX; /* asked for by name, the full context is not to be changed */
        return result;
    case PLIM_FLAG_BATCH:
        return take_u32(flag, value, 1, &s->n_batch, reterr);
    case PLIM_FLAG_UBATCH:
        return take_u32(flag, value, 1, &s->n_ubatch, reterr);
    case PLIM_FLAG_N_PARALLEL:
        result = take_integer(flag, value, -1, 256, &number, reterr);
        if (result == 0)
            s->n_parallel = number > 0 ? (uint32_t)number : 0;
        return result;
    case PLIM_FLAG_N_OUTPUTS_MAX:
        return take_u32(flag, value, 1, &s->n_outputs_max, reterr);
    case PLIM_FLAG_MAIN_GPU:
        result = take_integer(flag, value, -1, PLIM_SETUP_MAX_DEVICES - 1, &number, reterr);
        if (result == 0) {
            a->no_main_gpu = number < 0;
            s->main_gpu = number < 0 ? 0 : (uint32_t)number;
        }
        return result;
    case PLIM_FLAG_N_CPU_MOE:
        return take_u32(flag, value, 0, &s->n_cpu_moe, reterr);
    case PLIM_FLAG_N_CPU_FFN:
        return take_u32(flag, value, 0, &s->n_cpu_ffn, reterr);
    case PLIM_FLAG_SPEC_DRAFT_N_MAX:
        return take_u32(flag, value, 0, &s->n_draft, reterr);
    case PLIM_FLAG_FIT_CTX:
        return take_u32(flag, value, 1, &s->fit_ctx, reterr);
    default: /* CACHE_RAM */
        result = take_integer(flag, value, -1, 1 << 24, &number, reterr);
        if (result == 0)
            s->cache_ram_mib = (int32_t)number;
        return result;
    }
}

int plim_flag_apply(enum plim_flag flag, bool on, const char *value, struct plim_arguments *a,
                    struct plim_error *reterr)
{
    struct plim_setup *s = &a->setup;
    if (!flags[flag].value)
        return apply_switch(flag, on, a);
    switch (flag) {
    case PLIM_FLAG_MODEL:
        a->model = value;
        return 0;
    case PLIM_FLAG_MMPROJ:
        a->mmproj = value;
        return 0;
    case PLIM_FLAG_SPEC_DRAFT_MODEL:
        a->draft = value;
        return 0;
    case PLIM_FLAG_LORA:
    case PLIM_FLAG_LORA_SCALED:
        return take_lora(value, a, reterr);
    case PLIM_FLAG_N_GPU_LAYERS:
        return take_layers(flag, value, &s->n_gpu_layers, reterr);
    case PLIM_FLAG_N_GPU_LAYERS_DRAFT:
        return take_layers(flag, value, &s->n_gpu_layers_draft, reterr);
    case PLIM_FLAG_CACHE_TYPE_K:
        return take_cache_type(flag, value, &s->type_k, reterr);
    case PLIM_FLAG_CACHE_TYPE_V:
        return take_cache_type(flag, value, &s->type_v, reterr);
    case PLIM_FLAG_SPEC_DRAFT_CACHE_TYPE_K:
        return take_cache_type(flag, value, &s->type_k_draft, reterr);
    case PLIM_FLAG_SPEC_DRAFT_CACHE_TYPE_V:
        return take_cache_type(flag, value, &s->type_v_draft, reterr);
    case PLIM_FLAG_FLASH_ATTN:
        return take_switch(flag, value, true, &s->flash_attn, reterr);
    case PLIM_FLAG_FIT:
        return take_switch(flag, value, false, &s->fit, reterr);
    case PLIM_FLAG_TENSOR_SPLIT:
        return take_split(value, s, reterr);
    case PLIM_FLAG_SPLIT_MODE:
        return take_split_mode(value, s, reterr);
    case PLIM_FLAG_DEVICE:
        return take_devices(value, &a->devices, reterr);
    case PLIM_FLAG_OVERRIDE_TENSOR:
        return take_overrides(value, a, reterr);
    case PLIM_FLAG_LOAD_MODE:
        return take_load_mode(value, s, reterr);
    case PLIM_FLAG_FIT_TARGET:
        return take_fit_target(value, s, reterr);
    case PLIM_FLAG_SPEC_TYPE:
        s->mtp = s->mtp || strstr(value, "mtp") != NULL;
        return 0;
    default:
        return apply_number(flag, value, a, reterr);
    }
}

/* --- the environment --- */

static const char *const variables[PLIM_FLAG_MAX_] = {
#define NAME(id, names, negative, value, help) [PLIM_FLAG_##id] = #id,
    PLIM_FLAGS(NAME)
#undef NAME
};

int plim_flag_apply_variable(const char *name, const char *value, struct plim_arguments *a, struct plim_error *reterr)
{
    static const char prefix[] = "LLAMA_ARG_";
    if (strncmp(name, prefix, sizeof prefix - 1) || !*value)
        return 0;
    name += sizeof prefix - 1;
    for (int i = PLIM_FLAG_NONE + 1; i < PLIM_FLAG_MAX_; i++) {
        enum plim_flag flag = (enum plim_flag)i;
        enum plim_switch on = PLIM_ON;
        bool is_negative = *flags[i].negative && !strncmp(name, "NO_", 3) && !strcmp(name + 3, variables[i]);
        if (!is_negative && strcmp(name, variables[i]))
            continue;
        int result = 0;
        if (!flags[i].value && !is_negative)
            result = take_switch(flag, value, false, &on, reterr);
        if (result == 0 && (flags[i].value || *flags[i].negative || on == PLIM_ON))
            result = plim_flag_apply(flag, !is_negative && on == PLIM_ON, value, a, reterr);
        return result < 0 ? result : 1;
    }
    return 0;
}

/* --- */

void plim_arguments_init(struct plim_arguments *arguments)
{
    memset(arguments, 0, sizeof *arguments);
    plim_setup_init(&arguments->setup);
}

void plim_arguments_done(struct plim_arguments *arguments)
{
    for (uint32_t i = 0; i < arguments->setup.n_overrides; i++)
        plim_free(arguments->patterns[i]);
    arguments->setup.n_overrides = 0;
}
