/* SPDX-License-Identifier: MIT */
/* A bill beside a receipt, and a receipt alone: a table per device, the verdict as the last line. */
#include "report/receipt/check.h"

#include "engine/type.h"

#include "base/units.h"
#include "report/columns.h"
#include "report/print.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LABEL_WIDTH = 22, MIB_WIDTH = 13, REASON_BYTES = 512 };

/* All in MiB, as in the logs: figures can be compared by eye. */
static void print_mib(FILE *out, uint64_t bytes, bool is_known)
{
    if (is_known)
        plim_print(out, " %*.2f", MIB_WIDTH - 1, (double)bytes / (double)PLIM_MIB);
    else
        plim_print(out, " %*s", MIB_WIDTH - 1, "-");
}

static void print_head(FILE *out, const char *id, const char *name, const char *columns, const struct plim_style *style)
{
    plim_print(out, "\n%s%s%s%s%.60s\n", plim_paint(style, PLIM_BOLD), id, plim_paint(style, PLIM_PLAIN),
               name[0] ? "  " : "", name);
    plim_print(out, "  %s%-*s%s%s\n", plim_paint(style, PLIM_DIM), LABEL_WIDTH, "", columns,
               plim_paint(style, PLIM_PLAIN));
}

/* --- lines --- */

/* Exact lines are equal when the receipt is what they round to. */
static const char *word_for(const struct plim_check_line *line)
{
    if (!line->has_receipt)
        return "not in receipt";
    if (!line->has_bill)
        return !line->is_in_band ? "NOT IN THE BILL" : line->receipt_bytes ? "may be 0" : "equal";
    if (line->low_bytes == line->high_bytes)
        return line->is_in_band ? "equal" : "OFF";
    return line->is_in_band ? "in its band" : "OUTSIDE ITS BAND";
}

/* No "-0.00". */
static double rounded(double value) { return fabs(value) < 0.005 ? 0.0 : value; }

static void print_difference(FILE *out, const struct plim_check_line *line)
{
    double difference = (double)plim_check_difference_bytes(line) / (double)PLIM_MIB;
    if (!line->has_bill || !line->has_receipt)
        plim_print(out, " %*s", MIB_WIDTH - 2, "");
    else if (line->is_in_band && line->low_bytes == line->high_bytes)
        plim_print(out, " %*s", MIB_WIDTH - 2, "0");
    else
        plim_print(out, " %+*.2f", MIB_WIDTH - 2, rounded(difference));
}

static void print_line(FILE *out, const struct plim_check_line *line, const struct plim_style *style)
{
    enum plim_colour colour = !line->has_receipt || !line->is_judged ? PLIM_DIM
                              : line->is_in_band                     ? PLIM_GREEN
                                                                     : PLIM_RED;
    plim_print(out, "  ");
    plim_print_padded(out, line->label, LABEL_WIDTH);
    print_mib(out, line->bill_bytes, line->has_bill);
    print_mib(out, line->receipt_bytes, line->has_receipt);
    print_difference(out, line);
    plim_print(out, "  %s%s%s\n", plim_paint(style, colour), word_for(line), plim_paint(style, PLIM_PLAIN));
}

static void print_sum(FILE *out, const struct plim_check_device *device, const struct plim_style *style)
{
    double difference = ((double)device->receipt_bytes - (double)device->bill_bytes) / (double)PLIM_MIB;
    plim_print(out, "  %s%-*s", plim_paint(style, PLIM_BOLD), LABEL_WIDTH, "sum of compared lines");
    print_mib(out, device->bill_bytes, true);
    print_mib(out, device->receipt_bytes, true);
    plim_print(out, " %+*.2f%s", MIB_WIDTH - 2, rounded(difference), plim_paint(style, PLIM_PLAIN));
    if (device->bill_bytes)
        plim_print(out, "  %+.2f %%", rounded(100.0 * difference * (double)PLIM_MIB / (double)device->bill_bytes));
    plim_print(out, "\n");
}

/* A device that the receipt does not have is not compared. */
static bool has_receipt(const struct plim_check_device *device)
{
    for (uint32_t i = 0; i < device->n_lines; i++)
        if (device->line[i].has_receipt)
            return true;
    return false;
}

static void print_device(FILE *out, const struct plim_check_device *device, bool is_lower_bound,
                         const struct plim_style *style)
{
    if (!has_receipt(device))
        return;
    print_head(out, device->id, device->name, "     bill MiB  receipt MiB  difference", style);
    for (uint32_t i = 0; i < device->n_lines; i++)
        print_line(out, &device->line[i], style);
    print_sum(out, device, style);
    if (device->peak_bytes == 0)
        return;
    plim_print(out, "  %-*s", LABEL_WIDTH, is_lower_bound ? "peak of all, at least" : "peak of all");
    print_mib(out, 0, false);
    print_mib(out, device->peak_bytes, true);
    plim_print(out, "\n");
}

/* --- verdict --- */

const struct plim_engine_type *plim_report_engine_type(const struct plim_receipt *receipt)
{
    const struct plim_engine_type *type = plim_engine_type_at(0);
    plim_engine_type_named(receipt->engine, &type, NULL, NULL);
    return type;
}

static void write_setting(const struct plim_receipt_setting *setting, char *text, size_t size)
{
    if (setting->kind == PLIM_SETTING_TEXT)
        snprintf(text, size, "%s", setting->text);
    else if (setting->kind == PLIM_SETTING_BOOL)
        snprintf(text, size, "%s", setting->integer ? "on" : "off");
    else
        snprintf(text, size, "%" PRId64, setting->integer);
}

static void print_differs(FILE *out, const struct plim_check_sides *sides, const struct plim_style *style)
{
    const struct plim_check *check = sides->check;
    for (uint32_t i = 0; i < check->n_differs; i++) {
        char bill[24], receipt[24], text[160], name[PLIM_OPTION_NAME_BYTES] = "";
        const struct plim_option *option =
            plim_option_with_key(plim_report_engine_type(sides->receipt), check->differs[i]);
        write_setting(plim_settings_find(&sides->bill->settings, check->differs[i]), bill, sizeof bill);
        write_setting(plim_settings_find(&sides->receipt->settings, check->differs[i]), receipt, sizeof receipt);
        snprintf(text, sizeof text, "%s is %s in the bill, %s in the receipt%s%s", check->differs[i], bill, receipt,
                 option ? ": see " : "", option ? plim_option_name(option, name) : "");
        plim_print(out, "%s", plim_paint(style, PLIM_YELLOW));
        plim_print_wrapped(out, text, 0, 2);
        plim_print(out, "%s", plim_paint(style, PLIM_PLAIN));
    }
}

/* Rules change from version to version: a difference may be one of them. */
static void print_versions(FILE *out, const struct plim_check_sides *sides)
{
    const char *bill = sides->bill->version, *receipt = sides->receipt->version;
    char text[160];
    if (sides->check->n_outside == 0 || !bill[0] || !receipt[0] || !strcmp(bill, receipt))
        return;
    snprintf(text, sizeof text, "The bill is for %s, the receipt of %s: see --engine", bill, receipt);
    plim_print_wrapped(out, text, 0, 2);
}

static const char *engine_of(const struct plim_receipt *receipt)
{
    return receipt->engine[0] ? receipt->engine : "the engine";
}

static bool has_common_line(const struct plim_check *check)
{
    for (uint32_t i = 0; i < check->n_devices; i++)
        for (uint32_t k = 0; k < check->device[i].n_lines; k++)
            if (check->device[i].line[k].has_bill && check->device[i].line[k].has_receipt)
                return true;
    return false;
}

/* "EQUAL", "OFF", "INCOMPLETE" or "AT LEAST", with the reason. */
static const char *write_verdict(const struct plim_check_sides *sides, char *text, size_t size)
{
    const struct plim_check *check = sides->check;
    const struct plim_check_line *line = check->worst;
    const char *engine = engine_of(sides->receipt);
    char difference[PLIM_SIZE_TEXT], bands[64] = "";
    if (strcmp(engine, engine_of(sides->bill)) != 0 && !has_common_line(check)) {
        snprintf(text, size, "the receipt is of %s, the bill of %s: they have no line in common", engine,
                 engine_of(sides->bill));
        return "OFF";
    }
    if (line) {
        int64_t off = plim_check_difference_bytes(line);
        plim_size_text(difference, off < 0 ? (uint64_t)0 - (uint64_t)off : (uint64_t)off);
        snprintf(text, size, "%s on %s is %s %s than the bill%s", line->label, check->device[check->worst_device].id,
                 difference, off < 0 ? "less" : "more", line->low_bytes < line->high_bytes ? ", outside its band" : "");
        if (check->n_outside > 1)
            snprintf(text + strlen(text), size - strlen(text), "; %u lines differ", check->n_outside);
        return "OFF";
    }
    if (check->n_exact + check->n_bands == 0) {
        snprintf(text, size, "the receipt of %s has no line of this bill", engine);
        return "OFF";
    }
    if (!sides->receipt->is_whole) {
        snprintf(text, size, "the log ends before the compute buffers; the lines that it has match the bill");
        return "INCOMPLETE";
    }
    if (sides->receipt->is_lower_bound) {
        snprintf(text, size,
                 "the rehearsal's path was guessed or incomplete: a card may take more; its lines do not exceed "
                 "the bill");
        return "AT LEAST";
    }
    if (check->n_bands)
        snprintf(bands, sizeof bands, "; %u %s", check->n_bands, check->n_bands == 1 ? "band holds" : "bands hold");
    if (check->n_exact == 0) {
        snprintf(text, size, "what %s allocated is within the bands of all %u lines", engine, check->n_bands);
        return "HOLDS";
    }
    snprintf(text, size, "%s%u exact %s what %s %s, to %s%s", check->n_exact == 1 ? "the " : "all ", check->n_exact,
             check->n_exact == 1 ? "line is" : "lines are", engine,
             sides->receipt->is_estimate ? "forecasts" : "allocated",
             check->is_coarse ? "its own rounding" : "0.01 MiB", bands);
    return "EQUAL";
}

/* "the log of llama.cpp b3813, its last start" */
static void print_source(FILE *out, const struct plim_receipt *receipt)
{
    plim_print(out, "%s", !strcmp(receipt->from, "log") ? "the log" : "a rehearsal");
    if (receipt->engine[0])
        plim_print(out, " of %s%s%s", receipt->engine, receipt->version[0] ? " " : "", receipt->version);
    if (receipt->n_starts > 1)
        plim_print(out, ", its last start");
}

void plim_report_check_text(FILE *out, const struct plim_check_sides *sides, const struct plim_style *style)
{
    const struct plim_receipt *receipt = sides->receipt;
    char reason[REASON_BYTES];
    plim_print(out, "%s%s%s\n  the bill beside ", plim_paint(style, PLIM_BOLD),
               sides->bill->model[0] ? sides->bill->model : "a model", plim_paint(style, PLIM_PLAIN));
    print_source(out, receipt);
    plim_print(out, "\n");
    for (uint32_t i = 0; i < sides->check->n_devices; i++)
        print_device(out, &sides->check->device[i], receipt->is_lower_bound, style);
    plim_print(out, "\n");
    if (receipt->model[0] && sides->bill->model[0] && strcmp(receipt->model, sides->bill->model) != 0)
        plim_print(out, "The model in the receipt is named '%s'.\n", receipt->model);
    print_differs(out, sides, style);
    print_versions(out, sides);
    const char *word = write_verdict(sides, reason, sizeof reason);
    plim_print(out, "%s%s%s:%s", plim_paint(style, PLIM_BOLD),
               plim_paint(style, sides->check->agrees ? PLIM_GREEN : PLIM_RED), word, plim_paint(style, PLIM_PLAIN));
    plim_print_wrapped(out, reason, (int)strlen(word) + 1, 2);
}

void plim_report_receipt_text(FILE *out, const struct plim_receipt *receipt, const struct plim_style *style)
{
    plim_print(out, "%s%s%s\n  receipt of ", plim_paint(style, PLIM_BOLD),
               receipt->model[0] ? receipt->model : "a model", plim_paint(style, PLIM_PLAIN));
    print_source(out, receipt);
    plim_print(out, "%s\n", receipt->is_estimate ? ": its own forecast" : "");
    for (uint32_t i = 0; i < receipt->n_devices; i++) {
        const struct plim_receipt_device *device = &receipt->device[i];
        uint64_t sum = 0;
        if (device->n_lines == 0)
            continue;
        print_head(out, device->id, device->name, "          MiB", style);
        for (uint32_t k = 0; k < device->n_lines; k++) {
            plim_print(out, "  ");
            plim_print_padded(out, device->line[k].label, LABEL_WIDTH);
            print_mib(out, device->line[k].bytes, true);
            plim_print(out, "\n");
            sum += device->line[k].bytes;
        }
        plim_print(out, "  %s%-*s", plim_paint(style, PLIM_BOLD), LABEL_WIDTH, "sum");
        print_mib(out, sum, true);
        plim_print(out, "%s\n", plim_paint(style, PLIM_PLAIN));
    }
    if (receipt->is_lower_bound)
        plim_print(out, "\nThe path was guessed or incomplete: the sums are the least.\n");
    if (receipt->kv_n_tokens >= 0)
        plim_print(out, "\nThe KV cache holds %" PRId64 " tokens.\n", receipt->kv_n_tokens);
    if (!receipt->is_whole)
        plim_print(out, "\nThe log ends before the compute buffers.\n");
}
