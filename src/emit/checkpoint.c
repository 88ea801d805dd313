/* SPDX-License-Identifier: MIT */
/* The header of a safetensors file, written from the tensors of a model. */
#include "emit/checkpoint.h"

#include "base/limits.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_ROOM = 64 << 10, LENGTH_BYTES = 8, ALIGNMENT = 8, MAX_PIECE = PLIM_MAX_SAFETENSORS_NAME_BYTES + 64 };

struct header {
    char *text;
    size_t n, room;
    struct plim_error *err;
    int result; /* the first error */
};

static void put(struct header *h, const char *format, ...) PLIM_PRINTF(2, 3);
static void put(struct header *h, const char *format, ...)
{
    if (h->result < 0)
        return;
    if (h->room - h->n < MAX_PIECE) {
        const size_t room = h->room ? 2 * h->room : FIRST_ROOM;
        char *text = plim_realloc(h->text, room, 1);
        if (!text) {
            h->result = plim_fail(h->err, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
            return;
        }
        h->text = text;
        h->room = room;
    }
    va_list arguments;
    va_start(arguments, format);
    h->n += (size_t)vsnprintf(h->text + h->n, MAX_PIECE, format, arguments);
    va_end(arguments);
}

static void put_tensor(struct header *h, const struct plim_tensor *tensor)
{
    put(h, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[", tensor->name, plim_dtype_safetensors_name(tensor->type));
    for (uint32_t i = tensor->n_dims; i > 0; i--)
        put(h, "%s%" PRIu64, i < tensor->n_dims ? "," : "", tensor->ne[i - 1]);
    put(h, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", tensor->offset, tensor->offset + tensor->bytes);
}

/* The eight bytes of the length before the text, and spaces behind it so that the data is aligned. */
static int finish(struct header *h, const struct plim_model *model, struct plim_checkpoint_head *head)
{
    while (h->result == 0 && h->n % ALIGNMENT)
        put(h, " ");
    char *bytes = h->result < 0 ? NULL : plim_alloc_unset(h->n + LENGTH_BYTES, 1);
    if (!bytes)
        return h->result < 0 ? h->result : plim_fail(h->err, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    for (int i = 0; i < LENGTH_BYTES; i++)
        bytes[i] = (char)((uint64_t)h->n >> 8 * i);
    memcpy(bytes + LENGTH_BYTES, h->text, h->n);
    *head = (struct plim_checkpoint_head){ bytes, h->n + LENGTH_BYTES,
                                           h->n + LENGTH_BYTES + plim_model_tensor_bytes(model) };
    return 0;
}

int plim_checkpoint_head_write(const struct plim_model *model, struct plim_checkpoint_head *ret_head,
                               struct plim_error *reterr)
{
    size_t n;
    struct header h = { .err = reterr };
    const struct plim_tensor *tensors = plim_model_tensors(model, &n);
    *ret_head = (struct plim_checkpoint_head){ 0 };
    put(&h, "{\"__metadata__\":{\"format\":\"pt\"}"); /* transformers refuses a file without it */
    for (size_t i = 0; i < n && h.result == 0; i++)
        put_tensor(&h, &tensors[i]);
    put(&h, "}");
    int result = finish(&h, model, ret_head);
    plim_free(h.text);
    return result;
}

void plim_checkpoint_head_done(struct plim_checkpoint_head *head)
{
    plim_free(head->bytes);
    *head = (struct plim_checkpoint_head){ 0 };
}
