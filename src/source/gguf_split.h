/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_SOURCE_GGUF_SPLIT_H
#define PLIMSOLL_SOURCE_GGUF_SPLIT_H

/*
 * Split models: "name-00001-of-00003.gguf". The naming rule is llama.cpp's (llama.cpp: llama_split_path and
 * llama_split_prefix), the counts inside the files are the keys split.no, split.count and split.tensors.count.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLIM_SPLIT_SUFFIX = 20 }; /* strlen("-00001-of-00003.gguf") */

/* True when path ends as a part of a split does; which part (from 1) of how many. */
bool plim_split_parse(const char *path, uint32_t *ret_part, uint32_t *ret_count);

/* The path of another part of the same split; false when it does not fit into size bytes. */
bool plim_split_path(const char *path, uint32_t part, uint32_t count, char *buffer, size_t size);

#endif
