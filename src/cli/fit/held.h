/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_FIT_HELD_H
#define PLIMSOLL_CLI_FIT_HELD_H

#include "base/notes.h"
#include "plimsoll/model.h"

/*
 * Whether the forecast for a file held: where its name, or the name in it, is a model of the catalogue and its type is
 * a recipe, a note says that its tensors are those that the published config implies, or how they differ.
 */
void plim_note_forecast_held(const struct plim_model *file, struct plim_notes *notes);

#endif
