/* SPDX-License-Identifier: MIT */
/* Models without attention: Mamba. */
#include "model/convert/recurrent.h"

#include "model/convert/sizes.h"

#include <string.h>

enum { MAX_WIDTH = 1 << 24, MAX_STATE = 1 << 16, LONG_CONTEXT = 1 << 20 };

/* --- groups --- */

const struct plim_convert_rule plim_rules_mamba1[] = {
    MATRIX("ssm_in", N_EMBD, N_INNER_2, WHEN(RECURS)),     MATRIX("ssm_conv1d", N_CONV, N_INNER, WHEN(RECURS)),
    BIAS("ssm_conv1d", N_INNER, WHEN(RECURS | CONV_BIAS)), MATRIX("ssm_x", N_INNER, N_SSM_X, WHEN(RECURS)),
    MATRIX("ssm_dt", N_DT_RANK, N_INNER, WHEN(RECURS)),    BIAS("ssm_dt", N_INNER, WHEN(RECURS)),
    { "ssm_a", { N_STATE, N_INNER }, RECURS, 0, 0 },       { "ssm_d", { N_INNER }, RECURS, 0, 0 },
    MATRIX("ssm_out", N_INNER, N_EMBD, WHEN(RECURS)),      END_OF_GROUP,
};

/* --- keys --- */

const struct plim_convert_key plim_keys_mamba[] = {
    { "context_length", KEY_COUNT, 0, "", LONG_CONTEXT }, /* no limit: 2^20 */
    { "embedding_length", KEY_SIZE, N_EMBD, NULL, 0 },
    { "feed_forward_length", KEY_COUNT, 0, "", 0 },
    { "attention.head_count", KEY_COUNT, 0, "", 0 },
    { "block_count", KEY_SIZE, N_LAYER_ALL, NULL, 0 },
    { "ssm.conv_kernel", KEY_SIZE, N_CONV, NULL, 0 },
    { "ssm.inner_size", KEY_SIZE, N_INNER, NULL, 0 },
    { "ssm.state_size", KEY_SIZE, N_STATE, NULL, 0 },
    { "ssm.time_step_rank", KEY_SIZE, N_DT_RANK, NULL, 0 },
    { "ssm.group_count", KEY_SIZE, N_GROUPS, NULL, 0 },
    { "attention.layer_norm_rms_epsilon", KEY_REAL, 0, "layer_norm_epsilon|rms_norm_eps", 1e-5 },
    END_OF_KEYS,
};

/* --- hooks --- */

void plim_sizes_mamba2(struct plim_conversion *c)
{
    uint64_t *n = c->n;
    if (n[N_GROUPS] == 0 || n[N_INNER] % n[N_GROUPS])
        plim_conversion_fail(c, "n_groups", "does not divide the inner width");
    else
        n[N_GROUP_WIDTH] = n[N_INNER] / n[N_GROUPS];
    n[N_SSM_CONV] = n[N_INNER] + 2 * n[N_GROUPS] * n[N_STATE];
    n[N_SSM_IN] = n[N_INNER] + n[N_SSM_CONV] + n[N_DT_RANK];
}

void plim_sizes_mamba1(struct plim_conversion *c)
{
    c->n[N_INNER_2] = 2 * c->n[N_INNER];
    c->n[N_SSM_X] = c->n[N_DT_RANK] + 2 * c->n[N_STATE];
}

static void read_mamba(struct plim_conversion *c)
{
    uint64_t *n = c->n;
    n[N_CONV] = plim_config_number(c, "conv_kernel|d_conv", MAX_STATE, 4);
    n[N_INNER] = plim_config_number(c, "intermediate_size|d_inner", MAX_WIDTH, 2 * n[N_EMBD]);
    n[N_STATE] = plim_config_number(c, "state_size|d_state", MAX_STATE, 16);
    n[N_DT_RANK] = plim_config_number(c, "time_step_rank|dt_rank", MAX_WIDTH, (n[N_EMBD] + 15) / 16);
    c->facts |= RECURS | (plim_config_truth(c, "use_conv_bias", true) ? CONV_BIAS : 0);
    plim_sizes_mamba1(c);
}

/* Falcon's Mamba normalizes what ssm_x gives. */
static void write_mamba(struct plim_conversion *c)
{
    const char *type = plim_config_string(c, "model_type");
    plim_write_flag(c, "ssm.dt_b_c_rms", type && !strcmp(type, "falcon_mamba"));
}

static void read_mamba2(struct plim_conversion *c)
{
    uint64_t *n = c->n;
    const uint64_t expand = plim_config_number(c, "mamba_expand|expand", MAX_STATE, 2);
    const uint64_t head = plim_config_number(c, "mamba_d_head|head_dim", MAX_STATE, 64);
    n[N_CONV] = plim_config_number(c, "conv_kernel|d_conv", MAX_STATE, 4);
    n[N_INNER] = plim_config_number(c, "mamba_d_ssm|intermediate_size|d_inner", MAX_WIDTH, expand * n[N_EMBD]);
    n[N_STATE] = plim_config_number(c, "state_size|d_state", MAX_STATE, 128);
    n[N_GROUPS] = plim_config_number(c, "n_groups", MAX_STATE, 1);
    n[N_DT_RANK] = head ? n[N_INNER] / head : 0;
    c->facts |= RECURS | POST_NORM | (plim_config_truth(c, "use_conv_bias", true) ? CONV_BIAS : 0);
    plim_sizes_mamba2(c);
}

/* --- rows --- */

static const struct plim_convert_row rows[] = {
    { .names = { "MambaForCausalLM", "MambaLMHeadModel", "FalconMambaForCausalLM" },
      .types = { "mamba", "falcon_mamba" },
      .arch = "mamba",
      .source = "conversion/mamba.py: MambaModel",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_attn_norm, plim_rules_mamba1 },
      .read = read_mamba,
      .write = write_mamba,
      .keys = plim_keys_mamba,
      .is_raw = true,
      .is_tied = true,
      .is_bare = true,
      .is_proven = true },
    { .names = { "Mamba2ForCausalLM" },
      .types = { "mamba2" },
      .arch = "mamba2",
      .source = "conversion/mamba.py: Mamba2Model",
      .whole = { plim_rules_outer },
      .layer = { plim_rules_attn_norm, plim_rules_mamba2 },
      .read = read_mamba2,
      .keys = plim_keys_mamba,
      .is_raw = true,
      .is_bare = true,
      .is_proven = true },
};

const struct plim_convert_family plim_family_recurrent = FAMILY(rows);
