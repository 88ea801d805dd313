/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_MODEL_JSON_KEYS_H
#define PLIMSOLL_MODEL_JSON_KEYS_H

/* A JSON object as the metadata of a model: one key for each value, with dots into objects and lists. */

#include "base/cursor.h"
#include "model/model_impl.h"

/*
 * Read one JSON object into the keys of a model and sort them. {"a": {"b": [true, "x"]}} gives "a", "a.b", "a.b.0" and
 * "a.b.1"; a list of integers or booleans alone is one key with its numbers; null is absent. Longer strings and lists
 * than base/limits.h keeps are walked, not kept. Two values of one name are an error.
 */
int plim_json_keys_read(struct plim_model *model, struct plim_cursor cursor, struct plim_error *reterr) PLIM_MUST_CHECK;

#endif
