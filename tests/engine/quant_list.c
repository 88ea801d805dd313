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

static void print_model(const struct plim_model *model, bool needs_imatrix)
{
    uint64_t ftype = 0;
    size_t n;
    if (!plim_model_u64(model, "general.file_type", &ftype))
        return;
    const struct plim_tensor *tensors = plim_model_tensors(model, &n);
    for (size_t i = 0; i < n; i++)
        printf("%" PRIu64 "%s\t%s\t%s\n", ftype, needs_imatrix ? "i" : "", tensors[i].name,
               plim_dtype_name(tensors[i].type));
}

int main(int argc, char **argv)
{
    struct plim_error error = { 0 };
    struct plim_model *model, *other;
    if (argc != 2 || plim_model_open(argv[1], &model, &error) < 0) {
        fprintf(stderr, "quant_list: %s\n", argc == 2 ? error.what : "usage: quant_list MODEL");
        return 2;
    }
    const struct plim_quant_recipe *recipe;
    for (size_t i = 0; (recipe = plim_quant_recipe_at(i)); i++)
        if (plim_model_requantize(model, recipe->name, &other, &error) == 0) {
            print_model(other, recipe->needs_imatrix);
            plim_model_free(other);
        }
    plim_model_free(model);
    return 0;
}
