/* SPDX-License-Identifier: MIT */
/*
 * Which file of a repository a name means.
 *
 * The rules are llama.cpp's (common/download.cpp at the end of 2026: gguf_filename_is_model, find_best_model,
 * find_best_sibling): a quantization is asked for in any case, and found where "-" or "." follows it. Two differences:
 * of two files of which one has the quantization as its whole tag ("Q4_K_M" and "UD-Q4_K_M"), it is that one; and what
 * remains ambiguous is not decided by the order of the list.
 */
#include "source/gguf_split.h"
#include "source/remote/listing.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TAG_BYTES = 64, PATH_BYTES = 1100, LIST_BYTES = 400 };

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n > m && !strcasecmp(text + n - m, end);
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A GGUF file that is opened by itself: no projector, no draft head, no matrix of importance, no later part. */
static bool is_model(const char *path)
{
    static const char *const others[] = { "mmproj", "imatrix", "mtp-", "eagle3-", "dflash-", "dspark-" };
    uint32_t part = 1, count = 1;
    if (!ends_with(path, ".gguf"))
        return false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strstr(name_of(path), others[i]))
            return false;
    return !plim_split_parse(path, &part, &count) || part == 1;
}

static bool is_weights(const char *path) { return ends_with(path, ".safetensors"); }

/* The quantization in a file's name: "Q4_K_M" of "a/Qwen3-14B-Q4_K_M-00001-of-00002.gguf"; "UD-" belongs to it. */
static void tag_of(const char *path, char tag[TAG_BYTES])
{
    uint32_t part, count;
    const char *name = name_of(path);
    size_t n = strlen(name);
    n -= plim_split_parse(name, &part, &count) ? PLIM_SPLIT_SUFFIX : ends_with(name, ".gguf") ? 5 : 0;
    size_t start = n;
    while (start && (isalnum((unsigned char)name[start - 1]) || name[start - 1] == '_'))
        start--;
    if (start >= 3 && !strncasecmp(name + start - 3, "UD-", 3))
        start -= 3;
    snprintf(tag, TAG_BYTES, "%.*s", (int)(n - start), name + start);
}

/* How well a file answers to a quantization: 2 by its whole tag, 1 as llama.cpp finds it, 0 not. */
static int match_of(const char *path, const char *quantization)
{
    char tag[TAG_BYTES];
    const size_t n = strlen(quantization);
    tag_of(path, tag);
    if (!strcasecmp(tag, quantization))
        return 2;
    for (const char *p = path; strlen(p) > n; p++)
        if (!strncasecmp(p, quantization, n) && (p[n] == '-' || p[n] == '.'))
            return 1;
    return 0;
}

/* --- what to say --- */

/* Append a word to a list, "..." once when there is no more room. */
static void append(char list[LIST_BYTES], const char *word)
{
    const size_t used = strlen(list), n = strlen(word);
    if (used >= 3 && !strcmp(list + used - 3, "..."))
        return;
    if (used + n + 8 > LIST_BYTES)
        word = "...";
    snprintf(list + used, LIST_BYTES - used, "%s%s", used ? ", " : "", word);
}

/* The models of a listing, by their quantizations while those differ, else by their paths. */
static void list_models(const struct plim_listing *listing, int least, const char *quantization, char list[LIST_BYTES])
{
    char tag[TAG_BYTES];
    list[0] = '\0';
    for (size_t i = 0; i < listing->n; i++) {
        const char *path = listing->files[i].path;
        if (!is_model(path) || match_of(path, quantization) < least)
            continue;
        tag_of(path, tag);
        append(list, least == 0 && tag[0] ? tag : path);
    }
}

static int say_several(const struct plim_listing *listing, const char *quantization, int match, size_t n,
                       struct plim_error *reterr)
{
    char list[LIST_BYTES];
    list_models(listing, match, quantization, list);
    int code = *quantization ? plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "%zu files are %s", n, quantization)
                             : plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "there are %zu models in it", n);
    plim_error_hint(reterr,
                    *quantization ? "add the file, as in hf:ORG/REPO/FILE; there are %s"
                                  : "add the quantization, as in hf:ORG/REPO:Q4_K_M; there are %s",
                    list);
    return code;
}

static int say_none(const struct plim_listing *listing, const char *quantization, struct plim_error *reterr)
{
    char list[LIST_BYTES];
    list_models(listing, 0, "", list);
    int code = *quantization
                   ? plim_fail(reterr, PLIM_E_NOT_FOUND, PLIM_NO_OFFSET, "there is no file of %s in it", quantization)
                   : plim_fail(reterr, PLIM_E_NOT_FOUND, PLIM_NO_OFFSET, "there is no model in it");
    if (*list)
        plim_error_hint(reterr, "there are %s", list);
    else
        plim_error_hint(reterr, "a model is a .gguf file, .safetensors files with their index, or a config.json");
    return code;
}

/* --- the model --- */

/* The GGUF file of this quantization: how many answer equally well, and the first. */
static size_t find_gguf(const struct plim_listing *listing, const char *quantization, int *ret_match,
                        const struct plim_listed_file **ret_file)
{
    size_t n = 0;
    *ret_match = *quantization ? 1 : 0;
    for (size_t i = 0; i < listing->n; i++) {
        const int match = is_model(listing->files[i].path) ? match_of(listing->files[i].path, quantization) : -1;
        if (match < *ret_match)
            continue;
        if (match > *ret_match && *quantization) {
            *ret_match = match;
            n = 0;
        }
        if (n++ == 0)
            *ret_file = &listing->files[i];
    }
    return n;
}

/* Without GGUF: the index, the only file of weights, the description. */
static const struct plim_listed_file *find_other(const struct plim_listing *listing)
{
    static const char *const names[] = { "model.safetensors.index.json", "model.safetensors" };
    const struct plim_listed_file *found = NULL;
    size_t n = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++)
        found = plim_listing_find(listing, names[i]);
    for (size_t i = 0; i < listing->n && !found; i++)
        n += is_weights(listing->files[i].path);
    for (size_t i = 0; i < listing->n && n == 1; i++)
        if (is_weights(listing->files[i].path))
            found = &listing->files[i];
    return found ? found : plim_listing_find(listing, "config.json");
}

/* --- the projector --- */

/* "F16" -> 16, "Q4_K_M" -> 4. */
static int bits_of(const char *path)
{
    char tag[TAG_BYTES];
    tag_of(path, tag);
    const char *digit = strpbrk(tag, "0123456789");
    return digit ? (int)strtol(digit, NULL, 10) : 0;
}

/* Bytes of the folder of a path, with its slash. */
static size_t folder_of(const char *path) { return (size_t)(name_of(path) - path); }

/*
 * In the model's folder or one around it: the nearest, and there the one of nearest width. A model in a folder that is
 * named after projectors is not its own.
 */
static const struct plim_listed_file *find_projector(const struct plim_listing *listing, const char *model)
{
    const struct plim_listed_file *best = NULL;
    for (size_t i = 0; i < listing->n; i++) {
        const char *path = listing->files[i].path;
        const size_t folder = folder_of(path);
        if (!ends_with(path, ".gguf") || !strstr(path, "mmproj") || !strcmp(path, model) || folder > folder_of(model) ||
            strncmp(path, model, folder) != 0)
            continue;
        const int width = abs(bits_of(path) - bits_of(model));
        const size_t best_folder = best ? folder_of(best->path) : 0;
        if (!best || folder > best_folder ||
            (folder == best_folder && width < abs(bits_of(best->path) - bits_of(model))))
            best = &listing->files[i];
    }
    return best;
}

/*
 * "latest": what llama.cpp takes when it is given no quantization (find_best_model): Q4_K_M, else Q8_0, else the first
 * of the list. Here, too, a whole tag wins.
 */
static const struct plim_listed_file *find_latest(const struct plim_listing *listing)
{
    static const char *const tags[] = { "Q4_K_M", "Q8_0", "" };
    const struct plim_listed_file *found = NULL;
    int match = 0;
    for (size_t i = 0; i < sizeof tags / sizeof *tags && !found; i++)
        find_gguf(listing, tags[i], &match, &found);
    return found;
}

int plim_listing_choose(const struct plim_listing *listing, const char *quantization, const char *file,
                        const struct plim_listed_file **ret_model, const struct plim_listed_file **ret_projector,
                        struct plim_error *reterr)
{
    int match = 0;
    const struct plim_listed_file *found = NULL;
    const bool is_latest = !strcmp(quantization, "latest");
    const size_t n = *file || is_latest ? 0 : find_gguf(listing, quantization, &match, &found);
    if (n > 1)
        return say_several(listing, quantization, match, n, reterr);
    if (*file)
        found = plim_listing_find(listing, file);
    else if (is_latest)
        found = find_latest(listing);
    else if (n == 0 && !*quantization)
        found = find_other(listing);
    if (!found)
        return say_none(listing, *file ? file : quantization, reterr);
    *ret_model = found;
    *ret_projector = is_model(found->path) ? find_projector(listing, found->path) : NULL;
    return 0;
}

bool plim_listing_is_complete(const struct plim_listing *listing, const struct plim_listed_file *model)
{
    char path[PATH_BYTES];
    uint32_t part, count = 0;
    if (!plim_split_parse(model->path, &part, &count))
        return true;
    for (uint32_t i = 1; i <= count; i++)
        if (!plim_split_path(model->path, i, count, path, sizeof path) || !plim_listing_find(listing, path))
            return false;
    return true;
}
