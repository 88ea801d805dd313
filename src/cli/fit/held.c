/* SPDX-License-Identifier: MIT */
#include "cli/fit/held.h"

#include "plimsoll/catalogue.h"
#include "plimsoll/convert.h"
#include "plimsoll/quant_recipe.h"

#include <string.h>

/* Tensors of the file beside those of the forecast. */
struct difference {
    size_t n_types, n_shapes, n_missing, n_more;
    const struct plim_tensor *first, *first_forecast; /* of another type */
};

static bool is_of_shape(const struct plim_tensor *a, const struct plim_tensor *b)
{
    return a->n_dims == b->n_dims && !memcmp(a->ne, b->ne, sizeof a->ne);
}

static struct difference compare(const struct plim_model *file, const struct plim_model *forecast)
{
    struct difference d = { 0 };
    size_t n, n_forecast, n_common = 0;
    const struct plim_tensor *tensors = plim_model_tensors(file, &n);
    plim_model_tensors(forecast, &n_forecast);
    for (size_t i = 0; i < n; i++) {
        const struct plim_tensor *other = plim_model_tensor(forecast, tensors[i].name);
        n_common += other != NULL;
        if (!other)
            d.n_more++;
        else if (!is_of_shape(&tensors[i], other))
            d.n_shapes++;
        else if (tensors[i].type != other->type && d.n_types++ == 0)
            d = (struct difference){ d.n_types, d.n_shapes, d.n_missing, d.n_more, &tensors[i], other };
    }
    d.n_missing = n_forecast - n_common;
    return d;
}

static void note(const struct plim_model *file, const char *id, const struct difference *d, bool is_verbose,
                 struct plim_notes *notes)
{
    size_t n;
    plim_model_tensors(file, &n);
    if (d->n_shapes || d->n_missing || d->n_more)
        plim_note(
            notes,
            "not the tensors that the published config of %s implies: %zu of another shape, %zu missing, %zu more", id,
            d->n_shapes, d->n_missing, d->n_more);
    else if (d->n_types)
        plim_note(notes,
                  "its tensors are those of the published config of %s, but %zu of %zu have another type than %s gives "
                  "them: %s is %s, not %s",
                  id, d->n_types, n, plim_model_file_type(file), d->first->name, plim_dtype_name(d->first->type),
                  plim_dtype_name(d->first_forecast->type));
    else if (is_verbose)
        plim_note(notes, "the forecast held: all %zu tensors are those of the published config of %s in %s", n, id,
                  plim_model_file_type(file));
}

static bool find(const struct plim_model *file, struct plim_catalogue_answer *ret_found)
{
    const char *path = plim_model_path(file), *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *const names[] = { name, plim_model_name(file) };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (*names[i] && plim_catalogue_model_find(names[i], ret_found, NULL) == 0 && ret_found->is_exact)
            return true;
    return false;
}

void plim_note_forecast_held(const struct plim_model *file, bool is_verbose, struct plim_notes *notes)
{
    struct plim_catalogue_answer found;
    struct plim_catalogue_model entry;
    struct plim_model *config = NULL, *full = NULL, *made = NULL;
    const char *file_type = plim_model_file_type(file);
    if (!file_type || !plim_quant_recipe_named(file_type) || !find(file, &found))
        return;
    plim_catalogue_model_at(found.model, &entry);
    if (plim_catalogue_model_open(found.model, &config, NULL) == 0 && plim_convert(config, NULL, &full, NULL) == 0 &&
        plim_model_requantize(full, file_type, &made, NULL) == 0) {
        const struct difference d = compare(file, made);
        note(file, entry.id, &d, is_verbose, notes);
    }
    plim_model_free(made);
    plim_model_free(full);
    plim_model_free(config);
}
