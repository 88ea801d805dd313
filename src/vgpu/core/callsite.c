/* SPDX-License-Identifier: MIT */
/*
 * backtrace() walks the stack by the unwind tables that every library has; a stack is identified by the hash of its
 * return addresses, and only a new one is turned into text. Names come from the dynamic symbols (dladdr), demangled by
 * the program's C++ library if it has one.
 */
#include "vgpu/core/callsite.h"

#include "vgpu/core/python/python.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_FRAMES = 48, MAX_WRITTEN = 24, NAME_BYTES = 160, CACHE_PLACES = 1 << 13, MAX_TRIES = 8 };

/* The time that stacks may take: free_ns at once, later one part in `share` of the time since the first. */
static const uint64_t free_ns = 100000000, share = 32;

/* key -> site + 1. Written under `lock`, read without it: the key is stored last. */
static struct {
    _Atomic uint64_t key;
    _Atomic uint32_t site;
} cache[CACHE_PLACES];
static unsigned n_cached;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t first_ns, spent_ns;
static _Thread_local bool is_busy; /* the functions called below may allocate, too */

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Finalizer of SplitMix64 (Steele, Lea, Flood 2014). */
uint64_t plim_callsite_mixed(uint64_t hash, uint64_t value)
{
    uint64_t z = (hash ^ value) + 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static bool find_cached(uint64_t key, uint32_t *ret_site)
{
    for (unsigned i = 0; i < MAX_TRIES; i++) {
        const uint64_t at = (key + i) % CACHE_PLACES;
        const uint64_t found = atomic_load_explicit(&cache[at].key, memory_order_acquire);
        if (found == key) {
            *ret_site = atomic_load_explicit(&cache[at].site, memory_order_relaxed);
            return true;
        }
        if (!found)
            return false;
    }
    return false;
}

static void keep_cached(uint64_t key, uint32_t site)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < MAX_TRIES && n_cached < CACHE_PLACES / 4 * 3; i++) {
        const uint64_t at = (key + i) % CACHE_PLACES, found = atomic_load(&cache[at].key);
        if (found && found != key)
            continue;
        n_cached += !found;
        atomic_store_explicit(&cache[at].site, site, memory_order_relaxed);
        atomic_store_explicit(&cache[at].key, key, memory_order_release);
        break;
    }
    pthread_mutex_unlock(&lock);
}

/* --- text --- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The virtual libraries are all in one folder. */
static bool is_ours(const char *file)
{
    Dl_info here = { 0 };
    if (!dladdr((const void *)&lock, &here) || !here.dli_fname)
        return false;
    const size_t n = (size_t)(base_name(here.dli_fname) - here.dli_fname);
    return (size_t)(base_name(file) - file) == n && !strncmp(file, here.dli_fname, n);
}

/* From here on the frames are the interpreter's, which has a stack of its own. */
static bool is_python(const char *file)
{
    return !strncmp(base_name(file), "python", 6) || !strncmp(base_name(file), "libpython", 9);
}

/* Without template arguments and parameters. */
static void cut(char *name)
{
    int depth = 0;
    char *to = name;
    for (const char *from = name; *from; from++) {
        if (!strncmp(from, "(anonymous namespace)", 21)) {
            from += 20;
            to = stpcpy(to, "{}");
            continue;
        }
        if (!strncmp(from, "operator", 8) && depth == 0)
            break;
        if (*from == '(' && depth == 0)
            break;
        depth += *from == '<';
        if (depth == 0)
            *to++ = *from;
        depth -= *from == '>' && depth > 0;
    }
    *to = '\0';
}

/* From the C++ library that is already loaded, which need not be in the global scope. */
static void *find_demangler(void)
{
    void *function = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    void *library = function ? NULL : dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
    return library ? dlsym(library, "__cxa_demangle") : function;
}

static void function_name(const char *symbol, char name[NAME_BYTES])
{
    typedef char *demangle(const char *, char *, size_t *, int *);
    static _Atomic(void *) found;
    void *function = atomic_load(&found);
    int status = -1;
    if (!function && !strncmp(symbol, "_Z", 2) && (function = find_demangler()))
        atomic_store(&found, function);
    char *plain = NULL;
    if (function && !strncmp(symbol, "_Z", 2))
        plain = (*(demangle **)(void *)&function)(symbol, NULL, NULL, &status);
    snprintf(name, NAME_BYTES, "%s", plain && status == 0 ? plain : symbol);
    free(plain);
    cut(name);
}

void plim_callsite_text(void *const *frames, int n, char *ret_text, size_t most)
{
    size_t length = 0;
    int n_written = 0;
    ret_text[0] = '\0';
    for (int i = 0; i < n && n_written < MAX_WRITTEN; i++) {
        Dl_info info = { 0 };
        char name[NAME_BYTES], line[2 * NAME_BYTES];
        const char *address = (const char *)frames[i] - 1; /* inside the call, not after it */
        if (!dladdr(address, &info) || !info.dli_fname || is_ours(info.dli_fname))
            continue;
        if (is_python(info.dli_fname))
            break;
        if (info.dli_sname)
            function_name(info.dli_sname, name);
        else
            snprintf(name, sizeof name, "+0x%tx", address - (const char *)info.dli_fbase);
        int size = snprintf(line, sizeof line, "%.80s %.*s\n", base_name(info.dli_fname), NAME_BYTES, name);
        if (size < 0 || length + (size_t)size >= most)
            break;
        memcpy(ret_text + length, line, (size_t)size + 1);
        length += (size_t)size;
        n_written++;
    }
}

/* --- capture --- */

/* FNV-1a over the text: equal in all processes, unlike addresses. */
static uint64_t hash_of_words(const struct plim_ledger_stack *stack, uint32_t device, enum plim_ledger_kind kind)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (const char *p = stack->native; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 0x100000001b3;
    for (const char *p = stack->python; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 0x100000001b3;
    hash = plim_callsite_mixed(hash, (uint64_t)device << 8 | kind);
    return hash + !hash;
}

int plim_callsite_frames(void **ret_frames, int most) { return backtrace(ret_frames, most); }

static uint32_t capture(struct plim_ledger *ledger, uint32_t device, enum plim_ledger_kind kind)
{
    void *frames[MAX_FRAMES];
    char python[PLIM_LEDGER_STACK_BYTES];
    uint32_t number;
    const int n = backtrace(frames, MAX_FRAMES);
    uint64_t hash = plim_callsite_mixed(device, kind);
    for (int i = 0; i < n; i++)
        hash = plim_callsite_mixed(hash, (uint64_t)(uintptr_t)frames[i]);
    plim_python_stack(python, sizeof python);
    for (const char *p = python; *p; p++)
        hash = plim_callsite_mixed(hash, (unsigned char)*p);
    hash += !hash;
    if (find_cached(hash, &number))
        return number;
    struct plim_ledger_stack *stack = calloc(1, sizeof *stack);
    if (!stack)
        return 0;
    plim_callsite_text(frames, n, stack->native, sizeof stack->native);
    memcpy(stack->python, python, sizeof python);
    number = plim_ledger_site(ledger, device, kind, hash_of_words(stack, device, kind), stack);
    free(stack);
    keep_cached(hash, number);
    return number;
}

uint32_t plim_callsite_here(struct plim_ledger *ledger, uint32_t device, enum plim_ledger_kind kind)
{
    uint64_t zero = 0;
    uint32_t number = 0;
    if (is_busy)
        return 0;
    const uint64_t start = clock_ns();
    const uint64_t place =
        plim_callsite_mixed(plim_callsite_mixed((uint64_t)(uintptr_t)__builtin_frame_address(0), device << 8 | kind),
                            (uint64_t)(uintptr_t)__builtin_return_address(0));
    atomic_compare_exchange_strong(&first_ns, &zero, start);
    const uint64_t allowed_ns = free_ns + (start - atomic_load_explicit(&first_ns, memory_order_relaxed)) / share;
    if (atomic_load_explicit(&spent_ns, memory_order_relaxed) > allowed_ns && find_cached(place, &number))
        return number;
    is_busy = true;
    number = capture(ledger, device, kind);
    is_busy = false;
    keep_cached(place, number);
    atomic_fetch_add_explicit(&spent_ns, clock_ns() - start, memory_order_relaxed);
    return number;
}
