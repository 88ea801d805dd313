/* SPDX-License-Identifier: MIT */
/* Words that every report uses. */
#include "engine/type.h"
#include "report/report.h"

#include <inttypes.h>
#include <string.h>

char *plim_report_adjustment(const struct plim_answer *answer, char buffer[PLIM_ADJUSTMENT_BYTES])
{
    const struct plim_adjustment *a = answer->adjustment;
    snprintf(buffer, PLIM_ADJUSTMENT_BYTES, "%s%s%s", a->flags, *a->flags && *a->more ? " and " : "", a->more);
    return buffer;
}

bool plim_report_paste(const struct plim_answer *answer, const struct plim_fix *fix, char buffer[PLIM_COMMAND_BYTES],
                       bool *ret_is_unsupported)
{
    const struct plim_engine_type *type = answer->setup->type;
    *ret_is_unsupported = false;
    if (type->paste_quant && type->paste_quant(plim_engine_model(answer->engine), fix, buffer, PLIM_COMMAND_BYTES))
        return true;
    if (fix->n_ends) {
        size_t length = (size_t)snprintf(buffer, PLIM_COMMAND_BYTES, "plimsoll free");
        for (uint32_t i = 0; i < fix->n_ends; i++)
            length += (size_t)snprintf(buffer + length, PLIM_COMMAND_BYTES - length, " %" PRId64, fix->ends[i]);
        return true;
    }
    if (fix->n_changes == 0)
        return false;
    if (!type->paste)
        return plim_command_text(answer->command, fix->changes, fix->n_changes, buffer) != NULL;
    *ret_is_unsupported = !type->paste(fix, answer->bill, buffer, PLIM_COMMAND_BYTES);
    return !*ret_is_unsupported;
}

char *plim_report_device_id(const struct plim_device_bill *device, char buffer[PLIM_DEVICE_ID_BYTES])
{
    snprintf(buffer, PLIM_DEVICE_ID_BYTES, device->is_host ? "host" : "gpu%u", device->index);
    return buffer;
}

const char *plim_report_client(const struct plim_answer *answer) { return answer->setup->type->client(answer->setup); }
