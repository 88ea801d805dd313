/* SPDX-License-Identifier: MIT */
/*
 * model.safetensors.index.json: {"metadata": ..., "weight_map": {tensor: file, ...}}. Only the files matter here; what
 * is in them they say themselves.
 */
#include "base/json.h"
#include "model/safetensors.h"

#include <string.h>

enum { MAX_FILE_NAME_BYTES = 255, MAX_NAMES_BYTES = 1 << 20 };

static int compare(const struct plim_json_text *name, const char *file)
{
    const size_t n = strlen(file);
    const int order = memcmp(name->text, file, name->length < n ? name->length : n);
    return order ? order : (name->length > n) - (name->length < n);
}

/* The position of this name among the files, which are sorted, or the one where it belongs. */
static size_t position_of(const struct plim_safetensors_index *index, const struct plim_json_text *name)
{
    size_t low = 0, high = index->n_files;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare(name, index->files[middle]) > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Files lie beside the index: a name with a folder in it, or with a drive of Windows, could lead anywhere. */
static bool is_plain(const struct plim_json_text *name)
{
    static const char barred[] = { '/', '\\', ':', '\0' };
    if (name->is_cut || name->length == 0 || name->length > MAX_FILE_NAME_BYTES || name->text[0] == '.')
        return false;
    for (size_t i = 0; i < sizeof barred; i++)
        if (memchr(name->text, barred[i], name->length))
            return false;
    return true;
}

static int add(struct plim_safetensors_index *index, const struct plim_json_text *name, struct plim_error *reterr)
{
    if (!is_plain(name))
        return plim_fail(reterr, PLIM_E_CORRUPT, name->at, "the index names a file that is not beside it");
    const size_t at = position_of(index, name);
    if (at < index->n_files && compare(name, index->files[at]) == 0)
        return 0;
    if (index->n_files == PLIM_MAX_SAFETENSORS_FILES)
        return plim_fail(reterr, PLIM_E_TOO_BIG, name->at, "more than %d files", PLIM_MAX_SAFETENSORS_FILES);
    const char *copy = plim_arena_copy(&index->arena, name->text, name->length);
    if (!copy)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    memmove(&index->files[at + 1], &index->files[at], (index->n_files - at) * sizeof *index->files);
    index->files[at] = copy;
    index->n_files++;
    return 0;
}

static int read_map(struct plim_json *j, struct plim_safetensors_index *index)
{
    struct plim_json_text tensor, file;
    int result = plim_json_object(j);
    if (result < 0)
        return result;
    while ((result = plim_json_member(j, &tensor)) > 0) {
        result = plim_json_string(j, &file);
        if (result == 0)
            result = add(index, &file, j->err);
        if (result < 0)
            return result;
    }
    return result;
}

static int read_index(struct plim_json *j, struct plim_safetensors_index *index)
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
        result = is_map ? read_map(j, index) : plim_json_skip(j);
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
    plim_json_init(&j, cursor, reterr);
    ret_index->n_files = 0;
    plim_arena_init(&ret_index->arena, MAX_NAMES_BYTES);
    return read_index(&j, ret_index);
}

void plim_safetensors_index_done(struct plim_safetensors_index *index)
{
    plim_arena_done(&index->arena);
    index->n_files = 0;
}
