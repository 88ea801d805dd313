/* SPDX-License-Identifier: MIT */
/* The bill as a table of at most 80 columns: devices, what would make it fit, and the verdict as the last line. */
#include "base/units.h"
#include "report/report.h"

#include <string.h>

enum { WIDTH = 79, BAR_WIDTH = 56, LABEL_WIDTH = 22 };

/* --- colour --- */

enum colour { PLAIN, BOLD, DIM, RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN };

static const char *paint(const struct plim_style *style, enum colour colour)
{
    static const char *const codes[] = {
        [PLAIN] = "\033[0m",   [BOLD] = "\033[1m",  [DIM] = "\033[2m",      [RED] = "\033[31m", [GREEN] = "\033[32m",
        [YELLOW] = "\033[33m", [BLUE] = "\033[34m", [MAGENTA] = "\033[35m", [CYAN] = "\033[36m"
    };
    return style->has_colour ? codes[colour] : "";
}

static enum colour verdict_colour(enum plim_verdict verdict)
{
    return verdict == PLIM_VERDICT_FITS ? GREEN : verdict == PLIM_VERDICT_TIGHT ? YELLOW : RED;
}

/* --- bar --- */

/* One letter and colour per pillar: what a bar is made of. */
static const struct segment {
    char letter;
    enum colour colour;
} segments[PLIM_PILLAR_MAX_] = {
    [PLIM_PILLAR_WEIGHTS] = { 'W', BLUE },        [PLIM_PILLAR_KV_CACHE] = { 'K', CYAN },
    [PLIM_PILLAR_ACTIVATIONS] = { 'A', MAGENTA }, [PLIM_PILLAR_GRADIENTS] = { 'G', MAGENTA },
    [PLIM_PILLAR_OPTIMIZER] = { 'S', MAGENTA },   [PLIM_PILLAR_OVERHEAD] = { 'o', DIM },
    [PLIM_PILLAR_OTHERS] = { 'x', RED },
};

/* The bar is as wide as the larger of need and total; '|' marks the total when the need runs over it. */
static void print_bar(FILE *out, const struct plim_device_bill *device, const struct plim_style *style)
{
    uint64_t scale = device->need_bytes > device->total_bytes ? device->need_bytes : device->total_bytes;
    uint64_t by_pillar[PLIM_PILLAR_MAX_] = { 0 }, sum = 0;
    int column = 0, mark = -1;
    if (scale == 0)
        return;
    if (device->total_bytes && device->need_bytes > device->total_bytes)
        mark = (int)(device->total_bytes * BAR_WIDTH / scale);
    for (uint32_t i = 0; i < device->n_lines; i++)
        by_pillar[device->line[i].pillar] += device->line[i].bytes;
    fputs("  [", out);
    for (int pillar = 0; pillar < PLIM_PILLAR_MAX_; pillar++) {
        sum += by_pillar[pillar];
        int end = (int)((double)sum / (double)scale * BAR_WIDTH + 0.5);
        if (column < end)
            fputs(paint(style, segments[pillar].colour), out);
        for (; column < end && column < BAR_WIDTH; column++)
            fputc(column == mark ? '|' : segments[pillar].letter, out);
        fputs(paint(style, PLAIN), out);
    }
    for (; column < BAR_WIDTH; column++)
        fputc('.', out);
    fprintf(out, "] %3.0f %%\n",
            device->total_bytes ? 100.0 * (double)device->need_bytes / (double)device->total_bytes : 0.0);
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

static void print_band(FILE *out, const struct plim_line *line)
{
    char low[PLIM_SIZE_TEXT], high[PLIM_SIZE_TEXT];
    if (line->low_bytes == line->high_bytes)
        return;
    fprintf(out, "  %s to %s", plim_size_text(low, line->low_bytes), plim_size_text(high, line->high_bytes));
}

static void print_line(FILE *out, const struct plim_line *line, const struct plim_style *style)
{
    char size[PLIM_SIZE_TEXT], why[PLIM_WHY_BYTES];
    fprintf(out, "  %-*s %11s  %s%-8s", LABEL_WIDTH, line->label, plim_size_text(size, line->bytes), paint(style, DIM),
            plim_basis_name(line->basis));
    print_band(out, line);
    fprintf(out, "%s\n", paint(style, PLAIN));
    if (style->is_verbose)
        fprintf(out, "      %s%s%s\n", paint(style, DIM), plim_line_why(line, why), paint(style, PLAIN));
}

static void print_device(FILE *out, const struct plim_answer *answer, const struct plim_device_bill *device,
                         const struct plim_style *style)
{
    char total[PLIM_SIZE_TEXT], need[PLIM_SIZE_TEXT], left[PLIM_SIZE_TEXT];
    char id[16];
    if (device->is_host)
        snprintf(id, sizeof id, "host");
    else
        snprintf(id, sizeof id, "gpu%u", device->index);
    fprintf(out, "\n%s%s%s  %.40s", paint(style, BOLD), id, paint(style, PLAIN), device_name(answer, device));
    if (device->total_bytes)
        fprintf(out, ", %s%s", plim_size_text(total, device->total_bytes),
                device->total_basis == PLIM_BASIS_ASSUMED ? " (assumed)" : "");
    fputc('\n', out);
    for (uint32_t i = 0; i < device->n_lines; i++)
        print_line(out, &device->line[i], style);
    plim_size_text(need, device->need_bytes);
    if (device->total_bytes) {
        int64_t left_bytes = plim_device_left_bytes(device);
        fprintf(out, "  %s%-*s %11s%s  %s %s\n", paint(style, BOLD), LABEL_WIDTH, "need", need, paint(style, PLAIN),
                plim_size_text(left, (uint64_t)(left_bytes < 0 ? -left_bytes : left_bytes)),
                left_bytes < 0 ? "too much" : "left");
    } else {
        fprintf(out, "  %s%-*s %11s%s\n", paint(style, BOLD), LABEL_WIDTH, "need", need, paint(style, PLAIN));
    }
    print_bar(out, device, style);
}

/* --- head --- */

static const char *client_name(enum plim_client client)
{
    static const char *const names[PLIM_CLIENT_MAX_] = { "llama-server", "llama-cli", "library", "ollama" };
    return client < PLIM_CLIENT_MAX_ ? names[client] : "";
}

void plim_report_head(FILE *out, const struct plim_answer *answer, const struct plim_style *style)
{
    const struct plim_model *model = plim_engine_model(answer->engine);
    const struct plim_resolved *r = &answer->bill->resolved;
    const char *file_type = plim_model_file_type(model);
    char size[PLIM_SIZE_TEXT];
    fprintf(out, "%s%.44s%s  %s, %.3g B parameters", paint(style, BOLD), plim_model_name(model), paint(style, PLAIN),
            plim_model_arch(model), (double)plim_model_n_params(model) / 1e9);
    fprintf(out, "%s%s, %s\n", file_type ? ", " : "", file_type ? file_type : "",
            plim_size_text(size, plim_model_tensor_bytes(model)));
    fprintf(out, "%s %s, %s: context %u%s%s", plim_engine_name(answer->engine), plim_engine_version(answer->engine),
            client_name(answer->setup->client), r->n_ctx, r->is_default_ctx ? " (the model's own)" : "",
            r->n_seq > 1 ? "" : "\n");
    if (r->n_seq > 1)
        fprintf(out, ", %u slots%s\n", r->n_seq, r->kv_unified ? " that share it" : "");
    fprintf(out, "  -b %u -ub %u, %u of %u layers on GPUs, cache %s/%s, flash attention %s\n", r->n_batch, r->n_ubatch,
            r->n_gpu_layers, r->n_layer + 1, plim_dtype_name(r->type_k), plim_dtype_name(r->type_v),
            r->flash_attn ? "on" : "off");
    for (uint32_t i = 0; i < answer->n_notes; i++)
        fprintf(out, "  %snote: %s%s\n", paint(style, DIM), answer->notes[i], paint(style, PLAIN));
    if (answer->bill->caveat)
        fprintf(out, "  %snot exact: %s%s\n", paint(style, DIM), answer->bill->caveat, paint(style, PLAIN));
}

/* --- fixes --- */

static void print_fixes(FILE *out, const struct plim_answer *answer, const struct plim_style *style)
{
    char text[PLIM_COMMAND_BYTES], freed[PLIM_SIZE_TEXT];
    if (answer->n_fixes)
        fputs("\nWhat would help, first things first:\n", out);
    for (uint32_t i = 0; i < answer->n_fixes; i++) {
        const struct plim_fix *fix = &answer->fixes[i];
        fprintf(out, "%2u. %s: frees %s, then %s%s%s\n", i + 1, fix->change,
                plim_size_text(freed, (uint64_t)fix->frees_bytes), paint(style, verdict_colour(fix->verdict_after)),
                plim_verdict_name(fix->verdict_after), paint(style, PLAIN));
        fprintf(out, "    %scosts: %s%s\n", paint(style, DIM), fix->costs, paint(style, PLAIN));
        bool has_ollama = plim_ollama_text(fix, answer->bill->resolved.n_seq, text);
        if (answer->is_for_ollama) {
            for (char *rest, *line = has_ollama ? strtok_r(text, "\n", &rest) : NULL; line;
                 line = strtok_r(NULL, "\n", &rest))
                fprintf(out, "    %s\n", line);
            if (!has_ollama && fix->n_changes)
                fputs("    (Ollama has no setting for this)\n", out);
        } else if (fix->n_changes && answer->command) {
            fprintf(out, "    %s\n", plim_command_text(answer->command, fix->changes, fix->n_changes, text));
        }
    }
}

/* --- the last line --- */

static void print_speed(FILE *out, const struct plim_bill *bill)
{
    if (bill->tokens_per_s_high > 0)
        fprintf(out, "About %.3g to %.3g tokens/s for one sequence, from bandwidths alone.\n", bill->tokens_per_s_low,
                bill->tokens_per_s_high);
}

static void print_starts_with(FILE *out, const struct plim_answer *answer, const struct plim_style *style)
{
    char text[160];
    if (!answer->starts_with)
        return;
    enum plim_verdict verdict = answer->starts_with_bill->verdict;
    fprintf(out, "By itself %s would start with %s%s%s: %s%s%s.\n", client_name(answer->setup->client),
            paint(style, BOLD), plim_report_starts_with(answer, text, sizeof text), paint(style, PLAIN),
            paint(style, verdict_colour(verdict)), plim_verdict_name(verdict), paint(style, PLAIN));
}

static void print_verdict(FILE *out, const struct plim_answer *answer, const struct plim_style *style)
{
    static const char *const words[PLIM_VERDICT_MAX_] = { "UNKNOWN", "FITS", "TIGHT", "NO" };
    const struct plim_bill *bill = answer->bill;
    const struct plim_device_bill *device = &bill->device[bill->limiting_device];
    char size[PLIM_SIZE_TEXT], line_size[PLIM_SIZE_TEXT], id[16];
    int64_t left = plim_device_left_bytes(device);
    snprintf(id, sizeof id, device->is_host ? "host" : "gpu%u", device->index);
    plim_size_text(size, (uint64_t)(left < 0 ? -left : left));
    fprintf(out, "%s%s%s", paint(style, BOLD), paint(style, verdict_colour(bill->verdict)), words[bill->verdict]);
    fprintf(out, "%s: ", paint(style, PLAIN));
    if (bill->is_refused)
        fprintf(out, "%s\n", bill->refusal);
    else if (bill->verdict == PLIM_VERDICT_UNKNOWN)
        fprintf(out, "the rules of '%s' are not known; the figures are upper bounds\n",
                plim_model_arch(plim_engine_model(answer->engine)));
    else if (device->total_bytes == 0)
        fputs("nothing to compare with\n", out);
    else if (bill->verdict == PLIM_VERDICT_FITS)
        fprintf(out, "%s left on %s\n", size, id);
    else if (bill->limiting_line)
        fprintf(out, "%s %s on %s; its largest part is the %s, %s\n", size,
                left < 0                              ? "too much"
                : bill->verdict == PLIM_VERDICT_TIGHT ? "left, less than the margin and the error,"
                                                      : "left",
                id, bill->limiting_line->label, plim_size_text(line_size, bill->limiting_line->bytes));
    else
        fprintf(out, "%s %s on %s\n", size, left < 0 ? "too much" : "left", id);
}

void plim_report_fit_text(FILE *out, const struct plim_answer *answer, const struct plim_style *style)
{
    const struct plim_bill *bill = answer->bill;
    plim_report_head(out, answer, style);
    for (uint32_t i = 0; i < bill->n_devices; i++)
        print_device(out, answer, &bill->device[i], style);
    fprintf(out, "  W weights  K KV cache  A activations  o overhead  x other processes  | total\n");
    print_fixes(out, answer, style);
    fputc('\n', out);
    print_speed(out, bill);
    print_starts_with(out, answer, style);
    print_verdict(out, answer, style);
}

/* --- several --- */

static void print_heading(FILE *out, bool by_card, const struct plim_style *style)
{
    fprintf(out, "%s%-32s %11s %11s %-7s%s\n", paint(style, BOLD), by_card ? "card" : "model", "on GPUs", "on host",
            "verdict", paint(style, PLAIN));
}

void plim_report_row(FILE *out, const struct plim_answer *answer, bool by_card, size_t nth,
                     const struct plim_style *style)
{
    const struct plim_bill *bill = answer->bill;
    const struct plim_device_bill *limiting = &bill->device[bill->limiting_device];
    char gpus[PLIM_SIZE_TEXT], host[PLIM_SIZE_TEXT], left[PLIM_SIZE_TEXT], starts[160];
    uint64_t gpu_bytes = 0;
    if (nth == 0)
        print_heading(out, by_card, style);
    for (uint32_t i = 0; i + 1 < bill->n_devices; i++)
        gpu_bytes += bill->device[i].need_bytes;
    fprintf(out, "%-32.32s %11s %11s %s%-7s%s",
            by_card ? answer->machine->card[0].name : plim_model_name(plim_engine_model(answer->engine)),
            plim_size_text(gpus, gpu_bytes), plim_size_text(host, bill->device[bill->n_devices - 1].need_bytes),
            paint(style, verdict_colour(bill->verdict)), plim_verdict_name(bill->verdict), paint(style, PLAIN));
    int64_t left_bytes = plim_device_left_bytes(limiting);
    if (limiting->total_bytes)
        fprintf(out, " %s %s", plim_size_text(left, (uint64_t)(left_bytes < 0 ? -left_bytes : left_bytes)),
                left_bytes < 0 ? "short" : "left");
    fputc('\n', out);
    if (answer->starts_with)
        fprintf(out, "    %sby itself it starts with %s: %s%s\n", paint(style, DIM),
                plim_report_starts_with(answer, starts, sizeof starts),
                plim_verdict_name(answer->starts_with_bill->verdict), paint(style, PLAIN));
}

void plim_report_ladder_end(FILE *out, const char *smallest, const struct plim_style *style)
{
    if (*smallest)
        fprintf(out, "%s%s%s is the smallest that fits; --card NAME answers for yours.\n", paint(style, BOLD), smallest,
                paint(style, PLAIN));
    else
        fputs("None of these fits; --card NAME shows what would.\n", out);
}
