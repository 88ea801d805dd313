/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SOURCE_ROOTS_H
#define PLIMSOLL_SOURCE_ROOTS_H

/*
 * Where this user's models lie. Ollama's are in the folder that OLLAMA_MODELS names, else in ~/.ollama/models and where
 * the service of a Linux package keeps them (scripts/install.sh of Ollama: the home of the user "ollama").
 */

#include "plimsoll/model.h"

/* variable() returns the value of a variable of the environment, or NULL. The result is static: it holds until the next
 * call. */
const struct plim_source_roots *plim_source_roots(char *(*variable)(const char *name));

#endif
