/* SPDX-License-Identifier: MIT */
#include "vgpu/kernels/kernel.h"

#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/pytorch.h"
#include "vgpu/kernels/unknown.h"
#include "vgpu/values/policy.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct plim_meaning {
    struct plim_meaning *next;
    uint64_t hash;
    const struct plim_kernel_form *form; /* NULL: unknown */
    void *parsed;
    char *name;      /* mangled */
    char *demangled; /* NULL: as the name */
};

enum { N_BUCKETS = 4096 };
static struct plim_meaning *bucket[N_BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* --- the list of kernels that a program launched: PLIM_VGPU_KERNELS names a file --- */

/* One write() for each line, so that the processes of a rehearsal can share the file. */
static void list(const struct plim_meaning *meaning)
{
    char line[8192];
    const char *path = getenv("PLIM_VGPU_KERNELS");
    const int file = path && *path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (file < 0)
        return;
    const int size = snprintf(line, sizeof line, "%s\t%s\n", meaning->form ? meaning->form->name : "none",
                              meaning->demangled ? meaning->demangled : meaning->name);
    const size_t used = size < (int)sizeof line ? (size_t)size : sizeof line - 1;
    line[used - 1] = '\n';
    (void)!write(file, line, used);
    close(file);
}

/* --- what a name says --- */

/* The function is the form's, in whatever namespace the form's name leaves open. */
static bool is_of(const struct plim_kernel_form *form, struct plim_text function)
{
    const size_t size = strlen(form->name);
    const size_t before = size < function.size ? function.size - size : 0;
    return size <= function.size && memcmp(function.start + before, form->name, size) == 0 &&
           (before == 0 || function.start[before - 1] == ':');
}

static void understand(struct plim_meaning *meaning)
{
    const struct plim_text name = plim_text_of(meaning->demangled ? meaning->demangled : meaning->name);
    const struct plim_text function = plim_name_function(name);
    for (size_t i = 0; !plim_pytorch_is_old() && plim_kernel_forms[i] && !meaning->form; i++)
        if (is_of(plim_kernel_forms[i], function) && (meaning->parsed = plim_kernel_forms[i]->parse(name)))
            meaning->form = plim_kernel_forms[i];
    if (!meaning->form)
        meaning->parsed = plim_unknown_parse(name);
}

static uint64_t hash_of(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */
    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * 0x100000001b3;
    return hash;
}

static struct plim_meaning *make(const char *name, uint64_t hash)
{
    struct plim_meaning *meaning = calloc(1, sizeof *meaning);
    if (!meaning || !(meaning->name = strdup(name))) {
        free(meaning);
        return NULL;
    }
    meaning->hash = hash;
    meaning->demangled = plim_name_demangled(name);
    understand(meaning);
    list(meaning);
    return meaning;
}

const struct plim_meaning *plim_meaning_of(const char *name)
{
    const uint64_t hash = hash_of(name);
    pthread_mutex_lock(&lock);
    struct plim_meaning **head = &bucket[hash % N_BUCKETS], *meaning = *head;
    while (meaning && (meaning->hash != hash || strcmp(meaning->name, name) != 0))
        meaning = meaning->next;
    if (!meaning && (meaning = make(name, hash))) {
        meaning->next = *head;
        *head = meaning;
    }
    pthread_mutex_unlock(&lock);
    return meaning;
}

void plim_meaning_apply(const struct plim_meaning *meaning, void **parameters, const unsigned grid[3],
                        const unsigned block[3])
{
    struct plim_kernel_launch launch = { .parameters = parameters };
    if (!meaning || !parameters || plim_values_policy() == PLIM_VALUES_OFF)
        return;
    memcpy(launch.grid, grid, sizeof launch.grid);
    memcpy(launch.block, block, sizeof launch.block);
    if (meaning->form)
        meaning->form->run(meaning->parsed, &launch);
    else
        plim_unknown_run(meaning->parsed, &launch);
}

int plim_meaning_n_parameters(const struct plim_meaning *meaning)
{
    return meaning->demangled ? plim_unknown_n_parameters(plim_text_of(meaning->demangled)) : -1;
}

/*
 * CUDA C++ Programming Guide, "__global__ Function Parameters": 4 KiB, and 32,764 bytes since CUDA 12.1. PyTorch and
 * CUB keep to the former, but for the lists of tensors of torch._foreach_*.
 */
size_t plim_meaning_parameter_bytes(const struct plim_meaning *kernel)
{
    enum { USUAL = 4096, MOST = 32764 };
    return kernel->form == &plim_form_foreach || kernel->form == &plim_form_foreach_norm ? MOST : USUAL;
}
