/* SPDX-License-Identifier: MIT */
/*
 * A checkpoint against the config beside it: what the forecast takes from the config must be what the tensors are.
 * Checked where the checkpoint has the names of Llama, which most architectures share.
 */
#include "model/convert/sizes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PREFIX_BYTES = 128, NAME_BYTES = 512 };

/* The part of a name in the file, and in the checkpoint. */
static const struct {
    const char *gguf, *hf;
} names[] = {
    { "attn_q.weight", "self_attn.q_proj.weight" },      { "attn_q.bias", "self_attn.q_proj.bias" },
    { "attn_k.weight", "self_attn.k_proj.weight" },      { "attn_k.bias", "self_attn.k_proj.bias" },
    { "attn_v.weight", "self_attn.v_proj.weight" },      { "attn_v.bias", "self_attn.v_proj.bias" },
    { "attn_output.weight", "self_attn.o_proj.weight" }, { "attn_norm.weight", "input_layernorm.weight" },
    { "attn_q_norm.weight", "self_attn.q_norm.weight" }, { "attn_k_norm.weight", "self_attn.k_norm.weight" },
    { "ffn_gate.weight", "mlp.gate_proj.weight" },       { "ffn_up.weight", "mlp.up_proj.weight" },
    { "ffn_down.weight", "mlp.down_proj.weight" },
};

static const char *hf_name(const char *gguf)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i].gguf, gguf))
            return names[i].hf;
    return NULL;
}

static void compare(struct plim_conversion *c, const char *name, const struct plim_tensor *ours)
{
    const struct plim_tensor *theirs = plim_model_tensor(c->config, name);
    if (!theirs && c->result == 0) {
        c->result = plim_fail(c->err, PLIM_E_CORRUPT, PLIM_NO_OFFSET,
                              "the config implies a tensor '%.80s' that the checkpoint does not have", name);
        return;
    }
    for (uint32_t i = 0; i < ours->n_dims && c->result == 0; i++)
        if (theirs->ne[i] != ours->ne[i])
            c->result = plim_fail(c->err, PLIM_E_CORRUPT, PLIM_NO_OFFSET,
                                  "tensor '%.80s' has %" PRIu64 " where the config implies %" PRIu64, name,
                                  theirs->ne[i], ours->ne[i]);
}

/* What stands before "embed_tokens.weight": "model.", "model.language_model." ... */
static bool find_prefix(struct plim_conversion *c, char prefix[PREFIX_BYTES])
{
    static const char table[] = "embed_tokens.weight";
    const struct plim_tensor *tensor = plim_checkpoint_tensor(c, table);
    if (!tensor || strlen(tensor->name) >= PREFIX_BYTES) {
        if (c->result == 0)
            c->result =
                plim_fail(c->err, PLIM_E_CORRUPT, PLIM_NO_OFFSET,
                          "the config implies a tensor 'model.embed_tokens.weight' that the checkpoint does not "
                          "have");
        return false;
    }
    snprintf(prefix, PREFIX_BYTES, "%.*s", (int)(strlen(tensor->name) - strlen(table)), tensor->name);
    return true;
}

void plim_convert_check_checkpoint(struct plim_conversion *c)
{
    char prefix[PREFIX_BYTES], name[NAME_BYTES];
    const char *method = plim_config_string(c, "quantization_config.quant_method");
    if (c->config->format != PLIM_FORMAT_SAFETENSORS || !c->row->has_usual_names ||
        (method && strcmp(method, "fp8") != 0) || !find_prefix(c, prefix))
        return;
    for (size_t i = 0; i < c->made->n_tensors && c->result == 0; i++) {
        const struct plim_tensor *tensor = &c->made->tensors[i];
        const char *part = strncmp(tensor->name, "blk.", 4) ? NULL : strchr(tensor->name + 4, '.');
        const char *hf = part ? hf_name(part + 1) : NULL;
        if (!hf)
            continue;
        snprintf(name, sizeof name, "%.127slayers.%.*s.%s", prefix, (int)(part - tensor->name - 4), tensor->name + 4,
                 hf);
        compare(c, name, tensor);
    }
}
