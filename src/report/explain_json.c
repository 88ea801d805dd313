/* SPDX-License-Identifier: MIT */
/* plimsoll.explain/1, as docs/json.md has it. */
#include "report/explain.h"

#include "diagnose/scan/patterns/pattern.h"
#include "report/json_text.h"

#include <jansson.h>
#include <string.h>

static json_t *figure(int64_t value) { return value == PLIM_UNKNOWN ? json_null() : json_integer((json_int_t)value); }

static json_t *number_json(const struct plim_numbers *numbers, enum plim_number which)
{
    const int64_t value = numbers->value[which];
    if (value == PLIM_UNKNOWN)
        return json_null();
    return plim_number_kind(which) == PLIM_NUMBER_RATIO ? json_real((double)value / 1e6)
                                                        : json_integer((json_int_t)value);
}

static json_t *words_json(const struct plim_words *words)
{
    json_t *object = json_object();
    for (int i = 0; i < PLIM_WORD_MAX_; i++)
        if (words->text[i][0])
            json_object_set_new(object, plim_word_name((enum plim_word)i), plim_text_json(words->text[i]));
    return object;
}

static json_t *known_numbers_json(const struct plim_numbers *numbers)
{
    json_t *object = json_object();
    for (int i = 0; i < PLIM_NUMBER_MAX_; i++)
        if (numbers->value[i] != PLIM_UNKNOWN)
            json_object_set_new(object, plim_number_name((enum plim_number)i),
                                number_json(numbers, (enum plim_number)i));
    return object;
}

/* What programs print under names of their own is also there under the name that all have. */
static enum plim_number known_as(const struct plim_numbers *numbers, enum plim_number which)
{
    static const enum plim_number pairs[][2] = {
        { PLIM_N_PROCESS_BYTES, PLIM_N_RSS_BYTES },   /* what it held when it was killed */
        { PLIM_N_ALLOWED_BYTES, PLIM_N_LIMIT_BYTES }, /* of a pool, a job, a container */
        { PLIM_N_NEEDED_BYTES, PLIM_N_DESIRED_BYTES },
        { PLIM_N_RESERVED_UNALLOCATED_BYTES, PLIM_N_CACHED_BYTES }, /* of the oldest PyTorch */
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && numbers->value[which] == PLIM_UNKNOWN; i++)
        if (pairs[i][0] == which)
            return pairs[i][1];
    return which;
}

/* The same, where a message has a word of its own for it: Slurm's and the kernel's use is that of what was killed, */
static enum plim_number known_as_of(const struct plim_finding *finding, enum plim_number which)
{
    static const struct {
        const char *kind;
        enum plim_number which, from;
    } rows[] = {
        { "slurm-limit", PLIM_N_PROCESS_BYTES, PLIM_N_USED_BYTES },
        { "kubernetes-evicted", PLIM_N_PROCESS_BYTES, PLIM_N_USED_BYTES },
        { "kernel-cgroup-task", PLIM_N_PROCESS_BYTES, PLIM_N_USED_BYTES },
        { "paddle-oom", PLIM_N_ALLOCATED_BYTES, PLIM_N_USED_BYTES }, /* "has been allocated", by all */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows && finding->numbers.value[which] == PLIM_UNKNOWN; i++)
        if (rows[i].which == which && !strcmp(rows[i].kind, finding->pattern->id))
            return rows[i].from;
    return known_as(&finding->numbers, which);
}

/* Those of every failure are always there, null when unknown. */
static json_t *numbers_json(const struct plim_explained *item)
{
    const struct plim_finding *finding = item->finding;
    static const enum plim_number always[] = {
        PLIM_N_TRIED_BYTES,        PLIM_N_TOTAL_BYTES,     PLIM_N_FREE_BYTES,
        PLIM_N_PROCESS_BYTES,      PLIM_N_ALLOCATED_BYTES, PLIM_N_RESERVED_UNALLOCATED_BYTES,
        PLIM_N_PRIVATE_POOL_BYTES, PLIM_N_ALLOWED_BYTES,
    };
    json_t *object = json_object(), *others = json_array();
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        json_object_set_new(object, plim_number_name(always[i]),
                            number_json(&finding->numbers, known_as_of(finding, always[i])));
    for (uint32_t i = 0; i < finding->n_others; i++)
        json_array_append_new(others, json_pack("{s:o, s:o}", "pid", figure(finding->others[i].pid), "bytes",
                                                figure(finding->others[i].bytes)));
    json_object_set_new(object, "others", others);
    if (item->cause.own_index >= 0 && finding->numbers.value[PLIM_N_PROCESS_BYTES] == PLIM_UNKNOWN)
        json_object_set_new(object, plim_number_name(PLIM_N_PROCESS_BYTES),
                            figure(finding->others[item->cause.own_index].bytes));
    json_t *rest = known_numbers_json(&finding->numbers);
    const enum plim_number needed = known_as(&finding->numbers, PLIM_N_NEEDED_BYTES);
    if (needed != PLIM_N_NEEDED_BYTES && finding->numbers.value[needed] != PLIM_UNKNOWN)
        json_object_set_new(rest, plim_number_name(PLIM_N_NEEDED_BYTES), number_json(&finding->numbers, needed));
    json_object_update_missing(object, rest);
    json_decref(rest);
    return object;
}

static json_t *evidence_json(const struct plim_finding *finding)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < finding->n_evidence; i++)
        json_array_append_new(list, json_pack("{s:I, s:o}", "line", (json_int_t)finding->evidence[i].line, "text",
                                              plim_text_json(finding->evidence[i].text)));
    return list;
}

static json_t *cause_json(enum plim_cause cause)
{
    const char *name = plim_cause_name(cause);
    return name ? plim_text_json(name) : json_null();
}

static json_t *candidates_json(const struct plim_cause_answer *answer)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < answer->n_second; i++)
        json_array_append_new(list, json_pack("{s:o, s:s, s:o}", "cause", cause_json(answer->second[i].cause),
                                              "confidence", plim_confidence_name(answer->second[i].confidence), "why",
                                              plim_text_json(answer->second[i].why)));
    return list;
}

static json_t *fixes_json(const struct plim_remedies *remedies)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < remedies->n; i++) {
        const struct plim_remedy *r = &remedies->item[i];
        json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o, s:b, s:o}", "change", plim_text_json(r->change),
                                              "command", plim_text_json(r->command), "costs", plim_text_json(r->costs),
                                              "frees_bytes", figure(r->frees_bytes), "exact", (int)r->is_exact,
                                              "verified", plim_text_or_null_json(r->verified)));
    }
    return list;
}

static json_t *useless_json(const struct plim_remedies *remedies)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < remedies->n_useless; i++)
        json_array_append_new(list, json_pack("{s:o, s:o}", "what", plim_text_json(remedies->useless[i].what), "why",
                                              plim_text_json(remedies->useless[i].why)));
    return list;
}

static json_t *related_json(const struct plim_explanation *e)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < e->n_items; i++) {
        const struct plim_finding *f = e->items[i].finding;
        if (f->is_related)
            json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:I, s:I, s:o}", "framework", f->framework, "kind",
                                                  f->pattern->id, "role", plim_role_name(f->pattern->role), "line",
                                                  (json_int_t)f->line, "count", (json_int_t)f->count, "text",
                                                  f->n_evidence ? plim_text_json(f->evidence[0].text) : json_null()));
    }
    return list;
}

static json_t *note_json(const struct plim_finding *f)
{
    return f->pattern->note[0] ? plim_text_json(f->pattern->note) : json_null();
}

static json_t *finding_json(const struct plim_explanation *e, const struct plim_explained *item, bool is_root)
{
    const struct plim_finding *f = item->finding;
    const struct plim_guess *best = &item->cause.best;
    return json_pack("{s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:b, s:s, s:s, s:o, s:o, s:o}",
                     "framework", f->framework, "kind", f->pattern->id, "cause", cause_json(best->cause), "confidence",
                     plim_confidence_name(best->confidence), "numbers", numbers_json(item), "why",
                     plim_text_json(best->why), "evidence", evidence_json(f), "fixes", fixes_json(&item->remedies),
                     "related", is_root ? related_json(e) : json_array(), "candidates", candidates_json(&item->cause),
                     "will_not_help", useless_json(&item->remedies), "line", (json_int_t)f->line, "count",
                     (json_int_t)f->count, "recovered", (int)f->is_recovered, "role", plim_role_name(f->pattern->role),
                     "stage", f->pattern->stage, "note", note_json(f), "words", words_json(&f->words), "entry",
                     item->has_entry ? plim_text_json(item->entry.id) : json_null());
}

static json_t *frames_json(const struct plim_log_context *context)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < context->n_frames; i++) {
        const struct plim_frame *frame = &context->frames[i];
        json_array_append_new(list, json_pack("{s:o, s:i, s:o, s:b}", "file", plim_text_json(frame->file), "line",
                                              (int)frame->line, "name", plim_text_json(frame->name), "user",
                                              (int)frame->is_user));
    }
    return list;
}

/* Each once, whatever showed it; those without an id have nothing to be called by. */
static json_t *programs_json(const struct plim_log_context *context)
{
    json_t *programs = json_array();
    for (uint32_t i = 0; i < context->n_programs; i++) {
        const char *id = context->programs[i]->framework;
        bool is_new = strcmp(id, "other") != 0;
        for (uint32_t k = 0; k < i; k++)
            is_new = is_new && strcmp(context->programs[k]->framework, id) != 0;
        if (is_new)
            json_array_append_new(programs, plim_text_json(id));
    }
    return programs;
}

static json_t *context_json(const struct plim_log_context *context)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "numbers", known_numbers_json(&context->numbers), "words",
                     words_json(&context->words), "programs", programs_json(context), "frames", frames_json(context));
}

static json_t *process_json(const struct plim_explain_process *process)
{
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:b, s:b}", "pid", (json_int_t)process->pid, "name",
                     plim_text_json(process->name), "card", plim_text_json(process->card), "bytes",
                     figure(process->bytes), "user", plim_text_or_null_json(process->user), "why",
                     plim_text_or_null_json(process->why), "stale", process->is_stale, "in_log", process->is_of_log);
}

static json_t *processes_json(const struct plim_explanation *e)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < e->n_processes; i++)
        json_array_append_new(list, process_json(&e->processes[i]));
    return list;
}

/* Null: all was read. */
static json_t *not_read_json(const struct plim_explanation *e)
{
    const struct plim_unread *unread = &e->diagnosis->unread;
    if (!plim_explanation_lacks(e))
        return json_null();
    json_t *ranges = json_array();
    for (uint32_t i = 0; i < unread->n; i++)
        json_array_append_new(ranges, json_pack("{s:I, s:I, s:I}", "from", (json_int_t)unread->range[i].from, "to",
                                                (json_int_t)unread->range[i].to, "lines",
                                                (json_int_t)unread->range[i].n_lines));
    return json_pack("{s:I, s:o, s:I, s:b}", "lines", (json_int_t)unread->n_lines, "ranges", ranges, "bytes_before",
                     (json_int_t)e->n_bytes_before, "has_more", (int)e->has_more);
}

bool plim_report_explain_json(FILE *out, const struct plim_explanation *e)
{
    json_t *findings = json_array();
    for (uint32_t i = 0; findings && i < e->n_items; i++)
        if (!e->items[i].finding->is_related)
            json_array_append_new(findings, finding_json(e, &e->items[i], i == 0));
    json_t *root = json_pack("{s:s, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:o}", "schema", "plimsoll.explain/1",
                             "framework", plim_text_or_null_json(e->diagnosis->framework), "findings", findings,
                             "context", context_json(&e->diagnosis->context), "processes", processes_json(e), "lines",
                             (json_int_t)e->diagnosis->n_lines, "bytes", (json_int_t)e->diagnosis->n_bytes, "left_out",
                             (json_int_t)e->diagnosis->n_left_out, "not_read", not_read_json(e));
    return plim_json_write(out, root, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
}
