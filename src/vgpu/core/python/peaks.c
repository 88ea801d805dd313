/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's own account of its memory: the peaks of torch.cuda.memory_stats() (DeviceStats of
 * c10/core/CachingDeviceAllocator.h). A peak only grows until the program resets it, so it is
 * noted before each reset, after each step of an optimizer and when Python ends (atexit). To see a reset, the two
 * functions of torch._C that make one are replaced by functions that note the peaks and call them. A peak that has
 * fallen was reset in another way: then what is known is a lower bound.
 *
 * Everything here runs in the interpreter, under its lock.
 */
#include "vgpu/core/python/python.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

typedef struct plim_python_object object;

enum { METH_VARARGS = 1, METH_O = 8 };

static struct plim_ledger *ledger_here;
static const int *card_of; /* the ledger's card behind a device number of this process */
static int n_devices;
static struct plim_ledger_process *process_here;
static int pid_here; /* a child that was forked is another process: it may not ask, a lock may be held for ever */

/* What PyTorch said last, by its device numbers. */
static struct peaks {
    uint64_t allocated_bytes, active_bytes, reserved_bytes;
} last[PLIM_LEDGER_MAX_CARDS];

/* --- asking --- */

static object *module_named(const char *name)
{
    object *modules = plim_python.modules();
    return modules ? plim_python.item(modules, name) : NULL;
}

/* Whether torch.cuda is; before that, PyTorch has taken no memory, and torch._C raises an error when it is asked. */
static bool has_cuda(void)
{
    object *module = module_named("torch.cuda");
    object *value = module ? plim_python.attribute(module, "_initialized") : NULL;
    const bool is_true = value && plim_python.is_true(value) > 0;
    plim_python_done_with(value);
    return is_true;
}

/* stats[name]["all"][metric] */
static bool read_number(object *stats, const char *name, const char *metric, uint64_t *ret_number)
{
    object *of_pools = plim_python.item(stats, name);
    object *all = of_pools ? plim_python.item(of_pools, "all") : NULL;
    object *value = all ? plim_python.item(all, metric) : NULL;
    *ret_number = value ? plim_python.number(value) : 0;
    const bool is_known = value && !plim_python.error();
    plim_python.clear();
    return is_known;
}

/* NULL: this allocator keeps no account, or has none yet. */
static object *stats_of(int device)
{
    object *module = module_named("torch._C");
    object *ask = module ? plim_python.attribute(module, "_cuda_memoryStats") : NULL;
    object *number = ask ? plim_python.build("i", device) : NULL;
    object *stats = number ? plim_python.call(ask, number, NULL) : NULL;
    plim_python.clear();
    if (number)
        plim_python.release(number);
    if (ask)
        plim_python.release(ask);
    return stats;
}

/* With cudaMallocAsync PyTorch asks the device, which would make a context where there is none. */
static bool has_context(int card)
{
    plim_ledger_lock(ledger_here);
    const bool is_used = process_here->used_bytes[card] != 0;
    plim_ledger_unlock(ledger_here);
    return is_used;
}

/* --- noting --- */

static void miss(void) { atomic_store(&process_here->has_missed_peaks, 1); }

static void raise_to(_Atomic uint64_t *most, uint64_t bytes)
{
    if (bytes > atomic_load(most)) /* nobody else writes: the interpreter's lock is held */
        atomic_store(most, bytes);
}

static void note(int card, const struct peaks *peaks, struct peaks *before)
{
    struct plim_ledger_pytorch *most = &process_here->pytorch[card];
    if (peaks->allocated_bytes < before->allocated_bytes || peaks->active_bytes < before->active_bytes ||
        peaks->reserved_bytes < before->reserved_bytes)
        miss();
    *before = *peaks;
    raise_to(&most->allocated_bytes, peaks->allocated_bytes);
    raise_to(&most->active_bytes, peaks->active_bytes);
    raise_to(&most->reserved_bytes, peaks->reserved_bytes);
}

static void note_device(int device, int card)
{
    struct peaks peaks;
    object *stats = has_context(card) ? stats_of(device) : NULL;
    if (stats && read_number(stats, "allocated_bytes", "peak", &peaks.allocated_bytes) &&
        read_number(stats, "active_bytes", "peak", &peaks.active_bytes) &&
        read_number(stats, "reserved_bytes", "peak", &peaks.reserved_bytes))
        note(card, &peaks, &last[device]);
    else if (stats || last[device].reserved_bytes)
        miss();
    if (stats)
        plim_python.release(stats);
}

void plim_python_note_peaks(void)
{
    if (!process_here || getpid() != pid_here || plim_python.error() || !has_cuda())
        return;
    for (int device = 0; device < n_devices; device++)
        note_device(device, card_of[device]);
}

/* --- when to note --- */

static object *at_exit(object *self, object *arguments)
{
    (void)self, (void)arguments;
    plim_python_let_threads_end();
    plim_python_note_peaks();
    if (getpid() == pid_here)
        atomic_store(&process_here->has_last_peaks, 1);
    return plim_python.build("");
}

static object *original_cuda, *original_accelerator;

static object *before_reset(object *original, object *argument)
{
    plim_python_note_peaks();
    memset(last, 0, sizeof last);
    return plim_python.call(original, argument, NULL);
}

static object *reset_cuda(object *self, object *argument)
{
    (void)self;
    return before_reset(original_cuda, argument);
}

static object *reset_accelerator(object *self, object *argument)
{
    (void)self;
    return before_reset(original_accelerator, argument);
}

/* In the module, a function of the same name stands for the one that was there. False: it was there and stays. */
static bool replace(object *module, struct plim_python_method *method, object **ret_original)
{
    object *name = plim_python.build("s", "torch._C");
    *ret_original = plim_python.attribute(module, method->name);
    if (!*ret_original)
        plim_python.clear(); /* PyTorch before 2.9 has no torch.accelerator.reset_peak_memory_stats() */
    object *function = *ret_original && name ? plim_python.function(method, module, name) : NULL;
    const bool is_done = !*ret_original || (function && plim_python.set_attribute(module, method->name, function) == 0);
    plim_python.clear();
    if (function)
        plim_python.release(function);
    if (name)
        plim_python.release(name);
    return is_done;
}

static bool call_at_exit(void)
{
    static struct plim_python_method method = { "plimsoll_peaks", at_exit, METH_VARARGS, NULL };
    object *module = plim_python.import("atexit");
    object *function = module ? plim_python.function(&method, NULL, NULL) : NULL;
    object *result = function ? plim_python.call_method(module, "register", "O", function) : NULL;
    plim_python.clear();
    if (function)
        plim_python.release(function);
    if (module)
        plim_python.release(module);
    if (!result)
        return false;
    plim_python.release(result);
    return true;
}

/* What was freed before anyone looked may have been a peak that was reset. */
static bool has_freed(void)
{
    bool is_freed = false;
    for (int device = 0; has_cuda() && device < n_devices; device++) {
        uint64_t freed_bytes = 0;
        object *stats = has_context(card_of[device]) ? stats_of(device) : NULL;
        is_freed = is_freed || (stats && read_number(stats, "allocated_bytes", "freed", &freed_bytes) && freed_bytes);
        if (stats)
            plim_python.release(stats);
    }
    return is_freed;
}

void plim_python_set_cards(struct plim_ledger *ledger, const int *cards, int n_cards)
{
    ledger_here = ledger;
    card_of = cards;
    n_devices = n_cards;
}

bool plim_python_register_peaks(struct plim_ledger_process *process)
{
    static struct plim_python_method cuda = { "_cuda_resetPeakMemoryStats", reset_cuda, METH_O, NULL },
                                     accelerator = { "_accelerator_resetPeakStats", reset_accelerator, METH_O, NULL };
    object *module = module_named("torch._C");
    object *ask = module ? plim_python.attribute(module, "_cuda_memoryStats") : NULL;
    plim_python_done_with(ask);
    if (!ask)
        return false;
    process_here = process;
    pid_here = (int)getpid();
    atomic_store(&process->has_pytorch, 1);
    const bool is_cuda_seen = replace(module, &cuda, &original_cuda);
    const bool is_accelerator_seen = replace(module, &accelerator, &original_accelerator);
    if (!call_at_exit() || !is_cuda_seen || !is_accelerator_seen || has_freed())
        miss();
    return true;
}
