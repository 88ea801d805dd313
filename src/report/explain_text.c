/* SPDX-License-Identifier: MIT */
/*
 * The screen of `plimsoll explain`, for somebody who has never met the error: what happened, why, what to do first with
 * the line to paste, then the rest. The last line has the cause and the first thing to do once more, as it is what
 * stays in sight.
 */
#include "report/explain.h"

#include "base/units.h"
#include "diagnose/scan/pattern.h"
#include "report/columns.h"
#include "report/paint.h"

#include <inttypes.h>
#include <string.h>

enum {
    LINE_BYTES = 640,
    EVIDENCE_LINES = 2, /* -v shows all */
    REMEDIES = 4,
    USELESS = 3,
    RELATED = 3,
    LABEL_WIDTH = 16,
};

static bool is_known(int64_t value) { return value != PLIM_UNKNOWN; }

static void print_head(FILE *out, const char *text, const struct plim_style *style)
{
    fprintf(out, "\n%s%s%s\n", plim_paint(style, PLIM_BOLD), text, plim_paint(style, PLIM_PLAIN));
}

static void print_paragraph(FILE *out, const char *text)
{
    fputs("  ", out);
    plim_print_wrapped(out, text, 2, 2);
}

/* As people write them. */
static const char *program_name(const char *framework)
{
    static const char *const names[][2] = {
        { "pytorch", "PyTorch" },
        { "vllm", "vLLM" },
        { "sglang", "SGLang" },
        { "ollama", "Ollama" },
        { "tensorflow", "TensorFlow" },
        { "jax", "JAX" },
        { "deepspeed", "DeepSpeed" },
        { "comfyui", "ComfyUI" },
        { "onnxruntime", "ONNX Runtime" },
        { "tensorrt", "TensorRT" },
        { "tensorrt-llm", "TensorRT-LLM" },
        { "numpy", "NumPy" },
        { "linux-kernel", "Linux" },
        { "slurm", "Slurm" },
        { "kubernetes", "Kubernetes" },
        { "nccl", "NCCL" },
        { "cublas", "cuBLAS" },
        { "cudnn", "cuDNN" },
        { "lmstudio", "LM Studio" },
        { "cupy", "CuPy" },
        { "rapids", "RAPIDS" },
        { "rocm", "ROCm" },
        { "metal", "Metal" },
        { "vulkan", "Vulkan" },
        { "nvidia-driver", "the NVIDIA driver" },
        { "other", "the program" },
        { "tgi", "TGI" },
        { "paddle", "Paddle" },
        { "koboldcpp", "KoboldCpp" },
        { "ray", "Ray" },
        { "sycl", "SYCL" },
        { "numba", "Numba" },
        { "julia-cuda", "CUDA.jl" },
        { "mxnet", "MXNet" },
        { "caffe", "Caffe" },
        { "lmdeploy", "LMDeploy" },
        { "exllama", "ExLlama" },
        { "tei", "TEI" },
        { "triton-server", "Triton" },
        { "a1111", "WebUI" },
        { "trl", "TRL" },
        { "unsloth", "Unsloth" },
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(framework, names[i][0]))
            return names[i][1];
    return framework;
}

/* --- what happened --- */

/* "process 19239   14.26 GiB" */
static void print_figure(FILE *out, const char *label, int64_t bytes, const char *note, const struct plim_style *style)
{
    char size[PLIM_SIZE_TEXT];
    if (!is_known(bytes))
        return;
    fprintf(out, "  %-*s %11s", LABEL_WIDTH, label,
            bytes < 0 ? plim_size_text_signed(size, bytes) : plim_size_text(size, (uint64_t)bytes));
    if (*note)
        fprintf(out, "  %s%s%s", plim_paint(style, PLIM_DIM), note, plim_paint(style, PLIM_PLAIN));
    fputc('\n', out);
}

/* Who has the card: only where the message says enough of it to add up. */
static void print_account(FILE *out, const struct plim_explained *item, const struct plim_style *style)
{
    const struct plim_cause_answer *a = &item->cause;
    const struct plim_finding *f = item->finding;
    char label[48], note[96] = "", size[PLIM_SIZE_TEXT], other[PLIM_SIZE_TEXT];
    if (!is_known(a->total_bytes) || !is_known(a->free_bytes))
        return;
    print_figure(out, a->best.cause == PLIM_CAUSE_HOST_RAM ? "the machine" : "the card", a->total_bytes, "", style);
    if (is_known(a->allocated_bytes) && is_known(a->unallocated_bytes))
        snprintf(note, sizeof note, "%s in tensors, %s kept, not used",
                 plim_size_text(size, (uint64_t)a->allocated_bytes),
                 plim_size_text(other, (uint64_t)a->unallocated_bytes));
    bool is_printed = is_known(f->numbers.value[PLIM_N_PROCESS_BYTES]) || a->own_index >= 0;
    if (is_printed)
        print_figure(out, "this process", a->own_bytes, note, style);
    else if (is_known(a->allocated_bytes))
        print_figure(out, "in tensors", a->allocated_bytes, "", style);
    for (uint32_t i = 0; i < f->n_others && i < 3; i++) {
        if ((int)i == a->own_index)
            continue;
        if (is_known(f->others[i].pid))
            snprintf(label, sizeof label, "process %" PRId64, f->others[i].pid);
        else
            snprintf(label, sizeof label, "another process");
        print_figure(out, label, f->others[i].bytes, "", style);
    }
    if (!a->is_others_listed && is_known(a->others_bytes) && a->others_bytes > (int64_t)PLIM_GIB)
        print_figure(out, "others", a->others_bytes, "what is left over", style);
    print_figure(out, "free", a->free_bytes, "", style);
    note[0] = '\0';
    if (is_known(a->shortfall_bytes))
        snprintf(note, sizeof note, "%s too much", plim_size_text(size, (uint64_t)a->shortfall_bytes));
    print_figure(out, "tried", a->tried_bytes, note, style);
}

static void print_happened(FILE *out, const struct plim_explained *item, const struct plim_style *style)
{
    const struct plim_field_text means =
        item->has_entry ? plim_entry_field(&item->entry, PLIM_FIELD_MEANS, 0) : (struct plim_field_text){ NULL, NULL };
    print_head(out, "What happened", style);
    if (means.text)
        print_paragraph(out, means.text);
    print_account(out, item, style);
}

/* Where a line begins to say something: prefixes of loggers and ranks are passed over when there is no room for them.
 */
static const char *substance(const char *text, int room)
{
    static const char *const signs[] = {
        "Error:", "error:", "Killed process", "out of memory", "failed to", "oom-kill"
    };
    const char *best = NULL;
    for (size_t i = 0; (int)strlen(text) > room && i < sizeof signs / sizeof signs[0]; i++) {
        const char *at = strstr(text, signs[i]);
        best = at && (!best || at < best) ? at : best;
    }
    const char *last = text + strlen(text) - (room > 8 ? room - 8 : 0); /* further right, less would be shown */
    best = best && best > last ? last : best;
    while (best && best > text && best[-1] != ' ')
        best--;
    return best && best - text > room / 4 ? best : text;
}

/* A message that is printed twice, with different prefixes. */
static bool is_same_text(const char *a, const char *b)
{
    enum { ENOUGH = 60 };
    const char *colon_a = strstr(a, "Error: "), *colon_b = strstr(b, "Error: ");
    return colon_a && colon_b && strlen(colon_a) > ENOUGH && !strncmp(colon_a, colon_b, ENOUGH);
}

/* The lines of the log that the figures were read from. */
static void print_evidence(FILE *out, const struct plim_explained *item, const struct plim_style *style)
{
    const struct plim_finding *f = item->finding;
    const uint32_t most = style->is_verbose ? PLIM_MAX_EVIDENCE : EVIDENCE_LINES;
    for (uint32_t i = 0; i < f->n_evidence && i < most; i++) {
        if (!style->is_verbose && i > 0 && is_same_text(f->evidence[i - 1].text, f->evidence[i].text))
            continue;
        int column = fprintf(out, "  line %" PRIu64 ": ", f->evidence[i].line);
        fputs(plim_paint(style, PLIM_DIM), out);
        if (style->is_verbose)
            plim_print_wrapped(out, f->evidence[i].text, column, 4);
        else {
            int room = PLIM_TEXT_WIDTH - column, n = 0;
            const char *from = substance(f->evidence[i].text, room);
            char text[PLIM_EVIDENCE_BYTES + 8], *end;
            snprintf(text, sizeof text, "%s%s", from > f->evidence[i].text ? "..." : "", from);
            end = text + strlen(text);
            for (char *c = text; c < end; c++)
                if ((*c & 0xC0) != 0x80 && ++n > room - 3) {
                    snprintf(c, 4, "...");
                    break;
                }
            fprintf(out, "%s\n", text);
        }
        fputs(plim_paint(style, PLIM_PLAIN), out);
    }
}

/* --- why --- */

static const char *const cause_words[PLIM_CAUSE_MAX_] = {
    [PLIM_CAUSE_UNKNOWN] = "the reason is not in this log",
    [PLIM_CAUSE_MODEL_TOO_BIG] = "the model is larger than the card",
    [PLIM_CAUSE_OTHER_PROCESS] = "somebody else holds the memory",
    [PLIM_CAUSE_FRAGMENTATION] = "memory is there, but in pieces",
    [PLIM_CAUSE_KV_CACHE_CONTEXT] = "the cache for the context does not fit",
    [PLIM_CAUSE_BATCH_OR_ACTIVATION] = "one step needs more than is left",
    [PLIM_CAUSE_LEAK_OR_GROWTH] = "memory grows from step to step",
    [PLIM_CAUSE_OPTIMIZER_STATES] = "the optimizer does not fit",
    [PLIM_CAUSE_HOST_RAM] = "RAM ran out, not the memory of the GPU",
    [PLIM_CAUSE_SHM] = "shared memory is full (/dev/shm)",
    [PLIM_CAUSE_ALLOCATOR_LIMIT] = "a limit that was set, not the card",
    [PLIM_CAUSE_MISCONFIGURATION_UTILIZATION] = "the share of the card is set wrongly",
    [PLIM_CAUSE_DRIVER_OR_CONTEXT] = "the driver or the system refused, not the memory",
    [PLIM_CAUSE_NOT_OOM] = "not a lack of memory",
};

static const char *const sure_words[] = { "", "a guess", "likely", "sure" };

/* A message about memory with which the program went on. */
static bool is_recovered(const struct plim_explained *item)
{
    return item->finding->is_recovered ||
           (item->finding->pattern && item->finding->pattern->role == PLIM_PATTERN_ROLE_RECOVERED);
}

/* The cause is what is left over when nothing in the log says more: then it is not said as if it were known. */
static bool is_open(const struct plim_explained *item)
{
    const struct plim_guess *best = &item->cause.best;
    return best->confidence == PLIM_CONFIDENCE_LOW && best->rule &&
           (!strcmp(best->rule, "rest") || !strcmp(best->rule, "compute-stage"));
}

static const char *say_cause(const struct plim_explained *item)
{
    return is_recovered(item) ? "no failure, the program went on"
           : is_open(item)    ? "GPU memory ran out"
                              : cause_words[item->cause.best.cause];
}

static void print_why(FILE *out, const struct plim_explained *item, const struct plim_style *style)
{
    const struct plim_cause_answer *a = &item->cause;
    char text[LINE_BYTES];
    const char *sure = is_open(item) ? "" : sure_words[a->best.confidence];
    snprintf(text, sizeof text, "Why: %s%s%s%s", say_cause(item), *sure ? " (" : "", sure, *sure ? ")" : "");
    print_head(out, text, style);
    print_paragraph(out, a->best.why);
    print_evidence(out, item, style);
    for (uint32_t i = 0; i < a->n_second; i++) {
        if (!style->is_verbose && a->best.confidence == PLIM_CONFIDENCE_HIGH && i > 0)
            break;
        snprintf(text, sizeof text, "Less likely: %s. %s", cause_words[a->second[i].cause],
                 style->is_verbose ? a->second[i].why : "");
        print_paragraph(out, text);
    }
}

/* --- what to do --- */

static void print_remedy(FILE *out, const struct plim_remedy *remedy, unsigned number, const struct plim_style *style)
{
    char text[LINE_BYTES], size[PLIM_SIZE_TEXT];
    fprintf(out, "%2u. %s", number, number == 1 ? plim_paint(style, PLIM_BOLD) : "");
    plim_print_wrapped(out, remedy->change, 4, 4);
    fputs(plim_paint(style, PLIM_PLAIN), out);
    if (remedy->command[0]) {
        fputs(plim_paint(style, PLIM_CYAN), out);
        plim_print_command(out, remedy->command, 6);
        fputs(plim_paint(style, PLIM_PLAIN), out);
    }
    if (remedy->costs[0] && (style->is_verbose || number == 1)) {
        snprintf(text, sizeof text, "costs: %s%s%s", remedy->costs, is_known(remedy->frees_bytes) ? "; frees " : "",
                 is_known(remedy->frees_bytes) && remedy->frees_bytes >= 0
                     ? plim_size_text(size, (uint64_t)remedy->frees_bytes)
                     : "");
        fprintf(out, "    %s", plim_paint(style, PLIM_DIM));
        plim_print_wrapped(out, text, 4, 6);
        fputs(plim_paint(style, PLIM_PLAIN), out);
    }
    if (remedy->verified[0]) {
        fputs("    ", out);
        plim_print_wrapped(out, remedy->verified, 4, 6);
    }
}

static void print_remedies(FILE *out, const struct plim_explained *item, const struct plim_style *style)
{
    const struct plim_remedies *r = &item->remedies;
    const uint32_t most = style->is_verbose ? PLIM_MAX_REMEDIES : REMEDIES;
    char text[LINE_BYTES];
    if (r->n)
        print_head(out, "Do this first", style);
    for (uint32_t i = 0; i < r->n && i < most; i++) {
        if (i == 1)
            print_head(out, "If that is not enough, or not wanted", style);
        print_remedy(out, &r->item[i], i + 1, style);
    }
    if (r->n_useless)
        print_head(out, "What will not help here", style);
    for (uint32_t i = 0; i < r->n_useless && i < (style->is_verbose ? PLIM_MAX_USELESS : USELESS); i++) {
        snprintf(text, sizeof text, "%s%s%s", r->useless[i].what, r->useless[i].why[0] ? ": " : "", r->useless[i].why);
        fputs("  - ", out);
        plim_print_wrapped(out, text, 4, 4);
    }
}

/* --- the rest --- */

static struct plim_field_text title_of(const struct plim_explained *item)
{
    return item->has_entry ? plim_entry_field(&item->entry, PLIM_FIELD_TITLE, 0)
                           : (struct plim_field_text){ NULL, NULL };
}

static bool is_ram(const struct plim_explained *item)
{
    return item->cause.best.cause == PLIM_CAUSE_HOST_RAM || item->cause.best.cause == PLIM_CAUSE_SHM;
}

/* A full card does not fill the RAM: such a failure stands for itself, although it came later. */
static bool is_result(const struct plim_explained *item, const struct plim_explained *root)
{
    const bool is_killed_by_name = is_ram(item) && item->cause.best.confidence == PLIM_CONFIDENCE_HIGH;
    return item->finding->is_related && !(is_killed_by_name && !is_ram(root));
}

/* What the root's own line says once more, as a wrapper does, tells nothing. */
static bool is_repeated(const struct plim_explained *item, const struct plim_explained *root)
{
    const struct plim_field_text title = title_of(item), of_root = title_of(root);
    const bool is_same = title.text && of_root.text && !strcmp(title.text, of_root.text);
    return is_same || (item->finding->is_related && item->finding->line == root->finding->line);
}

/* With what the program went on before it failed after all: left out where there is more to tell. */
static bool is_small_talk(const struct plim_explained *item, const struct plim_explained *root)
{
    return is_recovered(item) && !is_recovered(root) && item->finding->line < root->finding->line;
}

/* What else the log has: what follows from the root, then what stands apart. */
static void print_others(FILE *out, const struct plim_explanation *explanation, const struct plim_style *style)
{
    const struct plim_explained *root = &explanation->items[0];
    uint32_t n = 0, n_more = 0;
    for (uint32_t i = 1; i < explanation->n_items; i++) {
        const struct plim_explained *item = &explanation->items[i];
        char text[LINE_BYTES];
        if (!style->is_verbose && ((explanation->n_items > 2 && is_small_talk(item, root)) || is_repeated(item, root) ||
                                   is_repeated(item, &explanation->items[i - 1])))
            continue;
        if (!style->is_verbose && n == RELATED) {
            n_more++;
            continue;
        }
        if (n++ == 0)
            print_head(out, "Also in this log", style);
        snprintf(text, sizeof text, "line %" PRIu64 ": %s%s", item->finding->line,
                 title_of(item).text ? title_of(item).text : item->finding->pattern->id,
                 is_recovered(item)      ? " (the program went on)"
                 : is_result(item, root) ? " (follows from it)"
                                         : "");
        print_paragraph(out, text);
    }
    if (n_more)
        fprintf(out, "  and %" PRIu32 " more\n", n_more);
}

static void print_processes(FILE *out, const struct plim_explanation *explanation, const struct plim_style *style)
{
    char size[PLIM_SIZE_TEXT];
    if (!explanation->n_processes)
        return;
    print_head(out, "On the cards of this machine now", style);
    for (uint32_t i = 0; i < explanation->n_processes; i++) {
        const struct plim_explain_process *p = &explanation->processes[i];
        fprintf(out, "  %8" PRId64 " %11s  %.40s (%.24s)\n", p->pid,
                is_known(p->bytes) && p->bytes >= 0 ? plim_size_text(size, (uint64_t)p->bytes) : "?", p->name, p->card);
    }
}

/* Not of the kernel's kill: that is recognised. */
static void describe_status(char *text, size_t size, int64_t exit_status)
{
    const int64_t signal = exit_status < 0 ? -exit_status : exit_status - 128;
    if (exit_status == 0)
        snprintf(text, size, "Exit status 0: the command says that it ended well.");
    else if (signal >= 1 && signal <= 64)
        snprintf(text, size,
                 "Exit status %" PRId64 " is signal %" PRId64
                 ", not the 9 with which the kernel ends a program when RAM is out.",
                 exit_status, signal);
    else
        snprintf(text, size, "Exit status %" PRId64 " is the command's own word, not a signal's.", exit_status);
}

static void print_no_text(FILE *out, const struct plim_explanation *explanation)
{
    fprintf(out, "%s is no text, so no log: it was not read.\n\n", explanation->source);
    plim_print_wrapped(
        out,
        "It would need what the program wrote. From a picture of the screen, copy the text. Of journald's files:", 0,
        0);
    fputs("  journalctl --file FILE | plimsoll explain -\n", out);
    fputs("NO TEXT; NOTHING WAS READ.\n", out);
}

static void print_nothing(FILE *out, const struct plim_explanation *explanation)
{
    char text[LINE_BYTES];
    const int64_t exit_status = explanation->diagnosis->context.numbers.value[PLIM_N_EXIT_STATUS];
    const bool has_status = is_known(exit_status);
    fprintf(out, "%s: %" PRIu64 " line%s, and no memory error that plimsoll knows.\n\n", explanation->source,
            explanation->diagnosis->n_lines, explanation->diagnosis->n_lines == 1 ? "" : "s");
    if (has_status) {
        describe_status(text, sizeof text, exit_status);
        plim_print_wrapped(out, text, 0, 0);
    }
    plim_print_wrapped(
        out,
        "It would need the message itself: the traceback and the lines before it, or the end of the log of the "
        "server (not of the program that called it).",
        0, 0);
    if (!has_status) {
        plim_print_wrapped(out, "A program that ended without a word was perhaps killed: give its exit status.", 0, 0);
        fputs("  plimsoll explain --exit-status 137 < LOG\n", out);
    }
    snprintf(text, sizeof text, "NOTHING RECOGNISED; 'plimsoll errors WORDS' searches the knowledge base.");
    plim_print_wrapped(out, text, 0, 0);
}

/* "SOMEBODY ELSE HOLDS THE MEMORY: end process 19239, which holds 14.26 GiB, if it is yours" */
static void print_last(FILE *out, const struct plim_explained *item, const struct plim_style *style)
{
    char text[LINE_BYTES], cause[96];
    const enum plim_colour colour = item->cause.best.cause == PLIM_CAUSE_NOT_OOM ? PLIM_YELLOW : PLIM_RED;
    snprintf(cause, sizeof cause, "%s", say_cause(item));
    for (char *c = cause; *c && *c != '('; c++) /* a path in brackets stays as it is */
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    fprintf(out, "%s%s%s%s", plim_paint(style, PLIM_BOLD), plim_paint(style, colour), cause,
            plim_paint(style, PLIM_PLAIN));
    snprintf(text, sizeof text, "%s%s", item->remedies.n ? ": " : "",
             item->remedies.n ? item->remedies.item[0].change : "");
    if (!*text) {
        fputc('\n', out);
        return;
    }
    char *detail = strstr(text + 2, ": "); /* the step itself has it above */
    if (detail && detail > text + 20)
        *detail = '\0';
    fputs(":", out);
    plim_print_wrapped(out, text + 2, (int)strlen(cause) + 1, 2);
}

void plim_report_explain_text(FILE *out, const struct plim_explanation *explanation, const struct plim_style *style)
{
    if (explanation->n_items == 0) {
        if (explanation->is_no_text)
            print_no_text(out, explanation);
        else
            print_nothing(out, explanation);
        return;
    }
    const struct plim_explained *root = &explanation->items[0];
    const char *name = program_name(root->finding->framework);
    const struct plim_field_text title = title_of(root);
    char text[LINE_BYTES];
    char where[32] = "";
    if (root->finding->line) /* none, when only an exit status is known */
        snprintf(where, sizeof where, ", line %" PRIu64, root->finding->line);
    const char *what = title.text ? title.text : root->finding->pattern->id;
    bool is_named = strstr(what, name) || !strcmp(root->finding->framework, "other");
    snprintf(text, sizeof text, "%s%s: %s%s%s%s", explanation->source, where, what, is_named ? "" : " [",
             is_named ? "" : name, is_named ? "" : "]");
    fputs(plim_paint(style, PLIM_BOLD), out);
    plim_print_wrapped(out, text, 0, 2);
    fputs(plim_paint(style, PLIM_PLAIN), out);
    print_happened(out, root, style);
    print_why(out, root, style);
    print_remedies(out, root, style);
    print_processes(out, explanation, style);
    print_others(out, explanation, style);
    fputc('\n', out);
    if (root->has_entry)
        fprintf(out, "'plimsoll errors %s' has more of it.\n", root->entry.id);
    print_last(out, root, style);
}
