/* SPDX-License-Identifier: MIT */
#include "vgpu/kernels/unknown.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/*
 * The parameters of a kernel, from its signature: the last brackets of a demangled name. A pointer to const is read,
 * any other may be written through. Of a structure that is not known by name every word that is an address may be
 * written through, or not: what is there is kept, and no longer known.
 */

enum { MAX_PARAMETERS = 64 };
enum kind {
    SCALAR,
    READ,
    WRITTEN,
    TABLE,    /* an array of addresses that are written through */
    OUTPUTS,  /* a structure of addresses, the first of which is written through (std::array<char*, N> of PyTorch) */
    STRUCTURE /* words, of which some may be addresses */
};

struct parameter {
    uint8_t kind;
    uint16_t bytes; /* of a structure; 0: nobody knows */
};

struct signature {
    unsigned n;
    bool is_told; /* the name has a signature */
    struct parameter parameter[MAX_PARAMETERS];
};

static bool ends(struct plim_text text, const char *end)
{
    const size_t size = strlen(end);
    return text.size >= size && memcmp(text.start + text.size - size, end, size) == 0;
}

/* TensorInfo<T, ...>, PackedTensorAccessor<T, ...>: the data pointer comes first, and T says whether it is written. */
static bool is_accessor(struct plim_text type, bool *ret_is_read)
{
    struct plim_text arguments, argument;
    if (!plim_name_template(type, "TensorInfo", &arguments) &&
        !plim_name_template(type, "PackedTensorAccessor", &arguments))
        return false;
    *ret_is_read = false;
    for (unsigned i = 0; i < 3 && plim_name_argument(arguments, i, &argument); i++)
        *ret_is_read = *ret_is_read || ends(argument, " const");
    return true;
}

static struct parameter parameter_of(struct plim_text type)
{
    struct plim_text arguments, argument;
    bool is_read;
    if (ends(type, "**"))
        return (struct parameter){ plim_text_has(type, "const*") ? READ : TABLE, 0 };
    if (ends(type, "*"))
        return (struct parameter){ plim_text_has(type, "const*") ? READ : WRITTEN, 0 };
    if (ends(type, "&") || plim_name_element(type) != PLIM_ELEMENT_NONE) /* a reference is an address on the host */
        return (struct parameter){ SCALAR, 0 };
    if (is_accessor(type, &is_read))
        return (struct parameter){ is_read ? READ : WRITTEN, 0 };
    if (plim_text_starts(type, "std::array<char*,") && plim_name_template(type, "std::array", &arguments) &&
        plim_name_argument(arguments, 1, &argument) && plim_name_number(argument) > 0)
        return (struct parameter){ OUTPUTS, (uint16_t)(8 * plim_name_number(argument)) };
    return (struct parameter){ STRUCTURE, 0 };
}

int plim_unknown_n_parameters(struct plim_text name)
{
    const struct plim_text parameters = plim_name_parameters(name);
    struct plim_text type;
    int n = 0;
    if (!plim_text_has(name, ")"))
        return -1;
    while (n <= MAX_PARAMETERS && plim_name_argument(parameters, (unsigned)n, &type) && type.size > 0)
        n++;
    return n;
}

void *plim_unknown_parse(struct plim_text name)
{
    struct signature *signature = calloc(1, sizeof *signature);
    const struct plim_text parameters = plim_name_parameters(name);
    struct plim_text type;
    if (!signature)
        return NULL;
    signature->is_told = plim_text_has(name, ")");
    for (unsigned i = 0; i < MAX_PARAMETERS && plim_name_argument(parameters, i, &type) && type.size > 0; i++)
        signature->parameter[signature->n++] = parameter_of(type);
    return signature;
}

/* --- a launch --- */

enum { MAX_STRUCTURE_BYTES = 1024, MAX_TABLE = 4096, PAGE = 4096 };

/*
 * The bytes that can be read from here on: to the end of the stack, or of the page. The program wrote the structure,
 * but not what is behind it.
 */
static size_t readable(const char *from)
{
    static _Thread_local char *stack;
    static _Thread_local size_t stack_bytes;
    pthread_attr_t attributes;
    void *start;
    if (!stack && pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &start, &stack_bytes) == 0)
            stack = start;
        pthread_attr_destroy(&attributes);
    }
    if (stack && from >= stack && from < stack + stack_bytes)
        return (size_t)(stack + stack_bytes - from);
    return PAGE - (uintptr_t)from % PAGE;
}

/* The size of a structure: as its type says, or not beyond the next parameter in memory. */
static size_t bytes_of(const struct plim_kernel_launch *launch, unsigned i, unsigned n, unsigned told)
{
    const char *own = launch->parameters[i];
    if (told)
        return told;
    size_t most = readable(own);
    most = most < MAX_STRUCTURE_BYTES ? most : MAX_STRUCTURE_BYTES;
    for (unsigned k = 0; k < n; k++) {
        const char *other = launch->parameters[k];
        if (other > own && (size_t)(other - own) < most)
            most = (size_t)(other - own);
    }
    return most;
}

/*
 * What a launch may write to from a pointer on, if each of its threads writes 16 bytes: the result may lie over several
 * pieces that were written before.
 */
static size_t reach_of(const struct plim_kernel_launch *launch)
{
    enum { BYTES_OF_A_THREAD = 16, MOST_BYTES = 1 << 28 };
    uint64_t n = BYTES_OF_A_THREAD;
    for (unsigned i = 0; i < 3; i++)
        if (__builtin_mul_overflow(n, (uint64_t)launch->grid[i] * launch->block[i], &n) || n > MOST_BYTES)
            return MOST_BYTES;
    return (size_t)n;
}

static void doubt_words(const char *structure, size_t bytes, size_t reach)
{
    for (size_t at = 0; at + sizeof(void *) <= bytes; at += sizeof(void *)) {
        const void *word;
        memcpy(&word, structure + at, sizeof word);
        if (plim_view_is_memory(word)) {
            plim_shadow_doubt(word);
            plim_shadow_doubt_range(word, reach);
        }
    }
}

/* The addresses in a table, as far as they are known. */
static void lose_table(const void *table)
{
    const char *entry = table;
    for (unsigned i = 0; i < MAX_TABLE && plim_view_is_memory(entry); i++, entry += sizeof(void *)) {
        const void *address = NULL;
        if (plim_shadow_read(&address, entry, sizeof address) == PLIM_SHADOW_UNKNOWN || !plim_view_is_memory(address))
            return;
        plim_shadow_lose(address);
    }
}

/* A pointer, which stands at the beginning of an accessor or of an array, too. */
static void lose_at(const struct plim_kernel_launch *launch, unsigned i, bool is_table)
{
    const void *pointer;
    memcpy(&pointer, launch->parameters[i], sizeof pointer);
    if (is_table) {
        lose_table(pointer);
    } else if (plim_view_is_memory(pointer)) {
        plim_shadow_lose(pointer);
        plim_shadow_doubt_range(pointer, reach_of(launch));
    }
}

void plim_meaning_lose(const uintptr_t *words, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const void *address = (const void *)words[i];
        lose_table(address);
        if (plim_view_is_memory(address))
            plim_shadow_lose(address);
    }
}

void plim_unknown_run(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct signature *signature = parsed;
    if (!signature || !signature->is_told) { /* of C, or nobody in this process reads names of C++ */
        plim_shadow_doubt_all();
        return;
    }
    for (unsigned i = 0; i < signature->n; i++) {
        const struct parameter parameter = signature->parameter[i];
        if (parameter.kind == STRUCTURE || parameter.kind == OUTPUTS)
            doubt_words(launch->parameters[i], bytes_of(launch, i, signature->n, parameter.bytes), reach_of(launch));
        if (parameter.kind == WRITTEN || parameter.kind == OUTPUTS || parameter.kind == TABLE)
            lose_at(launch, i, parameter.kind == TABLE);
    }
}
