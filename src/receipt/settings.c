/* SPDX-License-Identifier: MIT */
#include "receipt/settings.h"

#include <stdio.h>
#include <string.h>

static struct plim_receipt_setting *find(struct plim_receipt_settings *settings, const char *key)
{
    for (uint32_t i = 0; i < settings->n; i++)
        if (!strcmp(settings->item[i].key, key))
            return &settings->item[i];
    return NULL;
}

static struct plim_receipt_setting *place(struct plim_receipt_settings *settings, const char *key)
{
    struct plim_receipt_setting *setting = find(settings, key);
    if (!setting && settings->n < PLIM_SETTINGS_MAX)
        setting = &settings->item[settings->n++];
    if (!setting)
        return NULL;
    memset(setting, 0, sizeof *setting);
    snprintf(setting->key, sizeof setting->key, "%s", key);
    return setting;
}

void plim_settings_put_bool(struct plim_receipt_settings *settings, const char *key, bool value)
{
    struct plim_receipt_setting *setting = place(settings, key);
    if (setting) {
        setting->kind = PLIM_SETTING_BOOL;
        setting->integer = value;
    }
}

void plim_settings_put_integer(struct plim_receipt_settings *settings, const char *key, int64_t value)
{
    struct plim_receipt_setting *setting = place(settings, key);
    if (setting) {
        setting->kind = PLIM_SETTING_INTEGER;
        setting->integer = value;
    }
}

void plim_settings_put_text(struct plim_receipt_settings *settings, const char *key, const char *text)
{
    struct plim_receipt_setting *setting = place(settings, key);
    if (setting) {
        setting->kind = PLIM_SETTING_TEXT;
        snprintf(setting->text, sizeof setting->text, "%s", text);
    }
}

void plim_settings_drop(struct plim_receipt_settings *settings, const char *key)
{
    struct plim_receipt_setting *setting = find(settings, key);
    if (setting)
        *setting = settings->item[--settings->n];
}

const struct plim_receipt_setting *plim_settings_find(const struct plim_receipt_settings *settings, const char *key)
{
    return find((struct plim_receipt_settings *)settings, key);
}

bool plim_settings_differ(const struct plim_receipt_setting *a, const struct plim_receipt_setting *b)
{
    return a->kind != b->kind || a->integer != b->integer || strcmp(a->text, b->text) != 0;
}
