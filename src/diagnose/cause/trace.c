/* SPDX-License-Identifier: MIT */
#include "diagnose/cause/trace.h"

#include "diagnose/cause/figures.h"

#include <string.h>

/*
 * What frames say, by a part of the file's path and of the function's name ("" matches all). Read from the innermost
 * frame outwards, the first row that matches decides: within a frame, rows higher up win.
 */
static const struct sign {
    const char *file, *name;
    enum plim_trace trace;
} signs[] = {
    { "", "_multi_tensor_", PLIM_TRACE_FOREACH },
    { "", "_foreach_", PLIM_TRACE_FOREACH },
    { "", "_init_group", PLIM_TRACE_OPTIMIZER },
    { "", "initialize_optimizer_states", PLIM_TRACE_OPTIMIZER },
    { "", "_single_tensor_", PLIM_TRACE_OPTIMIZER },
    { "", "_lazy_init_optimizer", PLIM_TRACE_OPTIMIZER },
    { "", "init_state", PLIM_TRACE_OPTIMIZER },
    { "deepspeed/runtime/zero", "flatten", PLIM_TRACE_OPTIMIZER },
    { "deepspeed/runtime/zero/stage_1_and_2", "__init__", PLIM_TRACE_OPTIMIZER },
    { "torch/optim/", "_fused_", PLIM_TRACE_OPTIMIZER },
    { "bitsandbytes/optim", "", PLIM_TRACE_OPTIMIZER },
    { "apex/optimizers", "", PLIM_TRACE_OPTIMIZER },
    { "torch/optim/", "", PLIM_TRACE_OPTIMIZER },
    { "/optim/", "step", PLIM_TRACE_OPTIMIZER },
    { "/optimizers/", "step", PLIM_TRACE_OPTIMIZER },
    { "/ops/adam/", "", PLIM_TRACE_OPTIMIZER },
    { "transformers/optimization", "step", PLIM_TRACE_OPTIMIZER },
    { "deepspeed/runtime/", "_configure_zero_optimizer", PLIM_TRACE_OPTIMIZER },
    { "deepspeed/runtime/zero", "_create_fp32_partitions", PLIM_TRACE_OPTIMIZER },
    { "deepspeed/runtime/zero", "step", PLIM_TRACE_OPTIMIZER },
    { "deepspeed/runtime/bf16_optimizer", "", PLIM_TRACE_OPTIMIZER },
    { "deepspeed/runtime/fp16/", "__init__", PLIM_TRACE_OPTIMIZER },

    { "vllm/", "capture_model", PLIM_TRACE_CAPTURE },
    { "vllm/", "capture", PLIM_TRACE_CAPTURE },
    { "sglang/", "capture", PLIM_TRACE_CAPTURE },
    { "", "init_cuda_graph", PLIM_TRACE_CAPTURE },
    { "", "init_device_graphs", PLIM_TRACE_CAPTURE },
    { "torch/cuda/graphs", "", PLIM_TRACE_CAPTURE },
    { "", "initialize_kv_cache", PLIM_TRACE_POOL },
    { "", "_allocate_kv_cache", PLIM_TRACE_POOL },
    { "", "init_memory_pool", PLIM_TRACE_POOL },
    { "", "_create_buffers", PLIM_TRACE_POOL },
    { "", "determine_available_memory", PLIM_TRACE_PROFILE },
    { "", "determine_num_available_blocks", PLIM_TRACE_PROFILE },
    { "", "profile_run", PLIM_TRACE_PROFILE },

    { "cache_engine.py", "", PLIM_TRACE_POOL },
    { "exllamav2/cache", "", PLIM_TRACE_KV },
    { "exllamav3/cache", "", PLIM_TRACE_KV },
    { "", "create_state_tensors", PLIM_TRACE_KV },
    { "cache_utils.py", "update", PLIM_TRACE_KV },
    { "cache_utils.py", "lazy_initialization", PLIM_TRACE_KV },
    { "cache_utils.py", "", PLIM_TRACE_KV },

    { "", "cross_entropy", PLIM_TRACE_LOSS },
    { "", "ForCausalLMLoss", PLIM_TRACE_LOSS },
    { "", "compute_loss", PLIM_TRACE_LOSS },
    { "", "lm_head", PLIM_TRACE_LOSS },
    { "", "log_softmax", PLIM_TRACE_LOSS },

    { "", "from_pretrained", PLIM_TRACE_LOAD },
    { "", "load_state_dict", PLIM_TRACE_LOAD },
    { "", "_load_pretrained_model", PLIM_TRACE_LOAD },
    { "", "_load_state_dict_into", PLIM_TRACE_LOAD },
    { "", "load_checkpoint", PLIM_TRACE_LOAD },
    { "", "load_weights", PLIM_TRACE_LOAD },
    { "", "load_model", PLIM_TRACE_LOAD },
    { "", "load_pretrained", PLIM_TRACE_LOAD },
    { "", "from_single_file", PLIM_TRACE_LOAD },
    { "", "load_torch_file", PLIM_TRACE_LOAD },
    { "", "load_diffusion_model", PLIM_TRACE_LOAD },
    { "", "instantiate_from_config", PLIM_TRACE_LOAD },
    { "comfy/model_patcher", "", PLIM_TRACE_LOAD },
    { "comfy/model_management", "load_models_gpu", PLIM_TRACE_LOAD },
    { "comfy/model_management", "model_load", PLIM_TRACE_LOAD },
    { "memory_management", "load_models_gpu", PLIM_TRACE_LOAD },
    { "pipeline_utils.py", "to", PLIM_TRACE_LOAD },
    { "bitsandbytes/nn/modules.py", "to", PLIM_TRACE_LOAD },
    { "bitsandbytes/nn/modules.py", "cuda", PLIM_TRACE_LOAD },
    { "bitsandbytes/nn/modules.py", "_quantize", PLIM_TRACE_LOAD },
    { "", "create_quantized_param", PLIM_TRACE_LOAD },
    { "faster_whisper/", "__init__", PLIM_TRACE_LOAD },
    { "", "_convert_to_deepspeed_param", PLIM_TRACE_LOAD },
    { "", "_post_init_method", PLIM_TRACE_LOAD },
    { "", "caching_allocator_warmup", PLIM_TRACE_LOAD },
    { "", "set_module_tensor_to_device", PLIM_TRACE_LOAD },
    { "", "_materialize", PLIM_TRACE_LOAD },
    { "", "dispatch_model", PLIM_TRACE_LOAD },
    { "", "create_weights", PLIM_TRACE_LOAD },
    { "", "create_weight_func", PLIM_TRACE_LOAD },
    { "", "create_shared_weights", PLIM_TRACE_LOAD },
    { "", "_rebuild_", PLIM_TRACE_LOAD },
    { "model_executor/models/", "make_layers", PLIM_TRACE_LOAD },
    { "model_executor/", "__init__", PLIM_TRACE_LOAD },
    { "sglang/srt/models/", "__init__", PLIM_TRACE_LOAD },
    { "sglang/srt/layers/", "__init__", PLIM_TRACE_LOAD },
    { "torch/serialization", "", PLIM_TRACE_LOAD },
    { "safetensors", "", PLIM_TRACE_LOAD },
    { "torch/nn/modules/module.py", "_apply", PLIM_TRACE_LOAD },
    { "torch/nn/modules/module.py", "convert", PLIM_TRACE_LOAD },
    { "torch/nn/modules/module.py", "to", PLIM_TRACE_LOAD },
    { "torch/nn/modules/module.py", "cuda", PLIM_TRACE_LOAD },
    { "torch/nn/modules/module.py", "half", PLIM_TRACE_LOAD },

    { "", "run_backward", PLIM_TRACE_BACKWARD },
    { "torch/_tensor.py", "backward", PLIM_TRACE_BACKWARD },
    { "torch/autograd", "backward", PLIM_TRACE_BACKWARD },
    { "", "backward", PLIM_TRACE_BACKWARD },
    { "torch/nn/functional.py", "", PLIM_TRACE_FORWARD },
    { "torch/functional.py", "", PLIM_TRACE_FORWARD },
    { "", "_call_impl", PLIM_TRACE_FORWARD },
    { "", "forward", PLIM_TRACE_FORWARD },
    { "diffusers/", "decode", PLIM_TRACE_FORWARD },
    { "", "training_step", PLIM_TRACE_FORWARD },
    { "", "train_step", PLIM_TRACE_FORWARD },
    { "", "attention", PLIM_TRACE_FORWARD },
    { "", "conv1d", PLIM_TRACE_FORWARD },
    { "", "conv2d", PLIM_TRACE_FORWARD },
    { "", "conv3d", PLIM_TRACE_FORWARD },
    { "", "softmax", PLIM_TRACE_FORWARD },
    { "", "einsum", PLIM_TRACE_FORWARD },
    { "", "denoise", PLIM_TRACE_FORWARD },
    { "", "predict", PLIM_TRACE_FORWARD },
    { "", "inference", PLIM_TRACE_FORWARD },
    { "", "execute_model", PLIM_TRACE_FORWARD },
    { "", "merge_multimodal", PLIM_TRACE_FORWARD },
    { "", "get_multimodal_embeddings", PLIM_TRACE_FORWARD },
    { "", "generate", PLIM_TRACE_GENERATE },
    { "", "_sample", PLIM_TRACE_GENERATE },
};

static bool is_sign(const struct sign *sign, const struct plim_frame *frame)
{
    /* A short name has to be the whole name: "to" is in many. */
    bool is_name = strlen(sign->name) < 5 ? !*sign->name || !strcmp(frame->name, sign->name)
                                          : strstr(frame->name, sign->name) != NULL;
    return is_name && (!*sign->file || strstr(frame->file, sign->file) != NULL);
}

enum plim_trace plim_trace_read(const struct plim_log_context *context, const struct plim_frame **ret_frame)
{
    *ret_frame = NULL;
    for (uint32_t i = context ? context->n_frames : 0; i-- > 0;)
        for (size_t k = 0; k < sizeof signs / sizeof signs[0]; k++)
            if (is_sign(&signs[k], &context->frames[i])) {
                *ret_frame = &context->frames[i];
                return signs[k].trace;
            }
    return PLIM_TRACE_NONE;
}

bool plim_is_trial_step(const struct plim_finding *finding, const struct plim_log_context *context)
{
    static const char *const names[] = { "profile_run", "determine_available_memory",
                                         "determine_num_available_blocks" };
    bool is_in_traceback = false;
    if (!context || !finding->framework || strcmp(finding->framework, "vllm") != 0)
        return false;
    for (uint32_t i = 0; i < context->n_frames; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            is_in_traceback = is_in_traceback || !strcmp(context->frames[i].name, names[k]);
    return is_in_traceback || (plim_is_known(plim_figure(finding, context, PLIM_N_MODEL_BYTES)) &&
                               !plim_is_known(plim_figure(finding, context, PLIM_N_AVAILABLE_BYTES)) &&
                               !plim_is_known(plim_figure(finding, context, PLIM_N_KV_TOKENS)));
}
