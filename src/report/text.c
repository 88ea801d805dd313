/* SPDX-License-Identifier: MIT */
/* The bill of one model: its devices, the fixes, and the verdict as the last line. */
#include "base/units.h"
#include "report/columns.h"
#include "report/head.h"
#include "report/paint.h"
#include "report/print.h"
#include "report/step/course.h"

#include <inttypes.h>
#include <string.h>

enum { BAR_WIDTH = 56, LABEL_WIDTH = 22, MAX_HOLDERS = 4 };

/* --- bar --- */

/* One letter and colour per pillar, for the bars. */
static const struct segment {
    char letter;
    enum plim_colour colour;
} segments[PLIM_PILLAR_MAX_] = {
    [PLIM_PILLAR_WEIGHTS] = { 'W', PLIM_BLUE },        [PLIM_PILLAR_KV_CACHE] = { 'K', PLIM_CYAN },
    [PLIM_PILLAR_ACTIVATIONS] = { 'A', PLIM_MAGENTA }, [PLIM_PILLAR_GRADIENTS] = { 'G', PLIM_MAGENTA },
    [PLIM_PILLAR_OPTIMIZER] = { 'S', PLIM_MAGENTA },   [PLIM_PILLAR_OVERHEAD] = { 'o', PLIM_DIM },
    [PLIM_PILLAR_OTHERS] = { 'x', PLIM_RED },
};

static const char *const pillar_words[PLIM_PILLAR_MAX_] = {
    [PLIM_PILLAR_WEIGHTS] = "weights",         [PLIM_PILLAR_KV_CACHE] = "KV cache",
    [PLIM_PILLAR_ACTIVATIONS] = "activations", [PLIM_PILLAR_GRADIENTS] = "gradients",
    [PLIM_PILLAR_OPTIMIZER] = "optimizer",     [PLIM_PILLAR_OVERHEAD] = "overhead",
    [PLIM_PILLAR_OTHERS] = "others",
};

/* The bar is as wide as the larger of need and total; '|' marks the total when the need runs over it. */
static void print_bar(FILE *out, const struct plim_device_bill *device, const struct plim_style *style)
{
    const uint64_t held_bytes = plim_device_held_bytes(device);
    uint64_t scale = held_bytes > device->total_bytes ? held_bytes : device->total_bytes;
    uint64_t by_pillar[PLIM_PILLAR_MAX_] = { 0 }, sum = 0;
    int column = 0, mark = -1;
    if (scale == 0)
        return;
    if (device->total_bytes && held_bytes > device->total_bytes)
        mark = (int)(device->total_bytes * BAR_WIDTH / scale);
    for (uint32_t i = 0; i < device->n_lines; i++)
        if (plim_line_is_needed(device, &device->line[i]))
            by_pillar[device->line[i].pillar] += device->line[i].bytes;
    by_pillar[PLIM_PILLAR_WEIGHTS] -= device->idle_bytes;
    plim_print(out, "  [");
    for (int pillar = 0; pillar < PLIM_PILLAR_MAX_; pillar++) {
        sum += by_pillar[pillar];
        int end = (int)((double)sum / (double)scale * BAR_WIDTH + 0.5);
        if (column < end)
            plim_print(out, "%s", plim_paint(style, segments[pillar].colour));
        for (; column < end && column < BAR_WIDTH; column++)
            plim_print(out, "%c", column == mark ? '|' : segments[pillar].letter);
        plim_print(out, "%s", plim_paint(style, PLIM_PLAIN));
    }
    for (; column < BAR_WIDTH; column++)
        plim_print(out, "%c", '.');
    plim_print(out, "] %3.0f %%\n",
               device->total_bytes ? 100.0 * (double)held_bytes / (double)device->total_bytes : 0.0);
}

/* --- devices --- */

static const char *device_name(const struct plim_answer *answer, const struct plim_device_bill *device)
{
    if (!device->is_host)
        return answer->machine->card[device->index].name;
    return answer->machine->host.is_assumed   ? "RAM as given"
           : answer->machine->host.is_limited ? "this machine, limited by its control group"
                                              : "this machine";
}

/* "exact", or "formula   133.0 MiB to 147.0 MiB" */
static void print_basis(FILE *out, const struct plim_line *line)
{
    char low[PLIM_SIZE_TEXT], high[PLIM_SIZE_TEXT];
    if (line->low_bytes == line->high_bytes)
        plim_print(out, "%s", plim_basis_name(line->basis));
    else
        plim_print(out, "%-8s  %s to %s", plim_basis_name(line->basis), plim_size_text(low, line->low_bytes),
                   plim_size_text(high, line->high_bytes));
}

static void print_line(FILE *out, const struct plim_line *line, const struct plim_style *style)
{
    char size[PLIM_SIZE_TEXT], why[PLIM_WHY_BYTES];
    plim_print(out, "  %-*s %11s  %s", LABEL_WIDTH, line->label, plim_size_text(size, line->bytes),
               plim_paint(style, PLIM_DIM));
    print_basis(out, line);
    plim_print(out, "%s\n", plim_paint(style, PLIM_PLAIN));
    if (!style->is_verbose)
        return;
    plim_print(out, "      %s", plim_paint(style, PLIM_DIM));
    plim_print_wrapped(out, plim_line_why(line, why), 6, 6);
    plim_print(out, "%s", plim_paint(style, PLIM_PLAIN));
}

static void print_need(FILE *out, const struct plim_device_bill *device, const struct plim_style *style)
{
    char need[PLIM_SIZE_TEXT], left[PLIM_SIZE_TEXT];
    int64_t left_bytes = plim_device_left_bytes(device);
    plim_print(out, "  %s%-*s %11s%s", plim_paint(style, PLIM_BOLD), LABEL_WIDTH, "need",
               plim_size_text(need, device->need_bytes), plim_paint(style, PLIM_PLAIN));
    if (device->has_phases)
        plim_print(out, "  in %s", plim_phase_name(device->binding));
    if (device->total_bytes)
        plim_print(out, "  %s %s", plim_size_text(left, (uint64_t)(left_bytes < 0 ? -left_bytes : left_bytes)),
                   left_bytes < 0 ? "too much" : "left");
    plim_print(out, "\n");
    if (device->idle_bytes)
        plim_print(out, "    %s of it is mapped from the file and never read: no RAM\n",
                   plim_size_text(left, device->idle_bytes));
}

static void print_device(FILE *out, const struct plim_answer *answer, const struct plim_device_bill *device,
                         const struct plim_style *style)
{
    char total[PLIM_SIZE_TEXT], id[PLIM_DEVICE_ID_BYTES];
    plim_print(out, "\n%s%s%s  %.40s", plim_paint(style, PLIM_BOLD), plim_report_device_id(device, id),
               plim_paint(style, PLIM_PLAIN), device_name(answer, device));
    if (device->total_bytes)
        plim_print(out, ", %s%s", plim_size_text(total, device->total_bytes),
                   device->total_basis == PLIM_BASIS_ASSUMED && !device->is_host ? " (assumed)" : "");
    plim_print(out, "\n");
    for (uint32_t i = 0; i < device->n_lines; i++)
        print_line(out, &device->line[i], style);
    print_need(out, device, style);
    print_bar(out, device, style);
}

/* The letters that the bars use, with their meaning. */
static void print_legend(FILE *out, const struct plim_bill *bill)
{
    bool is_there[PLIM_PILLAR_MAX_] = { false }, has_end = false;
    for (uint32_t i = 0; i < bill->n_devices; i++) {
        const struct plim_device_bill *device = &bill->device[i];
        has_end = has_end || (device->total_bytes && plim_device_held_bytes(device) > device->total_bytes);
        for (uint32_t k = 0; k < device->n_lines; k++)
            is_there[device->line[k].pillar] = true;
    }
    for (int pillar = 0; pillar < PLIM_PILLAR_MAX_; pillar++)
        if (is_there[pillar])
            plim_print(out, "  %c %s", segments[pillar].letter, pillar_words[pillar]);
    plim_print(out, has_end ? "  | capacity\n" : "\n");
}

/* --- fixes --- */

static void print_fix_command(FILE *out, const struct plim_answer *answer, const struct plim_fix *fix)
{
    char text[PLIM_COMMAND_BYTES];
    bool is_unsupported;
    if (plim_report_paste(answer, fix, text, &is_unsupported))
        plim_print_lines(out, text, 4);
    else if (is_unsupported)
        plim_print(out, "    (%s has no setting for this)\n", plim_report_client(answer));
}

static void print_fix(FILE *out, const struct plim_answer *answer, const struct plim_fix *fix, unsigned number,
                      const struct plim_style *style)
{
    char text[320], freed[PLIM_SIZE_TEXT];
    plim_print(out, "%2u. %s%-5s%s ", number, plim_paint_verdict(style, fix->verdict_after),
               plim_verdict_name(fix->verdict_after), plim_paint(style, PLIM_PLAIN));
    snprintf(text, sizeof text, "with %s (frees %s)", fix->change, plim_size_text(freed, (uint64_t)fix->frees_bytes));
    plim_print_wrapped(out, text, 9, 10);
    snprintf(text, sizeof text, "costs: %s", fix->costs);
    plim_print(out, "    %s", plim_paint(style, PLIM_DIM));
    plim_print_wrapped(out, text, 4, 6);
    plim_print(out, "%s", plim_paint(style, PLIM_PLAIN));
    print_fix_command(out, answer, fix);
}

static bool does_any_help(const struct plim_answer *answer)
{
    bool does = false;
    for (uint32_t i = 0; i < answer->n_fixes; i++)
        does = does || answer->fixes[i].verdict_after != PLIM_VERDICT_NO;
    return does;
}

/* --- other processes --- */

/* "   10.2 GiB  4711 llama-server: a server waits for requests" for each that is not for ending. */
static void print_holders(FILE *out, const struct plim_answer *answer, const struct plim_style *style)
{
    const struct plim_device_bill *device = &answer->bill->device[answer->bill->limiting_device];
    char text[320], size[PLIM_SIZE_TEXT], id[PLIM_DEVICE_ID_BYTES];
    unsigned n = 0;
    for (uint32_t i = 0; i < answer->machine->n_holders && !device->is_host; i++) {
        const struct plim_holder *holder = &answer->machine->holders[i];
        if (holder->card != device->index || holder->is_endable || n++ >= MAX_HOLDERS)
            continue;
        if (n == 1)
            plim_print(out, "Held on %s by other processes:\n", plim_report_device_id(device, id));
        snprintf(text, sizeof text, "%" PRId64 " %s%s%s", holder->pid, holder->name, *holder->why ? ": " : "",
                 holder->why);
        plim_print(out, "%11s  ", holder->bytes ? plim_size_text(size, holder->bytes) : "?");
        plim_print_wrapped(out, text, 13, 13);
    }
    if (n > MAX_HOLDERS)
        plim_print(out, "%11s  %u more: plimsoll ps\n", "", n - MAX_HOLDERS);
    if (n && answer->verdict_alone != PLIM_VERDICT_UNKNOWN)
        plim_print(out, "Without any other process: %s%s%s.\n", plim_paint_verdict(style, answer->verdict_alone),
                   plim_verdict_name(answer->verdict_alone), plim_paint(style, PLIM_PLAIN));
}

/* --- the last lines --- */

static void print_speed(FILE *out, const struct plim_bill *bill)
{
    const double low = bill->tokens_per_s_low, high = bill->tokens_per_s_high;
    if (high > 0)
        plim_print(out, "Speed: about %.*f to %.*f tokens/s for one sequence, from bandwidths alone.\n", low < 9.5, low,
                   high < 9.5, high);
}

static void print_adjustment(FILE *out, const struct plim_answer *answer, const struct plim_style *style)
{
    char text[400], adjustment[PLIM_ADJUSTMENT_BYTES];
    if (!answer->adjustment || answer->bill->is_refused)
        return;
    plim_report_adjustment(answer, adjustment);
    snprintf(text, sizeof text, "By itself %s starts with %s%s%s: %s%s%s.", plim_report_client(answer),
             plim_paint(style, PLIM_BOLD), adjustment, plim_paint(style, PLIM_PLAIN),
             plim_paint_verdict(style, answer->adjusted_bill->verdict),
             plim_verdict_name(answer->adjusted_bill->verdict), plim_paint(style, PLIM_PLAIN));
    plim_print_wrapped(out, text, 0, 0);
}

/* "63.54 MiB left on gpu0, at worst 12 MiB; 614.4 MiB should stay free" */
static void write_tight(const struct plim_device_bill *device, const struct plim_margin *margin, const char *left,
                        const char *where, char *text, size_t size)
{
    char worst[PLIM_SIZE_TEXT], wanted[PLIM_SIZE_TEXT];
    uint64_t high_bytes = device->is_host ? plim_device_held_bytes(device) : device->need_high_bytes;
    int64_t worst_bytes = (int64_t)device->total_low_bytes - (int64_t)high_bytes;
    plim_size_text(wanted, plim_margin_bytes(margin, device->total_bytes));
    plim_size_text(worst, (uint64_t)(worst_bytes < 0 ? -worst_bytes : worst_bytes));
    if (high_bytes == plim_device_held_bytes(device) && device->total_low_bytes == device->total_bytes)
        snprintf(text, size, "%s left on %s; %s should stay free", left, where, wanted);
    else if (worst_bytes < 0)
        snprintf(text, size, "%s left on %s, at worst %s too much", left, where, worst);
    else
        snprintf(text, size, "%s left on %s, at worst %s; %s should stay free", left, where, worst, wanted);
}

static void write_reason(const struct plim_answer *answer, char *text, size_t size)
{
    const struct plim_bill *bill = answer->bill;
    const struct plim_device_bill *device = &bill->device[bill->limiting_device];
    char left[PLIM_SIZE_TEXT], where[PLIM_DEVICE_ID_BYTES];
    int64_t left_bytes = plim_device_left_bytes(device);
    plim_size_text(left, (uint64_t)(left_bytes < 0 ? -left_bytes : left_bytes));
    plim_report_device_id(device, where);
    if (bill->is_refused)
        snprintf(text, size, "%s", bill->refusal);
    else if (bill->is_contradicted)
        snprintf(text, size, "the file contradicts itself: %s; download or convert it again",
                 plim_engine_contradiction(answer->engine));
    else if (bill->verdict == PLIM_VERDICT_UNKNOWN && !plim_engine_knows_model(answer->engine))
        snprintf(text, size, "the rules of '%.40s' are not known; the figures are upper bounds",
                 plim_model_arch(plim_engine_model(answer->engine)));
    else if (bill->verdict == PLIM_VERDICT_UNKNOWN && bill->is_at_least)
        snprintf(text, size, "%s", bill->caveat);
    else if (device->total_bytes == 0)
        snprintf(text, size, "the memory of %s is unknown", device->is_host ? "this machine" : where);
    else if (left_bytes < 0)
        snprintf(text, size, "%s too much for %s, %s", left, where, device_name(answer, device));
    else if (bill->verdict == PLIM_VERDICT_TIGHT)
        write_tight(device, &answer->margin, left, where, text, size);
    else
        snprintf(text, size, "%s left on %s, %s", left, where, device_name(answer, device));
}

void plim_report_verdict(FILE *out, const struct plim_answer *answer, const struct plim_style *style)
{
    static const char *const words[PLIM_VERDICT_MAX_] = { "UNKNOWN", "FITS", "TIGHT", "NO" };
    const struct plim_bill *bill = answer->bill;
    const struct plim_line *line = bill->limiting_line;
    char text[320], size[PLIM_SIZE_TEXT], id[PLIM_DEVICE_ID_BYTES];
    if (line && !bill->is_refused && !bill->is_contradicted && bill->verdict != PLIM_VERDICT_FITS)
        plim_print(out, "The largest line there: %s on %s, %s.\n", line->label,
                   plim_report_device_id(&bill->device[bill->limiting_device], id), plim_size_text(size, line->bytes));
    plim_print(out, "%s%s%s:%s", plim_paint(style, PLIM_BOLD), plim_paint_verdict(style, bill->verdict),
               words[bill->verdict], plim_paint(style, PLIM_PLAIN));
    write_reason(answer, text, sizeof text);
    plim_print_wrapped(out, text, (int)strlen(words[bill->verdict]) + 1, 2);
}

/* "Room for 41216 tokens, or 5 slots of 8192." */
static void print_room(FILE *out, const struct plim_answer *answer)
{
    const struct plim_room *room = answer->room;
    char context[80] = "", slots[80] = "";
    if (room->n_ctx)
        snprintf(context, sizeof context, " %u tokens%s", room->n_ctx,
                 room->is_ctx_all ? " (all it was trained for)" : "");
    if (room->n_slots)
        snprintf(slots, sizeof slots, "%s %u slot%s of %u", room->n_ctx ? ", or" : "", room->n_slots,
                 room->n_slots == 1 ? "" : "s", room->n_ctx_slot);
    if (*context || *slots)
        plim_print(out, "Room for%s%s.\n", context, slots);
}

void plim_report_fit_text(FILE *out, const struct plim_answer *answer, const struct plim_style *style)
{
    const struct plim_bill *bill = answer->bill;
    plim_report_head(out, answer, style);
    for (uint32_t i = 0; i < bill->n_devices; i++)
        if (!plim_report_says_nothing(&bill->device[i]))
            print_device(out, answer, &bill->device[i], style);
    print_legend(out, bill);
    if (answer->course)
        plim_report_course_peak(out, answer, style);
    if (answer->n_fixes)
        plim_print(out, does_any_help(answer) ? "\nChanges that would help, best first:\n"
                                              : "\nNo change makes it fit on this machine; these free most:\n");
    for (uint32_t i = 0; i < answer->n_fixes; i++)
        print_fix(out, answer, &answer->fixes[i], i + 1, style);
    plim_print(out, "\n");
    print_holders(out, answer, style);
    print_speed(out, bill);
    print_adjustment(out, answer, style);
    print_room(out, answer);
    if (answer->course)
        plim_report_course_end(out, answer, style);
    plim_report_verdict(out, answer, style);
}
