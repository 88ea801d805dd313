/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_SCAN_TEXT_KIND_H
#define PLIMSOLL_DIAGNOSE_SCAN_TEXT_KIND_H

/*
 * What kind of text the words of a failure stand in. A log says that memory ran out. A page explains when it does, code
 * handles it, a list of changes mentions a fix, a help text offers to avoid it: these are not failures.
 */

#include "diagnose/scan/window.h"

enum plim_text_kind {
    PLIM_TEXT_KIND_LOG, /* as far as can be seen */
    PLIM_TEXT_KIND_PROSE,
    PLIM_TEXT_KIND_CODE,
    PLIM_TEXT_KIND_CHANGES,
    PLIM_TEXT_KIND_HELP,
};

struct plim_text_kinds;

/* NULL: out of memory. */
struct plim_text_kinds *plim_text_kinds_new(void);
void plim_text_kinds_free(struct plim_text_kinds *text_kinds);

/* The text of a short log as a whole, for the questions below; a long log (size 0) has no voice. */
void plim_text_kinds_listen(struct plim_text_kinds *text_kinds, const char *raw, size_t size);

/* Of the words between two positions in the raw bytes that the window was built of. */
enum plim_text_kind plim_text_kind_at(struct plim_text_kinds *text_kinds, const struct plim_window *window,
                                      const char *raw, uint32_t start, uint32_t end);

/* True when the sentence around these words, which people use for a failure of memory, says that it happened: it is no
 * question, wish, plan, denial or name of a thing. */
bool plim_text_is_statement(struct plim_text_kinds *text_kinds, const struct plim_window *window, const char *raw,
                            uint32_t start, uint32_t end);

/* True when the words are a few of anybody's, and nothing in the text is a program's. */
bool plim_text_is_bare(const struct plim_text_kinds *text_kinds, const struct plim_window *window, uint32_t start,
                       uint32_t end);

#endif
