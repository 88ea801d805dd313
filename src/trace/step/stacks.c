/* SPDX-License-Identifier: MIT */
#include "trace/step/parts.h"

#include "base/mem.h"
#include "base/table.h"

#include <string.h>

enum { IS_ROOT = 1 << 14 /* where a thread of Python begins */, IS_BUCKETS = 1 << 15 /* DDP makes its own */ };

/*
 * Functions whose presence in a stack tells what the program does, in PyTorch 2.1 to 2.15. torch/nn/modules/module.py,
 * torch/autograd/__init__.py and graph.py, torch/_tensor.py, torch/utils/_contextlib.py (what torch.no_grad()
 * decorates).
 */
static const struct {
    const char *file, *function; /* NULL: any */
    uint16_t sign;
} signs[] = {
    { "torch/_tensor.py", "backward", PLIM_STACK_IN_BACKWARD | PLIM_STACK_CALLS_BACKWARD },
    { "torch/autograd/__init__.py", "backward", PLIM_STACK_IN_BACKWARD | PLIM_STACK_CALLS_BACKWARD },
    { "torch/autograd/__init__.py", "grad", PLIM_STACK_IN_BACKWARD | PLIM_STACK_CALLS_BACKWARD },
    { "torch/autograd/graph.py", "_engine_run_backward", PLIM_STACK_IN_BACKWARD | PLIM_STACK_CALLS_BACKWARD },
    { "torch/nn/modules/module.py", "_call_impl", PLIM_STACK_IN_MODULE },
    { "torch/nn/modules/module.py", "_wrapped_call_impl", PLIM_STACK_IN_MODULE },
    { "torch/optim/optimizer.py", "wrapper", PLIM_STACK_IN_STEP },
    { "torch/nn/utils/clip_grad.py", "clip_grad_norm_", PLIM_STACK_IN_STEP },
    { "torch/nn/utils/clip_grad.py", "clip_grad_value_", PLIM_STACK_IN_STEP },
    { "torch/amp/grad_scaler.py", "unscale_", PLIM_STACK_IN_STEP },
    { "torch/amp/grad_scaler.py", "step", PLIM_STACK_IN_STEP },
    { "torch/amp/grad_scaler.py", "update", PLIM_STACK_IN_STEP },
    { "torch/cuda/amp/grad_scaler.py", "unscale_", PLIM_STACK_IN_STEP },
    { "torch/cuda/amp/grad_scaler.py", "step", PLIM_STACK_IN_STEP },
    { "torch/cuda/amp/grad_scaler.py", "update", PLIM_STACK_IN_STEP },
    { "torch/nn/parallel/distributed.py", "_ddp_init_helper", IS_BUCKETS },
    { "torch/nn/parallel/distributed.py", "_pre_forward", IS_BUCKETS },
    { "torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py", "foreach_all_gather", PLIM_STACK_GATHERS_WEIGHTS },
    { "torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py", "foreach_all_gather_copy_out",
      PLIM_STACK_GATHERS_WEIGHTS },
    { "torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py", "foreach_reduce", PLIM_STACK_REDUCES_GRADIENTS },
    { "torch/distributed/_composable/fsdp/_fsdp_collectives.py", "foreach_all_gather", PLIM_STACK_GATHERS_WEIGHTS },
    { "torch/distributed/_composable/fsdp/_fsdp_collectives.py", "foreach_all_gather_copy_out",
      PLIM_STACK_GATHERS_WEIGHTS },
    { "torch/distributed/_composable/fsdp/_fsdp_collectives.py", "foreach_reduce", PLIM_STACK_REDUCES_GRADIENTS },
    { "torch/distributed/fsdp/_flat_param.py", "_alloc_padded_unsharded_flat_param", PLIM_STACK_GATHERS_WEIGHTS },
    { "torch/distributed/fsdp/_flat_param.py", "_all_gather_flat_param", PLIM_STACK_GATHERS_WEIGHTS },
    { "torch/distributed/fsdp/_runtime_utils.py", "_reduce_grad", PLIM_STACK_REDUCES_GRADIENTS },
    { "torch/nn/modules/module.py", "_apply", PLIM_STACK_LOADS },
    { "torch/nn/modules/module.py", "load_state_dict", PLIM_STACK_LOADS },
    { "torch/nn/modules/module.py", "to_empty", PLIM_STACK_LOADS },
    { "transformers/modeling_utils.py", "from_pretrained", PLIM_STACK_LOADS },
    { "transformers/core_model_loading.py", NULL, PLIM_STACK_LOADS },
    { "accelerate/utils/modeling.py", "set_module_tensor_to_device", PLIM_STACK_LOADS },
    { "safetensors/torch.py", "load_file", PLIM_STACK_LOADS },
    { "torch/serialization.py", "load", PLIM_STACK_LOADS },
    { NULL, "reset_parameters", PLIM_STACK_LOADS },
};

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), n_end = strlen(end);
    return n >= n_end && !strcmp(text + n - n_end, end);
}

/* The layers of torch.nn make their weights in their constructors. */
static bool makes_layer(const char *file, const char *function)
{
    return !strcmp(function, "__init__") && strstr(file, "torch/nn/modules/");
}

/* What torch.no_grad() and torch.inference_mode() decorate runs below a frame with a name of its own or, since 2.15,
 * theirs. */
static bool is_without_grad(const char *file, const char *function)
{
    return ends_with(file, "torch/utils/_contextlib.py") &&
           (!strcmp(function, "decorate_context") || !strcmp(function, "generator_context") ||
            strstr(function, "no_grad") || strstr(function, "inference_mode"));
}

/* By data/frames.csv: the caches of generation. */
static bool is_cache(const char *file, const char *function)
{
    enum { FILE_NAME, FUNCTION, WORK, READ_BY };
    const struct plim_table *table = &plim_frames_table;
    for (size_t row = 0; row < table->n_rows; row++) {
        const char *name = plim_table_cell(table, row, FUNCTION), *work = plim_table_cell(table, row, WORK);
        if ((!strcmp(work, "kv") || !strcmp(work, "pool")) && strstr(plim_table_cell(table, row, READ_BY), "trace") &&
            (!*name || !strcmp(name, function)) && strstr(file, plim_table_cell(table, row, FILE_NAME)))
            return true;
    }
    return false;
}

static uint16_t signs_of(const char *file, const char *function)
{
    static const char *const roots[] = { "<module>", "_run_module_as_main", "_bootstrap" };
    unsigned found = (is_cache(file, function) ? PLIM_STACK_IN_CACHE : 0U) |
                     (makes_layer(file, function) ? PLIM_STACK_LOADS : 0U) |
                     (is_without_grad(file, function) ? PLIM_STACK_WITHOUT_GRAD : 0U);
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if ((!signs[i].function || !strcmp(function, signs[i].function)) &&
            (!signs[i].file || ends_with(file, signs[i].file)))
            found |= signs[i].sign;
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        if (!strcmp(function, roots[i]))
            found |= IS_ROOT;
    return (uint16_t)found;
}

uint16_t *plim_step_frame_signs(const struct plim_memory_trace *trace)
{
    uint16_t *found = plim_alloc_unset(trace->n_frames + 1, sizeof *found);
    for (size_t i = 0; found && i < trace->n_frames; i++)
        found[i] = signs_of(trace->text + trace->frames[i].file, trace->text + trace->frames[i].name);
    return found;
}

unsigned plim_step_stack_signs(const struct plim_memory_trace *trace, const uint16_t *frame_signs, uint32_t stack)
{
    unsigned found = 0;
    if (stack >= trace->n_stacks || !trace->stacks[stack].n)
        return PLIM_STACK_IS_EMPTY;
    const struct plim_trace_stack *s = &trace->stacks[stack];
    const unsigned innermost = frame_signs[trace->stack_frames[s->first]];
    const unsigned outermost = frame_signs[trace->stack_frames[s->first + s->n - 1]];
    for (uint32_t i = s->n; i-- > 0;) { /* a module may itself work without gradients: the outer one counts */
        const unsigned here = frame_signs[trace->stack_frames[s->first + i]];
        found |= found & PLIM_STACK_IN_MODULE ? here & ~(unsigned)PLIM_STACK_WITHOUT_GRAD : here;
    }
    /* The engine of the backward pass calls Python from a thread that Python did not begin. */
    return (found & ~(unsigned)(IS_ROOT | IS_BUCKETS)) | (outermost & IS_ROOT ? 0U : PLIM_STACK_IN_BACKWARD) |
           (innermost & IS_BUCKETS ? PLIM_STACK_REDUCES_GRADIENTS : 0U);
}
