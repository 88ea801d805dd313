/* SPDX-License-Identifier: MIT */
#include "cli/explain_check.h"

#include "base/mem.h"
#include "base/system.h"
#include "base/units.h"
#include "cli/watch/holders.h"
#include "engine/command.h"
#include "engine/type.h"
#include "plimsoll/engine.h"
#include "plimsoll/plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_BYTES = 24, MAX_CHECKED = 3 };

/* Everything large, so that it is one allocation. */
struct trial {
    struct plim_arguments arguments;
    struct plim_command command;
    struct plim_machine machine;
    struct plim_bill bill;
    struct plim_fix fixes[PLIM_MAX_FIXES];
    uint32_t n_fixes;
    struct plim_remedies remedies;
    char path[PLIM_WORD_BYTES], values[8][VALUE_BYTES];
};

/* --- a bill for each remedy --- */

/* A name in a log can be of anything: only a plain file is opened, as a FIFO would wait forever. */
static bool is_file(const char *path)
{
    struct plim_file_status status;
    return *path && *path != '-' && plim_system_look(path, true, &status) == 0 && status.kind == PLIM_KIND_FILE;
}

/* Settings that a log shows, by the key of the engine's option. */
static const struct {
    const char *key;
    enum plim_number number;
    int64_t usual; /* the default, which is not written */
} shown[] = { { "n_ctx", PLIM_N_N_CTX, PLIM_UNKNOWN },
              { "n_batch", PLIM_N_N_BATCH, 2048 },
              { "n_ubatch", PLIM_N_N_UBATCH, 512 },
              { "n_seq", PLIM_N_N_SEQ, PLIM_UNKNOWN },
              { "n_gpu_layers", PLIM_N_N_GPU_LAYERS, PLIM_UNKNOWN } };

enum { N_SHOWN = sizeof shown / sizeof *shown };

static int add_option(struct trial *t, const struct plim_option *option, const char *value)
{
    plim_command_add_option(&t->command, option, option->help.names, strcspn(option->help.names, " "), value);
    return plim_option_apply(option, true, value, &t->arguments, NULL);
}

/* The command line of the run that failed, as far as the log shows it. */
static int read_command(const struct plim_engine_type *type, const struct plim_log_context *context, struct trial *t)
{
    int result = 0;
    plim_setup_init(&t->arguments.setup, type);
    plim_command_add(&t->command, type->program(&t->arguments.setup));
    snprintf(t->path, sizeof t->path, "%s", context->words.text[PLIM_W_MODEL]);
    for (size_t i = 0; i < type->n_options && result >= 0; i++)
        if (type->options[i].kind == PLIM_OPTION_MODEL)
            result = add_option(t, &type->options[i], t->path);
    for (size_t i = 0; i < N_SHOWN && result >= 0; i++) {
        const int64_t value = plim_number(&context->numbers, shown[i].number);
        const struct plim_option *option = plim_option_with_key(type, shown[i].key);
        if (!option || value == shown[i].usual || value < 0 || value > INT32_MAX)
            continue;
        snprintf(t->values[i], VALUE_BYTES, "%" PRId64, value);
        result = add_option(t, option, t->values[i]);
    }
    return result;
}

/* The card as it was when the model was loaded: the memory that was free then is its capacity. */
static bool read_card(const struct plim_log_context *context, struct plim_machine *machine)
{
    int64_t free_bytes = plim_number(&context->numbers, PLIM_N_FREE_BYTES);
    if (free_bytes == PLIM_UNKNOWN || free_bytes <= 0 || free_bytes > INT64_C(1) << 50)
        return false;
    plim_card_of_budget((uint64_t)free_bytes, &machine->card[0]);
    machine->n_cards = 1;
    plim_host_live(getenv("PLIMSOLL_SYSROOT"), &machine->host);
    return true;
}

static void add_fix(struct trial *t, const struct plim_fix *fix)
{
    char text[PLIM_COMMAND_BYTES];
    if (t->remedies.n >= MAX_CHECKED || fix->verdict_after != PLIM_VERDICT_FITS || fix->n_changes == 0 ||
        !plim_command_text(&t->command, fix->changes, fix->n_changes, text) ||
        strlen(text) >= PLIM_REMEDY_COMMAND_BYTES)
        return;
    struct plim_remedy *remedy = &t->remedies.item[t->remedies.n++];
    snprintf(remedy->change, sizeof remedy->change, "%s", fix->change);
    snprintf(remedy->command, sizeof remedy->command, "%.*s", PLIM_REMEDY_COMMAND_BYTES - 1, text);
    snprintf(remedy->costs, sizeof remedy->costs, "%s", fix->costs);
    snprintf(remedy->verified, sizeof remedy->verified,
             "checked: 'plimsoll fit' says that it fits into what was free then");
    remedy->frees_bytes = fix->frees_bytes > 0 ? fix->frees_bytes : PLIM_UNKNOWN;
    remedy->is_exact = true;
}

/* Those that a bill has proved, then what was there and is no flag of the program: a bill is better than a rule. */
static void merge(struct trial *t, struct plim_remedies *remedies)
{
    const char *program = t->arguments.setup.type->program(&t->arguments.setup);
    for (uint32_t i = 0; i < remedies->n && t->remedies.n < PLIM_MAX_REMEDIES; i++)
        if (strncmp(remedies->item[i].command, program, strlen(program)) != 0)
            t->remedies.item[t->remedies.n++] = remedies->item[i];
    memcpy(remedies->item, t->remedies.item, sizeof remedies->item);
    remedies->n = t->remedies.n;
}

static void try_fixes(const struct plim_engine_type *type, const struct plim_log_context *context,
                      struct plim_remedies *remedies)
{
    struct plim_model *model = NULL;
    struct plim_engine *engine = NULL;
    struct trial *t = plim_alloc(1, sizeof *t);
    if (!t)
        return;
    plim_arguments_init(&t->arguments);
    if (read_command(type, context, t) == 0 && read_card(context, &t->machine) &&
        plim_model_open(t->arguments.model, &model, NULL) == 0 &&
        plim_engine_new(model, type, NULL, &engine, NULL) == 0 &&
        plim_engine_bill(engine, &t->arguments.setup, &t->machine, NULL, &t->bill, NULL) == 0 &&
        t->bill.verdict == PLIM_VERDICT_NO &&
        plim_plan_fixes(engine, &t->arguments.setup, &t->machine, NULL, &t->bill, t->fixes, PLIM_MAX_FIXES, &t->n_fixes,
                        NULL) == 0) {
        for (uint32_t i = 0; i < t->n_fixes; i++)
            add_fix(t, &t->fixes[i]);
        if (t->remedies.n)
            merge(t, remedies);
    }
    plim_engine_free(engine);
    plim_model_free(model);
    plim_free(t);
}

/* --- processes on the cards now --- */

static bool is_about_a_card(enum plim_cause cause)
{
    return cause != PLIM_CAUSE_UNKNOWN && cause != PLIM_CAUSE_HOST_RAM && cause != PLIM_CAUSE_SHM &&
           cause != PLIM_CAUSE_NOT_OOM;
}

static bool is_in_log(const struct plim_explained *root, int64_t pid)
{
    for (uint32_t i = 0; i < root->finding->n_others; i++)
        if (root->finding->others[i].pid == pid)
            return true;
    return root->cause.other_pid == pid;
}

/* The advice to end the process of the message, with what it is now; a process that is in use is only named. */
static void name_process(const struct plim_holder *holder, const char *user, struct plim_remedies *remedies)
{
    char begin[48], size[PLIM_SIZE_TEXT] = "memory";
    snprintf(begin, sizeof begin, "end process %" PRId64 ",", holder->pid);
    if (holder->bytes)
        plim_size_text(size, holder->bytes);
    for (uint32_t i = 0; i < remedies->n; i++) {
        struct plim_remedy *remedy = &remedies->item[i];
        if (strncmp(remedy->change, begin, strlen(begin)) != 0)
            continue;
        snprintf(remedy->change, sizeof remedy->change, "%s which holds %s here now, if it is yours: '%s'%s%s%s%.90s",
                 begin, size, holder->name, *user ? " of " : "", user, *holder->why ? "; " : "", holder->why);
        snprintf(remedy->command, sizeof remedy->command,
                 holder->is_endable ? "plimsoll free %" PRId64
                                    : "plimsoll ps    # then: plimsoll free "
                                      "%" PRId64,
                 holder->pid);
    }
}

static void add_processes(struct plim_explanation *explanation)
{
    struct plim_explained *root = &explanation->items[0];
    struct plim_holders *holders = plim_alloc(1, sizeof *holders);
    if (!holders)
        return;
    plim_cli_find_holders(NULL, holders);
    for (uint32_t i = 0; i < holders->n && i < PLIM_EXPLAIN_MAX_PROCESSES; i++) {
        const struct plim_holder *holder = &holders->item[i];
        struct plim_explain_process *to = &explanation->processes[explanation->n_processes++];
        to->pid = holder->pid;
        to->bytes = holder->bytes ? (int64_t)holder->bytes : PLIM_UNKNOWN;
        to->is_stale = holder->is_stale;
        to->is_of_log = is_in_log(root, holder->pid);
        snprintf(to->name, sizeof to->name, "%s", holder->name);
        snprintf(to->card, sizeof to->card, "%s", holders->card[i]);
        snprintf(to->user, sizeof to->user, "%s", holders->user[i]);
        snprintf(to->why, sizeof to->why, "%s", holder->why);
        if (root->cause.advised == PLIM_CAUSE_OTHER_PROCESS && to->is_of_log)
            name_process(holder, to->user, &root->remedies);
    }
    plim_free(holders);
}

void plim_cli_explain_check(struct plim_explanation *explanation)
{
    if (explanation->n_items == 0)
        return;
    struct plim_explained *root = &explanation->items[0];
    const struct plim_log_context *context = &explanation->diagnosis->context;
    enum plim_cause cause = root->cause.advised;
    if (!is_about_a_card(cause))
        return;
    bool is_of_setup = cause == PLIM_CAUSE_MODEL_TOO_BIG || cause == PLIM_CAUSE_KV_CACHE_CONTEXT ||
                       cause == PLIM_CAUSE_BATCH_OR_ACTIVATION;
    const struct plim_engine_type *type;
    if (is_of_setup && plim_engine_type_named(root->finding->framework, &type, NULL, NULL) == 0 &&
        !strcmp(type->name, type->rules) && type->program && is_file(context->words.text[PLIM_W_MODEL]))
        try_fixes(type, context, &root->remedies);
    add_processes(explanation);
}
