/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_MODEL_CATALOGUE_NAME_H
#define PLIMSOLL_MODEL_CATALOGUE_NAME_H

/* A model's name as people write it, taken apart: organisation, name, quantization, words that say nothing of shape. */

#include <stdbool.h>
#include <stddef.h>

enum { PLIM_NAME_BYTES = 160, PLIM_NAME_WORDS = 24, PLIM_NAME_WORD_BYTES = 24 };

struct plim_name {
    char organisation[64];       /* before the '/'; "" without one */
    char given[PLIM_NAME_BYTES]; /* lower case, without address, file type and ":Q4_K_M" */
    char plain[PLIM_NAME_BYTES]; /* the same without the suffixes of files and repositories */
    char text[PLIM_NAME_BYTES];  /* and without what is passed over */
    char quant[24];              /* as recipes are spelled: "Q4_K_M", "UD-Q4_K_XL"; "" without one */
    bool is_quant_suffix;        /* it ended the name; otherwise it stood after a colon */
    char passed_over[48];        /* "AWQ", "abliterated" */
};

void plim_name_read(const char *given, struct plim_name *ret_name);

/* A quantization in any spelling of people ("q4_k_m", "fp16", "i1-IQ3_XXS"): writes the recipe's, "Q4_K_M". */
bool plim_name_quant(const char *text, char ret_quant[24]);

/* Letters, digits and '+' in lower case, and points between digits: "Llama-3.1 8B" is "llama3.18b". */
size_t plim_name_key(const char *text, char ret_key[PLIM_NAME_BYTES]);

/* True when that is the key of the text, which is shorter than PLIM_NAME_BYTES; at the first difference it is not. */
bool plim_name_is_key(const char *text, size_t length, const char *key);

/* The words of a name: "Llama3.1-8B-Instruct" is llama, 3.1, 8b, instruct. Further ones than there is room for are
 * left out. */
struct plim_name_words {
    char word[PLIM_NAME_WORDS][PLIM_NAME_WORD_BYTES];
    size_t n;
};
void plim_name_split(const char *text, struct plim_name_words *ret_words);
bool plim_name_has_word(const struct plim_name_words *words, const char *word);

#endif
