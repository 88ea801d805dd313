/* SPDX-License-Identifier: MIT */
#include "engine/llamacpp/flags/values.h"

#include "base/text.h"
#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void *field_of(const struct plim_option *option, struct plim_arguments *arguments)
{
    return (char *)&arguments->setup + option->offset;
}

PLIM_TAKE(take_context)
{
    struct plim_llamacpp_setup *s = &arguments->setup.llamacpp;
    long n_ctx;
    int result = plim_option_integer(option, value, 0, 1L << 30, &n_ctx, reterr);
    if (result < 0)
        return result;
    s->n_ctx = (uint32_t)n_ctx;
    if (n_ctx == 0)
        s->fit_ctx = UINT32_MAX; /* named explicitly, the full context must not change */
    return 0;
}

PLIM_TAKE(take_slots)
{
    long n;
    int result = plim_option_integer(option, value, -1, 256, &n, reterr);
    if (result == 0)
        arguments->setup.llamacpp.n_parallel = n > 0 ? (uint32_t)n : 0;
    return result;
}

PLIM_TAKE(take_layers)
{
    int32_t *field = field_of(option, arguments);
    long n;
    if (!strcmp(value, "auto") || !strcmp(value, "all")) {
        *field = value[1] == 'u' ? PLIM_NGL_AUTO : PLIM_NGL_ALL;
        return 0;
    }
    int result = plim_option_integer(option, value, -2, 100000, &n, reterr);
    if (result == 0)
        *field = (int32_t)n;
    return result;
}

/* The types llama.cpp accepts for a cache (common/arg.cpp: kv_cache_types). */
PLIM_TAKE(take_cache_type)
{
    static const enum plim_dtype types[] = { PLIM_DTYPE_F32,    PLIM_DTYPE_F16,  PLIM_DTYPE_BF16,
                                             PLIM_DTYPE_Q8_0,   PLIM_DTYPE_Q4_0, PLIM_DTYPE_Q4_1,
                                             PLIM_DTYPE_IQ4_NL, PLIM_DTYPE_Q5_0, PLIM_DTYPE_Q5_1 };
    const enum plim_dtype type = plim_dtype_named(value);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (type == types[i] && !strcasecmp(value, plim_dtype_name(type))) { /* not by another program's name */
            *(enum plim_dtype *)field_of(option, arguments) = type;
            return 0;
        }
    return plim_option_refuse(option, value, "a cache type: f32 f16 bf16 q8_0 q5_1 q5_0 q4_1 q4_0 iq4_nl", reterr);
}

PLIM_TAKE(take_split)
{
    struct plim_llamacpp_setup *s = &arguments->setup.llamacpp;
    s->n_tensor_split = 0;
    for (const char *p = value; *p;) {
        const char *end;
        double part = plim_decimal(p, &end);
        if (end == p || !(part >= 0 && part < 1e9) || s->n_tensor_split == PLIM_MAX_DEVICES ||
            (*end && !strchr(",/", *end)))
            return plim_option_refuse(option, value, "a list of at most 16 shares, like 3,1", reterr);
        s->tensor_split[s->n_tensor_split++] = part;
        p = *end ? end + 1 : end;
    }
    return 0;
}

PLIM_TAKE(take_main_gpu)
{
    struct plim_llamacpp_setup *s = &arguments->setup.llamacpp;
    long n;
    int result = plim_option_integer(option, value, -1, PLIM_MAX_DEVICES - 1, &n, reterr);
    if (result < 0)
        return result;
    s->no_main_gpu = n < 0;
    s->main_gpu = n < 0 ? 0 : (uint32_t)n;
    return 0;
}

/* "CUDA0,CUDA1" or "none" */
PLIM_TAKE(take_devices)
{
    static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    struct plim_device_list list = { .is_given = true };
    const char *p = strcmp(value, "none") ? value : "";
    while (*p) {
        if (!strncmp(p, "RPC", strlen("RPC"))) { /* "RPC0", "RPC[host:port]": of another machine */
            arguments->setup.llamacpp.has_rpc = true;
            p += strcspn(p, ",");
            p += *p == ',' && p[1];
            continue;
        }
        const size_t letters = strspn(p, letter), digits = strspn(p + letters, "0123456789"), length = letters + digits;
        const unsigned long index = strtoul(p + letters, NULL, 10);
        const bool is_last = p[length] == '\0';
        if (!letters || !digits || digits > 3 || (!is_last && (p[length] != ',' || !p[length + 1])) ||
            list.n == PLIM_MAX_DEVICES)
            return plim_option_refuse(option, value, "a list of devices like CUDA0,CUDA1, or none", reterr);
        for (uint32_t i = 0; i < list.n; i++)
            if (list.index[i] == index)
                return plim_option_refuse(option, value, "a list that names each device once", reterr);
        list.index[list.n++] = (uint32_t)index;
        p += length + !is_last;
    }
    if (!*value)
        return plim_option_refuse(option, value, "a list of devices like CUDA0,CUDA1, or none", reterr);
    arguments->setup.llamacpp.devices = list;
    return 0;
}

PLIM_TAKE(take_rpc)
{
    (void)option;
    (void)reterr;
    arguments->setup.llamacpp.has_rpc = *value != '\0';
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
    if (!strncmp(name, "RPC", strlen("RPC")))
        return -1;
    if (!strcasecmp(name, "CPU") || !strcasecmp(name, "CUDA_Host"))
        *ret_device = -1;
    else if (sscanf(name, "%*[A-Za-z]%d%n", &device, &end) == 1 && !name[end] && device >= 0)
        *ret_device = device;
    else
        return -1;
    return 0;
}

/* "pattern=buffer,pattern=buffer": a pattern may hold commas, so a rule ends at a buffer that is followed by one. */
PLIM_TAKE(take_overrides)
{
    struct plim_llamacpp_setup *s = &arguments->setup.llamacpp;
    for (const char *p = value; *p;) {
        const size_t length = strcspn(p, ",");
        const char *equals = memchr(p, '=', length);
        int device;
        if (!equals || equals == p || s->n_overrides == PLIM_LLAMACPP_MAX_OVERRIDES ||
            take_buffer(equals + 1, (size_t)(p + length - equals - 1), &device) < 0) {
            int code = plim_option_refuse(option, p, "pattern=buffer", reterr);
            plim_error_hint(reterr, "like '\\.ffn_.*_exps=CPU' or 'blk\\.3\\.=CUDA1'; at most %d rules",
                            PLIM_LLAMACPP_MAX_OVERRIDES);
            return code;
        }
        s->override[s->n_overrides++] = (struct plim_override){ p, (uint32_t)(equals - p), device };
        p += length + (p[length] == ',');
    }
    return 0;
}

PLIM_TAKE(take_load_mode)
{
    if (plim_text_has_word("auto mmap mmap+mlock", value))
        arguments->setup.llamacpp.mmap = PLIM_ON;
    else if (plim_text_has_word("none mlock dio", value))
        arguments->setup.llamacpp.mmap = PLIM_OFF;
    else
        return plim_option_refuse(option, value, "auto, mmap, none, mlock, mmap+mlock or dio", reterr);
    return 0;
}

/* One value for all devices; further ones are for further devices. */
PLIM_TAKE(take_fit_target)
{
    char *end;
    const unsigned long long mib = strtoull(value, &end, 10);
    if (end == value || (*end && *end != ',') || mib > 1U << 20)
        return plim_option_refuse(option, value, "a number of MiB", reterr);
    arguments->setup.llamacpp.fit_target_bytes = mib * PLIM_MIB;
    return 0;
}

PLIM_TAKE(take_spec_type)
{
    (void)option, (void)reterr;
    arguments->setup.llamacpp.mtp = arguments->setup.llamacpp.mtp || strstr(value, "mtp") != NULL;
    return 0;
}
