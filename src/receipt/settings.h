/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_RECEIPT_SETTINGS_H
#define PLIMSOLL_RECEIPT_SETTINGS_H

/* The settings that a receipt knows, by the keys of the engine's options ("n_ctx"): those of a bill, in texts of its
 * own. */

#include "plimsoll/option.h"

enum { PLIM_SETTINGS_MAX = 24, PLIM_SETTING_KEY_BYTES = 24, PLIM_SETTING_TEXT_BYTES = 24 };

struct plim_receipt_setting {
    char key[PLIM_SETTING_KEY_BYTES];
    enum plim_setting_kind kind; /* BOOL, INTEGER or TEXT; NONE: not known */
    int64_t integer;
    char text[PLIM_SETTING_TEXT_BYTES];
};

struct plim_receipt_settings {
    uint32_t n;
    struct plim_receipt_setting item[PLIM_SETTINGS_MAX];
};

/* Set one, new or known; those beyond the limit are dropped. */
void plim_settings_put_bool(struct plim_receipt_settings *settings, const char *key, bool value);
void plim_settings_put_integer(struct plim_receipt_settings *settings, const char *key, int64_t value);
void plim_settings_put_text(struct plim_receipt_settings *settings, const char *key, const char *text);

/* Forget one. */
void plim_settings_drop(struct plim_receipt_settings *settings, const char *key);

/* The setting of this key; NULL: not known. */
const struct plim_receipt_setting *plim_settings_find(const struct plim_receipt_settings *settings, const char *key);

/* True when two settings of one key have different values. */
bool plim_settings_differ(const struct plim_receipt_setting *a, const struct plim_receipt_setting *b);

#endif
