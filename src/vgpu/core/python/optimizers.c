/* SPDX-License-Identifier: MIT */
/*
 * The optimizers of PyTorch: a hook counts their steps (torch.optim.optimizer.register_optimizer_step_post_hook), and
 * after a step it looks whether the optimizer has its states (Optimizer.state, Optimizer.param_groups). An optimizer
 * that wraps another one, as DeepSpeed's do, lets the inner one step, or skips that.
 */
#include "vgpu/core/python/python.h"

#include <stdatomic.h>
#include <string.h>

typedef struct plim_python_object object;

enum { MAX_OPTIMIZERS = 256, METH_VARARGS = 1, MOST_CLASSES = 512, MOST_DEPTH = 8 };

static struct plim_ledger_process *process_here;

/* guarded by the interpreter's lock */
static struct {
    const void *optimizer;
    uint64_t n;
    bool lacks_states;
} steps[MAX_OPTIMIZERS];

/* --- states --- */

static bool is_named(object *optimizer, const char *const *names, size_t n)
{
    object *class = plim_python.attribute(optimizer, "__class__");
    object *name = class ? plim_python.attribute(class, "__name__") : NULL;
    const char *text = name ? plim_python.text(name, NULL) : NULL;
    bool is_found = false;
    for (size_t i = 0; text && i < n; i++)
        is_found = is_found || !strcmp(text, names[i]);
    plim_python_done_with(name);
    if (class)
        plim_python.release(class);
    plim_python.clear();
    return is_found;
}

/* The first group's setting is there and not zero: betas and a momentum are settings of states. */
static bool is_set(object *group, const char *name)
{
    object *value = plim_python.item(group, name);
    const bool is_true = value && plim_python.is_true(value) > 0;
    plim_python.clear();
    return is_true;
}

/* Whether optimizers of this class keep states, as far as that is known. SGD without a momentum has none. */
static bool has_states_by_nature(object *optimizer)
{
    static const char *const names[] = { "Adagrad", "Adadelta", "Adafactor", "ASGD", "RMSprop", "Rprop" };
    object *groups = plim_python.attribute(optimizer, "param_groups");
    object *group = groups ? plim_python.nth(groups, 0) : NULL;
    const bool has_settings = group && (is_set(group, "betas") || is_set(group, "momentum"));
    plim_python_done_with(group);
    if (groups)
        plim_python.release(groups);
    return has_settings || is_named(optimizer, names, sizeof names / sizeof *names);
}

static bool lacks_states(object *optimizer)
{
    object *state = plim_python.attribute(optimizer, "state");
    const ssize_t n = state ? plim_python.size(state) : -1;
    plim_python_done_with(state);
    plim_python.clear();
    return n == 0 && has_states_by_nature(optimizer);
}

/* --- steps --- */

static void count_lacking(void)
{
    uint32_t n = 0;
    for (size_t i = 0; i < MAX_OPTIMIZERS && steps[i].optimizer; i++)
        n += steps[i].lacks_states;
    atomic_store(&process_here->n_without_states, n);
}

/* A program may have several optimizers, even one per parameter: the one with the most steps counts. */
static object *stepped(object *self, object *arguments)
{
    object *optimizer = plim_python.tuple_item(arguments, 0);
    (void)self;
    if (!optimizer)
        plim_python.clear();
    for (size_t i = 0; optimizer && i < MAX_OPTIMIZERS; i++) {
        if (steps[i].optimizer && steps[i].optimizer != optimizer)
            continue;
        if (!steps[i].optimizer || steps[i].lacks_states) {
            steps[i].optimizer = optimizer;
            steps[i].lacks_states = lacks_states(optimizer);
            count_lacking();
        }
        steps[i].n++;
        if (steps[i].n > atomic_load(&process_here->n_optimizer_steps)) {
            plim_python_note_peaks(); /* first: at the last step that it waits for, the launcher ends the program */
            atomic_store(&process_here->n_optimizer_steps, steps[i].n);
        }
        break;
    }
    return plim_python.build("");
}

static object *optimizer_module(void)
{
    object *modules = plim_python.modules();
    return modules ? plim_python.item(modules, "torch.optim.optimizer") : NULL;
}

bool plim_python_register_steps(struct plim_ledger_process *process)
{
    static struct plim_python_method method = { "plimsoll_step", stepped, METH_VARARGS, NULL };
    object *module = optimizer_module();
    if (!module)
        return false; /* too early, or a different program */
    process_here = process;
    object *add = plim_python.attribute(module, "register_optimizer_step_post_hook");
    object *hook = add ? plim_python.function(&method, NULL, NULL) : NULL;
    object *result = hook ? plim_python.call(add, hook, NULL) : NULL;
    plim_python_done_with(result);
    if (result)
        atomic_store(&process->has_optimizers, 1);
    if (hook)
        plim_python.release(hook);
    if (add)
        plim_python.release(add);
    return result != NULL;
}

/* --- optimizers that were made --- */

/* PyTorch wraps the method `step` of a class when its first optimizer is made, and marks it: Optimizer.hooked. */
static bool has_optimizer(object *class)
{
    object *step = plim_python.attribute(class, "step");
    object *mark = step ? plim_python.attribute(step, "hooked") : NULL;
    const bool is_marked = mark && plim_python.is_true(mark) > 0;
    plim_python_done_with(mark);
    if (step)
        plim_python.release(step);
    return is_marked;
}

static bool has_optimizer_below(object *class, unsigned depth, unsigned *n_left)
{
    object *classes = depth < MOST_DEPTH ? plim_python.call_method(class, "__subclasses__", NULL) : NULL;
    const ssize_t n = classes ? plim_python.size(classes) : 0;
    bool is_found = false;
    for (ssize_t i = 0; i < n && !is_found && *n_left; i++) {
        object *below = plim_python.nth(classes, i);
        *n_left -= 1;
        is_found = below && (has_optimizer(below) || has_optimizer_below(below, depth + 1, n_left));
        plim_python_done_with(below);
    }
    plim_python_done_with(classes);
    return is_found;
}

void plim_python_find_optimizers(struct plim_ledger_process *process)
{
    unsigned n_left = MOST_CLASSES;
    object *module = atomic_load(&process->has_made_optimizer) ? NULL : optimizer_module();
    object *class = module ? plim_python.attribute(module, "Optimizer") : NULL;
    if (class && has_optimizer_below(class, 0, &n_left))
        atomic_store(&process->has_made_optimizer, 1);
    if (class)
        plim_python.release(class);
    plim_python.clear();
}
