/* SPDX-License-Identifier: MIT */
#include "trace/holders.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), n_end = strlen(end);
    return n >= n_end && strcmp(text + n - n_end, end) == 0;
}

/* PyTorch where it is installed; of a copy that was built in place its own parts: a project may be called torch, too.
 */
static bool is_pytorch(const char *file)
{
    static const char *const parts[] = {
        "nn/",      "optim/",       "autograd/",          "utils/",      "cuda/",    "_tensor.py",
        "_dynamo/", "_inductor/",   "_functorch/",        "_refs/",      "_ops.py",  "functional.py",
        "amp/",     "distributed/", "_compile.py",        "ao/",         "fx/",      "jit/",
        "library",  "_prims/",      "_higher_order_ops/", "__init__.py", "profiler/"
    };
    for (const char *at = file; (at = strstr(at, "torch/")); at++) {
        if (at != file && at[-1] != '/')
            continue;
        if (at - file >= 10 && !strncmp(at - 10, "-packages/", 10))
            return true;
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            if (!strncmp(at + 6, parts[i], strlen(parts[i])))
                return true;
    }
    return false;
}

/* Python's own library, as where copy.deepcopy() copies: a package lies in a folder of its own there. */
static bool is_library(const char *file)
{
    const char *at = strstr(file, "/lib/python3.");
    return at && !strstr(at, "-packages/");
}

/* A cell of a notebook and what is typed have a name in angle brackets; so has what PyTorch compiles, which is not own.
 */
static bool is_typed(const char *file)
{
    static const char *const names[] = { "<ipython-input-", "<stdin>", "<string>" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(file, names[i], strlen(names[i])))
            return true;
    return false;
}

static bool is_python(const char *file) { return ends_with(file, ".py") || is_typed(file); }
static bool is_own(const char *file) { return is_python(file) && !is_pytorch(file) && !is_library(file); }

/*
 * How much a frame of C++ says: a node of autograd and the operator that it runs tell where in the backward pass memory
 * is taken, the allocator and what walks the stack tell nothing.
 */
static unsigned weight_of(const char *name)
{
    static const char node[] = "torch::autograd::generated::", operator[] = "at::_ops::";
    static const char *const nothing[] = {
        "??", "torch::unwind", "torch::CapturedTraceback", "torch::cuda::", "c10::", "at::detail::", "at::TensorBase"
    };
    if (!strncmp(name, node, sizeof node - 1) && strstr(name, "::apply("))
        return 3;
    if (!strncmp(name, operator, sizeof operator- 1))
        return 2;
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
        if (!strncmp(name, nothing[i], strlen(nothing[i])))
            return 0;
    return 1;
}

/* Of a stack without Python, such as autograd's threads have. */
static uint32_t native_frame_of(const struct plim_memory_trace *trace, const struct plim_trace_stack *s)
{
    uint32_t best = trace->stack_frames[s->first];
    unsigned most = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const uint32_t frame = trace->stack_frames[s->first + i];
        const unsigned weight = weight_of(trace->text + trace->frames[frame].name);
        best = weight > most ? frame : best;
        most = weight > most ? weight : most;
    }
    return best;
}

bool plim_trace_frame_is_python(const struct plim_memory_trace *trace, uint32_t frame)
{
    return is_python(trace->text + trace->frames[frame].file);
}

uint32_t plim_trace_frame_of(const struct plim_memory_trace *trace, uint32_t stack)
{
    uint32_t python = PLIM_TRACE_NO_STACK;
    if (stack >= trace->n_stacks || !trace->stacks[stack].n)
        return PLIM_TRACE_NO_STACK;
    const struct plim_trace_stack *s = &trace->stacks[stack];
    for (uint32_t i = 0; i < s->n; i++) {
        const uint32_t frame = trace->stack_frames[s->first + i];
        const char *file = trace->text + trace->frames[frame].file;
        if (is_own(file))
            return frame;
        if (python == PLIM_TRACE_NO_STACK && ends_with(file, ".py"))
            python = frame;
    }
    return python != PLIM_TRACE_NO_STACK ? python : native_frame_of(trace, s);
}

uint32_t plim_trace_caller_of(const struct plim_memory_trace *trace, uint32_t stack)
{
    bool is_inside = true;
    if (stack >= trace->n_stacks)
        return PLIM_TRACE_NO_STACK;
    const struct plim_trace_stack *s = &trace->stacks[stack];
    for (uint32_t i = 0; i < s->n; i++) {
        const uint32_t frame = trace->stack_frames[s->first + i];
        if (!is_own(trace->text + trace->frames[frame].file))
            continue;
        if (!is_inside)
            return frame;
        is_inside = false;
    }
    return PLIM_TRACE_NO_STACK;
}

/* An allocation and its line: frames of one line are one, a snapshot writes a frame for each address of code. */
struct row {
    uint64_t line; /* the file and the number, or the function of C++; UINT64_MAX: no stack */
    struct plim_trace_site site;
};

static int by_line(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->line != y->line)
        return (x->line > y->line) - (x->line < y->line);
    return (x->site.frame > y->site.frame) - (x->site.frame < y->site.frame);
}

static int by_bytes(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return x->site.bytes != y->site.bytes ? (x->site.bytes < y->site.bytes) - (x->site.bytes > y->site.bytes)
                                          : by_line(a, b);
}

static size_t unite(struct row *rows, size_t n)
{
    size_t kept = 0;
    if (n > 1)
        qsort(rows, n, sizeof *rows, by_line);
    for (size_t i = 0; i < n; i++) {
        if (kept && rows[kept - 1].line == rows[i].line) {
            rows[kept - 1].site.bytes += rows[i].site.bytes;
            rows[kept - 1].site.n += rows[i].site.n;
        } else {
            rows[kept++] = rows[i];
        }
    }
    return kept;
}

static void summarize(struct row *rows, size_t n, struct plim_trace_holders *ret)
{
    if (!n)
        return;
    n = unite(rows, n);
    qsort(rows, n, sizeof *rows, by_bytes);
    for (size_t i = 0; i < n; i++) {
        ret->bytes += rows[i].site.bytes;
        ret->n += rows[i].site.n;
        if (i < PLIM_TRACE_MAX_SITES) {
            ret->sites[ret->n_sites++] = rows[i].site;
        } else {
            ret->rest_bytes += rows[i].site.bytes;
            ret->n_rest += rows[i].site.n;
            ret->n_rest_sites++;
        }
    }
}

/* Which ids are held before the event `at`; `entries` are the device's. A request that failed holds nothing. */
static void follow(const struct plim_trace_entry *entries, const struct plim_trace_requests *requests, size_t at,
                   bool *is_held)
{
    for (uint32_t id = 0; id < requests->n_before; id++)
        is_held[id] = true;
    for (size_t i = 0; i < at && i < requests->n_events; i++) {
        const struct plim_torch_event *event = &requests->events[i];
        if (event->kind == PLIM_TORCH_TAKE)
            is_held[event->id] = entries[requests->entry_of[i]].action != PLIM_TRACE_OOM;
        else if (event->kind == PLIM_TORCH_GIVE || event->kind == PLIM_TORCH_GIVE_LATER)
            is_held[event->id] = false;
    }
}

/* Functions of C++ are one by name: of a library without line numbers each address is a line. FNV-1a. */
static uint64_t function_of(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3;
    return hash >> 1 | (uint64_t)1 << 63;
}

static uint64_t line_of(const struct plim_memory_trace *trace, uint32_t frame)
{
    if (frame == PLIM_TRACE_NO_STACK)
        return UINT64_MAX;
    if (!plim_trace_frame_is_python(trace, frame))
        return function_of(trace->text + trace->frames[frame].name);
    return (uint64_t)trace->frames[frame].file << 32 | trace->frames[frame].line;
}

uint32_t plim_trace_stack_of(const struct plim_memory_trace *trace, size_t device,
                             const struct plim_trace_requests *requests, uint32_t id)
{
    const uint32_t by = requests->taken_by[id];
    if (id < requests->n_before)
        return by < trace->n_blocks ? trace->blocks[by].stack : PLIM_TRACE_NO_STACK;
    return trace->entries[trace->devices[device].first_entry + by].stack;
}

/* Allocations that are held before the event `at`, one row each; also the sums of those from before the recording. */
static struct row *list_rows(const struct plim_memory_trace *trace, size_t device,
                             const struct plim_trace_requests *requests, size_t at, size_t *ret_n,
                             struct plim_trace_holders *sums)
{
    bool *is_held = plim_alloc((size_t)requests->n_ids + 1, sizeof *is_held);
    size_t n = 0, n_entries;
    const struct plim_trace_entry *entries = plim_trace_history(trace, device, &n_entries);
    if (is_held)
        follow(entries, requests, at, is_held);
    for (uint32_t id = 0; is_held && id < requests->n_ids; id++)
        n += is_held[id];
    struct row *rows = is_held ? plim_alloc_unset(n + 1, sizeof *rows) : NULL;
    n = 0;
    for (uint32_t id = 0; rows && id < requests->n_ids; id++) {
        if (!is_held[id])
            continue;
        const uint32_t frame = plim_trace_frame_of(trace, plim_trace_stack_of(trace, device, requests, id));
        rows[n++] = (struct row){ line_of(trace, frame), { frame, requests->id_bytes[id], 1 } };
        if (id < requests->n_before) {
            sums->before_bytes += requests->id_bytes[id];
            sums->n_before++;
        }
    }
    plim_free(is_held);
    *ret_n = n;
    return rows;
}

int plim_trace_holders_find(const struct plim_memory_trace *trace, size_t device,
                            const struct plim_trace_requests *requests, size_t at,
                            struct plim_trace_holders *ret_holders, struct plim_error *reterr)
{
    size_t n;
    *ret_holders = (struct plim_trace_holders){ 0 };
    struct row *rows = list_rows(trace, device, requests, at, &n, ret_holders);
    if (!rows)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    summarize(rows, n, ret_holders);
    plim_free(rows);
    return 0;
}

int plim_trace_sites_find(const struct plim_memory_trace *trace, size_t device,
                          const struct plim_trace_requests *requests, size_t at, struct plim_trace_site **ret_sites,
                          size_t *ret_n, struct plim_error *reterr)
{
    struct plim_trace_holders sums = { 0 };
    size_t n;
    struct row *rows = list_rows(trace, device, requests, at, &n, &sums);
    struct plim_trace_site *sites = rows ? plim_alloc_unset(n + 1, sizeof *sites) : NULL;
    if (!sites) {
        plim_free(rows);
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    }
    n = unite(rows, n);
    for (size_t i = 0; i < n; i++)
        sites[i] = rows[i].site;
    plim_free(rows);
    *ret_sites = sites;
    *ret_n = n;
    return 0;
}
