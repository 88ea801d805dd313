/* SPDX-License-Identifier: MIT */
/*
 * From a header to the answer: every header the reader accepts must give a bill, fixes, another quantization and both
 * kinds of report. The last bytes of the input choose the setup.
 */
#include "fuzz.h"

#include "gguf_walk.h"

#include "base/units.h"
#include "plimsoll/quant_recipe.h"
#include "report/report.h"

#include <string.h>

enum { SETUP_BYTES = 8, MAX_INPUT = 1 << 16 };

static struct walk walk;
static struct plim_bill bill, other;
static struct plim_fix fixes[PLIM_MAX_FIXES];

static void choose_setup(const uint8_t bytes[SETUP_BYTES], struct plim_setup *setup, struct plim_machine *machine)
{
    static const uint32_t contexts[] = { 0, 1, 512, 4096, 32768, 131072, 1 << 20, 1 << 30 };
    static const uint32_t batches[] = { 0, 1, 33, 64, 512, 2048, 8192, 1 << 20 };
    static const enum plim_dtype types[] = { PLIM_DTYPE_UNKNOWN, PLIM_DTYPE_Q8_0, PLIM_DTYPE_Q4_0, PLIM_DTYPE_F32 };
    plim_setup_init(setup, NULL);
    setup->llamacpp.n_ctx = contexts[bytes[0] & 7];
    setup->llamacpp.n_ubatch = batches[bytes[0] >> 3 & 7];
    setup->llamacpp.client = (enum plim_client)(bytes[0] >> 6);
    setup->llamacpp.n_parallel = bytes[1] & 15;
    setup->llamacpp.type_k = types[bytes[1] >> 4 & 3];
    setup->llamacpp.type_v = types[bytes[1] >> 6];
    setup->llamacpp.n_gpu_layers = (int8_t)bytes[2];
    setup->llamacpp.flash_attn = (enum plim_switch)(bytes[3] % 3);
    setup->llamacpp.kv_unified = (enum plim_switch)(bytes[3] / 3 % 3);
    setup->llamacpp.swa_full = (enum plim_switch)(bytes[3] / 9 % 3);
    setup->llamacpp.mmap = (enum plim_switch)(bytes[3] / 27 % 3);
    setup->llamacpp.split_mode = (enum plim_split_mode)(bytes[4] & 3);
    setup->llamacpp.n_cpu_moe = bytes[4] >> 2 & 7;
    setup->llamacpp.mtp = bytes[4] >> 5 & 1;
    setup->llamacpp.embedding = (enum plim_switch)(bytes[4] >> 6 & 1);
    setup->llamacpp.backend = (enum plim_backend)(bytes[5] % PLIM_BACKEND_MAX_);
    machine->n_cards = bytes[5] / PLIM_BACKEND_MAX_ % 4;
    for (uint32_t i = 0; i < machine->n_cards; i++)
        plim_card_of_size(6 + 8 * i, &machine->card[i]);
    machine->host = (struct plim_host){ .total_bytes = 32 * PLIM_GIB, .free_bytes = 30 * PLIM_GIB };
}

static void check_bill(const struct plim_bill *b)
{
    for (uint32_t i = 0; i < b->n_devices; i++) {
        const struct plim_device_bill *d = &b->device[i];
        uint64_t sum_bytes = 0;
        for (uint32_t k = 0; k < d->n_lines; k++) {
            const struct plim_line *line = &d->line[k];
            char why[PLIM_WHY_BYTES];
            sum_bytes += line->bytes;
            FUZZ_REQUIRE(line->low_bytes <= line->bytes && line->bytes <= line->high_bytes);
            FUZZ_REQUIRE(line->basis != PLIM_BASIS_UNKNOWN);
            FUZZ_REQUIRE(plim_line_why(line, why) == why);
        }
        FUZZ_REQUIRE(sum_bytes == d->need_bytes);
    }
}

static void write_reports(const struct plim_answer *answer)
{
    const struct plim_style style = { .is_verbose = true };
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    plim_report_fit_text(out, answer, &style);
    plim_report_models_row(out, answer, &style);
    FUZZ_REQUIRE(plim_report_json(out, answer, false, 0));
    fclose(out);
    fuzz_require_shown(text, size);
    free(text);
}

/* The parts beyond the bill take many bills each: the input chooses one. */
enum part { FOR_FIXES = 1, FOR_STARTS_WITH = 2, FOR_REPORTS = 3, FOR_MIXTURE = 4, FOR_ROOM = 5, N_PARTS = 16 };

static void answer(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                   enum part part)
{
    static struct plim_command command;
    struct plim_error error = { 0 };
    static struct plim_adjustment start;
    if (command.n_words == 0)
        plim_command_add(&command, "llama-server");
    struct plim_room room = { 0 };
    struct plim_answer a = { .engine = engine,
                             .setup = setup,
                             .machine = machine,
                             .bill = &bill,
                             .fixes = fixes,
                             .room = &room,
                             .command = &command };
    if (plim_engine_bill(engine, setup, machine, NULL, &bill, &error) < 0) {
        FUZZ_REQUIRE(error.code && error.what[0]);
        return;
    }
    check_bill(&bill);
    if (part == FOR_FIXES &&
        plim_plan_fixes(engine, setup, machine, NULL, &bill, fixes, PLIM_MAX_FIXES, &a.n_fixes, &error) < 0)
        return;
    if (part == FOR_STARTS_WITH && plim_engine_adjust(engine, setup, machine, &bill, &start, &error) == 1 &&
        plim_engine_bill(engine, &start.setup, machine, NULL, &other, &error) == 0) {
        check_bill(&other);
        a.adjustment = &start;
        a.adjusted_bill = &other;
    }
    if (part == FOR_ROOM && plim_plan_room(engine, setup, machine, NULL, &bill, &room, &error) < 0)
        FUZZ_REQUIRE(error.code && error.what[0]);
    if (part == FOR_REPORTS || a.n_fixes || a.adjustment || room.n_ctx || room.n_slots)
        write_reports(&a);
}

static void requantize(const struct plim_model *model, uint8_t which)
{
    const struct plim_quant_recipe *recipe = plim_quant_recipe_at(which);
    struct plim_error error = { 0 };
    struct plim_model *made = NULL;
    if (recipe && plim_model_requantize(model, recipe->name, &made, &error) < 0)
        FUZZ_REQUIRE(error.code && error.what[0] && !made);
    plim_model_free(made);
}

static void read_and_answer(const unsigned char *header, size_t size, const uint8_t setup_bytes[SETUP_BYTES])
{
    struct plim_error error = { 0 };
    struct plim_model *model = NULL;
    struct plim_engine *engine = NULL;
    struct plim_setup setup;
    struct plim_machine machine = { 0 };
    if (plim_model_read(header, size, FUZZ_FILE_BYTES, &model, &error) < 0)
        return;
    const enum part part = (enum part)(setup_bytes[7] % N_PARTS);
    choose_setup(setup_bytes, &setup, &machine);
    if (plim_engine_new(model, NULL, NULL, &engine, &error) == 0)
        answer(engine, &setup, &machine, part);
    else
        FUZZ_REQUIRE(error.code && error.what[0]);
    if (part == FOR_MIXTURE)
        requantize(model, setup_bytes[6]);
    plim_engine_free(engine);
    plim_model_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < SETUP_BYTES || size > MAX_INPUT)
        return 0;
    size_t header_bytes = size - SETUP_BYTES;
    unsigned char *header =
        malloc(header_bytes ? header_bytes : 1); /* of this size, so that a read beyond it is seen */
    memcpy(header, data, header_bytes);
    walk_gguf(header, header_bytes, true, &walk);
    read_and_answer(header, header_bytes, data + header_bytes);
    free(header);
    return 0;
}

/* Change one number of the header, or bytes anywhere. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    if (size <= SETUP_BYTES || seed % 4 == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    if (seed % 4 == 1) {
        LLVMFuzzerMutate(data + size - SETUP_BYTES, SETUP_BYTES, SETUP_BYTES);
        return size;
    }
    walk_gguf(data, size - SETUP_BYTES, false, &walk);
    if (walk.n_slots == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    unsigned random = seed / 4;
    const struct walk_slot slot = walk.slots[random % walk.n_slots];
    if (random / walk.n_slots % 3 == 0)
        LLVMFuzzerMutate(data + slot.at, slot.n_bytes, slot.n_bytes);
    else
        walk_put(data, slot, walk_extreme((uint32_t)(random / walk.n_slots)));
    return size;
}
