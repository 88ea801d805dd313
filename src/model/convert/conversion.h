/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_MODEL_CONVERT_CONVERSION_H
#define PLIMSOLL_MODEL_CONVERT_CONVERSION_H

/*
 * One conversion under way: the config it reads, the sizes and facts it found, the model it makes.
 *
 * Nothing here fails by itself: the first error stays in `result`, later readings give 1, and the caller looks once.
 */

#include "model/convert/defaults.h"
#include "model/model_impl.h"
#include "plimsoll/convert.h"

/* The sizes that dimensions and metadata are made of. */
enum plim_convert_size {
    N_END = 0,
    N_1,
    N_2,
    N_3,
    N_LAYER,     /* decoder layers of the config */
    N_NEXTN,     /* layers for multi-token prediction behind them */
    N_LAYER_ALL, /* both */
    N_SECOND,    /* layers of a second stack */
    N_EMBD,
    N_EMBD_2, /* twice */
    N_EMBD_3,
    N_VOCAB,
    N_CTX,
    N_HEAD,
    N_HEAD_KV,
    N_HEAD_K, /* width of a head of K ... */
    N_HEAD_V, /* ... and of V */
    N_SHARE,  /* width of the hidden state by heads */
    N_Q,      /* all heads of Q together, K, V, and what goes into the output projection */
    N_Q_2,
    N_K,
    N_V,
    N_O,
    N_QKV,
    N_FF,
    N_FF_2,
    N_FF_EXP,
    N_FF_EXP_2,
    N_FF_SHARED,
    N_EXPERT,
    N_EXPERT_IN, /* width that the experts see: the hidden state's, or a latent one's */
    N_SHARED,    /* shared experts */
    N_DENSE_LEAD,
    N_ROT,      /* rotated dimensions of a head */
    N_ROT_HALF, /* half of them */
    N_Q_LORA,
    N_KV_LORA,
    N_KV_A,  /* the latent vector and the rotated key together */
    N_KV_B,  /* what it expands to */
    N_NOPE,  /* dimensions of a key that are not rotated */
    N_ROPE,  /* and that are */
    N_KEY,   /* both */
    N_VALUE, /* of MLA */
    N_INDEX_HEAD,
    N_INDEX_HEADS,
    N_INDEX_Q,
    N_WINDOW,
    N_CONV, /* window of a convolution */
    N_INNER,
    N_INNER_2,
    N_STATE,
    N_DT_RANK, /* and heads of Mamba 2 */
    N_GROUPS,
    N_GROUP_WIDTH, /* N_INNER / N_GROUPS */
    N_SSM_IN,
    N_SSM_CONV,
    N_SSM_X,
    N_POSITIONS,
    N_TYPES,
    N_LAYER_EMBD,
    N_LAYER_EMBD_ALL, /* of all layers together */
    N_BUCKETS,
    /* of projectors */
    N_TEXT, /* width of the language model */
    N_PATCH,
    N_CHANNELS,
    N_MERGED,
    N_HIDDEN,
    N_TABLE, /* rows of the position table */
    N_EXTRA,
    N_MAX_
};

/* What holds of a model, or of the layer at hand. */
enum plim_convert_fact {
    TIED = 1 << 0, /* no output matrix */
    QKV_BIAS = 1 << 1,
    OUT_BIAS = 1 << 2,
    MLP_BIAS = 1 << 3,
    HAS_GATE = 1 << 4, /* the feed-forward part is gated */
    ROPE_FREQS = 1 << 5,
    ROPE_FACTORS = 1 << 6,
    ATTENDS = 1 << 7,
    EXPERTS = 1 << 8,
    DENSE = 1 << 9,
    SHARED = 1 << 10, /* a shared expert */
    SCORE_BIAS = 1 << 11,
    RECURS = 1 << 12, /* keeps a state */
    PREDICTS = 1 << 13,
    Q_LORA = 1 << 14,
    INDEXED = 1 << 15, /* by an indexer of its own */
    SINKS = 1 << 16,
    VALUES = 1 << 17, /* a V projection */
    LAYER_EMBD = 1 << 18,
    QK_NORM = 1 << 19,
    CONV_BIAS = 1 << 20,
    FIRST = 1 << 21, /* layer 0 */
    POST_NORM = 1 << 22,
    HAS_OWN_EMBD = 1 << 23, /* a prediction layer with embeddings of its own */
    FUSED = 1 << 24,
    LATENT = 1 << 25, /* experts in a latent space */
    MIXED = 1 << 26,  /* any of the layers above */
    MXFP4 = 1 << 27,  /* experts keep the checkpoint's type */
};

struct plim_convert_row;

enum { PLIM_CONVERT_DOUBTS = 8 };

struct plim_conversion {
    const struct plim_model *config;
    const char *text;                      /* "text_config.": before the keys of the part at hand; "" */
    const char *language;                  /* the same of the language model, where the part is a projector */
    const struct plim_config_class *class; /* NULL: one that transformers does not have */
    struct plim_key defaults[PLIM_CONFIG_CLASS_KEYS];
    size_t n_defaults;
    struct plim_convert_options options;
    const struct plim_convert_row *row;
    const char *arch;
    struct plim_model *made;
    struct plim_error *err;
    int result; /* the first error */
    uint64_t n[N_MAX_];
    uint32_t facts;
    enum plim_dtype type;
    struct plim_doubt doubts[PLIM_CONVERT_DOUBTS];
    size_t n_doubts;
};

/*
 * Reading the config. `names` are the alternatives of a key between bars; each is looked for in the part at hand, then
 * at the top, then among the defaults of its class; those of a projector only in the part.
 */
const struct plim_key *plim_config_key(const struct plim_conversion *c, const char *names);
bool plim_config_has(const struct plim_conversion *c, const char *names);

/* Whether the config itself has one of them. */
bool plim_config_says(const struct plim_conversion *c, const char *names);

/* A whole number up to max (a list counts as its largest); `otherwise` when there is none. need: that is an error. */
uint64_t plim_config_number(struct plim_conversion *c, const char *names, uint64_t max, uint64_t otherwise);
uint64_t plim_config_need(struct plim_conversion *c, const char *names, uint64_t max);
double plim_config_real(const struct plim_conversion *c, const char *names, double otherwise);
bool plim_config_truth(const struct plim_conversion *c, const char *names, bool otherwise);
const char *plim_config_string(const struct plim_conversion *c, const char *names); /* or NULL */

/* The i-th of a list: of numbers, or `otherwise`; of strings, or NULL. */
int64_t plim_config_number_at(const struct plim_conversion *c, const char *name, uint32_t i, int64_t otherwise);
const char *plim_config_string_at(const struct plim_conversion *c, const char *name, uint32_t i);
uint64_t plim_config_length(const struct plim_conversion *c, const char *name);

/* The tensor of the checkpoint with this name behind any prefix, where there is a checkpoint; else NULL. */
const struct plim_tensor *plim_checkpoint_tensor(const struct plim_conversion *c, const char *suffix);

/* Fail with PLIM_E_CORRUPT: "'key' what". */
void plim_conversion_fail(struct plim_conversion *c, const char *key, const char *what);

/* One more reason to doubt; both strings live as long as the program. */
void plim_conversion_doubt(struct plim_conversion *c, const char *text, const char *tensor);

/* Writing metadata: `name` is behind "ARCH.", or whole where it has a prefix of the format ("general.", ...). */
void plim_write_count(struct plim_conversion *c, const char *name, uint64_t value);
void plim_write_real(struct plim_conversion *c, const char *name, double value);
void plim_write_flag(struct plim_conversion *c, const char *name, bool value);
void plim_write_text(struct plim_conversion *c, const char *name, const char *value);
void plim_write_length(struct plim_conversion *c, const char *name, uint64_t n); /* a list without its values */
void plim_write_list(struct plim_conversion *c, const char *name, const int64_t *values, size_t n);

#endif
