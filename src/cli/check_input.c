/* SPDX-License-Identifier: MIT */
#include "cli/check_input.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/system.h"
#include "cli/fit/machine.h"
#include "cli/log_file.h"
#include "engine/aux_files.h"
#include "engine/log.h"
#include "engine/type.h"
#include "report/receipt/documents.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* --- documents and logs --- */

/* Fill the buffer, or as much of it as the file has. Returns 0 or an errno. */
static int read_full(int file, char *buffer, size_t size, size_t *ret_length)
{
    size_t length = 0, n = 1;
    int error = 0;
    while (length < size && n > 0 && error == 0) {
        n = 0;
        error = plim_system_read(file, buffer + length, size - length, &n);
        length += n;
    }
    *ret_length = length;
    return error;
}

enum { PIECE_BYTES = 1 << 16 };

/* The log goes on after the `length` bytes that were read already. */
static int read_log(int file, char *buffer, size_t length, struct plim_receipt *ret_receipt, struct plim_error *reterr)
{
    int error = 0;
    struct plim_log *log = plim_log_new();
    if (!log)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "not enough memory");
    uint64_t n_bytes = 0;
    for (; length > 0 && error == 0 && n_bytes <= PLIM_MAX_CHECK_LOG_BYTES;
         error = read_full(file, buffer, PIECE_BYTES, &length)) {
        plim_log_feed(log, buffer, length);
        n_bytes += length;
    }
    int result;
    if (error) {
        result = plim_fail(reterr, PLIM_E_IO, PLIM_NO_OFFSET, "cannot read: %s", strerror(error));
    } else if (n_bytes > PLIM_MAX_CHECK_LOG_BYTES) {
        result = plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "the log is larger than 1 GiB");
        plim_error_hint(reterr, "give the lines of the start: they have the figures");
    } else {
        result = plim_log_receipt(log, ret_receipt, reterr);
    }
    plim_log_free(log);
    return result;
}

static int read_document(int file, const char *start, size_t length, struct plim_receipt *ret_receipt,
                         struct plim_error *reterr)
{
    char *text = plim_alloc_unset(PLIM_MAX_DOCUMENT_BYTES + 1, 1);
    if (!text)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "not enough memory");
    memcpy(text, start, length);
    size_t more;
    const int error = read_full(file, text + length, PLIM_MAX_DOCUMENT_BYTES + 1 - length, &more);
    int result;
    if (error)
        result = plim_fail(reterr, PLIM_E_IO, PLIM_NO_OFFSET, "cannot read: %s", strerror(error));
    else if (length + more > PLIM_MAX_DOCUMENT_BYTES)
        result = plim_fail(reterr, PLIM_E_TOO_BIG, PLIM_NO_OFFSET, "the document is larger than 1 MiB");
    else
        result = plim_document_read(text, length + more, ret_receipt, reterr);
    plim_free(text);
    return result;
}

int plim_check_read(const char *path, struct plim_receipt *ret_receipt, struct plim_error *reterr)
{
    const bool is_stdin = !strcmp(path, "-");
    int result, file = fileno(stdin);
    int error = is_stdin ? 0 : plim_system_open(path, PLIM_OPEN_WAIT, &file);
    if (error)
        return plim_fail_errno(reterr, path, "read", error);
    size_t length = 0;
    char *buffer = plim_alloc_unset(PIECE_BYTES, 1);
    error = buffer ? read_full(file, buffer, PIECE_BYTES, &length) : ENOMEM;
    if (error)
        result = plim_fail_errno(reterr, path, "read", error);
    else if (length > 0 && plim_log_file_is_device(file))
        result = plim_fail(reterr, PLIM_E_UNSUPPORTED, PLIM_NO_OFFSET, "a device, not a log");
    else if (plim_document_is_near(buffer, length))
        result = read_document(file, buffer, length, ret_receipt, reterr);
    else
        result = read_log(file, buffer, length, ret_receipt, reterr);
    plim_free(buffer);
    if (!is_stdin)
        plim_system_close(file);
    if (result < 0)
        plim_error_where(reterr, is_stdin ? "standard input" : path);
    return result;
}

bool plim_check_is_model(const char *path)
{
    char magic[4];
    size_t length;
    int file;
    if (plim_system_open(path, PLIM_OPEN_NOW, &file))
        return false;
    bool is_model = read_full(file, magic, sizeof magic, &length) == 0 && length == sizeof magic &&
                    (!memcmp(magic, "GGUF", sizeof magic) || !memcmp(magic, "FUGG", sizeof magic));
    plim_system_close(file);
    return is_model;
}

/* --- bills --- */

/* The GPUs that a log speaks of: gpu0 to the last. */
static uint32_t count_cards(const struct plim_receipt *log)
{
    char id[PLIM_RECEIPT_ID_BYTES];
    for (uint32_t n = PLIM_MAX_DEVICES; n > 0; n--) {
        snprintf(id, sizeof id, "gpu%u", n - 1);
        if (plim_receipt_find(log, id))
            return n;
    }
    return 0;
}

static bool has_no_cards(const struct plim_setup *setup)
{
    return setup->type->cards_use && setup->type->cards_use(setup) == PLIM_CARDS_UNUSED;
}

/* By name where the catalogue knows it, else by size. Free memory decides how several cards share a model. */
static void use_cards_of_log(const struct plim_receipt *log, struct plim_fit_options *o)
{
    uint32_t n = count_cards(log);
    if (o->n_cards || o->n_budgets || has_no_cards(&o->arguments.setup))
        return;
    if (n == 0)
        o->cards[o->n_cards++] = "none";
    for (uint32_t i = 0; i < n; i++) {
        char id[PLIM_RECEIPT_ID_BYTES];
        struct plim_card card;
        struct plim_error error = { 0 };
        snprintf(id, sizeof id, "gpu%u", i);
        const struct plim_receipt_device *device = plim_receipt_find(log, id);
        if (n == 1 && device->name[0] && plim_catalogue_find(device->name, &card, &error) == 0)
            o->cards[o->n_cards++] = device->name;
        else
            o->budget_bytes[o->n_budgets++] = device && device->free_bytes    ? device->free_bytes
                                              : device && device->total_bytes ? device->total_bytes
                                                                              : (uint64_t)1 << 40;
    }
}

static int bill_of(const struct plim_fit_options *o, const struct plim_machine *machine, struct plim_receipt *ret_bill,
                   struct plim_error *reterr)
{
    struct plim_model *model = NULL;
    struct plim_engine *engine = NULL;
    struct plim_bill *bill = plim_alloc(1, sizeof *bill);
    int result = bill ? plim_model_open(o->paths[0], &model, reterr)
                      : plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "not enough memory");
    if (result == 0)
        result = plim_engine_new(model, o->arguments.setup.type, o->version, &engine, reterr);
    if (result == 0)
        result = plim_engine_bill(engine, &o->arguments.setup, machine, &o->margin, bill, reterr);
    if (result == 0) {
        plim_receipt_of_bill(bill, plim_engine_name(engine), ret_bill);
        snprintf(ret_bill->version, sizeof ret_bill->version, "%s", plim_engine_version(engine));
        snprintf(ret_bill->model, sizeof ret_bill->model, "%s", plim_model_name(model));
    } else {
        plim_error_where(reterr, o->paths[0]);
    }
    plim_engine_free(engine);
    plim_model_free(model);
    plim_free(bill);
    return result;
}

int plim_check_bill(int argc, char **argv, const struct plim_receipt *log, struct plim_receipt *ret_bill,
                    struct plim_error *reterr)
{
    struct plim_fit_options options;
    struct plim_aux_files files = { 0 };
    struct plim_notes notes = { 0 };
    struct plim_machine *machine = plim_alloc(1, sizeof *machine);
    int result = machine ? plim_fit_options_parse(argc, argv, &options, reterr)
                         : plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "not enough memory");
    if (!machine)
        return result;
    if (result >= 0 && options.n_paths != 1)
        result = plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "one MODEL and one LOG, then the options of 'fit'");
    if (result >= 0) {
        use_cards_of_log(log, &options);
        result = plim_cli_machine(&options, machine, &notes, reterr);
    }
    if (result >= 0)
        result = plim_aux_files_open(&options.arguments, NULL, &files, reterr);
    if (result >= 0)
        result = bill_of(&options, machine, ret_bill, reterr);
    plim_aux_files_done(&files);
    plim_fit_options_done(&options);
    plim_free(machine);
    return result;
}
