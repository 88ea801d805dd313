/* SPDX-License-Identifier: MIT */
#include "report/head.h"

#include "base/units.h"
#include "engine/type.h"
#include "report/columns.h"
#include "report/paint.h"
#include "report/print.h"
#include "report/step/course.h"

#include <string.h>

static void print_model(FILE *out, const struct plim_answer *answer, const struct plim_style *style)
{
    const struct plim_model *model = plim_engine_model(answer->engine);
    const char *file_type = plim_model_file_type(model);
    char text[256], size[PLIM_SIZE_TEXT];
    plim_print(out, "%s%s%s\n", plim_paint(style, PLIM_BOLD), plim_model_name(model), plim_paint(style, PLIM_PLAIN));
    if (answer->course) {
        plim_report_course_head(out, answer);
        return;
    }
    snprintf(text, sizeof text, "%s, %.3g B parameters%s%s, %s", plim_model_arch(model),
             (double)plim_model_n_params(model) / 1e9, file_type ? ", " : "", file_type ? file_type : "",
             plim_size_text(size, plim_model_tensor_bytes(model)));
    plim_print(out, "  ");
    plim_print_wrapped(out, text, 2, 2);
}

static void print_setup(FILE *out, const struct plim_answer *answer)
{
    char setup[256], text[400];
    answer->setup->type->describe(answer->bill, answer->machine->n_cards, setup, sizeof setup);
    snprintf(text, sizeof text, "%s %s for %s: %s", plim_engine_name(answer->engine),
             plim_engine_version(answer->engine), plim_report_client(answer), setup);
    plim_print(out, "  ");
    plim_print_wrapped(out, text, 2, 2);
}

static void print_note(FILE *out, const char *kind, const char *text, const struct plim_style *style)
{
    plim_print(out, "  %s%s:", plim_paint(style, PLIM_DIM), kind);
    plim_print_wrapped(out, text, (int)strlen(kind) + 3, 4);
    plim_print(out, "%s", plim_paint(style, PLIM_PLAIN));
}

void plim_report_notes(FILE *out, const struct plim_answer *answer, const struct plim_style *style)
{
    for (uint32_t i = 0; i < answer->n_notes; i++)
        print_note(out, "note", answer->notes[i], style);
}

void plim_report_head(FILE *out, const struct plim_answer *answer, const struct plim_style *style)
{
    print_model(out, answer, style);
    print_setup(out, answer);
    plim_report_notes(out, answer, style);
    if (answer->bill->caveat)
        print_note(out, "not exact", answer->bill->caveat, style);
}
