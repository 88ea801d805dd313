/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_MODEL_CONVERT_DEFAULTS_H
#define PLIMSOLL_MODEL_CONVERT_DEFAULTS_H

/* The configuration classes of transformers, as far as the converter reads what they fill in. */

#include "model/model_impl.h"

enum plim_config_gives {
    HAS_KV = 1 << 0,     /* num_key_value_heads */
    HAS_HEAD = 1 << 1,   /* head_dim */
    HAS_SCALES = 1 << 2, /* Granite's multipliers, all 1 */
    HAS_GROUPS = 1 << 4, /* DeepSeek V3's groups of experts, and the scale of their weights */
    OF_PARTS = 1 << 3,   /* the class of the whole decides, not that of its text_config */
};

enum { PLIM_CONFIG_CLASS_KEYS = 16 };

struct plim_config_class {
    const char *type; /* model_type */
    uint32_t context, vocabulary;
    double rms_epsilon, norm_epsilon, theta;
    uint32_t window;
    uint32_t gives;                                        /* enum plim_config_gives */
    uint32_t width, feed_forward, layers, heads, heads_kv; /* of classes whose configs are published without them */
};

/* The class of this model_type, or NULL. */
const struct plim_config_class *plim_config_class_named(const char *type);

/* What it gives, as keys of a config; returns how many. */
size_t plim_config_class_keys(const struct plim_config_class *class, struct plim_key keys[PLIM_CONFIG_CLASS_KEYS]);

#endif
