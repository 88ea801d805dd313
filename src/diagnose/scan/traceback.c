/* SPDX-License-Identifier: MIT */
#include "diagnose/scan/traceback.h"

#include "base/gnu_string.h"
#include "diagnose/scan/frames.h"

#include <string.h>

enum {
    BEFORE_BYTES = PLIM_WINDOW_BYTES - 1024, /* before a match, from the start of a line on */
    BEHIND_BYTES = 5 << 10,                  /* behind it */
    FIRST_FRAME_BYTES = 1024,                /* a traceback behind a match begins within so many */
    CODE_BYTES = 160,                        /* of lines of code before a message that no frames stand with */
    TURNED_BYTES = 240,                      /* before a match, where a debugger announces the exception */
};

/* Frames of Python; the "[core.py:611]" before a line of a log is not one. */
static bool has_frames(const char *text, size_t n)
{
    const char *const end = text + n;
    if (memmem(text, n, "File ", 5))
        return true;
    for (const char *p = text; (p = memmem(p, (size_t)(end - p), ".py", 3));) {
        p += 3;
        if (p == end || *p != ':')
            return true;
        do
            p++;
        while (p < end && *p >= '0' && *p <= '9');
        if (p == end || *p != ']')
            return true;
    }
    return false;
}

void plim_traceback_open_window(struct plim_traceback *t, size_t start, size_t end)
{
    t->start = start;
    t->end = end;
    t->around = PLIM_FRAMES_UNKNOWN;
}

/* Looked up once for all matches of a window. */
static bool may_have_frames(struct plim_traceback *t, const struct plim_log_buffer *b)
{
    if (t->around == PLIM_FRAMES_UNKNOWN) {
        const size_t first = t->start > 2 * BEFORE_BYTES ? t->start - 2 * BEFORE_BYTES : 0;
        const size_t last = b->length - t->end > BEHIND_BYTES ? t->end + BEHIND_BYTES : b->length;
        t->around = has_frames(b->data + first, last - first) ? PLIM_FRAMES_POSSIBLE : PLIM_FRAMES_ABSENT;
    }
    return t->around == PLIM_FRAMES_POSSIBLE;
}

static uint32_t read_frames(struct plim_traceback *t, const struct plim_log_buffer *b, size_t first, size_t end)
{
    plim_window_build(&t->window, b->data + first, end - first, PLIM_JOIN_BLANK);
    return plim_frames_read(&t->window, t->frames);
}

static void turn_round(struct plim_traceback *t)
{
    for (uint32_t i = 0; i < t->n_frames / 2; i++) {
        const struct plim_frame frame = t->frames[i];
        t->frames[i] = t->frames[t->n_frames - 1 - i];
        t->frames[t->n_frames - 1 - i] = frame;
    }
}

/*
 * Native code and error reports print the message first and the traceback right behind it; debuggers do so too, with
 * the innermost frame first. Only the first traceback belongs to the message.
 */
static void read_behind(struct plim_traceback *t, const struct plim_log_buffer *b, size_t start, size_t end)
{
    static const char head[] = "Traceback (most recent call last", turned[] = "Exception has occurred";
    const size_t from = end < b->length ? plim_log_line_end(b, end, PLIM_LOG_LINE_BYTES) : b->length;
    const size_t n = b->length - from < BEHIND_BYTES ? b->length - from : BEHIND_BYTES;
    const char *text = b->data + from;
    const size_t near = n < FIRST_FRAME_BYTES ? n : FIRST_FRAME_BYTES;
    const char *first = memmem(text, near, "File \"", 6);
    if (!first)
        first = memmem(text, near, "File ~/", 7); /* IPython */
    if (!first)
        first = memmem(text, near, "File /", 6);
    if (!first)
        return;
    const char *next = memmem(first, n - (size_t)(first - text), head, sizeof head - 1);
    t->n_frames = read_frames(t, b, from, next ? (size_t)(next - b->data) : from + n);
    const size_t line = plim_log_line_start(b, start, TURNED_BYTES / 2);
    const size_t before = line > TURNED_BYTES / 2 ? line - TURNED_BYTES / 2 : 0;
    if (memmem(b->data + before, start - before, turned, sizeof turned - 1))
        turn_round(t);
}

/* The lines just before the one that the message is in: a piece of a traceback can begin with a line of code. */
static void read_code(struct plim_traceback *t, const struct plim_log_buffer *b, size_t start)
{
    const size_t line = plim_log_line_start(b, start, PLIM_LOG_LINE_BYTES);
    const size_t first = plim_log_line_start(b, line > CODE_BYTES ? line - CODE_BYTES : 0, CODE_BYTES);
    plim_window_build(&t->window, b->data + first, line - first, PLIM_JOIN_BLANK);
    t->n_frames = plim_frames_read_code(&t->window, t->frames);
}

void plim_traceback_read(struct plim_traceback *t, const struct plim_log_buffer *b, size_t start, size_t end)
{
    t->n_frames = 0;
    if (may_have_frames(t, b)) {
        const size_t first = plim_log_line_start(b, start > BEFORE_BYTES ? start - BEFORE_BYTES : 0, BEFORE_BYTES);
        t->n_frames = read_frames(t, b, first, start);
        if (!t->n_frames)
            read_behind(t, b, start, end);
    }
    if (!t->n_frames)
        read_code(t, b, start);
}
