/* SPDX-License-Identifier: MIT */
#include "model/convert/conversion.h"

#include "base/limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { KEY_BYTES = 160 };

/* --- reading the config --- */

static const struct plim_key *find(const struct plim_conversion *c, const char *prefix, const char *name, size_t n)
{
    char key[KEY_BYTES];
    const int length = snprintf(key, sizeof key, "%s%.*s", prefix, (int)n, name);
    if (length < 0 || (size_t)length >= sizeof key)
        return NULL;
    return plim_key_find(c->config->keys, c->config->n_keys, key);
}

static const struct plim_key *find_said(const struct plim_conversion *c, const char *names)
{
    while (*names) {
        const size_t n = strcspn(names, "|");
        const struct plim_key *key = *c->text ? find(c, c->text, names, n) : NULL;
        if (!key && c->options.part == PLIM_CONVERT_LANGUAGE)
            key = find(c, "", names, n);
        if (key)
            return key;
        names += n + (names[n] == '|');
    }
    return NULL;
}

static const struct plim_key *find_default(const struct plim_conversion *c, const char *names)
{
    for (; *names; names += strcspn(names, "|"), names += *names == '|')
        for (size_t i = 0; i < c->n_defaults; i++)
            if (strlen(c->defaults[i].name) == strcspn(names, "|") &&
                !strncmp(c->defaults[i].name, names, strcspn(names, "|")))
                return &c->defaults[i];
    return NULL;
}

const struct plim_key *plim_config_key(const struct plim_conversion *c, const char *names)
{
    const struct plim_key *key = find_said(c, names);
    return key ? key : find_default(c, names);
}

bool plim_config_says(const struct plim_conversion *c, const char *names) { return find_said(c, names) != NULL; }

bool plim_config_has(const struct plim_conversion *c, const char *names) { return plim_config_key(c, names) != NULL; }

static bool whole_number(const struct plim_key *key, uint64_t *ret_number)
{
    *ret_number = 0;
    if (key->type == PLIM_VALUE_ARRAY && key->numbers) { /* one for each layer: the largest */
        for (uint64_t i = 0; i < key->n; i++)
            *ret_number = key->numbers[i] > (int64_t)*ret_number ? (uint64_t)key->numbers[i] : *ret_number;
        return true;
    }
    if (key->type == PLIM_VALUE_REAL && key->f >= 0 && key->f < 9e15 && key->f == (double)(uint64_t)key->f) {
        *ret_number = (uint64_t)key->f;
        return true;
    }
    return key->type != PLIM_VALUE_BOOL && plim_key_u64(key, ret_number);
}

uint64_t plim_config_number(struct plim_conversion *c, const char *names, uint64_t max, uint64_t otherwise)
{
    const struct plim_key *key = plim_config_key(c, names);
    uint64_t number;
    if (!key)
        return otherwise;
    if (whole_number(key, &number) && number <= max)
        return number;
    char what[64];
    snprintf(what, sizeof what, "is no whole number up to %" PRIu64, max);
    plim_conversion_fail(c, key->name, what);
    return otherwise;
}

uint64_t plim_config_need(struct plim_conversion *c, const char *names, uint64_t max)
{
    char first[KEY_BYTES];
    const uint64_t number = plim_config_number(c, names, max, 0);
    if (number || c->result < 0)
        return number ? number : 1;
    const struct plim_key *key = plim_config_key(c, names);
    snprintf(first, sizeof first, "%s%.*s", c->text, (int)strcspn(names, "|"), names);
    plim_conversion_fail(c, key ? key->name : first, key ? "is 0" : "is missing");
    return 1;
}

double plim_config_real(const struct plim_conversion *c, const char *names, double otherwise)
{
    const struct plim_key *key = plim_config_key(c, names);
    uint64_t number;
    if (!key)
        return otherwise;
    if (key->type == PLIM_VALUE_REAL)
        return key->f;
    if (key->type == PLIM_VALUE_SIGNED)
        return (double)key->i;
    return key->type != PLIM_VALUE_BOOL && plim_key_u64(key, &number) ? (double)number : otherwise;
}

bool plim_config_truth(const struct plim_conversion *c, const char *names, bool otherwise)
{
    const struct plim_key *key = plim_config_key(c, names);
    return key && key->type == PLIM_VALUE_BOOL ? key->u != 0 : otherwise;
}

const char *plim_config_string(const struct plim_conversion *c, const char *names)
{
    const struct plim_key *key = plim_config_key(c, names);
    return key && key->type == PLIM_VALUE_STRING ? key->string : NULL;
}

int64_t plim_config_number_at(const struct plim_conversion *c, const char *name, uint32_t i, int64_t otherwise)
{
    const struct plim_key *key = plim_config_key(c, name);
    return key && key->type == PLIM_VALUE_ARRAY && key->numbers && i < key->n ? key->numbers[i] : otherwise;
}

const char *plim_config_string_at(const struct plim_conversion *c, const char *name, uint32_t i)
{
    char item[KEY_BYTES];
    snprintf(item, sizeof item, "%.120s.%" PRIu32, name, i);
    return plim_config_string(c, item);
}

uint64_t plim_config_length(const struct plim_conversion *c, const char *name)
{
    const struct plim_key *key = plim_config_key(c, name);
    return key && key->type == PLIM_VALUE_ARRAY ? key->n : 0;
}

const struct plim_tensor *plim_checkpoint_tensor(const struct plim_conversion *c, const char *suffix)
{
    const size_t n = strlen(suffix);
    if (c->config->format != PLIM_FORMAT_SAFETENSORS)
        return NULL;
    for (size_t i = 0; i < c->config->n_tensors; i++) {
        const char *name = c->config->tensors[i].name;
        const size_t length = strlen(name);
        if (length >= n && !strcmp(name + length - n, suffix) && (length == n || name[length - n - 1] == '.'))
            return &c->config->tensors[i];
    }
    return NULL;
}

/* --- errors and doubts --- */

void plim_conversion_fail(struct plim_conversion *c, const char *key, const char *what)
{
    if (c->result == 0)
        c->result = plim_fail(c->err, PLIM_E_CORRUPT, PLIM_NO_OFFSET, "'%.96s' %s", key, what);
}

void plim_conversion_doubt(struct plim_conversion *c, const char *text, const char *tensor)
{
    for (size_t i = 0; i < c->n_doubts; i++)
        if (!strcmp(c->doubts[i].text, text))
            return;
    if (c->n_doubts < PLIM_CONVERT_DOUBTS)
        c->doubts[c->n_doubts++] = (struct plim_doubt){ text, tensor, 0 };
}

/* --- writing metadata --- */

static const char *full_name(struct plim_conversion *c, const char *name)
{
    char key[KEY_BYTES];
    const bool is_whole = !strncmp(name, "general.", 8) || !strncmp(name, "tokenizer.", 10);
    const int n = is_whole ? snprintf(key, sizeof key, "%s", name) : snprintf(key, sizeof key, "%s.%s", c->arch, name);
    char *copy = plim_arena_copy(&c->made->arena, key, (size_t)n);
    if (!copy && c->result == 0)
        c->result = plim_model_no_room(c->made, c->err);
    return copy;
}

/* A later value replaces an earlier one, as in the converter. */
static void write(struct plim_conversion *c, const char *name, struct plim_key key)
{
    key.name = c->result < 0 ? NULL : full_name(c, name);
    if (!key.name)
        return;
    for (size_t i = 0; i < c->made->n_keys; i++)
        if (!strcmp(c->made->keys[i].name, key.name)) {
            c->made->keys[i] = key;
            return;
        }
    c->result = plim_model_add_key(c->made, &key, c->err);
}

void plim_write_count(struct plim_conversion *c, const char *name, uint64_t value)
{
    write(c, name, (struct plim_key){ .type = PLIM_VALUE_UNSIGNED, .u = value });
}

void plim_write_real(struct plim_conversion *c, const char *name, double value)
{
    write(c, name, (struct plim_key){ .type = PLIM_VALUE_REAL, .f = value });
}

void plim_write_flag(struct plim_conversion *c, const char *name, bool value)
{
    write(c, name, (struct plim_key){ .type = PLIM_VALUE_BOOL, .u = value });
}

void plim_write_text(struct plim_conversion *c, const char *name, const char *value)
{
    const char *copy = c->result < 0 ? NULL : plim_arena_copy(&c->made->arena, value, strlen(value));
    if (copy)
        write(c, name, (struct plim_key){ .type = PLIM_VALUE_STRING, .string = copy });
    else if (c->result == 0)
        c->result = plim_model_no_room(c->made, c->err);
}

void plim_write_length(struct plim_conversion *c, const char *name, uint64_t n)
{
    write(c, name, (struct plim_key){ .type = PLIM_VALUE_ARRAY, .n = n });
}

void plim_write_list(struct plim_conversion *c, const char *name, const int64_t *values, size_t n)
{
    int64_t *copy = c->result < 0 ? NULL : plim_arena_alloc(&c->made->arena, n, sizeof *copy);
    if (!copy) {
        if (c->result == 0)
            c->result = plim_model_no_room(c->made, c->err);
        return;
    }
    memcpy(copy, values, n * sizeof *copy);
    write(c, name, (struct plim_key){ .type = PLIM_VALUE_ARRAY, .n = n, .numbers = copy });
}
