/* SPDX-License-Identifier: MIT */
/*
 * Print what Plimsoll says convert_hf_to_gguf.py would make of a config:
 *
 *     convert_list [--mmproj] [--no-mtp] CONFIG [RECIPE]
 *     convert_list --architectures
 *
 * CONFIG is a config.json or a folder with a checkpoint. The lines are "forecast<tab>exact|formula", "doubt<tab>...",
 * "key<tab>NAME<tab>VALUE" and "tensor<tab>NAME<tab>TYPE<tab>NE0<tab>NE1 ...", the tensors in the order of the file.
 */
#include "model/model_impl.h"
#include "plimsoll/convert.h"
#include "plimsoll/dtype.h"
#include "plimsoll/quant_recipe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_numbers(const struct plim_key *key)
{
    printf("[");
    for (uint64_t i = 0; key->numbers && i < key->n; i++)
        printf("%s%" PRId64, i ? "," : "", key->numbers[i]);
    if (!key->numbers)
        printf("%" PRIu64 " values", key->n);
    printf("]");
}

static void print_key(const struct plim_key *key)
{
    printf("key\t%s\t", key->name);
    if (key->type == PLIM_VALUE_UNSIGNED)
        printf("%" PRIu64, key->u);
    else if (key->type == PLIM_VALUE_REAL)
        printf("%.9g", key->f);
    else if (key->type == PLIM_VALUE_BOOL)
        printf("%s", key->u ? "true" : "false");
    else if (key->type == PLIM_VALUE_STRING)
        printf("%s", key->string ? key->string : "");
    else if (key->type == PLIM_VALUE_ARRAY)
        print_numbers(key);
    printf("\n");
}

static void print_tensor(const struct plim_tensor *tensor)
{
    printf("tensor\t%s\t%s", tensor->name, plim_dtype_name(tensor->type));
    for (uint32_t i = 0; i < tensor->n_dims; i++)
        printf("\t%" PRIu64, tensor->ne[i]);
    printf("\n");
}

static void print_model(const struct plim_model *model)
{
    const struct plim_doubt *doubt;
    printf("forecast\t%s\n", plim_model_forecast(model) == PLIM_FORECAST_EXACT ? "exact" : "formula");
    for (size_t i = 0; (doubt = plim_model_doubt(model, i)); i++)
        printf("doubt\t%s\t%s\n", doubt->text, doubt->tensor ? doubt->tensor : "");
    for (size_t i = 0; i < model->n_keys; i++)
        print_key(&model->keys[i]);
    for (size_t i = 0; i < model->n_tensors; i++)
        print_tensor(&model->tensors[i]);
}

static int print_architectures(void)
{
    struct plim_convert_architecture a;
    for (size_t i = 0; plim_convert_architecture_at(i, &a); i++)
        printf("%s\t%s\t%s\t%s\t%s\n", a.is_projector ? "projector" : "model", a.gguf_arch, a.name, a.source,
               a.is_proven ? "proven" : "");
    return 0;
}

int main(int argc, char **argv)
{
    struct plim_error error = { 0 };
    struct plim_convert_options options = { 0 };
    struct plim_model *config = NULL, *gguf = NULL, *other = NULL;
    int at = 1, result = 0;
    if (argc == 2 && !strcmp(argv[1], "--architectures"))
        return print_architectures();
    for (; at < argc && !strncmp(argv[at], "--", 2); at++)
        if (!strcmp(argv[at], "--mmproj"))
            options.part = PLIM_CONVERT_PROJECTOR;
        else
            options.without_prediction = true;
    if (at >= argc) {
        fprintf(stderr, "usage: convert_list [--mmproj] [--no-mtp] CONFIG [RECIPE] | --architectures\n");
        return 2;
    }
    result = plim_model_open(argv[at], &config, &error);
    if (result == 0)
        result = plim_convert(config, &options, &gguf, &error);
    if (result == 0 && at + 1 < argc)
        result = plim_model_requantize(gguf, argv[at + 1], &other, &error);
    if (result == 0)
        print_model(other ? other : gguf);
    else
        fprintf(stderr, "convert_list: %s\n", error.what);
    plim_model_free(other);
    plim_model_free(gguf);
    plim_model_free(config);
    return result == 0 ? 0 : 1;
}
