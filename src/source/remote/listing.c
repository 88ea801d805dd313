/* SPDX-License-Identifier: MIT */
/*
 * The tree of a repository: a list of {"type": "file", "path", "size", "oid", "lfs": {"oid", "size"}}, the oid of a
 * large file being that of its content (huggingface_hub, hf_api.py: list_repo_tree, RepoFile).
 */
#include "source/remote/listing.h"

#include "base/limits.h"
#include "source/remote/address.h"

#include <string.h>
#include <strings.h>

enum { OID_BYTES = 72, ARENA_BYTES = 4 << 20 };

void plim_listing_init(struct plim_listing *listing)
{
    memset(listing, 0, sizeof *listing);
    plim_arena_init(&listing->arena, ARENA_BYTES);
}

void plim_listing_done(struct plim_listing *listing)
{
    plim_free(listing->files);
    plim_arena_done(&listing->arena);
    listing->files = NULL;
    listing->n = listing->room = 0;
}

static int out_of_memory(struct plim_error *reterr)
{
    return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n > m && !strcasecmp(text + n - m, end);
}

/* What a model is opened by, and the config beside it. */
static bool may_be_model(const char *path)
{
    const char *slash = strrchr(path, '/');
    return ends_with(path, ".gguf") || ends_with(path, ".safetensors") || ends_with(path, ".safetensors.index.json") ||
           !strcmp(slash ? slash + 1 : path, "config.json");
}

/* A hash is letters and digits; what a server sends in its place is none. */
static bool is_hash(const char *oid)
{
    return !oid[strspn(oid, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")];
}

static int make_room(struct plim_listing *listing, struct plim_error *reterr)
{
    if (listing->n < listing->room)
        return 0;
    const size_t room = listing->room ? 2 * listing->room : 64;
    struct plim_listed_file *files = plim_realloc(listing->files, room, sizeof *files);
    if (!files)
        return out_of_memory(reterr);
    listing->files = files;
    listing->room = room;
    return 0;
}

int plim_listing_add(struct plim_listing *listing, const char *path, uint64_t bytes, const char *oid,
                     struct plim_error *reterr)
{
    if (!plim_remote_path_is_plain(path) || !may_be_model(path))
        return 0;
    if (listing->n == PLIM_MAX_LISTED_FILES) {
        listing->n_left_out++;
        return 0;
    }
    int result = make_room(listing, reterr);
    if (result < 0)
        return result;
    const char *path_copy = plim_arena_copy(&listing->arena, path, strlen(path));
    const char *oid_copy = plim_arena_copy(&listing->arena, oid, is_hash(oid) ? strlen(oid) : 0);
    if (!path_copy || !oid_copy)
        return out_of_memory(reterr);
    listing->files[listing->n++] = (struct plim_listed_file){ path_copy, bytes, oid_copy };
    return 0;
}

/* --- JSON --- */

struct item {
    char path[PLIM_REMOTE_PATH_BYTES], oid[OID_BYTES];
    uint64_t bytes;
    bool is_file;
};

/* "" for what is too long or has a NUL byte. */
static void keep(char *to, size_t size, const struct plim_json_text *text)
{
    const bool fits = !text->is_cut && text->length < size && !memchr(text->text, '\0', text->length);
    memcpy(to, text->text, fits ? text->length : 0);
    to[fits ? text->length : 0] = '\0';
}

static int read_text(struct plim_json *json, char *to, size_t size)
{
    struct plim_json_text text;
    if (plim_json_type(json) != PLIM_JSON_STRING)
        return plim_json_skip(json);
    int result = plim_json_string(json, &text);
    if (result == 0)
        keep(to, size, &text);
    return result;
}

static int read_size(struct plim_json *json, uint64_t *ret_bytes)
{
    struct plim_json_number number;
    if (plim_json_type(json) != PLIM_JSON_NUMBER)
        return plim_json_skip(json);
    int result = plim_json_number(json, &number);
    if (result == 0 && number.type == PLIM_JSON_UNSIGNED)
        *ret_bytes = number.u;
    return result;
}

/* The oid of a large file's content; only it is trusted to change with the content. */
static int read_lfs(struct plim_json *json, struct item *item)
{
    struct plim_json_text key;
    if (plim_json_type(json) != PLIM_JSON_OBJECT)
        return plim_json_skip(json);
    item->oid[0] = '\0';
    int result = plim_json_object(json);
    while (result == 0 && (result = plim_json_member(json, &key)) > 0)
        result = plim_json_is(&key, "oid") ? read_text(json, item->oid, sizeof item->oid) : plim_json_skip(json);
    return result;
}

static int read_item(struct plim_json *json, struct item *item)
{
    struct plim_json_text key;
    char type[16] = "", oid[OID_BYTES] = "";
    int result = plim_json_object(json);
    while (result == 0 && (result = plim_json_member(json, &key)) > 0)
        result = plim_json_is(&key, "type")   ? read_text(json, type, sizeof type)
                 : plim_json_is(&key, "path") ? read_text(json, item->path, sizeof item->path)
                 : plim_json_is(&key, "oid")  ? read_text(json, oid, sizeof oid)
                 : plim_json_is(&key, "size") ? read_size(json, &item->bytes)
                 : plim_json_is(&key, "lfs")  ? read_lfs(json, item)
                                              : plim_json_skip(json);
    if (!item->oid[0])
        memcpy(item->oid, oid, sizeof oid);
    item->is_file = !strcmp(type, "file");
    return result;
}

int plim_listing_read(struct plim_listing *listing, struct plim_cursor cursor, struct plim_error *reterr)
{
    struct plim_json json;
    plim_json_init(&json, cursor, reterr);
    int result = plim_json_array(&json);
    while (result == 0 && (result = plim_json_item(&json)) > 0) {
        struct item item = { .is_file = false };
        result = read_item(&json, &item);
        if (result == 0 && item.is_file)
            result = plim_listing_add(listing, item.path, item.bytes, item.oid, reterr);
    }
    return result < 0 ? result : plim_json_end(&json);
}

const struct plim_listed_file *plim_listing_find(const struct plim_listing *listing, const char *path)
{
    for (size_t i = 0; i < listing->n; i++)
        if (!strcmp(listing->files[i].path, path))
            return &listing->files[i];
    return NULL;
}
