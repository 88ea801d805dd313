/* SPDX-License-Identifier: MIT */
/*
 * Two tables: the role of a tensor by its name (llama-quantize looks for parts of names and knows no architectures),
 * and the recipes: a base type, types for the two embedding matrices, and per role what departs from the base.
 *
 * Source: tensor_allows_quantization(), tensor_get_category(), llama_ftype_get_default_type(),
 * llama_tensor_get_type_impl() and tensor_requires_imatrix() of llama.cpp's src/llama-quant.cpp, which are the same in
 * v0.4.1, v0.5.0 and v0.6.0 but for an architecture (glm5-next) that v0.6.0 added. tests/engine/quant_probe.c asks the
 * engine the same questions.
 *
 * llama.cpp tests the file type inside each role; here it is the other way round, so that a row is a recipe. Its
 * branch for ATTENTION_QKV is left out: a fused QKV matrix counts as attn_v and never gets there.
 */
#include "model/quant_recipe_rules.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* --- names --- */

enum { MAX_LAYER = 1 << 20 };

static const char *const left_alone_names[] = { "position_embd.weight", "token_types.weight" };

/* clang-format off */
static const char *const left_alone_parts[] = {
    "_norm.weight", "ffn_gate_inp.weight", "ffn_gate_tid2eid.weight", "altup", "laurel", "per_layer_model_proj",
    "ssm_conv1d", "shortconv.conv.weight", "indexer.k_proj.weight", "indexer.q_proj.weight", "attn_rel_b.weight",
    /* RWKV */
    "time_mix_first.weight", "time_mix_w0.weight", "time_mix_w1.weight", "time_mix_w2.weight", "time_mix_v0.weight",
    "time_mix_v1.weight", "time_mix_v2.weight", "time_mix_a0.weight", "time_mix_a1.weight", "time_mix_a2.weight",
    "time_mix_g1.weight", "time_mix_g2.weight", "time_mix_decay_w1.weight", "time_mix_decay_w2.weight",
    "time_mix_lerp_fused.weight",
    /* projectors */
    ".position_embd", "sam.pos_embd", "sam.neck.", "sam.net_", ".rel_pos", ".patch_embd", ".patch_merger",
    "a.rvq.codebook", "mm.a.code_embd",
};
/* clang-format on */

/* In the order in which they are tried. */
static const struct {
    const char *part;
    enum plim_matrix_role role;
} roles[] = {
    { "attn_qkv.weight", PLIM_MATRIX_ATTN_V }, { "attn_kv_b.weight", PLIM_MATRIX_ATTN_V },
    { "attn_v.weight", PLIM_MATRIX_ATTN_V },   { "attn_k.weight", PLIM_MATRIX_ATTN_K },
    { "attn_q.weight", PLIM_MATRIX_ATTN_Q },   { "attn_output.weight", PLIM_MATRIX_ATTN_OUTPUT },
    { "ffn_up", PLIM_MATRIX_FFN_UP },          { "ffn_gate", PLIM_MATRIX_FFN_GATE },
    { "ffn_down", PLIM_MATRIX_FFN_DOWN },
};

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && !strcmp(text + length - end_length, end);
}

/* The matrices that nearly all of a model's are, told without a search for the parts above. */
static bool is_common(const char *name)
{
    static const char *const common[] = {
        "attn_q.weight",         "attn_k.weight",        "attn_v.weight",         "attn_output.weight",
        "ffn_gate.weight",       "ffn_up.weight",        "ffn_down.weight",       "ffn_gate_exps.weight",
        "ffn_up_exps.weight",    "ffn_down_exps.weight", "ffn_gate_shexp.weight", "ffn_up_shexp.weight",
        "ffn_down_shexp.weight", "attn_q_a.weight",      "attn_q_b.weight",       "attn_kv_a_mqa.weight",
        "attn_k_b.weight",       "attn_v_b.weight",      "attn_qkv.weight",
    };
    const char *part = strncmp(name, "blk.", 4) ? NULL : strchr(name + 4, '.');
    for (size_t i = 0; part && i < sizeof common / sizeof *common; i++)
        if (!strcmp(part + 1, common[i]))
            return true;
    return false;
}

bool plim_matrix_is_quantized(const struct plim_tensor *tensor)
{
    if (tensor->ne[1] <= 1 && tensor->ne[2] <= 1 && tensor->ne[3] <= 1)
        return false;
    if (!ends_with(tensor->name, "weight"))
        return false;
    if (is_common(tensor->name))
        return true;
    for (size_t i = 0; i < sizeof left_alone_names / sizeof *left_alone_names; i++)
        if (!strcmp(tensor->name, left_alone_names[i]))
            return false;
    for (size_t i = 0; i < sizeof left_alone_parts / sizeof *left_alone_parts; i++)
        if (strstr(tensor->name, left_alone_parts[i]))
            return false;
    return true;
}

enum plim_matrix_role plim_matrix_role(const char *name)
{
    if (!strcmp(name, "output.weight"))
        return PLIM_MATRIX_OUTPUT;
    if (!strcmp(name, "token_embd.weight") || !strcmp(name, "per_layer_token_embd.weight"))
        return PLIM_MATRIX_TOKEN_EMBD;
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (strstr(name, roles[i].part))
            return roles[i].role;
    return PLIM_MATRIX_OTHER;
}

int plim_matrix_layer(const char *name)
{
    int layer = 0;
    if (strncmp(name, "blk.", 4) || !isdigit((unsigned char)name[4]))
        return -1;
    for (name += 4; isdigit((unsigned char)*name) && layer < MAX_LAYER; name++)
        layer = layer * 10 + (*name - '0');
    return layer;
}

/* --- recipes --- */

/* When a rule applies: all of its conditions hold. */
enum condition {
    ALWAYS = 0,
    FALCON = 1 << 0,
    NOT_FALCON = 1 << 1,
    GQA_4 = 1 << 2,     /* four or more heads share a KV head, so K and V are small */
    EXPERTS_4 = 1 << 3, /* four or more */
    EXPERTS_8 = 1 << 4, /* exactly eight: Mixtral */
    FIRST_2 = 1 << 5,
    FIRST_4 = 1 << 6,
    FIRST_8TH = 1 << 7,
    FIRST_16TH = 1 << 8,
    MORE_BITS = 1 << 9,  /* the outer eighths and every third layer between (use_more_bits) */
    MIDDLE = 1 << 10,    /* not in the outer eighths */
    COUNT_8TH = 1 << 11, /* the first eighth, counting matrices and not layers */
    IMATRIX = 1 << 12,   /* there is an importance matrix */
    PLAIN = 1 << 13,     /* there is none */
};

enum {
    ATTN_V = PLIM_MATRIX_ATTN_V,
    ATTN_K = PLIM_MATRIX_ATTN_K,
    ATTN_Q = PLIM_MATRIX_ATTN_Q,
    ATTN_OUTPUT = PLIM_MATRIX_ATTN_OUTPUT,
    FFN_UP = PLIM_MATRIX_FFN_UP,
    FFN_GATE = PLIM_MATRIX_FFN_GATE,
    FFN_DOWN = PLIM_MATRIX_FFN_DOWN,
};

enum {
    F32 = PLIM_DTYPE_F32,
    F16 = PLIM_DTYPE_F16,
    BF16 = PLIM_DTYPE_BF16,
    Q4_0 = PLIM_DTYPE_Q4_0,
    Q4_1 = PLIM_DTYPE_Q4_1,
    Q5_0 = PLIM_DTYPE_Q5_0,
    Q5_1 = PLIM_DTYPE_Q5_1,
    Q8_0 = PLIM_DTYPE_Q8_0,
    Q2_K = PLIM_DTYPE_Q2_K,
    Q3_K = PLIM_DTYPE_Q3_K,
    Q4_K = PLIM_DTYPE_Q4_K,
    Q5_K = PLIM_DTYPE_Q5_K,
    Q6_K = PLIM_DTYPE_Q6_K,
    IQ1_S = PLIM_DTYPE_IQ1_S,
    IQ1_M = PLIM_DTYPE_IQ1_M,
    IQ2_XXS = PLIM_DTYPE_IQ2_XXS,
    IQ2_XS = PLIM_DTYPE_IQ2_XS,
    IQ2_S = PLIM_DTYPE_IQ2_S,
    IQ3_XXS = PLIM_DTYPE_IQ3_XXS,
    IQ3_S = PLIM_DTYPE_IQ3_S,
    IQ4_NL = PLIM_DTYPE_IQ4_NL,
    IQ4_XS = PLIM_DTYPE_IQ4_XS,
    TQ1_0 = PLIM_DTYPE_TQ1_0,
    TQ2_0 = PLIM_DTYPE_TQ2_0,
    MXFP4 = PLIM_DTYPE_MXFP4,
    Q1_0 = PLIM_DTYPE_Q1_0,
    Q2_0 = PLIM_DTYPE_Q2_0,
};

enum { MAX_RULES = 8 };

struct rule {
    uint8_t role;
    uint16_t when; /* of enum condition */
    uint8_t type;
};

struct plim_quant_recipe_rules {
    struct plim_quant_recipe recipe;
    uint8_t file_type;            /* llama.h: enum llama_ftype */
    uint8_t base;                 /* enum plim_dtype, as the others; most matrices get it */
    uint8_t output;               /* the output matrix, or the token embedding that stands in for it */
    uint8_t token_embd;           /* the token embedding of a model that has an output matrix */
    uint8_t experts;              /* stacked experts of any role; 0: as others of their role */
    bool is_tiny;                 /* of about 2 bits: the exceptions for small K and V matrices are its own */
    struct rule rules[MAX_RULES]; /* the first that names the role and applies; none: base */
};

#define NO_RULES                                                                                                       \
    {                                                                                                                  \
        {                                                                                                              \
            0                                                                                                          \
        }                                                                                                              \
    }

/*
 * { name, needs_imatrix }, file type, base, output, token_embd, experts, is_tiny, rules.
 * In the order of their size for Llama 3.1 8B.
 */
/* clang-format off */
static const struct plim_quant_recipe_rules table[] = {
    { { "F32", false }, 0, F32, F32, F32, 0, false, NO_RULES },
    { { "BF16", false }, 32, BF16, BF16, BF16, 0, false, NO_RULES },
    { { "F16", false }, 1, F16, F16, F16, 0, false, NO_RULES },
    { { "Q8_0", false }, 7, Q8_0, Q8_0, Q8_0, 0, false, NO_RULES },
    { { "MXFP4_MOE", false }, 38, Q8_0, Q8_0, Q8_0, MXFP4, false, NO_RULES },
    { { "Q6_K", false }, 18, Q6_K, Q6_K, Q6_K, 0, false, NO_RULES },
    { { "Q5_1", false }, 9, Q5_1, Q6_K, Q5_1, 0, false, NO_RULES },
    { { "Q5_K_M", false }, 17, Q5_K, Q6_K, Q5_K, 0, false, {
        { ATTN_V, MORE_BITS, Q6_K },
        { FFN_DOWN, MORE_BITS, Q6_K },
    } },
    { { "Q5_K_S", false }, 16, Q5_K, Q6_K, Q5_K, 0, false, NO_RULES },
    { { "Q5_0", false }, 8, Q5_0, Q6_K, Q5_0, 0, false, {
        { FFN_DOWN, IMATRIX | FIRST_8TH, Q5_1 },
    } },
    { { "Q4_1", false }, 3, Q4_1, Q6_K, Q4_1, 0, false, NO_RULES },
    { { "Q4_K_M", false }, 15, Q4_K, Q6_K, Q4_K, 0, false, {
        { ATTN_V, MORE_BITS, Q6_K },
        { ATTN_OUTPUT, NOT_FALCON | EXPERTS_8, Q5_K },
        { FFN_DOWN, FALCON | FIRST_16TH, Q6_K }, { FFN_DOWN, FALCON | MORE_BITS, Q5_K },
        { FFN_DOWN, NOT_FALCON | MORE_BITS, Q6_K },
    } },
    { { "IQ4_NL", false }, 25, IQ4_NL, Q6_K, IQ4_NL, 0, false, {
        { ATTN_V, GQA_4, Q5_K },
        { ATTN_OUTPUT, NOT_FALCON | EXPERTS_8, Q5_K },
        { FFN_DOWN, PLAIN | FIRST_8TH, Q5_K },
    } },
    { { "Q4_K_S", false }, 14, Q4_K, Q6_K, Q4_K, 0, false, {
        { ATTN_V, FIRST_4, Q5_K },
        { ATTN_OUTPUT, NOT_FALCON | EXPERTS_8, Q5_K },
        { FFN_DOWN, NOT_FALCON | FIRST_8TH, Q5_K },
    } },
    { { "Q4_0", false }, 2, Q4_0, Q6_K, Q4_0, 0, false, {
        { FFN_DOWN, IMATRIX | FIRST_8TH, Q4_1 },
    } },
    { { "IQ4_XS", false }, 30, IQ4_XS, Q6_K, IQ4_XS, 0, false, {
        { ATTN_V, GQA_4, Q5_K },
        { ATTN_OUTPUT, NOT_FALCON | EXPERTS_8, Q5_K },
        { FFN_DOWN, PLAIN | FIRST_8TH, Q5_K },
    } },
    { { "Q3_K_L", false }, 13, Q3_K, Q6_K, Q3_K, 0, false, {
        { ATTN_V, ALWAYS, Q5_K },
        { ATTN_OUTPUT, FALCON, Q4_K }, { ATTN_OUTPUT, EXPERTS_8, Q3_K }, { ATTN_OUTPUT, ALWAYS, Q5_K },
        { FFN_DOWN, FALCON, Q4_K }, { FFN_DOWN, ALWAYS, Q5_K },
    } },
    { { "Q3_K_M", false }, 12, Q3_K, Q6_K, Q3_K, 0, false, {
        { ATTN_V, FIRST_2, Q5_K }, { ATTN_V, ALWAYS, Q4_K },
        { ATTN_OUTPUT, FALCON, Q3_K }, { ATTN_OUTPUT, EXPERTS_8, Q5_K }, { ATTN_OUTPUT, ALWAYS, Q4_K },
        { FFN_DOWN, FIRST_16TH, Q5_K }, { FFN_DOWN, NOT_FALCON, Q4_K }, { FFN_DOWN, MORE_BITS, Q4_K },
    } },
    { { "IQ3_M", false }, 27, IQ3_S, Q6_K, IQ3_S, 0, false, {
        { ATTN_V, ALWAYS, Q4_K },
        { ATTN_OUTPUT, FALCON, IQ3_S }, { ATTN_OUTPUT, EXPERTS_8, Q5_K }, { ATTN_OUTPUT, ALWAYS, Q4_K },
        { FFN_DOWN, FIRST_8TH, Q4_K }, { FFN_DOWN, EXPERTS_8 | MORE_BITS, Q4_K },
    } },
    { { "IQ3_S", false }, 26, IQ3_S, Q6_K, IQ3_S, 0, false, {
        { ATTN_V, GQA_4, Q4_K },
        { ATTN_OUTPUT, NOT_FALCON | EXPERTS_8, Q5_K },
    } },
    { { "Q3_K_S", false }, 11, Q3_K, Q6_K, Q3_K, 0, false, {
        { ATTN_OUTPUT, NOT_FALCON | EXPERTS_8, Q5_K },
    } },
    { { "IQ3_XS", true }, 22, IQ3_S, Q6_K, IQ3_S, 0, false, {
        { ATTN_V, GQA_4, Q4_K },
        { ATTN_K, ALWAYS, IQ3_XXS },
        { ATTN_Q, ALWAYS, IQ3_XXS },
        { ATTN_OUTPUT, NOT_FALCON | EXPERTS_8, Q5_K },
        { FFN_GATE, MIDDLE, IQ3_XXS },
        { FFN_UP, MIDDLE, IQ3_XXS },
    } },
    { { "IQ3_XXS", true }, 23, IQ3_XXS, Q5_K, IQ3_S, 0, false, {
        { ATTN_V, GQA_4, Q4_K },
        { ATTN_K, ALWAYS, IQ2_S },
        { ATTN_Q, ALWAYS, IQ2_S },
        { ATTN_OUTPUT, FALCON, IQ3_XXS }, { ATTN_OUTPUT, EXPERTS_8, Q5_K }, { ATTN_OUTPUT, ALWAYS, IQ3_S },
    } },
    { { "Q2_K", false }, 10, Q2_K, Q6_K, Q2_K, 0, false, {
        { ATTN_V, GQA_4, Q4_K }, { ATTN_V, ALWAYS, Q3_K },
        { ATTN_OUTPUT, FALCON, Q2_K }, { ATTN_OUTPUT, EXPERTS_8, Q5_K }, { ATTN_OUTPUT, ALWAYS, Q3_K },
        { FFN_DOWN, ALWAYS, Q3_K },
    } },
    { { "Q2_K_S", true }, 21, Q2_K, Q6_K, Q2_K, 0, false, {
        { ATTN_V, GQA_4, Q4_K },
        { FFN_DOWN, FIRST_8TH, Q4_K },
    } },
    { { "IQ2_M", true }, 29, IQ2_S, Q5_K, IQ3_S, 0, true, {
        { ATTN_V, GQA_4, Q4_K }, { ATTN_V, EXPERTS_4, Q4_K }, { ATTN_V, ALWAYS, IQ3_S },
        { ATTN_K, EXPERTS_8, Q4_K },
        { ATTN_OUTPUT, EXPERTS_8, Q5_K }, { ATTN_OUTPUT, ALWAYS, IQ3_S },
        { FFN_DOWN, COUNT_8TH, IQ3_S },
    } },
    { { "IQ2_S", true }, 28, IQ2_XS, Q5_K, IQ3_S, 0, true, {
        { ATTN_V, GQA_4, Q4_K }, { ATTN_V, EXPERTS_4, Q4_K }, { ATTN_V, ALWAYS, IQ3_S },
        { ATTN_K, EXPERTS_8, Q4_K },
        { ATTN_OUTPUT, EXPERTS_8, Q5_K }, { ATTN_OUTPUT, ALWAYS, IQ3_S },
        { FFN_DOWN, COUNT_8TH, IQ3_S },
    } },
    { { "Q2_0", false }, 41, Q2_0, Q6_K, Q4_K, 0, false, NO_RULES },
    { { "IQ2_XS", true }, 20, IQ2_XS, Q5_K, Q2_K, 0, true, {
        { ATTN_V, GQA_4, Q4_K }, { ATTN_V, EXPERTS_4, Q4_K }, { ATTN_V, ALWAYS, Q2_K },
        { ATTN_K, EXPERTS_8, Q4_K },
        { ATTN_OUTPUT, EXPERTS_8, Q5_K },
        { FFN_DOWN, COUNT_8TH, Q2_K },
    } },
    { { "TQ2_0", false }, 37, TQ2_0, Q6_K, Q4_K, 0, false, NO_RULES },
    { { "IQ2_XXS", true }, 19, IQ2_XXS, Q5_K, Q2_K, 0, true, {
        { ATTN_V, GQA_4, Q4_K }, { ATTN_V, EXPERTS_4, Q4_K }, { ATTN_V, ALWAYS, Q2_K },
        { ATTN_K, EXPERTS_8, Q4_K },
        { ATTN_OUTPUT, EXPERTS_8, Q5_K },
        { FFN_DOWN, COUNT_8TH, Q2_K },
    } },
    { { "TQ1_0", false }, 36, TQ1_0, Q6_K, Q4_K, 0, false, NO_RULES },
    { { "IQ1_M", true }, 31, IQ1_M, Q5_K, Q2_K, 0, true, {
        { ATTN_V, GQA_4, Q4_K }, { ATTN_V, EXPERTS_4, Q4_K }, { ATTN_V, ALWAYS, Q2_K },
        { ATTN_K, EXPERTS_8, Q4_K },
        { ATTN_OUTPUT, EXPERTS_8, Q5_K }, { ATTN_OUTPUT, ALWAYS, IQ2_XXS },
        { FFN_DOWN, COUNT_8TH, Q2_K },
    } },
    { { "IQ1_S", true }, 24, IQ1_S, Q5_K, Q2_K, 0, true, {
        { ATTN_V, GQA_4, Q4_K }, { ATTN_V, EXPERTS_4, Q4_K }, { ATTN_V, ALWAYS, Q2_K },
        { ATTN_K, EXPERTS_8, Q4_K },
        { ATTN_OUTPUT, EXPERTS_8, Q5_K }, { ATTN_OUTPUT, ALWAYS, IQ2_XXS },
        { FFN_DOWN, COUNT_8TH, Q2_K },
    } },
    { { "Q1_0", false }, 40, Q1_0, Q6_K, Q1_0, 0, false, NO_RULES },
};
/* clang-format on */

/* --- enumeration --- */

const struct plim_quant_recipe *plim_quant_recipe_at(size_t i)
{
    return i < sizeof table / sizeof *table ? &table[i].recipe : NULL;
}

const struct plim_quant_recipe_rules *plim_quant_recipe_rules(const char *name)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcasecmp(table[i].recipe.name, name))
            return &table[i];
    return NULL;
}

const struct plim_quant_recipe *plim_quant_recipe_own(const char *name)
{
    const struct plim_quant_recipe_rules *rules = plim_quant_recipe_rules(name);
    return rules ? &rules->recipe : NULL;
}

uint32_t plim_quant_recipe_file_type(const struct plim_quant_recipe_rules *rules) { return rules->file_type; }

bool plim_quant_recipe_asks_for_layers(const struct plim_quant_recipe_rules *rules)
{
    return plim_dtype_is_quantized((enum plim_dtype)rules->base) && !rules->is_tiny && !rules->experts;
}

bool plim_quant_recipe_heeds_imatrix(const struct plim_quant_recipe_rules *rules)
{
    for (const struct rule *rule = rules->rules; rule < rules->rules + MAX_RULES && rule->type; rule++)
        if (rule->when & (IMATRIX | PLAIN))
            return true;
    return false;
}

/* --- decision --- */

static bool has_more_bits(uint32_t i, uint32_t n) { return i < n / 8 || i >= 7 * n / 8 || (i - n / 8) % 3 == 2; }

/* All conditions that hold for a matrix. */
static unsigned conditions(const struct plim_matrix *matrix)
{
    const uint32_t i = matrix->place, n = matrix->n_places;
    unsigned holds = matrix->is_falcon ? FALCON : NOT_FALCON;
    holds |= matrix->has_imatrix ? IMATRIX : PLAIN;
    holds |= matrix->n_gqa >= 4 ? GQA_4 : 0;
    holds |= matrix->n_expert >= 4 ? EXPERTS_4 : 0;
    holds |= matrix->n_expert == 8 ? EXPERTS_8 : 0;
    holds |= i < 2 ? FIRST_2 : 0;
    holds |= i < 4 ? FIRST_4 : 0;
    holds |= i < n / 8 ? FIRST_8TH : 0;
    holds |= i < n / 16 ? FIRST_16TH : 0;
    holds |= has_more_bits(i, n) ? MORE_BITS : 0;
    holds |= i >= n / 8 && i < 7 * n / 8 ? MIDDLE : 0;
    holds |= matrix->n_before < n / 8 ? COUNT_8TH : 0;
    return holds;
}

static uint8_t type_by_role(const struct plim_quant_recipe_rules *rules, const struct plim_matrix *matrix)
{
    const unsigned holds = conditions(matrix);
    for (const struct rule *rule = rules->rules; rule < rules->rules + MAX_RULES && rule->type; rule++)
        if (rule->role == matrix->role && (rule->when & holds) == rule->when)
            return rule->type;
    return rules->base;
}

static uint8_t output_type(const struct plim_quant_recipe_rules *rules, const struct plim_matrix *matrix)
{
    const bool is_odd = matrix->n_columns % plim_dtype_block_elements(rules->base) != 0;
    return matrix->is_falcon || is_odd ? Q8_0 : rules->output;
}

/*
 * Small K and V matrices get more bits whatever the recipe: those of the 70B models with eight heads per KV head, and
 * those of Mixtral, where they are few beside the experts.
 */
static uint8_t raised_type(const struct plim_matrix *matrix, uint8_t type)
{
    if (matrix->n_expert == 8 && (matrix->role == PLIM_MATRIX_ATTN_V || matrix->role == PLIM_MATRIX_ATTN_K))
        return Q8_0;
    if (matrix->is_70b && matrix->role == PLIM_MATRIX_ATTN_V && (type == Q3_K || type == Q4_K))
        return Q5_K;
    return type;
}

enum plim_dtype plim_quant_recipe_type(const struct plim_quant_recipe_rules *rules, const struct plim_matrix *matrix)
{
    uint8_t type;
    if (!plim_dtype_is_quantized((enum plim_dtype)rules->base))
        return (enum plim_dtype)rules->base;
    if (matrix->role == PLIM_MATRIX_OUTPUT)
        type = output_type(rules, matrix);
    else if (rules->experts)
        type = matrix->is_experts ? rules->experts : rules->base;
    else if (matrix->role == PLIM_MATRIX_TOKEN_EMBD)
        type = rules->token_embd;
    else if (rules->is_tiny)
        type = type_by_role(rules, matrix);
    else
        type = raised_type(matrix, type_by_role(rules, matrix));
    return (enum plim_dtype)type;
}
