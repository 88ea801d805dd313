/* SPDX-License-Identifier: MIT */
#include "report/receipt/path.h"

#include "base/units.h"
#include "rehearse/path/path.h"
#include "report/columns.h"
#include "report/print.h"

#include <string.h>

enum { MAX_PRINTED = 8, INDENT = 6 };

static const char *effect_text(enum plim_effect effect)
{
    return effect == PLIM_EFFECT_HIGHER  ? "; the peak may be higher"
           : effect == PLIM_EFFECT_LOWER ? "; the peak may be lower"
                                         : "";
}

/* The end of a path says more than its beginning. */
static const char *end_of(const char *where, size_t most)
{
    const size_t n = strlen(where);
    const char *slash = n > most ? strchr(where + (n - most), '/') : NULL;
    return slash ? slash + 1 : n > most ? where + (n - most) : where;
}

static void print_place(FILE *out, const struct plim_rehearsal_place *place)
{
    char text[2 * PLIM_REHEARSAL_WHERE_BYTES], times[32] = "", line[24] = "";
    const bool is_answer = !strcmp(place->decided, "a library's answer");
    if (place->count > 1)
        snprintf(times, sizeof times, ", %llu times", (unsigned long long)place->count);
    if (place->text_line)
        snprintf(line, sizeof line, "line %u: ", place->text_line);
    plim_print(out, "  %.*s\n", PLIM_TEXT_WIDTH - 2,
               place->where[0] ? end_of(place->where, PLIM_TEXT_WIDTH - 4) : "a place that was not looked up");
    if (place->inside[0])
        plim_print(out, "%*sin %s\n", INDENT, "", end_of(place->inside, PLIM_TEXT_WIDTH - 10));
    if (place->text[0]) {
        const int width = PLIM_TEXT_WIDTH - INDENT - (int)strlen(line), n = plim_print_width(place->text);
        plim_print(out, "%*s%s", INDENT, "", line);
        plim_print_padded(out, place->text, n > width ? width : n);
        plim_print(out, "\n");
    }
    snprintf(text, sizeof text, "%s%s%s%s", is_answer ? place->what : place->decided,
             place->is_kept ? ", kept as the host wrote it" : "", times, effect_text(place->effect));
    plim_print(out, "%*s", INDENT, "");
    plim_print_wrapped(out, text, INDENT, INDENT);
}

void plim_report_places(FILE *out, const struct plim_rehearsal_path *path)
{
    uint32_t n_matter = 0, n_printed = 0;
    uint64_t n_harmless = 0;
    const struct plim_rehearsal_place *lower = NULL;
    for (uint32_t i = 0; i < path->n_places; i++) {
        const struct plim_rehearsal_place *place = &path->place[i];
        n_matter += !place->is_harmless;
        n_harmless += place->is_harmless ? place->count : 0;
        lower = place->is_harmless && place->effect == PLIM_EFFECT_LOWER ? place : lower;
    }
    if (n_matter)
        plim_print(out, "guesses that may have steered the program:\n");
    for (uint32_t i = 0; i < path->n_places && n_printed < MAX_PRINTED; i++)
        if (!path->place[i].is_harmless) {
            print_place(out, &path->place[i]);
            n_printed++;
        }
    if (n_matter + path->n_more > n_printed)
        plim_print(out, "  and %u more places\n", n_matter + path->n_more - n_printed);
    if (lower)
        plim_print(out, "%s\n", lower->decided);
    if (n_harmless)
        plim_print(out, "%llu guess%s not matter: printed, logged, or checks that passed\n",
                   (unsigned long long)n_harmless, n_harmless == 1 ? " that does" : "es that do");
    if (path->n_data)
        plim_print(out, "%llu larger read%s of guesses (weights, logits, images): data, no decision\n",
                   (unsigned long long)path->n_data, path->n_data == 1 ? "" : "s");
}

/* "at least 10.0 GiB on gpu0"; of several cards, the fullest. */
static void print_bound(FILE *out, const struct plim_rehearsal *rehearsal)
{
    char size[PLIM_SIZE_TEXT];
    uint32_t most = 0;
    for (uint32_t i = 0; i < rehearsal->n_cards; i++)
        if (rehearsal->receipt.device[i].peak_bytes > rehearsal->receipt.device[most].peak_bytes)
            most = i;
    if (rehearsal->n_cards && rehearsal->receipt.device[most].peak_bytes)
        plim_print(out, "; at least %s on gpu%u", plim_size_text(size, rehearsal->receipt.device[most].peak_bytes),
                   most);
}

void plim_report_path(FILE *out, const struct plim_rehearsal *rehearsal)
{
    const struct plim_rehearsal_path *path = &rehearsal->path;
    static const char *const words[] = { "exact", "guessed, does not matter", "guessed", "incomplete" };
    plim_print(out, "path: %s", words[path->verdict]);
    if (path->incomplete)
        plim_print(out, ": %s", path->incomplete);
    if (plim_path_is_lower_bound(path))
        print_bound(out, rehearsal);
    plim_print(out, "\n");
}
