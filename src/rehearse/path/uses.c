/* SPDX-License-Identifier: MIT */
/*
 * The rules. A value is harmless only by evidence: a function of a known library that shows it, or that takes it to
 * what no memory hangs on; or a statement of the program that is seen to log it. All else may matter.
 */
#include "rehearse/path/uses.h"

#include "rehearse/path/checks.h"
#include "rehearse/path/value_flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- functions of libraries that read --- */

enum condition { ALWAYS, IF_ZERO, IF_NOT_ZERO };

static const struct rule {
    const char *file, *function; /* a part of the path; the name, "" for any */
    enum condition when;         /* the value was */
    bool is_harmless;
    const char *decided;
    enum plim_effect effect;
} rules[] = {
    /* PyTorch 2.5 to 2.15 */
    { "/torch/_tensor_str.py", "", ALWAYS, true, "printed", PLIM_EFFECT_NONE },
    { "/torch/_tensor.py", "__format__", ALWAYS, true, "printed", PLIM_EFFECT_NONE },
    { "/torch/_tensor.py", "__repr__", ALWAYS, true, "printed", PLIM_EFFECT_NONE },
    { "/torch/optim/lr_scheduler.py", "", ALWAYS, true, "the learning rate", PLIM_EFFECT_NONE },
    /* GradScaler lowers the scale until a step is taken, so that one that is taken is what comes on a card, too */
    { "/amp/grad_scaler.py", "_maybe_opt_step", IF_ZERO, true, "the optimizer's step: taken", PLIM_EFFECT_NONE },
    { "/amp/grad_scaler.py", "<genexpr>", IF_ZERO, true, "the optimizer's step: taken", PLIM_EFFECT_NONE },
    { "/amp/grad_scaler.py", "_maybe_opt_step", IF_NOT_ZERO, false, "the optimizer's step: skipped",
      PLIM_EFFECT_HIGHER },
    { "/amp/grad_scaler.py", "<genexpr>", IF_NOT_ZERO, false, "the optimizer's step: skipped", PLIM_EFFECT_HIGHER },
    { "/amp/grad_scaler.py", "get_scale", ALWAYS, true, "the scale of the loss", PLIM_EFFECT_NONE },
    { "/amp/grad_scaler.py", "_get_growth_tracker", ALWAYS, true, "the scale of the loss", PLIM_EFFECT_NONE },
    { "/torch/storage.py", "cpu", ALWAYS, true, "saved", PLIM_EFFECT_NONE },
    /* a check of arguments that fails raises an error */
    { "/torch/distributions/", "", IF_NOT_ZERO, true, "a check that passed", PLIM_EFFECT_NONE },
    { "/torch/distributions/", "", IF_ZERO, false, "a check that failed", PLIM_EFFECT_HIGHER },
    /* transformers 4.40 to 5.23: the loop of an answer goes on to the limit of its length, as no token is known to end
       it */
    { "/transformers/generation/", "_has_unfinished_sequences", ALWAYS, true,
      "the end of an answer: taken at its limit", PLIM_EFFECT_LOWER },
    { "/transformers/generation/utils.py", "__call__", ALWAYS, true, "the end of an answer: taken at its limit",
      PLIM_EFFECT_LOWER },
    { "/transformers/trainer.py", "_maybe_log_save_evaluate", ALWAYS, true, "logged", PLIM_EFFECT_NONE },
    { "/transformers/trainer.py", "_finalize_training", ALWAYS, true, "logged", PLIM_EFFECT_NONE },
    { "/transformers/trainer.py", "store_flos", ALWAYS, true, "logged", PLIM_EFFECT_NONE },
    { "/transformers/trainer.py", "_run_epoch", IF_ZERO, true, "the filter of NaN in the logged loss",
      PLIM_EFFECT_NONE },
    { "/transformers/trainer.py", "_inner_training_loop", IF_ZERO, true, "the filter of NaN in the logged loss",
      PLIM_EFFECT_NONE },
    /* TRL 1: what is logged of a batch, and the tokens of answers */
    { "/trl/trainer/utils.py", "nanmin", ALWAYS, true, "logged", PLIM_EFFECT_NONE },
    { "/trl/trainer/utils.py", "nanmax", ALWAYS, true, "logged", PLIM_EFFECT_NONE },
    { "/trl/trainer/grpo_trainer.py", "global_masked_mean", ALWAYS, true, "logged", PLIM_EFFECT_NONE },
    { "/trl/trainer/grpo_trainer.py", "_generate_single_turn", ALWAYS, true, "the end of an answer: taken at its limit",
      PLIM_EFFECT_LOWER },
    /* DeepSpeed 0.19: a step is skipped for a norm that is infinite or no number, as with GradScaler */
    { "/deepspeed/runtime/", "is_invalid_grad_norm", IF_ZERO, true, "the optimizer's step: taken", PLIM_EFFECT_NONE },
    { "/deepspeed/runtime/", "is_invalid_grad_norm", IF_NOT_ZERO, false, "the optimizer's step: skipped",
      PLIM_EFFECT_HIGHER },
    { "/deepspeed/runtime/", "has_overflow", IF_ZERO, true, "the optimizer's step: taken", PLIM_EFFECT_NONE },
    { "/deepspeed/runtime/", "has_overflow", IF_NOT_ZERO, false, "the optimizer's step: skipped", PLIM_EFFECT_HIGHER },
    { "/accelerate/utils/deepspeed.py", "get_global_grad_norm", ALWAYS, true, "logged", PLIM_EFFECT_NONE },
    /* bitsandbytes 0.45 to 0.50: the state of a checkpoint */
    { "/bitsandbytes/functional.py", "as_dict", ALWAYS, true, "saved", PLIM_EFFECT_NONE },
    /* Lightning 2: checkpoints are files; what it moves to the host it logs or saves */
    { "/lightning/fabric/utilities/apply_func.py", "to_item", ALWAYS, true, "logged", PLIM_EFFECT_NONE },
    { "/lightning/fabric/utilities/apply_func.py", "batch_to", ALWAYS, true, "logged or saved", PLIM_EFFECT_NONE },
    { "/callbacks/model_checkpoint.py", "_update_best_and_save", ALWAYS, true, "which checkpoint is kept",
      PLIM_EFFECT_NONE },
};

static bool has_part(const char *text, const char *part) { return strstr(text, part) != NULL; }

static const struct rule *find_rule(const struct plim_ledger_guess *guess, const char *file, const char *function)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct rule *rule = &rules[i];
        const bool is_when = rule->when == ALWAYS || (rule->when == IF_ZERO && guess->n_zero == guess->count) ||
                             (rule->when == IF_NOT_ZERO && guess->n_zero == 0);
        if (is_when && has_part(file, rule->file) && (!*rule->function || !strcmp(function, rule->function)))
            return rule;
    }
    return NULL;
}

/* --- functions of PyTorch that read --- */

enum manner { MANNER_UNKNOWN, MANNER_NUMBER, MANNER_FLAG, MANNER_SELECTION, MANNER_SIZE };

/* The innermost that is in the stack counts: a function that selects reads its count with a copy. */
static enum manner manner_of(const char *native)
{
    static const struct {
        const char *function;
        enum manner manner;
    } functions[] = {
        { "at::_ops::nonzero", MANNER_SELECTION },
        { "at::_ops::masked_select", MANNER_SELECTION },
        { "at::_ops::_unique", MANNER_SELECTION },
        { "at::_ops::unique", MANNER_SELECTION },
        { "at::_ops::index_Tensor", MANNER_SELECTION },
        { "at::_ops::index_put", MANNER_SELECTION },
        { "at::_ops::repeat_interleave", MANNER_SIZE },
        { "at::_ops::bincount", MANNER_SIZE },
        { "at::_ops::one_hot", MANNER_SIZE },
        { "at::_ops::_pack_padded_sequence", MANNER_SIZE },
        { "at::_ops::is_nonzero", MANNER_FLAG },
        { "at::_ops::equal", MANNER_FLAG },
        { "at::_ops::allclose", MANNER_FLAG },
        { "at::_ops::item", MANNER_NUMBER },
        { "at::_ops::_local_scalar_dense", MANNER_NUMBER },
        { "at::_ops::_to_copy", MANNER_NUMBER },
        { "at::_ops::to_", MANNER_NUMBER },
        { "at::_ops::copy_", MANNER_NUMBER },
    };
    enum manner manner = MANNER_UNKNOWN;
    size_t n_most = 0;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const char *found = strstr(native, functions[i].function);
        if (found && (functions[i].manner != MANNER_NUMBER || manner == MANNER_UNKNOWN) &&
            (manner == MANNER_UNKNOWN || manner == MANNER_NUMBER || (size_t)(found - native) < n_most)) {
            manner = functions[i].manner;
            n_most = (size_t)(found - native);
        }
    }
    return manner;
}

/* --- the source --- */

bool plim_use_frame(const char *frame, char *ret_file, size_t size, uint32_t *ret_line, const char **ret_function)
{
    const char *space = strrchr(frame, ' '), *colon = space;
    while (colon && colon > frame && *colon != ':')
        colon--;
    if (!space || !colon || *colon != ':' || (size_t)(colon - frame) >= size)
        return false;
    snprintf(ret_file, size, "%.*s", (int)(colon - frame), frame);
    *ret_line = (uint32_t)strtoul(colon + 1, NULL, 10);
    *ret_function = space + 1;
    return *ret_line > 0;
}

/* The file that the command names: nothing but the program has its names. */
static bool is_program(const char *file, char *const *command)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    for (; command && *command; command++) {
        const char *other = strrchr(*command, '/');
        if (!strcmp(other ? other + 1 : *command, name))
            return true;
    }
    return false;
}

/* The statement at this line, on one line. */
static void copy_statement(const struct plim_python_source *source, uint32_t line, char *ret_text, size_t size)
{
    const struct plim_python_statement *found = NULL;
    size_t n = 0;
    for (uint32_t i = 0; i < source->n_statements && !found; i++)
        if (line >= source->statement[i].first_line && line <= source->statement[i].last_line)
            found = &source->statement[i];
    if (!found)
        return;
    const struct plim_python_word *first = &source->word[found->first], *last = first + found->n - 1;
    const char *end = source->text + last->start + last->length;
    for (const char *p = source->text + first->start; p < end && n + 1 < size; p++) {
        const bool is_space = strchr(" \t\r\n", *p) != NULL;
        if (!is_space || (n && ret_text[n - 1] != ' '))
            ret_text[n++] = is_space ? ' ' : *p;
    }
    ret_text[n] = '\0';
}

static enum plim_check_value check_value(const struct plim_ledger_guess *guess, enum manner manner)
{
    return manner == MANNER_NUMBER         ? PLIM_CHECK_NUMBER
           : guess->n_zero == guess->count ? PLIM_CHECK_UNSET
           : guess->n_zero == 0            ? PLIM_CHECK_SET
                                           : PLIM_CHECK_MIXED;
}

static void forgive(struct plim_rehearsal_place *place, const char *decided)
{
    place->is_harmless = true;
    place->decided = decided;
    place->effect = PLIM_EFFECT_NONE;
}

static void read_source(const struct plim_ledger_guess *guess, const char *file, uint32_t line, char *const *command,
                        enum manner manner, struct plim_rehearsal_place *place)
{
    struct plim_python_source source;
    uint32_t at = line;
    const bool is_flag = manner == MANNER_FLAG;
    if (file[0] != '/' || !plim_python_source_open(file, &source))
        return;
    const bool is_readable = manner == MANNER_NUMBER || manner == MANNER_UNKNOWN || is_flag;
    const enum plim_flow flow =
        is_readable ? plim_flow_from(&source, line, is_flag, is_program(file, command), &at) : PLIM_FLOW_UNKNOWN;
    if (flow == PLIM_FLOW_LOGGED)
        forgive(place, "only printed, logged or added up");
    else if ((is_flag || manner == MANNER_NUMBER) && plim_check_has_passed(&source, line, check_value(guess, manner)))
        forgive(place, "a check that passed");
    at = flow == PLIM_FLOW_DECIDES ? at : line;
    copy_statement(&source, at, place->text, sizeof place->text);
    place->text_line = place->text[0] && at != line ? at : 0;
    plim_python_source_done(&source);
}

/* --- all of it --- */

static void judge_selection(const struct plim_ledger_guess *guess, struct plim_rehearsal_place *place)
{
    const bool is_none = guess->n_zero == guess->count;
    place->decided = is_none ? "a selection, taken as empty" : "a selection";
    place->effect = is_none ? PLIM_EFFECT_HIGHER : PLIM_EFFECT_UNKNOWN;
}

void plim_use_of(const struct plim_ledger_guess *guess, char *const *command, struct plim_rehearsal_place *ret_place)
{
    static const char *const whats[] = { "a value", "a number", "a flag", "the number of selected elements", "a size" };
    static const char *const decisions[] = { "a value whose use is not known", "a number that may steer", "a condition",
                                             "", "a size" };
    struct plim_rehearsal_place *place = ret_place;
    const enum manner manner = manner_of(guess->native);
    char file[PLIM_LEDGER_FRAME_BYTES];
    const char *function;
    uint32_t line;
    snprintf(place->what, sizeof place->what, "%s",
             guess->what[0]     ? guess->what
             : guess->is_answer ? "a library's answer"
                                : whats[manner]);
    place->decided = guess->is_answer ? "a library's answer" : decisions[manner];
    place->effect = PLIM_EFFECT_UNKNOWN;
    place->is_harmless = false;
    if (manner == MANNER_SELECTION)
        judge_selection(guess, place);
    if (!plim_use_frame(guess->python.innermost, file, sizeof file, &line, &function))
        return;
    const struct rule *rule = find_rule(guess, file, function);
    if (rule) {
        place->is_harmless = rule->is_harmless;
        place->decided = rule->decided;
        place->effect = rule->effect;
    } else if (!guess->is_answer) {
        read_source(guess, file, line, command, manner, place);
    }
}
