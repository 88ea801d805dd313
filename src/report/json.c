/* SPDX-License-Identifier: MIT */
/* Answers for programs: plimsoll.fit/1 and plimsoll.fits/1, as docs/json.md has them. Unknown is null. */
#include "engine/type.h"
#include "report/json_text.h"
#include "report/print.h"
#include "report/report.h"
#include "report/step/course.h"
#include "source/remote/remote.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static json_t *bytes(uint64_t n) { return json_integer((json_int_t)n); }
static json_t *bytes_or_null(uint64_t n) { return n ? bytes(n) : json_null(); }
static json_t *count_or_null(uint32_t n) { return n ? json_integer(n) : json_null(); }

/* --- parts --- */

/* Null of a step, which is no model of layers and tensors. */
static json_t *if_model(const struct plim_model *model, uint64_t n)
{
    return plim_model_kind(model) == PLIM_MODEL_STEP ? json_null() : bytes(n);
}

static json_t *model_json(const struct plim_engine *engine)
{
    const struct plim_model *model = plim_engine_model(engine);
    struct plim_model_shape shape;
    plim_engine_shape(engine, &shape);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", /* in the order of the contract */
                     "name", plim_text_or_null_json(plim_model_name(model)), "arch",
                     plim_text_or_null_json(plim_model_arch(model)), "params",
                     if_model(model, plim_model_n_params(model)), "file_type",
                     plim_text_or_null_json(plim_model_file_type(model)), "tensor_bytes",
                     if_model(model, plim_model_tensor_bytes(model)), "n_layer", if_model(model, shape.n_layer),
                     "n_embd", if_model(model, shape.n_embd), "n_vocab", count_or_null(shape.n_vocab), "n_ctx_train",
                     if_model(model, shape.n_ctx_train), "path", plim_text_or_null_json(plim_model_path(model)));
}

/* Of a model of a hub or a server. */
static json_t *source_json(const struct plim_path *path)
{
    const struct plim_remote_facts facts =
        path->remote ? plim_remote_facts(path->remote) : (struct plim_remote_facts){ 0 };
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:i}", "name", plim_text_json(path->given), "url",
                     path->remote ? plim_text_json(path->text) : json_null(), "path",
                     path->remote ? json_null() : plim_text_json(path->text), "projector",
                     plim_text_or_null_json(path->projector), "received_bytes", bytes(facts.received_bytes),
                     "cached_bytes", bytes(facts.cached_bytes), "requests", (int)facts.n_requests);
}

static json_t *speed_json(double low, double high)
{
    if (high <= 0)
        return json_null();
    return json_pack("{s:f, s:f}", "tokens_per_s_low", round(low * 100) / 100, "tokens_per_s_high",
                     round(high * 100) / 100);
}

static json_t *numbers_json(const struct plim_setting *setting)
{
    json_t *list = json_array();
    for (uint32_t i = 0; list && i < setting->n_items; i++)
        json_array_append_new(list, json_real(setting->numbers[i]));
    return list;
}

static json_t *layers_json(const struct plim_setting *setting)
{
    json_t *list = json_array();
    for (uint32_t i = 0; list && i < setting->n_items; i++)
        json_array_append_new(list, json_pack("{s:i, s:i}", "first_layer", setting->layers[i].first, "n_layers",
                                              setting->layers[i].n_layers));
    return list;
}

static json_t *value_json(const struct plim_setting *setting)
{
    switch (setting->kind) {
    case PLIM_SETTING_BOOL:
        return json_boolean(setting->integer);
    case PLIM_SETTING_INTEGER:
        return json_integer(setting->integer);
    case PLIM_SETTING_TEXT:
        return plim_text_json(setting->text);
    case PLIM_SETTING_NUMBERS:
        return numbers_json(setting);
    case PLIM_SETTING_LAYERS:
        return layers_json(setting);
    case PLIM_SETTING_NONE:
        break;
    }
    return json_null();
}

static json_t *setup_json(const struct plim_answer *answer)
{
    const struct plim_bill *bill = answer->bill;
    json_t *setup = json_pack("{s:s}", "task", answer->setup->task == PLIM_TASK_TRAIN ? "train" : "infer");
    for (uint32_t i = 0; i < bill->n_settings; i++)
        if (!bill->settings[i].option->is_unlisted)
            json_object_set_new(setup, bill->settings[i].key, value_json(&bill->settings[i]));
    for (uint32_t i = 0; i < bill->n_settings; i++)
        if (bill->settings[i].option->reports_default) {
            char key[64];
            snprintf(key, sizeof key, "%s_is_default", bill->settings[i].key);
            json_object_set_new(setup, key, json_boolean(bill->settings[i].is_default));
        }
    return setup;
}

/* The phases in which a line is held, where not in all. */
static json_t *phases_json(unsigned phases)
{
    json_t *list = json_array();
    for (unsigned phase = 0; list && phase < PLIM_PHASE_MAX_; phase++)
        if (phases & PLIM_IN_PHASE(phase))
            json_array_append_new(list, plim_text_json(plim_phase_name((enum plim_phase)phase)));
    return list;
}

static json_t *line_json(const struct plim_line *line)
{
    char why[PLIM_WHY_BYTES];
    json_t *object = json_pack("{s:s, s:o, s:o, s:o, s:o, s:s, s:o}", "pillar", plim_pillar_name(line->pillar), "label",
                               plim_text_json(line->label), "bytes", bytes(line->bytes), "low", bytes(line->low_bytes),
                               "high", bytes(line->high_bytes), "basis", plim_basis_name(line->basis), "why",
                               plim_text_json(plim_line_why(line, why)));
    if (line->phases)
        json_object_set_new(object, "phases", phases_json(line->phases));
    if (line->is_elastic)
        json_object_set_new(object, "least_bytes", bytes(line->least_bytes));
    return object;
}

static json_t *device_json(const struct plim_answer *answer, const struct plim_device_bill *device)
{
    char id[PLIM_DEVICE_ID_BYTES];
    json_t *lines = json_array();
    for (uint32_t i = 0; lines && i < device->n_lines; i++)
        json_array_append_new(lines, line_json(&device->line[i]));
    const int64_t margin_bytes = (int64_t)device->total_bytes - (int64_t)device->need_bytes;
    json_t *margin = device->total_bytes ? json_integer(margin_bytes) : json_null();
    json_t *object = json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:s}", "id", plim_report_device_id(device, id),
        "name", plim_text_json(device->is_host ? "host" : answer->machine->card[device->index].name), "total_bytes",
        bytes_or_null(device->total_bytes), "free_bytes", device->total_bytes ? bytes(device->free_bytes) : json_null(),
        "need_bytes", bytes(device->need_bytes), "need_low", bytes(device->need_low_bytes), "need_high",
        bytes(device->need_high_bytes), "idle_bytes", bytes(device->idle_bytes), "margin_bytes", margin, "lines", lines,
        "total_basis", plim_basis_name(device->total_basis), "total_low", bytes_or_null(device->total_low_bytes),
        "verdict", plim_verdict_name(plim_device_verdict(device, &answer->margin)));
    if (device->has_phases)
        json_object_set_new(object, "phase", plim_text_json(plim_phase_name(device->binding)));
    return object;
}

static json_t *limiting_json(const struct plim_bill *bill)
{
    char id[PLIM_DEVICE_ID_BYTES];
    json_t *label = bill->limiting_line ? plim_text_json(bill->limiting_line->label) : json_null();
    return json_pack("{s:s, s:o}", "device", plim_report_device_id(&bill->device[bill->limiting_device], id), "label",
                     label);
}

static json_t *adjustment_json(const struct plim_answer *answer)
{
    const struct plim_adjustment *a = answer->adjustment;
    if (!a)
        return json_null();
    json_t *object = json_object();
    for (uint32_t i = 0; i < a->n_settings; i++) {
        const struct plim_setting *billed = plim_bill_setting(answer->adjusted_bill, a->settings[i].key);
        json_object_set_new(object, a->settings[i].key, value_json(billed ? billed : &a->settings[i]));
    }
    json_object_set_new(object, "flags", plim_text_json(a->flags));
    json_object_set_new(object, "verdict", plim_text_json(plim_verdict_name(answer->adjusted_bill->verdict)));
    return object;
}

/* The command to paste; null without one: another file, a question without a program, or no setting for it. */
static json_t *command_json(const struct plim_answer *answer, const struct plim_fix *fix)
{
    char command[PLIM_COMMAND_BYTES];
    bool is_unsupported;
    const bool is_flags = !fix->quant_recipe && !fix->n_ends && !answer->setup->type->paste;
    if ((is_flags && answer->command->is_flags_only) || !plim_report_paste(answer, fix, command, &is_unsupported))
        return json_null();
    return plim_text_json(command);
}

/* The flags alone, with their new values. */
static json_t *flags_json(const struct plim_fix *fix)
{
    static const struct plim_command none;
    char flags[PLIM_COMMAND_BYTES];
    return fix->n_changes && plim_command_text(&none, fix->changes, fix->n_changes, flags) ? plim_text_json(flags)
                                                                                           : json_null();
}

/* The fix in the words of each runtime of these rules that has words of its own: "ollama". */
static void add_pastes(const struct plim_answer *answer, const struct plim_fix *fix, json_t *object)
{
    const struct plim_engine_type *type;
    for (size_t i = 0; (type = plim_engine_type_at(i)); i++) {
        char lines[PLIM_COMMAND_BYTES];
        if (type->paste && !strcmp(type->rules, answer->setup->type->rules))
            json_object_set_new(object, type->name,
                                type->paste(fix, answer->bill, lines, sizeof lines) ? plim_text_json(lines)
                                                                                    : json_null());
    }
}

/* The processes that a fix ends. */
static json_t *ends_json(const struct plim_fix *fix)
{
    json_t *list = json_array();
    for (uint32_t i = 0; list && i < fix->n_ends; i++)
        json_array_append_new(list, json_integer(fix->ends[i]));
    return list;
}

static json_t *fix_json(const struct plim_answer *answer, const struct plim_fix *fix)
{
    json_t *object = json_pack("{s:o, s:o, s:o, s:s, s:o, s:o}", "change", plim_text_json(fix->change), "frees_bytes",
                               json_integer(fix->frees_bytes), "costs", plim_text_json(fix->costs), "verdict_after",
                               plim_verdict_name(fix->verdict_after), "command", command_json(answer, fix), "flags",
                               flags_json(fix));
    add_pastes(answer, fix, object);
    if (fix->n_ends)
        json_object_set_new(object, "ends", ends_json(fix));
    json_object_set_new(object, "speed", speed_json(fix->tokens_per_s_low, fix->tokens_per_s_high));
    return object;
}

static json_t *count_json(uint32_t n) { return n ? json_integer(n) : json_null(); }

static json_t *room_json(const struct plim_room *room)
{
    if (!room->n_ctx && !room->n_slots)
        return json_null();
    return json_pack("{s:o, s:b, s:o, s:o}", "n_ctx", count_json(room->n_ctx), "n_ctx_is_all", room->is_ctx_all,
                     "n_slots", count_json(room->n_slots), "n_ctx_slot", count_json(room->n_ctx_slot));
}

/* The rules, and the versions whose figures are compared with the runtime itself. */
static json_t *engine_json(const struct plim_answer *answer)
{
    const struct plim_engine_type *type = answer->setup->type;
    json_t *proven = json_array();
    for (size_t i = 0; type->compared && type->compared[i]; i++)
        json_array_append_new(proven, plim_text_json(type->compared[i]));
    return json_pack("{s:s, s:o, s:o, s:s?, s:s?}", "name", plim_engine_name(answer->engine), "version",
                     plim_text_json(plim_engine_version(answer->engine)), "compared", proven, "proven_from",
                     type->proven_from, "proven_to", type->proven_to);
}

static json_t *quant_json(const struct plim_quant_row *row)
{
    return json_pack("{s:o, s:o, s:b, s:o, s:o, s:b}", "recipe",
                     row->recipe ? plim_text_json(row->recipe) : json_null(), "perplexity_delta",
                     row->has_loss ? json_real(row->loss) : json_null(), "needs_imatrix", row->needs_imatrix,
                     "file_bytes", bytes(row->file_bytes), "largest_n_ctx", count_json(row->n_ctx),
                     "largest_n_ctx_is_all", row->is_ctx_all);
}

/* The processes that hold memory of the cards now. */
static json_t *holders_json(const struct plim_machine *machine)
{
    json_t *list = json_array();
    for (uint32_t i = 0; list && i < machine->n_holders; i++) {
        const struct plim_holder *holder = &machine->holders[i];
        char id[PLIM_DEVICE_ID_BYTES];
        snprintf(id, sizeof id, "gpu%u", holder->card);
        json_array_append_new(list,
                              json_pack("{s:s, s:I, s:o, s:o, s:b, s:o}", "device", id, "pid", (json_int_t)holder->pid,
                                        "name", plim_text_json(holder->name), "bytes", bytes(holder->bytes), "stale",
                                        holder->is_stale, "why", plim_text_or_null_json(holder->why)));
    }
    return list;
}

static json_t *verdict_or_null_json(enum plim_verdict verdict)
{
    return verdict == PLIM_VERDICT_UNKNOWN ? json_null() : plim_text_json(plim_verdict_name(verdict));
}

static json_t *answer_json(const struct plim_answer *answer)
{
    const struct plim_bill *bill = answer->bill;
    json_t *devices = json_array(), *fixes = json_array(), *notes = json_array();
    for (uint32_t i = 0; devices && i < bill->n_devices; i++)
        if (!plim_report_says_nothing(&bill->device[i]))
            json_array_append_new(devices, device_json(answer, &bill->device[i]));
    for (uint32_t i = 0; fixes && i < answer->n_fixes; i++)
        json_array_append_new(fixes, fix_json(answer, &answer->fixes[i]));
    for (uint32_t i = 0; notes && i < answer->n_notes; i++)
        json_array_append_new(notes, plim_text_json(answer->notes[i]));
    json_t *object =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", "plimsoll.fit/1",
                  "model", model_json(answer->engine), "engine", engine_json(answer), "speed",
                  speed_json(bill->tokens_per_s_low, bill->tokens_per_s_high), "setup", setup_json(answer), "devices",
                  devices, "verdict", plim_verdict_name(bill->verdict), "would_start_with", adjustment_json(answer),
                  "limiting", limiting_json(bill), "fixes", fixes, "room", room_json(answer->room), "notes", notes,
                  "refusal", bill->is_refused ? plim_text_json(bill->refusal) : json_null());
    if (answer->machine->n_holders) {
        json_object_set_new(object, "holders", holders_json(answer->machine));
        json_object_set_new(object, "verdict_alone", verdict_or_null_json(answer->verdict_alone));
    }
    if (answer->course)
        json_object_set_new(object, "step", plim_course_json(answer->course));
    if (answer->quant)
        json_object_set_new(object, "quantization", quant_json(answer->quant));
    if (bill->is_contradicted)
        json_object_set_new(object, "contradiction", plim_text_json(plim_engine_contradiction(answer->engine)));
    if (answer->path && answer->path->given)
        json_object_set_new(object, "source", source_json(answer->path));
    const struct plim_capacity *c = &bill->capacity;
    if (c->kv_n_tokens)
        json_object_set_new(
            object, "capacity",
            json_pack("{s:o, s:i, s:i}", "kv_n_tokens", bytes(c->kv_n_tokens), "n_seq", c->n_seq, "n_ctx", c->n_ctx));
    return object;
}

/* --- whole documents --- */

enum { DUMP_FLAGS = JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(10) };

static bool dump(FILE *out, json_t *root) { return plim_json_write(out, root, DUMP_FLAGS); }

/* A list is written one answer at a time, so that a folder of models takes the memory of one. */
static void begin_list(FILE *out) { plim_print(out, "{\"schema\": \"plimsoll.fits/1\", \"results\": [\n"); }

bool plim_report_json(FILE *out, const struct plim_answer *answer, bool is_list, size_t nth)
{
    if (is_list && nth == 0)
        begin_list(out);
    else if (is_list)
        plim_print(out, ",\n");
    return dump(out, answer_json(answer));
}

static void print_text(FILE *out, const char *key, json_t *text)
{
    plim_print(out, ", \"%s\": ", key);
    (void)plim_json_write(out, text, JSON_ENCODE_ANY);
}

void plim_report_json_end(FILE *out, size_t n, const struct plim_list_end *end)
{
    if (n == 0)
        begin_list(out);
    plim_print(out, "]");
    if (end->largest)
        print_text(out, "largest_quantization", plim_text_json(end->largest));
    if (end->recommended)
        print_text(out, "recommended", plim_text_or_null_json(end->recommended));
    if (end->n_models_left_out)
        plim_print(out, ", \"models_left_out\": %zu", end->n_models_left_out);
    if (end->n_entries_left_out)
        plim_print(out, ", \"entries_left_out\": %zu", end->n_entries_left_out);
    plim_print(out, "}\n");
}

/* --- hollow models --- */

bool plim_report_hollow_json(FILE *out, const struct plim_hollow *hollow)
{
    json_t *files = json_array();
    for (size_t i = 0; i < hollow->n_files; i++) {
        const struct plim_hollow_file *file = &hollow->files[i];
        json_array_append_new(files, json_pack("{s:o, s:o, s:o}", "path", plim_text_json(file->path), "bytes",
                                               bytes(file->bytes), "disk_bytes", bytes(file->disk_bytes)));
    }
    json_t *root = json_pack("{s:s, s:o}", "schema", "plimsoll.hollow/1", "files", files);
    if (hollow->maker[0])
        json_object_set_new(root, "made_by", plim_text_json(hollow->maker));
    if (hollow->contradiction[0])
        json_object_set_new(root, "contradiction", plim_text_json(hollow->contradiction));
    return dump(out, root);
}
