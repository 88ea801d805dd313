/* SPDX-License-Identifier: MIT */
/*
 * The stack of a Python program and its optimizer steps, through documented interfaces of Python and PyTorch.
 *
 * PyTorch releases the interpreter's lock before it allocates. Waiting for it here could deadlock: its holder may want
 * the allocator's lock that we were called under. Python's own answer to that is faulthandler: it writes the stack of a
 * thread from a signal handler, without the lock and without touching an object. So a signal that the program does not
 * use is given to faulthandler.register(), and a thread that allocates sends it to itself.
 *
 * Python code is only run where Python wants it to be: in a pending call (Py_AddPendingCall). There PyTorch is given a
 * hook that counts optimizer steps (torch.optim.optimizer.register_optimizer_step_post_hook), if the launcher waits
 * for steps.
 */
#include "vgpu/core/callsite.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_DUMP = 32 << 10, MAX_FRAMES = 32, MAX_OPTIMIZERS = 256, METH_VARARGS = 1 };

/* Objects are opaque. */
typedef struct object object;
struct method {
    const char *name;
    object *(*function)(object *, object *);
    int flags;
    const char *doc;
};

/* All of them are in Python's stable ABI. */
static struct {
    int (*is_initialized)(void);
    int (*add_pending_call)(int (*)(void *), void *);
    object *(*import)(const char *);
    object *(*modules)(void);
    object *(*item)(object *, const char *);
    object *(*attribute)(object *, const char *);
    object *(*call)(object *, ...);
    object *(*call_method)(object *, const char *, const char *, ...);
    object *(*build)(const char *, ...);
    object *(*function)(struct method *, object *, object *);
    object *(*tuple_item)(object *, ssize_t);
    object *(*error)(void);
    void (*clear)(void);
    void (*release)(object *);
} python;

static struct {
    struct plim_ledger *ledger;
    struct plim_ledger_process *process;
    int fd, signal;
    dev_t device;
    ino_t inode;
    struct sigaction action; /* faulthandler's */
} watch;

enum { UNKNOWN, ABSENT, PRESENT };
static atomic_int presence, is_called, has_stack, has_steps;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool find_symbols(void)
{
    const struct {
        void *to;
        const char *name;
    } symbols[] = {
        { &python.is_initialized, "Py_IsInitialized" },
        { &python.add_pending_call, "Py_AddPendingCall" },
        { &python.import, "PyImport_ImportModule" },
        { &python.modules, "PyImport_GetModuleDict" },
        { &python.item, "PyDict_GetItemString" },
        { &python.attribute, "PyObject_GetAttrString" },
        { &python.call, "PyObject_CallFunctionObjArgs" },
        { &python.call_method, "PyObject_CallMethod" },
        { &python.build, "Py_BuildValue" },
        { &python.function, "PyCFunction_NewEx" },
        { &python.tuple_item, "PyTuple_GetItem" },
        { &python.error, "PyErr_Occurred" },
        { &python.clear, "PyErr_Clear" },
        { &python.release, "Py_DecRef" },
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *found = dlsym(RTLD_DEFAULT, symbols[i].name);
        if (!found)
            return false;
        memcpy(symbols[i].to, &found, sizeof found);
    }
    return true;
}

/* --- in the interpreter --- */

static void done_with(object *value)
{
    if (value)
        python.release(value);
    else
        python.clear();
}

/* Real-time signals have no fixed use; take one without a handler. */
static int free_signal(void)
{
    for (int number = SIGRTMAX - 1; number > SIGRTMIN + 4; number--) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) == 0 && !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_DFL)
            return number;
    }
    return 0;
}

static bool make_file(void)
{
    struct stat status;
    watch.fd = memfd_create("plimsoll-stack", MFD_CLOEXEC);
    if (watch.fd < 0 || fstat(watch.fd, &status) < 0)
        return false;
    watch.device = status.st_dev;
    watch.inode = status.st_ino;
    return true;
}

static void register_stack(void)
{
    watch.signal = free_signal();
    if (!watch.signal || !make_file())
        return;
    object *module = python.import("faulthandler");
    object *result =
        module ? python.call_method(module, "register", "iiii", watch.signal, watch.fd, /* all_threads */ 0, 0) : NULL;
    done_with(result);
    if (result && sigaction(watch.signal, NULL, &watch.action) == 0)
        atomic_store_explicit(&has_stack, 1, memory_order_release);
    else
        close(watch.fd);
    if (module)
        python.release(module);
}

/* A program may have several optimizers, even one per parameter: the one with the most steps counts. */
static object *stepped(object *self, object *arguments)
{
    static struct {
        const void *optimizer;
        uint64_t n;
    } steps[MAX_OPTIMIZERS]; /* guarded by the interpreter's lock */
    const object *optimizer = python.tuple_item(arguments, 0);
    (void)self;
    if (!optimizer)
        python.clear();
    for (size_t i = 0; optimizer && i < MAX_OPTIMIZERS; i++) {
        if (steps[i].optimizer && steps[i].optimizer != optimizer)
            continue;
        steps[i].optimizer = optimizer;
        steps[i].n++;
        if (steps[i].n > atomic_load(&watch.process->n_optimizer_steps))
            atomic_store(&watch.process->n_optimizer_steps, steps[i].n);
        break;
    }
    return python.build("");
}

static void register_steps(void)
{
    static struct method method = { "plimsoll_step", stepped, METH_VARARGS, NULL };
    object *modules = python.modules(), *module = modules ? python.item(modules, "torch.optim.optimizer") : NULL;
    if (!module)
        return; /* too early, or a different program */
    object *add = python.attribute(module, "register_optimizer_step_post_hook");
    object *hook = add ? python.function(&method, NULL, NULL) : NULL;
    object *result = hook ? python.call(add, hook, NULL) : NULL;
    done_with(result);
    if (result) {
        atomic_store(&watch.process->has_optimizers, 1);
        atomic_store(&has_steps, 1);
    }
    if (hook)
        python.release(hook);
    if (add)
        python.release(add);
}

static int in_interpreter(void *unused)
{
    static bool is_tried;
    (void)unused;
    if (!python.error()) { /* otherwise later: a pending exception must not be lost */
        if (!is_tried)
            register_stack();
        is_tried = true;
        if (watch.ledger->wants_steps && !atomic_load(&has_steps))
            register_steps();
    }
    atomic_store(&is_called, 0);
    return 0;
}

void plim_python_watch(struct plim_ledger *ledger, struct plim_ledger_process *process)
{
    int expected = UNKNOWN;
    if (atomic_load_explicit(&presence, memory_order_acquire) == UNKNOWN) {
        pthread_mutex_lock(&lock);
        if (atomic_load(&presence) == expected) {
            watch.ledger = ledger;
            watch.process = process;
            atomic_store_explicit(&presence, find_symbols() ? PRESENT : ABSENT, memory_order_release);
        }
        pthread_mutex_unlock(&lock);
    }
    const bool is_ready = atomic_load_explicit(&has_stack, memory_order_relaxed) &&
                          (!ledger->wants_steps || atomic_load_explicit(&has_steps, memory_order_relaxed));
    if (is_ready || atomic_load_explicit(&presence, memory_order_relaxed) != PRESENT || !python.is_initialized())
        return;
    expected = 0;
    if (atomic_compare_exchange_strong(&is_called, &expected, 1) && python.add_pending_call(in_interpreter, NULL) < 0)
        atomic_store(&is_called, 0);
}

/* --- reading a stack --- */

/* The file and the signal are still ours. */
static bool is_still_ours(void)
{
    struct sigaction action;
    struct stat status;
    return fstat(watch.fd, &status) == 0 && status.st_dev == watch.device && status.st_ino == watch.inode &&
           sigaction(watch.signal, NULL, &action) == 0 && action.sa_handler == watch.action.sa_handler;
}

/* The handler runs before this returns, in this thread. */
static bool dump(void)
{
    sigset_t ours, before;
    sigemptyset(&ours);
    sigaddset(&ours, watch.signal);
    if (ftruncate(watch.fd, 0) < 0 || lseek(watch.fd, 0, SEEK_SET) < 0 ||
        pthread_sigmask(SIG_UNBLOCK, &ours, &before) != 0)
        return false;
    const bool is_sent = pthread_kill(pthread_self(), watch.signal) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_sent;
}

/* These frames are in every call of a module. */
static bool is_between(const char *function)
{
    return !strcmp(function, "_call_impl") || !strcmp(function, "_wrapped_call_impl") ||
           !strcmp(function, "decorate_context");
}

/* Of an installed package: the path below the folder of packages. */
static const char *short_path(const char *file)
{
    const char *packages = strstr(file, "/site-packages/");
    packages = packages ? packages : strstr(file, "/dist-packages/");
    return packages ? packages + 1 : file;
}

/* `  File "a.py", line 12 in f` becomes `a.py:12 f`. */
static void rewrite(char *dump_text, char *text, size_t size)
{
    size_t length = 0;
    int n = 0;
    char *rest = NULL;
    for (char *line = strtok_r(dump_text, "\n", &rest); line && n < MAX_FRAMES; line = strtok_r(NULL, "\n", &rest)) {
        char *file = strstr(line, "File \""), *number = strstr(line, "\", line "), *name = strstr(line, " in ");
        if (!file || !number || !name || number < file || name < number)
            continue;
        *number = *name = '\0';
        if (is_between(name + 4))
            continue;
        int written = snprintf(text + length, size - length, "%s:%s %s\n", short_path(file + 6), number + 8, name + 4);
        if (written < 0 || (size_t)written >= size - length) {
            text[length] = '\0';
            return;
        }
        length += (size_t)written;
        n++;
    }
}

void plim_python_stack(char *ret_text, size_t size)
{
    static char buffer[MAX_DUMP]; /* guarded by the lock */
    memset(ret_text, 0, size);
    if (!atomic_load_explicit(&has_stack, memory_order_acquire) || pthread_mutex_trylock(&lock) != 0)
        return;
    if (is_still_ours() && dump()) {
        ssize_t n = pread(watch.fd, buffer, sizeof buffer - 1, 0);
        buffer[n > 0 ? n : 0] = '\0';
        rewrite(buffer, ret_text, size);
    }
    pthread_mutex_unlock(&lock);
}
