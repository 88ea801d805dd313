/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_TOP_KEYS_H
#define PLIMSOLL_CLI_TOP_KEYS_H

/*
 * What keys do to a view: those of nvtop, htop and nvitop. j and k move, so a signal is F9 or K. No key of the list
 * quits by accident, and no key sends a signal that was not asked for twice.
 */

#include "report/top/rows.h"

/* Characters are themselves; the others: */
enum plim_top_key {
    PLIM_KEY_NONE = 0x110000, /* above Unicode */
    PLIM_KEY_UP,
    PLIM_KEY_DOWN,
    PLIM_KEY_LEFT,
    PLIM_KEY_RIGHT,
    PLIM_KEY_PAGE_UP,
    PLIM_KEY_PAGE_DOWN,
    PLIM_KEY_HOME,
    PLIM_KEY_END,
    PLIM_KEY_ENTER,
    PLIM_KEY_ESCAPE,
    PLIM_KEY_BACKSPACE,
    PLIM_KEY_F1, /* to F10 */
    PLIM_KEY_F10 = PLIM_KEY_F1 + 9,
};

/* What is left to do outside of the view. */
enum plim_top_action {
    PLIM_ACT_NONE,
    PLIM_ACT_QUIT,
    PLIM_ACT_LOOK, /* take a sample now */
    PLIM_ACT_SEND, /* the chosen signal to the tagged, else to the selected process */
};

/* rows: those on the screen. The filter, the order and the tree may change: make the rows again. */
enum plim_top_action plim_top_press(struct plim_top_view *view, const struct plim_sample *sample,
                                    const struct plim_top_rows *rows, uint32_t key);

#endif
