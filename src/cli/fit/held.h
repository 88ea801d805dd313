/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_FIT_HELD_H
#define PLIMSOLL_CLI_FIT_HELD_H

#include "base/notes.h"
#include "plimsoll/model.h"

/*
 * Whether the forecast for a file held: where its name, or the name in it, is a model of the catalogue and its type is
 * a recipe, a note says how its tensors differ from those that the published config implies, or, where is_verbose is
 * set, that they do not.
 */
void plim_note_forecast_held(const struct plim_model *file, bool is_verbose, struct plim_notes *notes);

#endif
