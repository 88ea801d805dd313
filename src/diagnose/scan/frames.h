/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_SCAN_FRAMES_H
#define PLIMSOLL_DIAGNOSE_SCAN_FRAMES_H

/* Tracebacks of Python in a normalised window: the plain form, IPython's and those in boxes. */

#include "diagnose/finding.h"
#include "diagnose/scan/window.h"

/* The frames of the last traceback in the window, the innermost last; of more than PLIM_MAX_FRAMES, the innermost. */
uint32_t plim_frames_read(const struct plim_window *window, struct plim_frame ret_frames[PLIM_MAX_FRAMES]);

/*
 * The calls in a few lines of code before a message, the last one last: of a traceback that lost its frames. Only those
 * that are a sign of some work.
 */
uint32_t plim_frames_read_code(const struct plim_window *window, struct plim_frame ret_frames[PLIM_MAX_FRAMES]);

#endif
