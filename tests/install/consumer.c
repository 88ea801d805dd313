/* SPDX-License-Identifier: MIT */
/* What a program that uses the installed library looks like: compiled and run by tools/check-install.sh. */
#include <plimsoll/card.h>
#include <plimsoll/engine.h>
#include <plimsoll/plan.h>
#include <plimsoll/quant_recipe.h>
#include <stdio.h>

int main(void)
{
    struct plim_setup setup;
    plim_setup_init(&setup, NULL);
    printf("%zu cards, type %s\n", plim_catalogue_size(), plim_dtype_name(PLIM_DTYPE_F16));
    return plim_catalogue_size() > 0 && plim_quant_recipe_named("q4_k_m") ? 0 : 1;
}
