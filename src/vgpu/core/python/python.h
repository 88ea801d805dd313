/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_CORE_PYTHON_PYTHON_H
#define PLIMSOLL_VGPU_CORE_PYTHON_PYTHON_H

/*
 * The interpreter of a Python program, through its stable ABI and documented interfaces of Python and PyTorch. Python
 * code is only run where Python wants it to be: in a pending call (Py_AddPendingCall).
 */

#include "vgpu/core/ledger.h"

#include <sys/types.h>

/* Objects are opaque. */
struct plim_python_object;
struct plim_python_method {
    const char *name;
    struct plim_python_object *(*function)(struct plim_python_object *, struct plim_python_object *);
    int flags; /* METH_VARARGS: 1 */
    const char *doc;
};

/* All of them are in Python's stable ABI, and valid once they were found. */
struct plim_python {
    int (*is_initialized)(void);
    int (*add_pending_call)(int (*)(void *), void *);
    struct plim_python_object *(*import)(const char *);
    struct plim_python_object *(*modules)(void);
    struct plim_python_object *(*item)(struct plim_python_object *, const char *); /* borrowed */
    struct plim_python_object *(*attribute)(struct plim_python_object *, const char *);
    struct plim_python_object *(*call)(struct plim_python_object *, ...);
    struct plim_python_object *(*call_method)(struct plim_python_object *, const char *, const char *, ...);
    struct plim_python_object *(*build)(const char *, ...);
    struct plim_python_object *(*function)(struct plim_python_method *, struct plim_python_object *,
                                           struct plim_python_object *);
    struct plim_python_object *(*tuple_item)(struct plim_python_object *, ssize_t); /* borrowed */
    struct plim_python_object *(*nth)(struct plim_python_object *, ssize_t);
    ssize_t (*size)(struct plim_python_object *);
    int (*is_true)(struct plim_python_object *);
    int (*set_attribute)(struct plim_python_object *, const char *, struct plim_python_object *);
    unsigned long long (*number)(struct plim_python_object *);
    const char *(*text)(struct plim_python_object *, ssize_t *);
    struct plim_python_object *(*error)(void);
    void (*clear)(void);
    void (*release)(struct plim_python_object *);
    void *(*let_go)(void); /* of the interpreter's lock */
    void (*take_again)(void *);
};
extern struct plim_python plim_python;

/* False: this is no Python program. */
bool plim_python_find(void);

/* In a Python program (watch.c): prepare, at the interpreter's next safe point, what follows. */
void plim_python_watch(struct plim_ledger_process *process);

/* Release an object, or clear the error that came instead of it. */
void plim_python_done_with(struct plim_python_object *value);

/* --- stacks (stack.c) --- */

void plim_python_register_stack(void);
bool plim_python_has_stack(void);

/* "file:line function", a line for each frame of this thread, the innermost first; empty when it runs no Python. */
void plim_python_stack(char *ret_text, size_t size);

/* The frames that show how a value is used; those that there are not are empty. */
void plim_python_frames(struct plim_ledger_frames *ret_frames);

/* --- optimizers (optimizers.c) --- */

/* Count their steps; false: PyTorch is not there yet. */
bool plim_python_register_steps(struct plim_ledger_process *process);

/* Look whether the program has made an optimizer. */
void plim_python_find_optimizers(struct plim_ledger_process *process);

/* --- PyTorch's account of its memory (peaks.c) --- */

/* Before plim_python_watch(): the cards behind the device numbers of this process, which stay. */
void plim_python_set_cards(struct plim_ledger *ledger, const int *cards, int n_cards);

/* Note its peaks before they are reset, and at the end of the process; false: PyTorch is not there yet. */
bool plim_python_register_peaks(struct plim_ledger_process *process);

/* In the interpreter: note its peaks now. */
void plim_python_note_peaks(void);

/* --- the end (ending.c) --- */

/* In the interpreter, before Python ends: wait until other threads have had its lock. */
void plim_python_let_threads_end(void);

#endif
