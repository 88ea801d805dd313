/* SPDX-License-Identifier: MIT */
#include "rehearse/progress.h"

#include "base/units.h"
#include "rehearse/attribution.h"
#include "rehearse/processes/departures.h"
#include "rehearse/steps.h"

#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

/* A program that goes on writing after a line of ours says enough itself: it has to be silent for longer each time. */
static const double first_s = 5, every_s = 1, least_silence_s = 2, most_silence_s = 64, stopped_s = 3;
/* Linux keeps the time of the last write to a terminal to 8 s: drivers/tty/tty_io.c, tty_update_time(). */
static const double terminal_time_s = 8;

/* --- what the program writes --- */

/* Those of children that were waited for are in it (task_io_accounting). */
static bool read_written(int pid, uint64_t *sum_bytes)
{
    char path[40], line[128];
    unsigned long long bytes;
    bool is_read = false;
    snprintf(path, sizeof path, "/proc/%d/io", pid);
    FILE *file = fopen(path, "re");
    while (file && !is_read && fgets(line, sizeof line, file))
        is_read = sscanf(line, "wchar: %llu", &bytes) == 1;
    if (file)
        fclose(file);
    if (is_read)
        *sum_bytes += bytes;
    return is_read;
}

struct plim_progress_output plim_progress_output_of(const struct plim_tree *tree, int terminal)
{
    struct plim_progress_output output = { .is_known = true };
    struct stat status;
    struct timespec now;
    for (size_t i = 0; i < tree->n && output.is_known; i++)
        output.is_known = read_written(tree->member[i].pid, &output.written_bytes);
    if (fstat(terminal, &status) == 0 && clock_gettime(CLOCK_REALTIME, &now) == 0)
        output.silent_s = (double)(now.tv_sec - status.st_mtim.tv_sec) - terminal_time_s;
    return output;
}

/* --- when to show it --- */

static bool has_written(struct plim_rehearsal_progress *progress, const struct plim_progress_output *output,
                        double now_s)
{
    if (output->is_known && progress->wait_s > 0 && output->written_bytes == progress->written_bytes)
        return false;
    progress->written_bytes = output->written_bytes;
    progress->written_s = now_s;
    return true;
}

enum plim_progress_act plim_progress_decide(struct plim_rehearsal_progress *progress,
                                            const struct plim_progress_output *output, double now_s, bool is_over)
{
    const bool was_stopped = now_s - progress->looked_s > stopped_s; /* by the shell, which wrote since */
    const bool is_written = has_written(progress, output, now_s) && !progress->is_alone;
    const bool is_ours = progress->is_shown && !is_written && !was_stopped;
    progress->looked_s = now_s;
    if (progress->wait_s <= 0)
        progress->wait_s = least_silence_s;
    if (progress->is_shown && !is_ours)
        progress->wait_s = progress->wait_s * 2 < most_silence_s ? progress->wait_s * 2 : most_silence_s;
    progress->is_shown = is_ours;
    if (is_over) {
        progress->is_shown = false;
        return is_ours ? PLIM_PROGRESS_ERASE : PLIM_PROGRESS_NOTHING;
    }
    const bool is_silent =
        progress->is_alone || now_s - progress->written_s >= progress->wait_s || output->silent_s >= progress->wait_s;
    if (now_s < first_s || !is_silent || (progress->shown_s > 0 && now_s - progress->shown_s < every_s))
        return PLIM_PROGRESS_NOTHING;
    progress->is_shown = true;
    progress->shown_s = now_s;
    return is_ours ? PLIM_PROGRESS_AGAIN : PLIM_PROGRESS_NEW;
}

/* --- the line --- */

/* Of the last request on the card. */
static const char *phase_of(const struct plim_ledger *ledger, const struct plim_ledger_card *card)
{
    struct plim_attribution attribution;
    const uint32_t n = card->n_points < PLIM_LEDGER_MAX_POINTS ? card->n_points : PLIM_LEDGER_MAX_POINTS;
    const uint32_t site = n ? card->point[n - 1].site : 0;
    if (site == 0 || site >= PLIM_LEDGER_MAX_SITES)
        return NULL;
    plim_attribution_of(&ledger->stack[site], &attribution);
    return attribution.phase;
}

static uint64_t held_now(const struct plim_ledger *ledger, uint32_t device)
{
    const uint64_t used_bytes = ledger->card[device].used_bytes, gone_bytes = plim_departures_bytes(ledger, device);
    return gone_bytes < used_bytes ? used_bytes - gone_bytes : 0;
}

void plim_progress_text(const struct plim_ledger *ledger, double now_s, char ret_text[PLIM_PROGRESS_TEXT])
{
    const uint32_t n_cards = plim_ledger_n_cards(ledger);
    char a[PLIM_SIZE_TEXT], b[PLIM_SIZE_TEXT], c[PLIM_SIZE_TEXT], steps[32] = "";
    uint32_t fullest = 0;
    for (uint32_t i = 0; i < n_cards; i++)
        if (held_now(ledger, i) > held_now(ledger, fullest))
            fullest = i;
    const struct plim_ledger_card *card = &ledger->card[fullest];
    if (n_cards == 0 || card->peak_bytes == 0) {
        snprintf(ret_text, PLIM_PROGRESS_TEXT, "plimsoll: %.0f s, no card used yet", now_s);
        return;
    }
    const char *phase = phase_of(ledger, card);
    const uint64_t n_steps = plim_optimizers_of(ledger).least_steps;
    if (n_steps)
        snprintf(steps, sizeof steps, ", %llu step%s", (unsigned long long)n_steps, n_steps == 1 ? "" : "s");
    snprintf(ret_text, PLIM_PROGRESS_TEXT, "plimsoll: %.0f s, %s%sgpu%u %s of %s, peak %s%s", now_s, phase ? phase : "",
             phase ? ", " : "", fullest, plim_size_text(a, held_now(ledger, fullest)),
             plim_size_text(b, card->total_bytes), plim_size_text(c, card->peak_bytes), steps);
}
