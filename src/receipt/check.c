/* SPDX-License-Identifier: MIT */
#include "receipt/check.h"

#include "base/units.h"

#include <stdio.h>
#include <string.h>

static bool is_in(const char *const *list, const char *label)
{
    for (; list && *list; list++)
        if (!strcmp(*list, label))
            return true;
    return false;
}

/* NULL: the line stands for itself. */
static const struct plim_receipt_sum *sum_of(const struct plim_receipt *receipt, const char *label)
{
    const struct plim_receipt_labels *labels = receipt->labels;
    for (size_t i = 0; labels && i < labels->n_sums; i++)
        if (!strcmp(labels->sum[i].label, label))
            return &labels->sum[i];
    return NULL;
}

static bool is_part(const struct plim_receipt_sum *sum, const struct plim_receipt_line *line)
{
    if (sum->parts)
        return is_in(sum->parts, line->label);
    return (sum->pillars >> line->pillar & 1) && !(sum->except && !strcmp(line->label, sum->except));
}

struct sides {
    const struct plim_receipt *bill, *receipt;
    const struct plim_receipt_device *bill_device, *receipt_device; /* either may be NULL */
    struct plim_check_device *out;
};

static struct plim_check_line *add_line(struct sides *s, const char *label, enum plim_pillar pillar)
{
    struct plim_check_line *line = &s->out->line[s->out->n_lines++]; /* there is room for all lines of both sides */
    *line = (struct plim_check_line){ .pillar = pillar < PLIM_PILLAR_MAX_ ? pillar : PLIM_PILLAR_OVERHEAD };
    snprintf(line->label, sizeof line->label, "%s", label);
    return line;
}

static void take_bill(struct plim_check_line *line, const struct plim_receipt_line *from)
{
    bool is_first = !line->has_bill;
    line->has_bill = true;
    line->basis = is_first || line->basis == from->basis ? from->basis : PLIM_BASIS_FORMULA;
    line->bill_bytes += from->bytes;
    line->low_bytes += from->low_bytes;
    line->high_bytes += from->high_bytes;
}

static void take_receipt(struct plim_check_line *line, const struct plim_receipt_line *from)
{
    line->has_receipt = true;
    line->receipt_bytes = from->bytes;
    line->receipt_low_bytes = from->low_bytes;
    line->receipt_high_bytes = from->high_bytes;
}

/* Such a line of the bill is compared as part of the sum. */
static bool is_part_of_a_sum(const struct sides *s, const struct plim_receipt_line *line)
{
    for (uint32_t i = 0; s->receipt_device && i < s->receipt_device->n_lines; i++) {
        const struct plim_receipt_sum *sum = sum_of(s->receipt, s->receipt_device->line[i].label);
        if (sum && is_part(sum, line))
            return true;
    }
    return false;
}

/* A log that has one of the engine's sums may not list every buffer. */
static bool is_hidden(const struct plim_receipt *receipt, const char *label)
{
    for (uint32_t i = 0; i < receipt->n_devices; i++)
        for (uint32_t k = 0; k < receipt->device[i].n_lines; k++) {
            const struct plim_receipt_sum *sum = sum_of(receipt, receipt->device[i].line[k].label);
            if (sum && sum->hides && !strcmp(sum->hides, label))
                return true;
        }
    return false;
}

/* The receipt has no such line: does that mean that nothing was allocated? */
static bool is_zero(const struct plim_receipt *receipt, const struct plim_receipt_line *line)
{
    return receipt->is_whole && receipt->labels && is_in(receipt->labels->always, line->label) &&
           !is_hidden(receipt, line->label);
}

static void compare_bill_lines(struct sides *s)
{
    for (uint32_t i = 0; s->bill_device && i < s->bill_device->n_lines; i++) {
        const struct plim_receipt_line *from = &s->bill_device->line[i], *to = NULL;
        if (is_part_of_a_sum(s, from))
            continue;
        for (uint32_t k = 0; s->receipt_device && k < s->receipt_device->n_lines; k++)
            if (!strcmp(s->receipt_device->line[k].label, from->label))
                to = &s->receipt_device->line[k];
        struct plim_check_line *line = add_line(s, from->label, from->pillar);
        take_bill(line, from);
        if (to)
            take_receipt(line, to);
        else if (is_zero(s->receipt, from))
            take_receipt(line, &(struct plim_receipt_line){ 0 });
    }
}

static void compare_receipt_lines(struct sides *s)
{
    for (uint32_t i = 0; s->receipt_device && i < s->receipt_device->n_lines; i++) {
        const struct plim_receipt_line *from = &s->receipt_device->line[i];
        struct plim_check_line *line = NULL;
        for (uint32_t k = 0; k < s->out->n_lines; k++)
            if (!strcmp(s->out->line[k].label, from->label))
                line = &s->out->line[k];
        if (line || from->high_bytes == 0) /* compared already, or nothing to compare */
            continue;
        line = add_line(s, from->label, from->pillar);
        take_receipt(line, from);
        const struct plim_receipt_sum *sum = sum_of(s->receipt, from->label);
        for (uint32_t k = 0; sum && s->bill_device && k < s->bill_device->n_lines; k++)
            if (is_part(sum, &s->bill_device->line[k]))
                take_bill(line, &s->bill_device->line[k]);
        line->has_others = sum && sum->has_others;
    }
}

/* --- verdict --- */

int64_t plim_check_difference_bytes(const struct plim_check_line *line)
{
    return (int64_t)(line->receipt_bytes - line->bill_bytes);
}

static uint64_t size_of_difference(const struct plim_check_line *line)
{
    int64_t difference = plim_check_difference_bytes(line);
    return difference < 0 ? (uint64_t)0 - (uint64_t)difference : (uint64_t)difference;
}

static void judge_line(struct plim_check *check, uint32_t nth, struct plim_check_line *line, bool is_lower_bound)
{
    struct plim_check_device *device = &check->device[nth];
    if (!line->has_receipt)
        return;
    line->is_in_band =
        line->receipt_low_bytes <= line->high_bytes && (is_lower_bound || line->receipt_high_bytes >= line->low_bytes);
    if (line->has_others)
        return;
    line->is_judged = true;
    device->bill_bytes += line->bill_bytes;
    device->receipt_bytes += line->receipt_bytes;
    if (line->low_bytes == line->high_bytes)
        check->n_exact++;
    else
        check->n_bands++;
    if (line->receipt_high_bytes - line->receipt_low_bytes >= 64 * PLIM_KIB)
        check->is_coarse = true;
    if (line->is_in_band)
        return;
    check->n_outside++;
    if (!check->worst || size_of_difference(line) > size_of_difference(check->worst)) {
        check->worst = line;
        check->worst_device = nth;
    }
}

static void compare_setups(const struct plim_receipt *bill, const struct plim_receipt *receipt,
                           struct plim_check *check)
{
    for (uint32_t i = 0; i < bill->settings.n; i++) {
        const struct plim_receipt_setting *billed = &bill->settings.item[i];
        const struct plim_receipt_setting *found = plim_settings_find(&receipt->settings, billed->key);
        if (found && plim_settings_differ(billed, found))
            check->differs[check->n_differs++] = billed->key;
    }
}

static void compare_device(const struct plim_receipt *bill, const struct plim_receipt *receipt, const char *id,
                           struct plim_check *check)
{
    struct plim_check_device *out = &check->device[check->n_devices++];
    struct sides s = { bill, receipt, plim_receipt_find(bill, id), plim_receipt_find(receipt, id), out };
    const struct plim_receipt_device *named =
        s.receipt_device && s.receipt_device->name[0] ? s.receipt_device : s.bill_device;
    snprintf(out->id, sizeof out->id, "%s", id);
    snprintf(out->name, sizeof out->name, "%s", named ? named->name : "");
    out->peak_bytes = s.receipt_device ? s.receipt_device->peak_bytes : 0;
    compare_bill_lines(&s);
    compare_receipt_lines(&s);
}

void plim_check(const struct plim_receipt *bill, const struct plim_receipt *receipt, struct plim_check *ret_check)
{
    struct plim_check *check = ret_check;
    memset(check, 0, sizeof *check);
    for (uint32_t i = 0; i < bill->n_devices; i++)
        compare_device(bill, receipt, bill->device[i].id, check);
    for (uint32_t i = 0; i < receipt->n_devices; i++)
        if (!plim_receipt_find(bill, receipt->device[i].id))
            compare_device(bill, receipt, receipt->device[i].id, check);
    for (uint32_t i = 0; i < check->n_devices; i++)
        for (uint32_t k = 0; k < check->device[i].n_lines; k++)
            judge_line(check, i, &check->device[i].line[k], receipt->is_lower_bound);
    compare_setups(bill, receipt, check);
    check->agrees =
        check->n_exact + check->n_bands > 0 && receipt->is_whole && !receipt->is_lower_bound && check->n_outside == 0;
}
