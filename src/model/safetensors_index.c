/* SPDX-License-Identifier: MIT */
/*
 * model.safetensors.index.json: {"metadata": ..., "weight_map": {tensor: file, ...}}. Only the files matter here; what
 * is in them they say themselves.
 */
#include "base/json.h"
#include "model/safetensors.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FILE_NAME_BYTES = 255, MAX_NAMES_BYTES = 1 << 20, SLOTS = 4096 };
_Static_assert(SLOTS >= 4 * PLIM_MAX_SAFETENSORS_FILES, "the table of names seen stays mostly empty");

/* Names seen already: hundreds of thousands of tensors lie in a few hundred files. */
struct seen {
    const char *slots[SLOTS];
};

/* Where this name stands in the table, or where it would. */
static const char **slot_of(struct seen *seen, const struct plim_json_text *name)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < name->length; i++)
        hash = (hash ^ (unsigned char)name->text[i]) * 16777619u;
    while (seen->slots[hash % SLOTS] && !plim_json_is(name, seen->slots[hash % SLOTS]))
        hash++;
    return &seen->slots[hash % SLOTS];
}

/* Files lie beside the index: a name with a folder in it could lead anywhere. */
static bool is_plain(const struct plim_json_text *name)
{
    return !name->is_cut && name->length > 0 && name->length <= MAX_FILE_NAME_BYTES && name->text[0] != '.' &&
           !memchr(name->text, '/', name->length) && !memchr(name->text, '\0', name->length);
}

static int add(struct plim_safetensors_index *index, struct seen *seen, const struct plim_json_text *name,
               struct plim_error *reterr)
{
    if (!is_plain(name))
        return plim_fail(reterr, PLIM_E_CORRUPT, name->at, "the index names a file that is not beside it");
    const char **slot = slot_of(seen, name);
    if (*slot)
        return 0;
    if (index->n_files == PLIM_MAX_SAFETENSORS_FILES)
        return plim_fail(reterr, PLIM_E_TOO_BIG, name->at, "more than %d files", PLIM_MAX_SAFETENSORS_FILES);
    *slot = plim_arena_copy(&index->arena, name->text, name->length);
    if (!*slot)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    index->files[index->n_files++] = *slot;
    return 0;
}

static int read_map(struct plim_json *j, struct plim_safetensors_index *index, struct seen *seen)
{
    struct plim_json_text tensor, file;
    int result = plim_json_object(j);
    if (result < 0)
        return result;
    while ((result = plim_json_member(j, &tensor)) > 0) {
        result = plim_json_string(j, &file);
        if (result == 0)
            result = add(index, seen, &file, j->err);
        if (result < 0)
            return result;
    }
    return result;
}

static int compare(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static int read_index(struct plim_json *j, struct plim_safetensors_index *index, struct seen *seen)
{
    struct plim_json_text key;
    bool has_map = false;
    int result = plim_json_object(j);
    if (result < 0)
        return result;
    while ((result = plim_json_member(j, &key)) > 0) {
        const bool is_map = plim_json_is(&key, "weight_map");
        if (is_map && has_map)
            return plim_fail(j->err, PLIM_E_CORRUPT, key.at, "'weight_map' appears twice");
        has_map |= is_map;
        result = is_map ? read_map(j, index, seen) : plim_json_skip(j);
        if (result < 0)
            return result;
    }
    if (result == 0)
        result = plim_json_end(j);
    if (result == 0 && index->n_files == 0)
        return plim_fail(j->err, PLIM_E_CORRUPT, PLIM_NO_OFFSET, "the index names no files: 'weight_map' is %s",
                         has_map ? "empty" : "missing");
    return result;
}

int plim_safetensors_index_read(struct plim_cursor cursor, struct plim_safetensors_index *ret_index,
                                struct plim_error *reterr)
{
    struct plim_json j;
    struct seen *seen = plim_alloc(1, sizeof *seen);
    plim_json_init(&j, cursor, reterr);
    ret_index->n_files = 0;
    plim_arena_init(&ret_index->arena, MAX_NAMES_BYTES);
    int result =
        seen ? read_index(&j, ret_index, seen) : plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    if (result == 0)
        qsort(ret_index->files, ret_index->n_files, sizeof *ret_index->files, compare);
    plim_free(seen);
    return result;
}

void plim_safetensors_index_done(struct plim_safetensors_index *index)
{
    plim_arena_done(&index->arena);
    index->n_files = 0;
}
