/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_SCAN_PATTERNS_FIGURE_H
#define PLIMSOLL_DIAGNOSE_SCAN_PATTERNS_FIGURE_H

/*
 * A printed figure as a number. Units are powers of two, whatever their names: PyTorch, CUDA, ggml, Paddle, TensorFlow,
 * the kernel and Kubernetes all mean that. Commas group thousands or, in some locales, begin the fraction.
 */

#include "diagnose/finding.h"

enum plim_figure {
    PLIM_FIGURE_OK,
    PLIM_FIGURE_NONE,       /* no number, or two readings */
    PLIM_FIGURE_IMPOSSIBLE, /* 2^63 and more */
};

/*
 * text[0..n): "2.00 GiB", "1900,00 MiB", "273. GiB", "1,234,567", "0.9", "90%". unit is what one of it counts when
 * no unit is printed. A COUNT or RATIO with a unit is not a figure. Rounded to the nearest.
 */
enum plim_figure plim_figure_read(const char *text, size_t n, enum plim_number_kind kind, int64_t unit,
                                  int64_t *ret_value);

/*
 * The exact count of bytes that a program prints behind a rounded figure, "(1374521760000 bytes)", "(rounded to 4096)":
 * `rounded` itself where there is none, or one of another figure.
 */
int64_t plim_figure_exact(const char *behind, int64_t rounded);

/*
 * Two figures of one request: `other` where `one` is what "%.2f MiB" or GiB prints of it, else `one`. So the exact
 * count of a neighbouring line takes the place of a rounded one.
 */
int64_t plim_figure_unrounded(int64_t one, int64_t other);

/* Bytes of a tensor: "[1024,768,3]" or "(273, 40960)" of "float32"; PLIM_UNKNOWN when a side or the type is unknown. */
int64_t plim_figure_tensor_bytes(const char *shape, const char *dtype);

#endif
