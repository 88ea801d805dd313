/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_SCAN_FRAMES_H
#define PLIMSOLL_DIAGNOSE_SCAN_FRAMES_H

/* Tracebacks of Python in a normalised window: the plain form, IPython's and those in boxes. */

#include "diagnose/finding.h"
#include "diagnose/scan/window.h"

/* The frames of the last traceback in the window, the innermost last; of more than PLIM_MAX_FRAMES, the innermost. */
uint32_t plim_frames_read(const struct plim_window *window, struct plim_frame ret_frames[PLIM_MAX_FRAMES]);

#endif
