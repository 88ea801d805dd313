/* SPDX-License-Identifier: MIT */
#include "report/receipt/end.h"

#include "base/units.h"
#include "rehearse/attribution.h"
#include "report/columns.h"
#include "report/print.h"

#include <string.h>

/* --- the line --- */

enum { SIGNAL_KILL = 9 /* SIGKILL of Linux, where the program ran; <signal.h> here may be of another system */ };

static void oom_text(const struct plim_rehearsal_oom *oom, char *ret_text, size_t size)
{
    char a[PLIM_SIZE_TEXT], b[PLIM_SIZE_TEXT];
    snprintf(ret_text, size, "OUT OF MEMORY on gpu%u after %.2f s: %s of %s, %s were free", oom->device,
             (double)oom->time_us / 1e6, plim_allocation_name(oom->kind), plim_size_text(a, oom->size_bytes),
             plim_size_text(b, oom->free_bytes));
}

static const char *name_of(const char *framework)
{
    return !strcmp(framework, "jax") ? "JAX" : !strcmp(framework, "tensorflow") ? "TensorFlow" : framework;
}

static void said_text(const struct plim_rehearsal_said *said, char *ret_text, size_t size)
{
    char tried[PLIM_SIZE_TEXT];
    snprintf(ret_text, size, "OUT OF MEMORY in %.40s's own pool, by its message: %s did not fit",
             name_of(said->framework), plim_size_text(tried, said->tried_bytes));
}

/* The program that the kernel ended: the size is the most that all its processes held. */
static void host_memory_text(const struct plim_rehearsal *rehearsal, char *ret_text, size_t size)
{
    char a[PLIM_SIZE_TEXT];
    snprintf(ret_text, size, "host memory: %s, %sended by the kernel after %.1f s",
             plim_size_text(a, rehearsal->host.peak_rss_bytes),
             rehearsal->host.kill == PLIM_HOST_KILL_LIKELY ? "most likely " : "", rehearsal->seconds);
}

static void failed_text(const struct plim_rehearsal *rehearsal, char *ret_text, size_t size)
{
    const char *rest = rehearsal->oom.has_gone_on     ? "; out of memory before, but it went on"
                       : plim_end_has_card(rehearsal) ? ""
                                                      : ", and no card was used";
    if (plim_end_of(rehearsal) == PLIM_END_SIGNAL && rehearsal->host.kill && rehearsal->exit_code == 128 + SIGNAL_KILL)
        host_memory_text(rehearsal, ret_text, size);
    else if (plim_end_of(rehearsal) == PLIM_END_SIGNAL)
        snprintf(ret_text, size, "ended by signal %d after %.1f s%s%s", rehearsal->exit_code - 128, rehearsal->seconds,
                 plim_end_is_for_memory(rehearsal) ? ", out of memory before" : "", rest);
    else
        snprintf(ret_text, size, "failed with exit status %d after %.1f s%s", rehearsal->exit_code, rehearsal->seconds,
                 rest);
}

static void steps_text(const struct plim_rehearsal *rehearsal, char *ret_text, size_t size)
{
    const unsigned long long n = rehearsal->steps.n, n_wanted = rehearsal->steps.n_wanted;
    if (n)
        snprintf(ret_text, size, "ended by itself after %llu of %llu steps, in %.1f s", n, n_wanted,
                 rehearsal->seconds);
    else
        snprintf(ret_text, size, "ended by itself in %.1f s, and none of %llu steps was seen", rehearsal->seconds,
                 n_wanted);
}

void plim_report_end_text(const struct plim_rehearsal *rehearsal, char ret_text[PLIM_END_TEXT_BYTES])
{
    const size_t size = PLIM_END_TEXT_BYTES;
    const unsigned long long n = rehearsal->n_out_of_memory - rehearsal->n_met_later;
    const double seconds = rehearsal->seconds;
    const enum plim_end end = plim_end_of(rehearsal);
    char why[PLIM_END_TEXT_BYTES];
    switch (end) {
    case PLIM_END_COMPLETED:
        snprintf(ret_text, size, "completed in %.1f s", seconds);
        break;
    case PLIM_END_RECOVERED:
        snprintf(ret_text, size, "ran out of memory %llu time%s, recovered, and completed in %.1f s", n,
                 n == 1 ? "" : "s", seconds);
        break;
    case PLIM_END_NO_STEPS:
        steps_text(rehearsal, ret_text, size);
        break;
    case PLIM_END_NO_CARD:
        plim_end_why_no_card(rehearsal, why);
        snprintf(ret_text, size, "completed in %.1f s, but no card was used: %.240s", seconds, why);
        break;
    case PLIM_END_STATIC_RUNTIME:
        snprintf(ret_text, size, "no card was found: %s, which cannot be rehearsed",
                 plim_end_static_runtime(rehearsal));
        break;
    case PLIM_END_OUT_OF_MEMORY:
        if (rehearsal->oom.is_set)
            oom_text(&rehearsal->oom, ret_text, size);
        else
            said_text(&rehearsal->said, ret_text, size);
        break;
    case PLIM_END_FAILED:
    case PLIM_END_SIGNAL:
        failed_text(rehearsal, ret_text, size);
        break;
    case PLIM_END_REACHED:
    case PLIM_END_TOO_EARLY:
    case PLIM_END_TIMEOUT:
    case PLIM_END_INTERRUPT:
    case PLIM_END_MAX_:
        snprintf(ret_text, size, "stopped after %.1f s: %s%s", seconds, rehearsal->stopped_by,
                 end == PLIM_END_TOO_EARLY ? ", before its first step" : "");
    }
}

/* --- what led to it --- */

/* Native frames that are not internal; of Python's the innermost, and those of the program. */
static bool is_printed(const char *frame, size_t nth, bool is_python)
{
    enum { ALWAYS = 3 };
    return is_python ? nth < ALWAYS || !plim_attribution_is_installed(frame) : !plim_attribution_is_internal(frame);
}

static void print_frames(FILE *out, const char *stack, bool is_python)
{
    enum { MOST = 8, HEADING = 8 };
    char text[PLIM_LEDGER_STACK_BYTES], *frames[PLIM_ATTRIBUTION_MAX_FRAMES];
    snprintf(text, sizeof text, "%.*s", PLIM_LEDGER_STACK_BYTES - 1, stack);
    const size_t n = plim_attribution_frames(text, frames);
    size_t n_printed = 0, n_skipped = 0;
    for (size_t i = 0; i < n && n_printed < MOST; i++) {
        if (!is_printed(frames[i], i, is_python)) {
            n_skipped++;
            continue;
        }
        if (is_python && n_skipped)
            plim_print(out, "%*s... %zu in packages\n", HEADING, "", n_skipped);
        n_skipped = 0;
        plim_print(out, "%-*s", HEADING, n_printed++ ? "" : is_python ? "python" : "native");
        plim_print_last(out, frames[i], PLIM_TEXT_WIDTH - HEADING);
    }
}

static void print_oom(FILE *out, const struct plim_rehearsal_oom *oom)
{
    char text[PLIM_END_TEXT_BYTES], size[PLIM_SIZE_TEXT];
    print_frames(out, oom->native, /* is_python */ false);
    print_frames(out, oom->python, /* is_python */ true);
    plim_print(out, "short of %s on gpu%u\n",
               plim_size_text(size, oom->size_bytes > oom->free_bytes ? oom->size_bytes - oom->free_bytes : 0),
               oom->device);
    oom_text(oom, text, sizeof text);
    plim_print(out, "%s\n", text);
}

/* "17.64 GiB of gpu0 are JAX's pool, ..." */
static void print_pool(FILE *out, const struct plim_rehearsal_pool *pool)
{
    char text[PLIM_END_TEXT_BYTES], size[PLIM_SIZE_TEXT];
    if (!pool->setting)
        return;
    snprintf(text, sizeof text,
             "%s of gpu%u are %s's own pool, taken at once: with %s in the environment it grows with the need",
             plim_size_text(size, pool->bytes), pool->device, name_of(pool->framework), pool->setting);
    plim_print_wrapped(out, text, 0, 0);
}

static void print_hint(FILE *out, const struct plim_rehearsal *rehearsal)
{
    bool is_lacking = false, is_bypassed = false;
    for (uint32_t i = 0; i < rehearsal->n_warnings; i++) {
        is_lacking = is_lacking || !strcmp(rehearsal->warning[i].kind, "not_supported");
        is_bypassed = is_bypassed || !strcmp(rehearsal->warning[i].kind, "bypass");
    }
    if (plim_end_static_runtime(rehearsal))
        plim_print(out, "hint: a static CUDA runtime cannot be replaced; your own program can be built\n"
                        "      with the shared one: nvcc -cudart shared. A package cannot be rehearsed.\n");
    else if (is_bypassed)
        plim_print(out, "hint: a library of NVIDIA's was loaded by its path instead of Plimsoll's: its memory\n"
                        "      is not in the receipt\n");
    else if (is_lacking && !plim_end_is_good(plim_end_of(rehearsal)))
        plim_print(out, "hint: the virtual GPU lacks the functions listed as not_supported\n");
}

void plim_report_end(FILE *out, const struct plim_rehearsal *rehearsal)
{
    char text[PLIM_END_TEXT_BYTES];
    print_pool(out, &rehearsal->pool);
    print_hint(out, rehearsal);
    if (rehearsal->oom.is_set && plim_end_is_for_memory(rehearsal))
        print_oom(out, &rehearsal->oom);
    if (plim_end_of(rehearsal) == PLIM_END_OUT_OF_MEMORY && rehearsal->oom.is_set)
        return; /* said */
    plim_report_end_text(rehearsal, text);
    plim_print_wrapped(out, text, 0, 0);
}
