/* SPDX-License-Identifier: MIT */
/* Several answers, one line each: cards of several sizes, several models, or both. */
#include "base/limits.h"
#include "base/units.h"
#include "report/columns.h"
#include "report/head.h"
#include "report/paint.h"
#include "report/print.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

enum { MODEL_WIDTH = 30, CARD_WIDTH = 6, NAME_BYTES = 256, PART_BYTES = sizeof "-00001-of-00003" - 1 };

static const struct plim_device_bill *limiting_device(const struct plim_bill *bill)
{
    return &bill->device[bill->limiting_device];
}

/* "2.61 GiB", "-14.99 GiB" */
static char *left_text(const struct plim_device_bill *device, char buffer[PLIM_SIZE_TEXT])
{
    int64_t left_bytes = plim_device_left_bytes(device);
    buffer[0] = '\0';
    if (device->total_bytes == 0)
        return buffer;
    plim_size_text_signed(buffer, left_bytes);
    if (left_bytes >= 0)
        memmove(buffer, buffer + 1, strlen(buffer));
    return buffer;
}

static uint64_t gpu_bytes(const struct plim_bill *bill)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i + 1 < bill->n_devices; i++)
        bytes += bill->device[i].need_bytes;
    return bytes;
}

static void print_verdict(FILE *out, enum plim_verdict verdict, int width, const struct plim_style *style)
{
    plim_print(out, "%s%-*s%s", plim_paint_verdict(style, verdict), width, plim_verdict_name(verdict),
               plim_paint(style, PLIM_PLAIN));
}

/* --- cards of several sizes --- */

/* Of --max, on this card; NULL: it was not asked for. */
static const struct plim_course_largest *largest_of(const struct plim_answer *answer)
{
    return answer->course && answer->course->largest.variable ? &answer->course->largest : NULL;
}

void plim_report_cards_head(FILE *out, const struct plim_answer *answer, const struct plim_style *style)
{
    plim_report_head(out, answer, style);
    plim_print(out, "\n%s%-*s %11s %11s  %-7s  ", plim_paint(style, PLIM_BOLD), CARD_WIDTH, "card", "need", "left",
               "verdict");
    if (answer->adjustment)
        plim_print(out, "%s by itself starts with", plim_report_client(answer));
    if (largest_of(answer))
        plim_print(out, "largest %s", largest_of(answer)->variable);
    plim_print(out, "%s\n", plim_paint(style, PLIM_PLAIN));
}

void plim_report_cards_row(FILE *out, const struct plim_answer *answer, const struct plim_style *style)
{
    const struct plim_adjustment *a = answer->adjustment;
    const struct plim_bill *bill = answer->bill;
    const struct plim_device_bill *device = limiting_device(bill);
    char need[PLIM_SIZE_TEXT], left[PLIM_SIZE_TEXT];
    const char *size = strstr(answer->machine->card[0].name, " of ");
    plim_print(out, "%-*s %11s %11s  ", CARD_WIDTH, size ? size + 4 : answer->machine->card[0].name,
               plim_size_text(need, gpu_bytes(bill)), left_text(device, left));
    print_verdict(out, bill->verdict, 7, style);
    if (a) {
        plim_print(out, "  %s%s%s", a->flags, *a->flags && *a->short_more ? ", " : "", a->short_more);
    } else if (device->is_host) {
        plim_print(out, "  not enough RAM");
    }
    if (largest_of(answer) && largest_of(answer)->value)
        plim_print(out, "  %" PRIu64, largest_of(answer)->value);
    else if (largest_of(answer))
        plim_print(out, "  none");
    plim_print(out, "\n");
}

/* Below a row: why the verdict is unknown. */
static void print_contradiction(FILE *out, const struct plim_answer *answer)
{
    if (!answer->bill->is_contradicted)
        return;
    plim_print(out, "  it contradicts itself:");
    plim_print_wrapped(out, plim_engine_contradiction(answer->engine), (int)sizeof "  it contradicts itself:" - 1, 4);
}

void plim_report_cards_end(FILE *out, const char *smallest, enum plim_verdict verdict, const char *smallest_fitting,
                           const struct plim_style *style)
{
    plim_print(out, "\n--card NAME shows the bill for your card, and the changes to make first.\n");
    plim_print(out, "%s", plim_paint(style, PLIM_BOLD));
    if (!*smallest)
        plim_print(out, "NO: this setup fits on none of these cards");
    else if (verdict == PLIM_VERDICT_TIGHT && *smallest_fitting)
        plim_print(out, "FITS on %s; tight on %s", smallest_fitting, smallest);
    else
        plim_print(out, "%s on %s", verdict == PLIM_VERDICT_TIGHT ? "TIGHT" : "FITS", smallest);
    plim_print(out, "%s\n", plim_paint(style, PLIM_PLAIN));
}

/* --- several models --- */

/* The file's name: quantizations of one model share the model's own name. */
static char *file_name(const char *path, char name[NAME_BYTES])
{
    const char *slash = strrchr(path, '/');
    snprintf(name, NAME_BYTES, "%s", slash ? slash + 1 : path);
    size_t length = strlen(name);
    if (length > 5 && !strcasecmp(name + length - 5, ".gguf"))
        name[length -= 5] = '\0';
    if (length > PART_BYTES && !strncmp(name + length - PART_BYTES, "-00001-of-", 10))
        name[length - PART_BYTES] = '\0';
    return name;
}

static void print_model(FILE *out, const struct plim_answer *answer)
{
    const struct plim_model *model = plim_engine_model(answer->engine);
    char name[NAME_BYTES];
    const char *file_type = plim_model_file_type(model);
    file_name(plim_model_path(model), name);
    if (!*name)
        snprintf(name, sizeof name, "%s:%s", plim_model_name(model), file_type ? file_type : "");
    else if (!strncmp(name, "sha256-", 7))
        snprintf(name, sizeof name, "%s", plim_model_name(model));
    plim_print_padded(out, name, MODEL_WIDTH);
}

void plim_report_models_head(FILE *out, const struct plim_answer *answer, const struct plim_style *style)
{
    const struct plim_machine *machine = answer->machine;
    char total[PLIM_SIZE_TEXT];
    for (uint32_t i = 0; i < machine->n_cards; i++)
        plim_print(out, "gpu%u  %s, %s\n", i, machine->card[i].name,
                   plim_size_text(total, machine->card[i].total_bytes));
    plim_report_notes(out, answer, style);
    plim_print(out, "%s%-*s %11s %11s %11s  %s%s\n", plim_paint(style, PLIM_BOLD), MODEL_WIDTH, "model",
               machine->n_cards > 1 ? "on GPUs" : "on GPU", "on host", "left", "verdict",
               plim_paint(style, PLIM_PLAIN));
}

void plim_report_models_row(FILE *out, const struct plim_answer *answer, const struct plim_style *style)
{
    const struct plim_bill *bill = answer->bill;
    char gpus[PLIM_SIZE_TEXT], host[PLIM_SIZE_TEXT], left[PLIM_SIZE_TEXT];
    print_model(out, answer);
    plim_print(out, " %11s %11s %11s  ", plim_size_text(gpus, gpu_bytes(bill)),
               plim_size_text(host, bill->device[bill->n_devices - 1].need_bytes),
               left_text(limiting_device(bill), left));
    print_verdict(out, bill->verdict, 0, style);
    plim_print(out, "\n");
    print_contradiction(out, answer);
}

void plim_report_models_end(FILE *out, size_t n_yes, size_t n, const char *largest, const struct plim_style *style)
{
    char name[NAME_BYTES];
    plim_print(out, "\n%s%zu of %zu fit%s", plim_paint(style, PLIM_BOLD), n_yes, n, n_yes == 1 ? "s" : "");
    if (largest)
        plim_print(out, "; the largest quantization that fits: %s", file_name(largest, name));
    plim_print(out, "%s%s\n", plim_paint(style, PLIM_PLAIN),
               largest ? "" : "; name one MODEL to see its bill and the changes to make first.");
}

/* --- both --- */

void plim_report_grid_head(FILE *out, const char *const *cards, unsigned n_cards, const struct plim_style *style)
{
    plim_print(out, "%s%-*s", plim_paint(style, PLIM_BOLD), MODEL_WIDTH, "model");
    for (unsigned i = 0; i < n_cards; i++) {
        const char *size = strstr(cards[i], " of ");
        plim_print(out, " %5s", size ? size + 4 : cards[i]);
    }
    plim_print(out, "%s\n", plim_paint(style, PLIM_PLAIN));
}

void plim_report_grid_row(FILE *out, const struct plim_answer *answer, const enum plim_verdict *verdicts,
                          unsigned n_cards, const struct plim_style *style)
{
    static const char *const words[PLIM_VERDICT_MAX_] = { "?", "fits", "tight", "no" };
    print_model(out, answer);
    for (unsigned i = 0; i < n_cards; i++)
        plim_print(out, " %s%5s%s", plim_paint_verdict(style, verdicts[i]), words[verdicts[i]],
                   plim_paint(style, PLIM_PLAIN));
    plim_print(out, "\n");
    print_contradiction(out, answer);
}

void plim_report_grid_end(FILE *out) { plim_print(out, "\n--card NAME shows the figures for your card.\n"); }

void plim_report_left_out(FILE *out, size_t n_models, size_t n_entries)
{
    if (n_models)
        plim_print(out, "%zu more model%s left out: at most %d are answered at once.\n", n_models,
                   n_models == 1 ? " is" : "s are", PLIM_MAX_FILES);
    if (n_entries)
        plim_print(out, "%zu entr%s left out: of a folder the first %d in order are looked at.\n", n_entries,
                   n_entries == 1 ? "y is" : "ies are", PLIM_MAX_FOLDER_NAMES);
}
