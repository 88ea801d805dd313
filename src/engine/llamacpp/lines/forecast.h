/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_LLAMACPP_LINES_FORECAST_H
#define PLIMSOLL_ENGINE_LLAMACPP_LINES_FORECAST_H

/*
 * A model that was made of a config (plimsoll/convert.h) may miss the file that it stands for. What is in doubt widens
 * the line of the weights and is said beside it; a forecast that is proven changes nothing.
 */

#include "engine/llamacpp/place.h"

#include <stddef.h>

/* "forecast from a config: REASON; REASON"; "" for a file, and for a forecast without doubts. */
void plim_forecast_write_doubts(const struct plim_model *model, char *text, size_t size);

/* A band around plim_place_weights(). */
void plim_forecast_weights(const struct plim_llama *llama, const struct plim_placement *p,
                           const struct plim_weights *weights, struct plim_weights *ret_low,
                           struct plim_weights *ret_high);

#endif
