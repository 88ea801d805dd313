/* SPDX-License-Identifier: MIT */
#include "step/fit/sites.h"

#include "base/mem.h"

#include <string.h>

#define MOVING UINT64_MAX /* pieces whose size is another one in each recording */

bool plim_step_add_text(struct plim_step *step, const char *text, uint32_t *ret_offset)
{
    const size_t length = strlen(text) + 1, start = step->text_bytes ? step->text_bytes : 1;
    *ret_offset = 0;
    if (length == 1)
        return true;
    if (start + length > UINT32_MAX)
        return false;
    char *grown = plim_realloc(step->text, start + length, 1);
    if (!grown)
        return false;
    grown[0] = '\0';
    memcpy(grown + start, text, length);
    step->text = grown;
    step->text_bytes = start + length;
    *ret_offset = (uint32_t)start;
    return true;
}

static bool intern_text(struct plim_step *step, const char *text, uint32_t *ret_offset)
{
    for (size_t i = step->n_sites; i-- > 0;) {
        const uint32_t words[] = { step->sites[i].file, step->sites[i].function, step->sites[i].loop };
        for (size_t k = 0; k < 3; k++)
            if (!strcmp(plim_step_text(step, words[k]), text)) {
                *ret_offset = words[k];
                return true;
            }
    }
    return plim_step_add_text(step, text, ret_offset);
}

/* What two recordings say of a line; where the most that a turn has differs, it follows the variables. */
static void join_pieces(struct plim_step_site *site, uint64_t piece)
{
    if (site->piece != piece)
        site->piece = site->piece && piece ? MOVING : 0;
}

/* The number of a site of another step; UINT32_MAX: out of memory. */
static uint32_t intern_site(struct plim_step *step, const struct plim_step *other, const struct plim_step_site *site)
{
    const char *file = plim_step_text(other, site->file), *function = plim_step_text(other, site->function);
    struct plim_step_site own = { .line = site->line, .piece = site->piece };
    for (size_t i = 0; i < step->n_sites; i++)
        if (step->sites[i].line == site->line && !strcmp(plim_step_text(step, step->sites[i].function), function) &&
            !strcmp(plim_step_text(step, step->sites[i].file), file)) {
            if (site->loop && step->sites[i].loop)
                join_pieces(&step->sites[i], site->piece);
            return (uint32_t)i;
        }
    if (!intern_text(step, file, &own.file) || !intern_text(step, function, &own.function) ||
        !intern_text(step, plim_step_text(other, site->loop), &own.loop))
        return UINT32_MAX;
    struct plim_step_site *sites = plim_realloc(step->sites, step->n_sites + 1, sizeof *sites);
    if (!sites)
        return UINT32_MAX;
    step->sites = sites;
    sites[step->n_sites] = own;
    return (uint32_t)step->n_sites++;
}

uint32_t *plim_step_add_sites(struct plim_step *step, const struct plim_step *other)
{
    uint32_t *numbers = plim_alloc(other->n_sites + 1, sizeof *numbers);
    for (size_t i = 0; numbers && i < other->n_sites; i++) {
        numbers[i] = intern_site(step, other, &other->sites[i]);
        if (numbers[i] == UINT32_MAX) {
            plim_free(numbers);
            return NULL;
        }
    }
    return numbers;
}

void plim_step_settle_sites(struct plim_step *step)
{
    for (size_t i = 0; i < step->n_sites; i++)
        if (step->sites[i].piece == MOVING) {
            step->sites[i].loop = 0;
            step->sites[i].piece = 0;
        }
}
