/* SPDX-License-Identifier: MIT */
/* Settings of a step in words, and as commands to paste. */
#include "engine/torch/engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *text_of(const struct plim_bill *bill, int option)
{
    const struct plim_setting *setting = plim_bill_setting(bill, plim_torch_options[option].key);
    return setting && setting->text ? setting->text : "";
}

/* "B=4 S=512, expandable_segments:True" */
void plim_torch_describe(const struct plim_bill *bill, uint32_t n_cards, char *text, size_t size)
{
    const char *point = text_of(bill, PLIM_TORCH_POINT), *conf = text_of(bill, PLIM_TORCH_ALLOC_CONF);
    (void)n_cards;
    snprintf(text, size, "%s%s%s", point, *point ? ", " : "", *conf ? conf : "the allocator's default settings");
}

/* The value that a variable has after a fix: its own, else that of the bill. */
static bool value_of(const struct plim_torch_wish *wish, const struct plim_bill *before, const char *name,
                     size_t length, uint64_t *ret_value)
{
    char text[PLIM_STEP_NAME_BYTES];
    for (uint32_t i = 0; i < wish->n_set; i++)
        if (strlen(wish->set[i].name) == length && !strncmp(wish->set[i].name, name, length)) {
            *ret_value = wish->set[i].value;
            return true;
        }
    if (length >= sizeof text)
        return false;
    snprintf(text, sizeof text, "%.*s", (int)length, name);
    const struct plim_setting *setting = plim_bill_setting(before, text);
    if (!setting || setting->kind != PLIM_SETTING_INTEGER)
        return false;
    *ret_value = (uint64_t)setting->integer;
    return true;
}

/* The recorded command with {B} replaced by its value; false when it does not fit. */
static bool write_command(const struct plim_torch_wish *wish, const struct plim_bill *before, const char *command,
                          char *text, size_t size)
{
    size_t n = strlen(text);
    while (*command) {
        const char *end = *command == '{' ? strchr(command, '}') : NULL;
        uint64_t value;
        if (end && value_of(wish, before, command + 1, (size_t)(end - command - 1), &value)) {
            n += (size_t)snprintf(text + n, size - n, "%" PRIu64, value);
            command = end + 1;
        } else if (n + 1 < size) {
            text[n++] = *command++;
            text[n] = '\0';
        }
        if (n + 1 >= size)
            return false;
    }
    return true;
}

bool plim_torch_paste(const struct plim_fix *fix, const struct plim_bill *before, char *text, size_t size)
{
    const struct plim_torch_wish *wish = plim_torch_wish_of(&fix->setup);
    const char *command = text_of(before, PLIM_TORCH_COMMAND);
    const char *conf = wish->has_alloc_conf ? wish->alloc_conf : text_of(before, PLIM_TORCH_ALLOC_CONF);
    snprintf(text, size, "%s%s%s", *conf ? "PYTORCH_CUDA_ALLOC_CONF=" : "", conf, *conf && *command ? " " : "");
    if (*command)
        return write_command(wish, before, command, text, size);
    return *conf && wish->n_set == 0; /* values of variables go nowhere without a command */
}
