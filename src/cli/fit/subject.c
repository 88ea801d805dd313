/* SPDX-License-Identifier: MIT */
#include "cli/fit/subject.h"

#include "base/units.h"
#include "model/catalogue/tag.h"
#include "model/open.h"
#include "plimsoll/catalogue.h"
#include "plimsoll/convert.h"
#include "plimsoll/quant_recipe.h"
#include "source/remote/remote.h"

#include <string.h>
#include <strings.h>

/* --- where it comes from --- */

static void note_catalogue(struct plim_subject *s, const struct plim_catalogue_answer *found)
{
    struct plim_catalogue_model entry;
    plim_catalogue_model_at(found->model, &entry);
    const size_t n_fills = plim_catalogue_model_fills(found->model, NULL, 0);
    plim_note(&s->notes, "a forecast, from the published config of %s", entry.id);
    if (n_fills)
        plim_note(&s->notes, "%zu key%s that it leaves out come%s from elsewhere: 'plimsoll models %s' says from where",
                  n_fills, n_fills == 1 ? "" : "s", n_fills == 1 ? "s" : "", entry.name);
    if (*entry.disputed && !plim_model_doubt(s->given, 0)) /* a doubt is noted as such */
        plim_note(&s->notes, "sources differ on %s", entry.disputed);
    if (*found->passed_over)
        plim_note(&s->notes, "'%s' in the name is passed over: it says nothing about shapes", found->passed_over);
    if (found->is_quant_of_tag)
        plim_note(&s->notes, "the tag %s stands for %s", found->tag, found->quant);
}

static int not_found(const char *name, const struct plim_error *search, struct plim_error *reterr)
{
    const size_t n = strlen(name);
    if (n > 5 && !strcmp(name + n - 5, ".step")) {
        plim_fail(reterr, PLIM_E_NOT_FOUND, PLIM_NO_OFFSET, "no such file");
        plim_error_hint(reterr, "plimsoll rehearse --card NAME --record %s -- COMMAND makes a recorded step", name);
        return PLIM_E_NOT_FOUND;
    }
    plim_fail(reterr, PLIM_E_NOT_FOUND, PLIM_NO_OFFSET,
              "neither a file nor a model of a store or of the catalogue has this name");
    plim_error_hint(reterr, "%s", search->hint);
    return PLIM_E_NOT_FOUND;
}

/* A name that no file has. The error of the search for a file stays where the name looks like a path. */
static int open_named(struct plim_subject *s, const struct plim_path *path, struct plim_catalogue_answer *ret_found,
                      struct plim_error *reterr)
{
    struct plim_error error = { 0 };
    const int result = plim_catalogue_model_find(path->text, ret_found, &error);
    const bool is_lacking = result == PLIM_E_NOT_FOUND && !ret_found->tag; /* a tag's model is known, and missing */
    if (is_lacking && !path->looks_like_path)
        return not_found(path->text, &error, reterr);
    if (result < 0) {
        *reterr = is_lacking ? *path->missing : error;
        return result;
    }
    const int opened = plim_catalogue_model_open(ret_found->model, &s->given, reterr);
    if (opened == 0)
        note_catalogue(s, ret_found);
    return opened;
}

/* Where a model of a hub or a server is, and what it took to read it. */
static void note_source(struct plim_subject *s, const struct plim_path *path)
{
    char received[PLIM_SIZE_TEXT], cached[PLIM_SIZE_TEXT];
    const struct plim_remote_facts facts =
        path->remote ? plim_remote_facts(path->remote) : (struct plim_remote_facts){ 0 };
    plim_size_text(received, facts.received_bytes);
    plim_size_text(cached, facts.cached_bytes);
    if (!path->remote)
        plim_note(&s->notes, "%.60s is on this machine: %.150s", path->given, path->text);
    else if (facts.n_requests == 0)
        plim_note(&s->notes, "read from the cache: %s; no server was asked", cached);
    else
        plim_note(&s->notes, "headers only: %s received in %u request%s%s%s%s", received, facts.n_requests,
                  facts.n_requests == 1 ? "" : "s", facts.cached_bytes ? ", " : "", facts.cached_bytes ? cached : "",
                  facts.cached_bytes ? " from the cache" : "");
    const char *slash = path->projector ? strrchr(path->projector, '/') : NULL;
    if (slash && path->has_projector)
        plim_note(&s->notes, "with its projector: %.150s", slash + 1);
}

static int open_given(struct plim_subject *s, const struct plim_path *path, struct plim_catalogue_answer *ret_found,
                      struct plim_error *reterr)
{
    *ret_found = (struct plim_catalogue_answer){ .outcome = PLIM_CATALOGUE_NOT_FOUND };
    if (path->error)
        return plim_fail_errno(reterr, path->text, "open", path->error);
    if (path->missing)
        return open_named(s, path, ret_found, reterr);
    const int result =
        plim_model_open_in(path->remote ? plim_remote_files(path->remote) : NULL, path->text, &s->given, reterr);
    if (result == 0 && path->given)
        note_source(s, path);
    return result;
}

/* --- what it becomes --- */

static int convert(struct plim_subject *s, struct plim_error *reterr)
{
    const struct plim_doubt *doubt;
    const int result = plim_convert(s->given, NULL, &s->full, reterr);
    if (result < 0)
        return result;
    if (s->notes.n == 0)
        plim_note(&s->notes, "a forecast: the GGUF file that the converter makes of this");
    for (size_t i = 0; (doubt = plim_model_doubt(s->full, i)); i++)
        plim_note(&s->notes, "%s", doubt->text);
    s->model = s->full;
    return 0;
}

/* A repository whose recipe is not known: its file can be read. */
static void hint_at_file(const struct plim_path *path, const char *quant, struct plim_error *reterr)
{
    const char *slash = strchr(path->text, '/');
    if (!reterr || !slash || strchr(slash + 1, '/') || strncasecmp(quant, "UD-", 3) != 0)
        return;
    reterr->hint[0] = '\0';
    plim_error_hint(reterr,
                    "the recipes of UD files are not published; 'plimsoll fit hf:%.150s' reads the file's header",
                    path->text);
}

/* A tag's file with the checkpoint's own types (gpt-oss: MXFP4 beside BF16) is not quantized again. */
static bool is_as_it_is(const struct plim_subject *s, const struct plim_catalogue_answer *found)
{
    const char *type = plim_model_file_type(s->model);
    return found->is_quant_of_tag && s->full && type && !strcmp(type, found->quant);
}

static int quantize(struct plim_subject *s, const char *quant, const struct plim_catalogue_answer *found, bool is_named,
                    struct plim_error *reterr)
{
    struct plim_model *model = s->full;
    if (!is_named || !is_as_it_is(s, found)) {
        const int result = plim_model_requantize(s->model, quant, &s->made, reterr);
        if (result < 0)
            return result;
        s->model = model = s->made;
    }
    return is_named && found->is_file_of_tag ? plim_catalogue_tag_doubt(found, model, reterr) : 0;
}

static int no_quantization(const struct plim_path *path, struct plim_error *reterr)
{
    int code = plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "a recorded step has no quantizations");
    plim_error_hint(reterr, "leave out --quant, or record %.100s with a quantized model", path->text);
    return code;
}

int plim_subject_open(struct plim_subject *subject, const struct plim_path *path, const char *quant,
                      struct plim_error *reterr)
{
    struct plim_subject *s = subject;
    struct plim_catalogue_answer found;
    *s = (struct plim_subject){ .model = NULL };
    int result = open_given(s, path, &found, reterr);
    if (result < 0)
        return result;
    s->model = s->given;
    if (plim_model_kind(s->given) == PLIM_MODEL_STEP)
        return quant ? no_quantization(path, reterr) : 0;
    const bool is_file = plim_model_format(s->given) == PLIM_FORMAT_GGUF;
    if (!is_file)
        result = convert(s, reterr);
    const bool is_named = !quant && *found.quant;
    if (is_named)
        quant = found.quant;
    s->is_table = quant ? !strcmp(quant, "all") : !is_file;
    if (result < 0 || !quant || s->is_table)
        return result;
    if (!is_file && plim_quant_recipe_differs_with_imatrix(quant))
        plim_note(&s->notes, "made with an importance matrix it has other types in some layers: --quant i1-%s", quant);
    result = quantize(s, quant, &found, is_named, reterr);
    if (result == PLIM_E_USAGE && path->missing && is_named)
        hint_at_file(path, quant, reterr);
    return result;
}

void plim_subject_done(struct plim_subject *subject)
{
    plim_model_free(subject->made);
    plim_model_free(subject->full);
    plim_model_free(subject->given);
}
