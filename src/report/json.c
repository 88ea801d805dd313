/* SPDX-License-Identifier: MIT */
/* Answers for programs: plimsoll.fit/1 and plimsoll.fits/1, as docs/json.md has them. Unknown is null. */
#include "base/mem.h"
#include "base/text.h"
#include "report/report.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

/* Paths and commands may hold bytes that are not text: those become '?'. */
static json_t *text(const char *raw)
{
    json_t *value = json_string(raw);
    if (value)
        return value;
    char *copy = plim_alloc(strlen(raw) + 1, 1);
    if (!copy)
        return NULL;
    memcpy(copy, raw, strlen(raw) + 1);
    plim_text_clean(copy);
    value = json_string(copy);
    plim_free(copy);
    return value;
}

static json_t *text_or_null(const char *raw) { return raw && *raw ? text(raw) : json_null(); }
static json_t *bytes(uint64_t n) { return json_integer((json_int_t)n); }
static json_t *bytes_or_null(uint64_t n) { return n ? bytes(n) : json_null(); }
static json_t *count_or_null(uint32_t n) { return n ? json_integer(n) : json_null(); }

/* --- parts --- */

static json_t *model_json(const struct plim_engine *engine)
{
    const struct plim_model *model = plim_engine_model(engine);
    struct plim_model_shape shape;
    plim_engine_shape(engine, &shape);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", /* in the order of the contract */
                     "name", text_or_null(plim_model_name(model)), "arch", text_or_null(plim_model_arch(model)),
                     "params", bytes(plim_model_n_params(model)), "file_type",
                     text_or_null(plim_model_file_type(model)), "tensor_bytes", bytes(plim_model_tensor_bytes(model)),
                     "n_layer", json_integer(shape.n_layer), "n_embd", json_integer(shape.n_embd), "n_vocab",
                     count_or_null(shape.n_vocab), "n_ctx_train", json_integer(shape.n_ctx_train), "path",
                     text_or_null(plim_model_path(model)));
}

static json_t *speed_json(double low, double high)
{
    if (high <= 0)
        return json_null();
    return json_pack("{s:f, s:f}", "tokens_per_s_low", round(low * 100) / 100, "tokens_per_s_high",
                     round(high * 100) / 100);
}

static json_t *setup_json(const struct plim_answer *answer)
{
    static const char *const clients[PLIM_CLIENT_MAX_] = { "server", "cli", "library", "ollama" };
    static const char *const backends[PLIM_BACKEND_MAX_] = { "cuda", "hip", "vulkan", "metal", "cpu" };
    const struct plim_resolved *r = &answer->bill->resolved;
    return json_pack("{s:s, s:i, s:i, s:i, s:i, s:b, s:s, s:s, s:i, s:i, s:i, s:b, s:b, s:b, s:b, s:s, s:s, s:b}",
                     "task", "infer", "n_ctx", r->n_ctx, "n_batch", r->n_batch, "n_ubatch", r->n_ubatch, "n_seq",
                     r->n_seq, "flash_attn", r->flash_attn, "type_k", plim_dtype_name(r->type_k), "type_v",
                     plim_dtype_name(r->type_v), "n_gpu_layers", r->n_gpu_layers, "n_ctx_seq", r->n_ctx_seq,
                     "n_outputs_max", r->n_outputs_max, "kv_unified", r->kv_unified, "swa_full", r->swa_full,
                     "kv_offload", r->kv_offload, "mmap", r->mmap, "client", clients[answer->setup->client], "backend",
                     backends[answer->setup->backend], "n_ctx_is_default", r->is_default_ctx);
}

static json_t *line_json(const struct plim_line *line)
{
    char why[PLIM_WHY_BYTES];
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:s, s:s}", "pillar", plim_pillar_name(line->pillar), "label",
                     line->label, "bytes", bytes(line->bytes), "low", bytes(line->low_bytes), "high",
                     bytes(line->high_bytes), "basis", plim_basis_name(line->basis), "why", plim_line_why(line, why));
}

static json_t *device_json(const struct plim_answer *answer, const struct plim_device_bill *device)
{
    char id[PLIM_DEVICE_ID_BYTES];
    json_t *lines = json_array();
    for (uint32_t i = 0; lines && i < device->n_lines; i++)
        json_array_append_new(lines, line_json(&device->line[i]));
    const int64_t margin_bytes = (int64_t)device->total_bytes - (int64_t)device->need_bytes;
    json_t *margin = device->total_bytes ? json_integer(margin_bytes) : json_null();
    return json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:s}", "id", plim_report_device_id(device, id),
        "name", device->is_host ? "host" : answer->machine->card[device->index].name, "total_bytes",
        bytes_or_null(device->total_bytes), "free_bytes", device->total_bytes ? bytes(device->free_bytes) : json_null(),
        "need_bytes", bytes(device->need_bytes), "need_low", bytes(device->need_low_bytes), "need_high",
        bytes(device->need_high_bytes), "idle_bytes", bytes(device->idle_bytes), "margin_bytes", margin, "lines", lines,
        "total_basis", plim_basis_name(device->total_basis), "total_low", bytes_or_null(device->total_low_bytes),
        "verdict", plim_verdict_name(plim_device_verdict(device, &answer->margin)));
}

static json_t *limiting_json(const struct plim_bill *bill)
{
    char id[PLIM_DEVICE_ID_BYTES];
    json_t *label = bill->limiting_line ? text(bill->limiting_line->label) : json_null();
    return json_pack("{s:s, s:o}", "device", plim_report_device_id(&bill->device[bill->limiting_device], id), "label",
                     label);
}

static json_t *starts_with_json(const struct plim_answer *answer)
{
    char flags[PLIM_STARTS_WITH_BYTES];
    const struct plim_setup *s = answer->starts_with;
    if (!s)
        return json_null();
    json_t *split = json_array();
    for (uint32_t i = 0; split && i < s->n_tensor_split; i++)
        json_array_append_new(split, json_real(s->tensor_split[i]));
    json_t *moved = json_array();
    for (uint32_t i = 0; moved && i < s->n_overflows; i++)
        json_array_append_new(
            moved, json_pack("{s:i, s:i}", "first_layer", s->overflow[i].first, "n_layers", s->overflow[i].n_layers));
    const struct plim_resolved *r = &answer->starts_with_bill->resolved;
    return json_pack("{s:i, s:i, s:o, s:o, s:s, s:s}", "n_ctx", r->n_ctx, "n_gpu_layers", r->n_gpu_layers,
                     "tensor_split", split, "experts_on_cpu", moved, "flags", plim_report_starts_with(answer, flags),
                     "verdict", plim_verdict_name(answer->starts_with_bill->verdict));
}

/* What to paste; null when there is nothing to: another file, or no word for it. */
static json_t *command_json(const struct plim_answer *answer, const struct plim_fix *fix, json_t *ollama)
{
    char command[PLIM_COMMAND_BYTES];
    if (plim_quantize_text(plim_engine_model(answer->engine), fix, command))
        return text(command);
    if (answer->is_for_ollama)
        return json_incref(ollama);
    if (fix->n_changes == 0 || answer->command->is_flags_only ||
        !plim_command_text(answer->command, fix->changes, fix->n_changes, command))
        return json_null();
    return text(command);
}

/* The flags alone, with their new values. */
static json_t *flags_json(const struct plim_fix *fix)
{
    static const struct plim_command none;
    char flags[PLIM_COMMAND_BYTES];
    return fix->n_changes && plim_command_text(&none, fix->changes, fix->n_changes, flags) ? text(flags) : json_null();
}

static json_t *fix_json(const struct plim_answer *answer, const struct plim_fix *fix)
{
    char lines[PLIM_COMMAND_BYTES];
    json_t *ollama = plim_ollama_text(fix, answer->bill->resolved.n_seq, lines) ? text(lines) : json_null();
    json_t *command = command_json(answer, fix, ollama);
    return json_pack("{s:s, s:o, s:s, s:s, s:o, s:o, s:o, s:o}", "change", fix->change, "frees_bytes",
                     json_integer(fix->frees_bytes), "costs", fix->costs, "verdict_after",
                     plim_verdict_name(fix->verdict_after), "command", command, "flags", flags_json(fix), "ollama",
                     ollama, "speed", speed_json(fix->tokens_per_s_low, fix->tokens_per_s_high));
}

static json_t *answer_json(const struct plim_answer *answer)
{
    const struct plim_bill *bill = answer->bill;
    json_t *devices = json_array(), *fixes = json_array(), *notes = json_array();
    for (uint32_t i = 0; devices && i < bill->n_devices; i++)
        json_array_append_new(devices, device_json(answer, &bill->device[i]));
    for (uint32_t i = 0; fixes && i < answer->n_fixes; i++)
        json_array_append_new(fixes, fix_json(answer, &answer->fixes[i]));
    for (uint32_t i = 0; notes && i < answer->n_notes; i++)
        json_array_append_new(notes, text(answer->notes[i]));
    return json_pack("{s:s, s:o, s:{s:s, s:s}, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "schema",
                     "plimsoll.fit/1", "model", model_json(answer->engine), "engine", "name",
                     plim_engine_name(answer->engine), "version", plim_engine_version(answer->engine), "speed",
                     speed_json(bill->tokens_per_s_low, bill->tokens_per_s_high), "setup", setup_json(answer),
                     "devices", devices, "verdict", plim_verdict_name(bill->verdict), "would_start_with",
                     starts_with_json(answer), "limiting", limiting_json(bill), "fixes", fixes, "notes", notes,
                     "refusal", bill->is_refused ? text(bill->refusal) : json_null());
}

/* --- whole documents --- */

enum { DUMP_FLAGS = JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(10) };

static bool dump(FILE *out, json_t *root)
{
    bool is_written = root && json_dumpf(root, out, DUMP_FLAGS) == 0;
    if (is_written)
        fputc('\n', out);
    json_decref(root);
    return is_written;
}

/* A list is written one answer at a time, so that a folder of models takes the memory of one. */
static void begin_list(FILE *out) { fputs("{\"schema\": \"plimsoll.fits/1\", \"results\": [\n", out); }

bool plim_report_json(FILE *out, const struct plim_answer *answer, bool is_list, size_t nth)
{
    if (is_list && nth == 0)
        begin_list(out);
    else if (is_list)
        fputs(",\n", out);
    return dump(out, answer_json(answer));
}

void plim_report_json_end(FILE *out, size_t n)
{
    if (n == 0)
        begin_list(out);
    fputs("]}\n", out);
}

static json_t *card_json(size_t row)
{
    struct plim_card card;
    plim_catalogue_card(row, &card);
    json_t *capability =
        card.compute_capability ? json_pack("s", plim_catalogue_field(row, "compute_capability")) : json_null();
    json_t *bandwidth =
        card.bandwidth_bytes_per_s > 0 ? json_integer((json_int_t)card.bandwidth_bytes_per_s) : json_null();
    return json_pack("{s:s, s:s, s:s, s:o, s:s, s:o, s:o, s:s, s:o, s:o, s:b, s:o}", "name", card.name, "vendor",
                     plim_catalogue_field(row, "vendor"), "architecture", plim_catalogue_field(row, "architecture"),
                     "total_bytes", bytes(card.total_bytes), "total_basis", plim_basis_name(card.total_basis),
                     "total_low", bytes(card.total_low_bytes), "reserved_bytes", bytes(card.reserved_bytes),
                     "reserved_basis", plim_basis_name(card.reserved_basis), "compute_capability", capability,
                     "bandwidth_bytes_per_s", bandwidth, "unified", card.is_unified, "launch_year",
                     text_or_null(plim_catalogue_field(row, "launch_year")));
}

bool plim_report_catalogue_json(FILE *out, const size_t *rows, size_t n)
{
    json_t *cards = json_array();
    for (size_t i = 0; cards && i < n; i++)
        json_array_append_new(cards, card_json(rows[i]));
    return dump(out, json_pack("{s:s, s:o}", "schema", "plimsoll.cards/1", "cards", cards));
}

/* --- hollow models --- */

bool plim_report_hollow_json(FILE *out, const struct plim_hollow *hollow)
{
    json_t *files = json_array();
    for (size_t i = 0; i < hollow->n_files; i++) {
        const struct plim_hollow_file *file = &hollow->files[i];
        json_array_append_new(files, json_pack("{s:o, s:o, s:o}", "path", text(file->path), "bytes", bytes(file->bytes),
                                               "disk_bytes", bytes(file->disk_bytes)));
    }
    return dump(out, json_pack("{s:s, s:o}", "schema", "plimsoll.hollow/1", "files", files));
}
