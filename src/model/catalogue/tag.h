/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_MODEL_CATALOGUE_TAG_H
#define PLIMSOLL_MODEL_CATALOGUE_TAG_H

/* The file that a tag of a library stands for, beside the forecast for it. */

#include "base/error.h"
#include "plimsoll/catalogue.h"

/*
 * Ollama converts and quantizes many files by rules of its own, some with the projector in the same file. A forecast
 * for the file of a tag gets a doubt, unless the published size is what it comes to with a vocabulary.
 */
int plim_catalogue_tag_doubt(const struct plim_catalogue_answer *found, struct plim_model *model,
                             struct plim_error *reterr) PLIM_MUST_CHECK;

#endif
