/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_BILL_BILL_H
#define PLIMSOLL_BILL_BILL_H

/* Writing bills, for the engines. */

#include "plimsoll/bill.h"

/* An empty bill. */
void plim_bill_start(struct plim_bill *bill);

/* Its devices, without lines: the first n_gpu cards of a machine, and the host. */
void plim_bill_add_devices(struct plim_bill *bill, const struct plim_machine *machine, uint32_t n_gpu);

/* A setting, in the order of the list; more than there is room for are dropped. */
static inline void plim_bill_add_setting(struct plim_bill *bill, const struct plim_option *option, const char *key,
                                         enum plim_setting_kind kind, int64_t integer, const char *text)
{
    if (bill->n_settings == PLIM_BILL_MAX_SETTINGS)
        return;
    struct plim_setting *setting = &bill->settings[bill->n_settings++];
    setting->option = option;
    setting->key = key;
    setting->kind = kind;
    setting->is_default = false;
    setting->integer = integer;
    setting->text = text;
}

/*
 * Append a line and add it to the device's need; lines of 0 bytes (high end included) are left out, and
 * further lines of a full bill are added to its last one. The returned line takes the reason; NULL is fine there.
 */
struct plim_line *plim_bill_add(struct plim_device_bill *device, enum plim_pillar pillar, const char *label,
                                enum plim_basis basis, uint64_t bytes);
struct plim_line *plim_bill_add_band(struct plim_device_bill *device, enum plim_pillar pillar, const char *label,
                                     enum plim_basis basis, uint64_t bytes, uint64_t low_bytes, uint64_t high_bytes);

/* The line is held in these phases only (PLIM_IN_PHASE()); line may be NULL. */
void plim_line_in_phases(struct plim_device_bill *device, struct plim_line *line, unsigned phases);

/* The line takes the memory left, at least its bytes so far; line may be NULL. One line of a device can be elastic. */
void plim_line_is_elastic(struct plim_line *line);

/* Stretch the elastic line of a device, if it has one: with it the device needs `budget_bytes`, when that is enough. */
void plim_bill_stretch(struct plim_device_bill *device, uint64_t budget_bytes);

/* The driver's reserve and the memory of other processes, as lines of a card's device. */
void plim_bill_add_card(const struct plim_card *card, struct plim_device_bill *device);

/* Cards without memory of their own: the host has to hold their need as well. Called when their lines are complete. */
void plim_bill_add_shared(struct plim_bill *bill, const struct plim_machine *machine);

/*
 * The reason of a line. In the template %0 ... %5 stand for the arguments as numbers, %b0 ... %b5 for them as sizes,
 * %d0 ... %d5 for them as types (enum plim_dtype), %t for the text and %% for a percent sign.
 */
void plim_line_because(struct plim_line *line, const char *why, const uint64_t *arguments, unsigned n_arguments);

/* The text of a line, static as the template is. */
void plim_line_text(struct plim_line *line, const char *text);

/* The larger of `largest` and the device's largest line that a setup can change, of those in its need. */
const struct plim_line *plim_bill_largest_line(const struct plim_device_bill *device, const struct plim_line *largest);

/* After the verdict: shared memory is short for the larger of both needs, so the limiting line may be a card's. */
void plim_bill_judge_shared(struct plim_bill *bill, const struct plim_machine *machine);

#endif
