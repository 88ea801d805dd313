/* SPDX-License-Identifier: MIT */
#include "cli/top/bill.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/system.h"
#include "engine/command.h"
#include "engine/type.h"
#include "plimsoll/engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

enum { MAX_WORDS = 1024, PATH_BYTES = 4096 };

/* Everything large, so that it is one allocation. */
struct work {
    char command[PLIM_MAX_PROC_FILE_BYTES], environment[PLIM_MAX_PROC_FILE_BYTES];
    char *words[MAX_WORDS + 1], *variables[MAX_WORDS + 1];
    int n_words, n_variables;
    char path[PATH_BYTES];
    struct plim_arguments arguments;
    struct plim_command read;
    struct plim_machine machine;
    struct plim_notes notes;
    struct plim_adjustment adjustment;
    struct plim_bill bill;
    uint32_t device; /* of the holding's card in the machine */
};

/* --- the process --- */

/* A file of /proc with texts that each end in a zero byte; returns their number. */
static int read_texts(const char *root, int64_t pid, const char *name, char buffer[PLIM_MAX_PROC_FILE_BYTES],
                      char *ret_texts[MAX_WORDS + 1])
{
    char path[PATH_BYTES];
    size_t n = 0, more;
    int file, n_texts = 0;
    snprintf(path, sizeof path, "%s/proc/%" PRId64 "/%s", root ? root : "", pid, name);
    ret_texts[0] = NULL;
    if (plim_system_open(path, PLIM_OPEN_NOW, &file) != 0)
        return 0;
    while (n + 1 < PLIM_MAX_PROC_FILE_BYTES &&
           plim_system_read(file, buffer + n, PLIM_MAX_PROC_FILE_BYTES - 1 - n, &more) == 0 && more > 0)
        n += more;
    plim_system_close(file);
    buffer[n] = '\0';
    for (size_t at = 0; at < n && n_texts < MAX_WORDS; at += strlen(buffer + at) + 1)
        ret_texts[n_texts++] = buffer + at;
    ret_texts[n_texts] = NULL;
    return n_texts;
}

static bool is_file(const char *path)
{
    struct plim_file_status status;
    return plim_system_look(path, true, &status) == 0 && status.kind == PLIM_KIND_FILE;
}

/* As the process sees it: it may have another root, and relative names begin at its folder. */
static bool find_model(const char *root, const struct plim_sample_process *process, const char *name, char *path)
{
    const char *folder = process->folder && *process->folder ? process->folder : "/";
    const char *before = root ? root : "";
    const int is_relative = *name != '/';
    const char *between = is_relative ? folder : "", *slash = is_relative ? "/" : "";
    if (!*name)
        return false;
    int n = snprintf(path, PATH_BYTES, "%s/proc/%" PRId64 "/root%s%s%s", before, process->pid, between, slash, name);
    if (n < PATH_BYTES && is_file(path))
        return true;
    n = snprintf(path, PATH_BYTES, "%s%s%s%s", before, between, slash, name);
    return n < PATH_BYTES && !(process->container && *process->container) && is_file(path);
}

/* The cards that it holds memory on, in the driver's order: those are the ones that its runtime uses. */
static void find_cards(const struct plim_sample *sample, const struct plim_holding *holding, struct work *w)
{
    plim_host_live(NULL, &w->machine.host);
    for (uint32_t card = 0; card < sample->n_cards; card++)
        for (uint32_t i = 0; i < sample->n_holdings; i++) {
            if (sample->holding[i].card != card || sample->holding[i].process != holding->process)
                continue;
            if (w->machine.n_cards == PLIM_MAX_DEVICES)
                return;
            if (card == holding->card)
                w->device = w->machine.n_cards;
            struct plim_card *to = &w->machine.card[w->machine.n_cards++];
            *to = sample->card[card].card;
            /* What others hold is no part of this process's bill. */
            to->total_bytes -= to->reserved_bytes < to->total_bytes ? to->reserved_bytes : 0;
            to->total_low_bytes = to->total_bytes;
            to->reserved_bytes = to->reserved_low_bytes = to->reserved_high_bytes = to->others_bytes = 0;
            to->n_others = 0;
            break;
        }
}

/* --- the bill --- */

static int write_bill(struct work *w, struct plim_error *reterr)
{
    struct plim_model *model = NULL;
    struct plim_engine *engine = NULL;
    struct plim_setup *setup = &w->arguments.setup;
    int result = plim_model_open(w->path, &model, reterr);
    if (result == 0)
        result = plim_engine_new(model, setup->type, NULL, &engine, reterr);
    if (result == 0 && setup->type->select_cards)
        result = setup->type->select_cards(setup, &w->machine, &w->notes, reterr);
    if (result >= 0)
        result = plim_engine_bill(engine, setup, &w->machine, NULL, &w->bill, reterr);
    if (result >= 0)
        result = plim_engine_adjust(engine, setup, &w->machine, &w->bill, &w->adjustment, reterr);
    if (result > 0) /* it would not have started with the setup as it is */
        result = plim_engine_bill(engine, &w->adjustment.setup, &w->machine, NULL, &w->bill, reterr);
    plim_engine_free(engine);
    plim_model_free(model);
#ifdef __GLIBC__
    malloc_trim(0); /* a model is large, and `top` runs for days */
#endif
    return result;
}

static void copy_bill(const struct work *w, struct plim_top_bill *to)
{
    const struct plim_device_bill *device = &w->bill.device[w->device];
    for (uint32_t i = 0; i < device->n_lines && to->n_lines < PLIM_TOP_BILL_LINES; i++) {
        const struct plim_line *line = &device->line[i];
        if (line->high_bytes == 0 || !plim_line_is_needed(device, line))
            continue;
        snprintf(to->line[to->n_lines].label, sizeof to->line[0].label, "%s", line->label);
        to->line[to->n_lines].low_bytes = line->low_bytes;
        to->line[to->n_lines++].high_bytes = line->high_bytes;
    }
    to->low_bytes = device->need_low_bytes;
    to->high_bytes = device->need_high_bytes;
}

static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int make(const char *root, const struct plim_sample *sample, const struct plim_holding *holding, struct work *w,
                struct plim_top_bill *bill, struct plim_error *reterr)
{
    const struct plim_sample_process *process = &sample->process[holding->process];
    w->n_words = read_texts(root, process->pid, "cmdline", w->command, w->words);
    w->n_variables = read_texts(root, process->pid, "environ", w->environment, w->variables);
    if (w->n_words == 0)
        return plim_fail(reterr, PLIM_E_NOT_FOUND, PLIM_NO_OFFSET, "its command line cannot be read");
    plim_arguments_init(&w->arguments);
    int result = plim_command_read(w->n_words, w->words, w->variables, &w->arguments, &w->read, reterr);
    if (result < 0 && process->n_models == 0 && reterr) /* nothing to say of flags: it is another kind of program */
        snprintf(reterr->what, sizeof reterr->what, "no bill is written for this kind of program");
    if (result < 0)
        return result;
    const char *open = process->n_models ? process->models[0] : "";
    const char *named = w->arguments.model && !w->arguments.is_on_server ? w->arguments.model : open;
    if (!find_model(root, process, named, w->path))
        return plim_fail(reterr, PLIM_E_NOT_FOUND, PLIM_NO_OFFSET, "the file of its model is not found");
    find_cards(sample, holding, w);
    result = write_bill(w, reterr);
    if (result < 0)
        return result;
    if (w->bill.verdict == PLIM_VERDICT_UNKNOWN && !w->bill.is_bound)
        return plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "the rules of this model are not known");
    if (w->device >= w->bill.n_devices || w->bill.device[w->device].is_host)
        return plim_fail(reterr, PLIM_E_NOT_FOUND, PLIM_NO_OFFSET, "the bill has nothing on this card");
    snprintf(bill->title, sizeof bill->title, "%.90s by the rules of %.40s %.16s", file_of(named),
             w->arguments.setup.type->rules, w->arguments.setup.type->proven_to);
    copy_bill(w, bill);
    return 0;
}

void plim_top_bill_make(const char *root, const struct plim_sample *sample, uint32_t holding,
                        struct plim_top_bill *ret_bill)
{
    const struct plim_holding *h = &sample->holding[holding];
    const struct plim_sample_process *process = &sample->process[h->process];
    struct plim_error error = { 0 };
    *ret_bill = (struct plim_top_bill){ 0 };
    if (process->is_gone || process->is_outside)
        return;
    struct work *w = plim_alloc(1, sizeof *w);
    const int result = w ? make(root, sample, h, w, ret_bill, &error) : PLIM_E_NOMEM;
    if (result < 0)
        snprintf(ret_bill->why, sizeof ret_bill->why, "none: %s", w ? error.what : "out of memory");
    plim_free(w);
}
