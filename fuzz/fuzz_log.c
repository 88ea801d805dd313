/* SPDX-License-Identifier: MIT */
/*
 * Logs and documents for `plimsoll check`. The first byte gives the size of the pieces; a receipt that is read
 * keeps its bounds, is the same in any pieces, and can be written, read back and laid beside itself.
 */
#include "fuzz.h"

#include "engine/log.h"
#include "receipt/check.h"
#include "report/receipt/check.h"
#include "report/receipt/documents.h"

#include <string.h>

static struct plim_receipt receipt, again;
static struct plim_check check;

static bool read_log(const char *data, size_t size, size_t piece, struct plim_receipt *ret_receipt)
{
    struct plim_error error = { 0 };
    struct plim_log *log = plim_log_new();
    FUZZ_REQUIRE(log);
    for (size_t i = 0; i < size; i += piece)
        plim_log_feed(log, data + i, size - i < piece ? size - i : piece);
    int result = plim_log_receipt(log, ret_receipt, &error);
    FUZZ_REQUIRE(result == 0 || (error.code == result && error.what[0]));
    plim_log_free(log);
    return result == 0;
}

/* In a document a pillar may be null. */
static void check_bounds(const struct plim_receipt *r, enum plim_pillar most)
{
    FUZZ_REQUIRE(r->n_devices > 0 && r->n_devices <= PLIM_RECEIPT_MAX_DEVICES);
    for (uint32_t i = 0; i < r->n_devices; i++) {
        const struct plim_receipt_device *device = &r->device[i];
        FUZZ_REQUIRE(device->id[0] && device->n_lines <= PLIM_RECEIPT_MAX_LINES);
        for (uint32_t k = 0; k < device->n_lines; k++) {
            const struct plim_receipt_line *line = &device->line[k];
            FUZZ_REQUIRE(line->low_bytes <= line->bytes && line->bytes <= line->high_bytes);
            FUZZ_REQUIRE(line->high_bytes <= PLIM_RECEIPT_MAX_BYTES && line->pillar <= most);
        }
    }
}

static void check_reports(void)
{
    static const struct plim_style style = { .has_colour = true };
    const struct plim_check_sides sides = { &again, &receipt, &check };
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    FUZZ_REQUIRE(out);
    plim_report_receipt_text(out, &receipt, &style);
    plim_report_check_text(out, &sides, &style);
    FUZZ_REQUIRE(plim_report_check_json(out, &sides));
    fclose(out);
    free(text);
}

/* A receipt of a log, written as a document, is the same receipt. */
static void check_written(void)
{
    struct plim_error error = { 0 };
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    FUZZ_REQUIRE(out && plim_report_receipt_json(out, &receipt));
    fclose(out);
    FUZZ_REQUIRE(plim_document_is_near(text, size));
    if (plim_document_read(text, size, &again, &error) == 0) {
        check_bounds(&again, PLIM_PILLAR_OTHERS);
        plim_check(&again, &receipt, &check);
        FUZZ_REQUIRE(check.n_outside == 0);
        check_reports();
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plim_error error = { 0 };
    if (size == 0)
        return 0;
    const char *text = (const char *)data + 1;
    const size_t piece = data[0] ? data[0] : 256;
    if (plim_document_is_near(text, size - 1)) {
        if (plim_document_read(text, size - 1, &receipt, &error) == 0)
            check_bounds(&receipt, PLIM_PILLAR_MAX_);
        else
            FUZZ_REQUIRE(error.what[0]);
        return 0;
    }
    if (!read_log(text, size - 1, piece, &receipt)) {
        FUZZ_REQUIRE(!read_log(text, size - 1, size, &again));
        return 0;
    }
    check_bounds(&receipt, PLIM_PILLAR_OTHERS);
    FUZZ_REQUIRE(read_log(text, size - 1, size, &again));
    FUZZ_REQUIRE(!memcmp(&receipt, &again, sizeof receipt));
    check_written();
    return 0;
}
