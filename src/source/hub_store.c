/* SPDX-License-Identifier: MIT */
/*
 * Where downloads of a hub's files lie:
 *
 * - the cache of huggingface_hub, which llama.cpp uses as well since 2026: models--ORG--REPO/snapshots/COMMIT/FILE, and
 *   refs/main with the commit (huggingface_hub, file_download.py: hf_hub_download, repo_folder_name; llama.cpp,
 *   common/hf-cache.cpp: get_cached_ref, get_cached_files);
 * - llama.cpp's own cache before: ORG_REPO_FILE, with '_' for every '/' (common/arg.cpp, common_params_handle_model);
 * - LM Studio's folder: ORG/REPO/FILE (https://lmstudio.ai/docs/app/basics/import-model).
 */
#include "source/hub_store.h"

#include "base/system.h"
#include "source/file.h"
#include "source/remote/listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 3, COMMIT_BYTES = 80 };

/* A folder that is being listed: the files of a repository have these bytes in front of their paths. */
struct place {
    char front[PLIM_HUB_PATH_BYTES];
    struct plim_listing listing;
};

/* --- folders --- */

static int add_folder(struct plim_listing *listing, const char *folder, const char *inside, unsigned depth,
                      struct plim_error *reterr)
{
    char path[PLIM_HUB_PATH_BYTES], name[PLIM_REMOTE_PATH_BYTES];
    struct plim_names names;
    struct plim_file_status status;
    int result = 0;
    if (plim_system_list(folder, &names) != 0)
        return 0;
    for (size_t i = 0; i < names.n && result == 0; i++) {
        const int n = snprintf(path, sizeof path, "%s/%s", folder, names.names[i]);
        const int m = snprintf(name, sizeof name, "%s%s%s", inside, *inside ? "/" : "", names.names[i]);
        if (n < 0 || m < 0 || n >= (int)sizeof path || m >= (int)sizeof name || names.names[i][0] == '.' ||
            plim_system_look(path, true, &status) != 0)
            continue;
        if (status.kind == PLIM_KIND_FILE)
            result = plim_listing_add(listing, name, status.bytes, "", reterr);
        else if (status.kind == PLIM_KIND_FOLDER && depth < MAX_DEPTH)
            result = add_folder(listing, path, name, depth + 1, reterr);
    }
    plim_names_done(&names);
    return result;
}

/* Files of one folder whose names begin with the repository's. */
static int add_flat(struct plim_listing *listing, const char *folder, const char *front, struct plim_error *reterr)
{
    struct plim_names names;
    int result = 0;
    const size_t n = strlen(front);
    if (plim_system_list(folder, &names) != 0)
        return 0;
    for (size_t i = 0; i < names.n && result == 0; i++)
        if (!strncmp(names.names[i], front, n) && names.names[i][n])
            result = plim_listing_add(listing, names.names[i] + n, 0, "", reterr);
    plim_names_done(&names);
    return result;
}

/* --- places --- */

/* "ORG/REPO" with another text for the slash. */
static void rename_repository(const char *repository, const char *slash, char name[2 * PLIM_REPOSITORY_BYTES])
{
    const int org = (int)strcspn(repository, "/");
    snprintf(name, 2 * PLIM_REPOSITORY_BYTES, "%.*s%s%s", org, repository, slash, repository + org + 1);
}

/* The commit that refs/main names; false when there is none, or what stands there is no commit. */
static bool read_commit(const char *folder, char commit[COMMIT_BYTES])
{
    char path[PLIM_HUB_PATH_BYTES];
    const int n = snprintf(path, sizeof path, "%s/refs/main", folder);
    const long length = n > 0 && n < (int)sizeof path ? plim_file_read_text(path, commit, COMMIT_BYTES) : 0;
    if (length <= 0)
        return false;
    commit[strcspn(commit, "\r\n")] = '\0';
    return *commit && strspn(commit, "0123456789abcdef") == strlen(commit);
}

static int list_hub_cache(const char *root, const char *repository, struct place *place, struct plim_error *reterr)
{
    char name[2 * PLIM_REPOSITORY_BYTES], folder[PLIM_HUB_PATH_BYTES], commit[COMMIT_BYTES];
    rename_repository(repository, "--", name);
    int n = snprintf(folder, sizeof folder, "%s/models--%s", root, name);
    if (n < 0 || n >= (int)sizeof folder || !read_commit(folder, commit))
        return 0;
    n = snprintf(place->front, sizeof place->front, "%s/snapshots/%s", folder, commit);
    if (n < 0 || n + 1 >= (int)sizeof place->front)
        return 0;
    int result = add_folder(&place->listing, place->front, "", 0, reterr);
    strcpy(place->front + n, "/");
    return result;
}

static int list_flat_cache(const char *root, const char *repository, struct place *place, struct plim_error *reterr)
{
    char name[2 * PLIM_REPOSITORY_BYTES], front[2 * PLIM_REPOSITORY_BYTES + 1];
    rename_repository(repository, "_", name);
    snprintf(front, sizeof front, "%s_", name);
    const int n = snprintf(place->front, sizeof place->front, "%s/%s", root, front);
    return n > 0 && n < (int)sizeof place->front ? add_flat(&place->listing, root, front, reterr) : 0;
}

static int list_folder(const char *root, const char *repository, struct place *place, struct plim_error *reterr)
{
    const int n = snprintf(place->front, sizeof place->front, "%s/%s", root, repository);
    if (n < 0 || n + 1 >= (int)sizeof place->front)
        return 0;
    int result = add_folder(&place->listing, place->front, "", 0, reterr);
    strcpy(place->front + n, "/");
    return result;
}

/* --- the model --- */

/* Of "model-00001-of-00004.safetensors" and the others, as many as they say. An index can be had without them. */
static bool has_shards(const struct plim_listing *listing)
{
    unsigned long wanted = 0;
    size_t n = 0;
    for (size_t i = 0; i < listing->n; i++) {
        const char *of = strstr(listing->files[i].path, "-of-");
        if (!of || !strstr(of, ".safetensors") || strchr(listing->files[i].path, '/'))
            continue;
        wanted = strtoul(of + 4, NULL, 10);
        n++;
    }
    return n > 0 && n == wanted;
}

static bool is_complete(const struct plim_listing *listing, const struct plim_listed_file *model)
{
    if (!strcmp(model->path, "config.json")) /* it says less than the weights, which are elsewhere */
        return false;
    if (!strcmp(model->path, "model.safetensors.index.json"))
        return has_shards(listing);
    return plim_listing_is_complete(listing, model);
}

static int choose(const struct place *place, const struct plim_remote_address *address,
                  struct plim_hub_files *ret_files, struct plim_error *reterr)
{
    const struct plim_listed_file *model, *projector;
    struct plim_error error = { 0 };
    int result = plim_listing_choose(&place->listing, address->quantization, address->file, &model, &projector, &error);
    if (result == PLIM_E_NOT_FOUND || (result == 0 && !is_complete(&place->listing, model)))
        return 0;
    if (result < 0) {
        if (reterr && !reterr->code)
            *reterr = error;
        return result;
    }
    const int n = snprintf(ret_files->model, sizeof ret_files->model, "%s%s", place->front, model->path);
    ret_files->projector[0] = '\0';
    if (projector)
        snprintf(ret_files->projector, sizeof ret_files->projector, "%s%s", place->front, projector->path);
    return n > 0 && n < PLIM_HUB_PATH_BYTES;
}

typedef int lister(const char *root, const char *repository, struct place *place, struct plim_error *reterr);

static int find_in(const char *root, lister *list, const struct plim_remote_address *address,
                   struct plim_hub_files *ret_files, struct plim_error *reterr)
{
    struct place *place = plim_alloc(1, sizeof *place);
    if (!place)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    plim_listing_init(&place->listing);
    int result = list(root, address->repository, place, reterr);
    if (result == 0)
        result = choose(place, address, ret_files, reterr);
    plim_listing_done(&place->listing);
    plim_free(place);
    return result;
}

int plim_hub_store_find(const struct plim_remote_address *address, const struct plim_source_roots *roots,
                        struct plim_hub_files *ret_files, struct plim_error *reterr)
{
    const struct {
        const char *const *roots;
        size_t n;
        lister *list;
    } stores[] = { { roots->hub_caches, roots->n_hub_caches, list_hub_cache },
                   { roots->llama_caches, roots->n_llama_caches, list_flat_cache },
                   { roots->lmstudio, roots->n_lmstudio, list_folder } };
    int result = 0;
    for (size_t i = 0; i < sizeof stores / sizeof *stores && address->repository[0]; i++)
        for (size_t k = 0; k < stores[i].n && result == 0; k++)
            result = find_in(stores[i].roots[k], stores[i].list, address, ret_files, reterr);
    return result;
}
