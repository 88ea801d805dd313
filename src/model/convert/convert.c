/* SPDX-License-Identifier: MIT */
/* The conversion of one config: find its row, read its sizes, write its keys and tensors. */
#include "plimsoll/convert.h"

#include "base/numbers.h"
#include "model/convert/rule.h"
#include "model/gguf.h"

#include <stdio.h>
#include <string.h>

enum { KEY_BYTES = 64 };

/* --- the row --- */

static bool is_one_of(const char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n && names[i]; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

/* The part of a config that describes the language model (conversion/base.py: load_hparams, TextModel). */
static const char *text_prefix(const struct plim_model *config)
{
    static const char *const prefixes[] = { "text_config.", "llm_config.", "lm_config.", "thinker_config.text_config.",
                                            "language_config." };
    char object[KEY_BYTES];
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        snprintf(object, sizeof object, "%.*s", (int)strlen(prefixes[i]) - 1, prefixes[i]);
        const struct plim_key *key = plim_key_find(config->keys, config->n_keys, object);
        if (key && key->type == PLIM_VALUE_OBJECT)
            return prefixes[i];
    }
    return "";
}

static const char *string_under(const struct plim_model *config, const char *prefix, const char *name)
{
    char key[KEY_BYTES];
    snprintf(key, sizeof key, "%s%s", prefix, name);
    return plim_model_string(config, key);
}

static const struct plim_convert_row *row_named(const char *name, bool is_projector)
{
    const struct plim_convert_row *row = NULL;
    for (size_t i = 0; name && (row = plim_convert_row_at(i)); i++)
        if (row->is_projector == is_projector && is_one_of(row->names, PLIM_CONVERT_NAMES, name))
            return row;
    return NULL;
}

static const struct plim_convert_row *row_of_type(const char *type, bool is_projector)
{
    const struct plim_convert_row *row = NULL;
    for (size_t i = 0; type && (row = plim_convert_row_at(i)); i++)
        if (row->is_projector == is_projector && is_one_of(row->types, PLIM_CONVERT_TYPES, type))
            return row;
    return NULL;
}

/* "architectures" of the part wins over that of the whole (base.py: get_model_architecture). */
static const struct plim_convert_row *find_row(struct plim_conversion *c)
{
    const bool is_projector = c->options.part == PLIM_CONVERT_PROJECTOR;
    const char *whole = plim_model_string(c->config, "architectures.0");
    const char *own = string_under(c->config, c->text, "architectures.0");
    const struct plim_convert_row *row = row_named(is_projector ? whole : own, is_projector);
    if (!row)
        row = row_named(whole, is_projector);
    if (row || whole || own)
        return row;
    const char *type = plim_model_string(c->config, "model_type");
    row = row_of_type(string_under(c->config, c->text, "model_type"), is_projector);
    if (!row)
        row = row_of_type(type, is_projector);
    if (row)
        plim_conversion_doubt(c, "the config names no architecture; the usual one of its model_type is taken", NULL);
    return row;
}

/* The class by which transformers reads the part at hand. */
static void read_class(struct plim_conversion *c)
{
    const char *own = string_under(c->config, c->text, "model_type");
    if (c->row->is_raw)
        return;
    c->class = plim_config_class_named(plim_model_string(c->config, "model_type"));
    if (own && (!c->class || !(c->class->gives & OF_PARTS)))
        c->class = plim_config_class_named(own);
    if (c->row->is_projector)
        c->class = plim_config_class_named(c->row->encoder);
    else if (!c->class && !own)
        c->class = plim_config_class_named(c->row->types[0]);
    if (c->class)
        c->n_defaults = plim_config_class_keys(c->class, c->defaults);
}

static int no_row(const struct plim_conversion *c)
{
    const bool is_projector = c->options.part == PLIM_CONVERT_PROJECTOR;
    const char *name = plim_model_string(c->config, "architectures.0");
    if (!name)
        name = plim_model_string(c->config, "model_type");
    const int code = plim_fail(c->err, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET,
                               is_projector ? "no rules for the projector of '%.64s'" : "no rules for '%.64s'",
                               name ? name : "a config without 'architectures' and 'model_type'");
    plim_error_hint(c->err, "the GGUF file itself can be read: plimsoll fit MODEL.gguf");
    return code;
}

/* --- the model --- */

/* What is in doubt of the config is so of what it becomes. */
static void take_doubts(struct plim_conversion *c)
{
    for (size_t i = 0; i < c->config->n_doubts; i++)
        plim_conversion_doubt(c, c->config->doubts[i].text, c->config->doubts[i].tensor);
}

/* Header and data; what stands in the vocabulary is not known. */
static int add_file(struct plim_conversion *c)
{
    enum { ALIGNMENT = 32, FIXED_BYTES = 24, KEY_HEAD = 12, VALUE_BYTES = 8, TENSOR_HEAD = 24 };
    uint64_t head = FIXED_BYTES, data = 0;
    for (size_t i = 0; i < c->made->n_keys; i++) {
        const struct plim_key *key = &c->made->keys[i];
        head += KEY_HEAD + strlen(key->name) + VALUE_BYTES;
        if (key->type == PLIM_VALUE_STRING)
            head += strlen(key->string);
        else if (key->type == PLIM_VALUE_ARRAY && key->numbers)
            head += key->n * sizeof(int32_t);
    }
    for (size_t i = 0; i < c->made->n_tensors; i++) {
        const struct plim_tensor *t = &c->made->tensors[i];
        head += TENSOR_HEAD + strlen(t->name) + 8 * (uint64_t)t->n_dims;
        data = plim_bytes_sum(data, (t->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    }
    head = (head + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return plim_model_add_shard(c->made, "", plim_bytes_sum(head, data), head, c->err);
}

static int settle_doubts(struct plim_conversion *c)
{
    bool is_by_name = false;
    if (!c->row->is_proven)
        plim_conversion_doubt(c, "the rules of this architecture are not compared with the converter", NULL);
    if (plim_model_bool(c->config, "_by_name", &is_by_name) && is_by_name) /* of the catalogue: tools/embed_models.py */
        plim_conversion_doubt(c, "the config is of a model that this one resembles by its name; its own was not read",
                              NULL);
    struct plim_doubt *doubts = plim_arena_alloc(&c->made->arena, PLIM_CONVERT_DOUBTS, sizeof *doubts);
    if (!doubts)
        return plim_model_no_room(c->made, c->err);
    memcpy(doubts, c->doubts, sizeof c->doubts);
    c->made->doubts = doubts;
    c->made->n_doubts = c->n_doubts;
    c->made->forecast = c->n_doubts ? PLIM_FORECAST_FORMULA : PLIM_FORECAST_EXACT;
    return 0;
}

static int convert(struct plim_conversion *c)
{
    plim_convert_read_sizes(c, c->row);
    if (c->result == 0)
        plim_convert_write_keys(c, c->row);
    if (c->result == 0)
        plim_convert_write_tensors(c, c->row);
    if (c->result == 0)
        plim_convert_check_checkpoint(c);
    if (c->result == 0)
        c->result = plim_keys_sort(c->made->keys, c->made->n_keys, c->err);
    if (c->result == 0)
        c->result = add_file(c);
    if (c->result == 0)
        c->result = settle_doubts(c);
    return c->result < 0 ? c->result : plim_gguf_settle(c->made, "", c->err);
}

int plim_convert(const struct plim_model *config, const struct plim_convert_options *options,
                 struct plim_model **ret_gguf, struct plim_error *reterr)
{
    struct plim_conversion c = { .config = config, .err = reterr };
    if (options)
        c.options = *options;
    if (config->format != PLIM_FORMAT_HF_CONFIG && config->format != PLIM_FORMAT_SAFETENSORS)
        return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "the model is no checkpoint of Hugging Face");
    take_doubts(&c);
    c.text = text_prefix(config);
    c.row = find_row(&c);
    if (!c.row)
        return no_row(&c);
    c.arch = c.row->arch;
    c.language = c.text;
    if (c.row->is_projector)
        c.text = strncmp(c.row->prefix, "a.", 2) ? "vision_config." : "audio_config.";
    read_class(&c);
    c.made = plim_model_new("");
    if (!c.made)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    const int result = convert(&c);
    if (result < 0) {
        plim_error_where(reterr, config->path);
        plim_model_free(c.made);
        return result;
    }
    *ret_gguf = c.made;
    return 0;
}

bool plim_convert_architecture_at(size_t i, struct plim_convert_architecture *ret_architecture)
{
    const struct plim_convert_row *row;
    for (size_t r = 0; (row = plim_convert_row_at(r)); r++) {
        for (size_t k = 0; k < PLIM_CONVERT_NAMES && row->names[k]; k++)
            if (i-- == 0) {
                *ret_architecture = (struct plim_convert_architecture){ .name = row->names[k],
                                                                        .gguf_arch = row->arch,
                                                                        .source = row->source,
                                                                        .is_projector = row->is_projector,
                                                                        .is_proven = row->is_proven };
                return true;
            }
    }
    return false;
}
