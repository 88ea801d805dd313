/* SPDX-License-Identifier: MIT */
/*
 * Print what Plimsoll says llama-quantize would make of a model, in the words of quant_probe:
 *
 *     quant_list MODEL
 *
 * prints "FTYPE<tab>tensor<tab>type" for each tensor of each recipe, FTYPE being llama.cpp's number of it with an "i"
 * behind it when it is made with an importance matrix.
 */
#include "plimsoll/dtype.h"
#include "plimsoll/quant_recipe.h"

#include <inttypes.h>
#include <stdio.h>

static void print_model(const struct plim_model *model, bool has_imatrix)
{
    uint64_t ftype = 0;
    size_t n;
    if (!plim_model_u64(model, "general.file_type", &ftype))
        return;
    const struct plim_tensor *tensors = plim_model_tensors(model, &n);
    for (size_t i = 0; i < n; i++)
        printf("%" PRIu64 "%s\t%s\t%s\n", ftype, has_imatrix ? "i" : "", tensors[i].name,
               plim_dtype_name(tensors[i].type));
}

/* Nothing for what llama-quantize would not make. */
static void print_made(const struct plim_model *model, const char *recipe, bool has_imatrix)
{
    struct plim_model *made;
    if (plim_model_requantize(model, recipe, &made, NULL) < 0)
        return;
    print_model(made, has_imatrix);
    plim_model_free(made);
}

int main(int argc, char **argv)
{
    struct plim_error error = { 0 };
    struct plim_model *model;
    if (argc != 2 || plim_model_open(argv[1], &model, &error) < 0) {
        fprintf(stderr, "quant_list: %s\n", argc == 2 ? error.what : "usage: quant_list MODEL");
        return 2;
    }
    const struct plim_quant_recipe *recipe;
    for (size_t i = 0; (recipe = plim_quant_recipe_at(i)); i++) {
        char name[64];
        snprintf(name, sizeof name, "i1-%s", recipe->name);
        if (!recipe->needs_imatrix)
            print_made(model, recipe->name, false);
        if (recipe->needs_imatrix || plim_quant_recipe_differs_with_imatrix(recipe->name))
            print_made(model, name, true);
    }
    plim_model_free(model);
    return 0;
}
