/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_SCAN_TRACEBACK_H
#define PLIMSOLL_DIAGNOSE_SCAN_TRACEBACK_H

/* The traceback of Python that belongs to a match: it stands before the message, or right behind it. */

#include "diagnose/scan/log_buffer.h"
#include "diagnose/scan/window.h"

struct plim_traceback {
    struct plim_window window; /* the text that the frames were read from */
    struct plim_frame frames[PLIM_MAX_FRAMES];
    uint32_t n_frames;
    size_t start, end; /* of the window that the matches are in */
    enum { PLIM_FRAMES_UNKNOWN, PLIM_FRAMES_ABSENT, PLIM_FRAMES_POSSIBLE } around; /* in the text around it */
};

/* The matches that follow are in a window from one position to another. */
void plim_traceback_open_window(struct plim_traceback *traceback, size_t start, size_t end);

/* Read the frames that belong to a match from one position to another; n_frames is 0 when there are none. */
void plim_traceback_read(struct plim_traceback *traceback, const struct plim_log_buffer *buffer, size_t start,
                         size_t end);

#endif
