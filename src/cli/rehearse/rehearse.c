/* SPDX-License-Identifier: MIT */
/* plimsoll rehearse: run a program on virtual cards and report what it took. */
#include "base/mem.h"
#include "base/units.h"
#include "cli/answer_file.h"
#include "cli/check_input.h"
#include "cli/help.h"
#include "cli/libraries.h"
#include "cli/recorded.h"
#include "cli/rehearse/options.h"
#include "cli/rehearse/record.h"
#include "cli/rehearse/run.h"
#include "cli/rehearse/vary.h"
#include "rehearse/command.h"
#include "rehearse/end/end.h"
#include "rehearse/path/path.h"
#include "rehearse/progress.h"
#include "rehearse/rehearsal.h"
#include "report/columns.h"
#include "report/print.h"
#include "report/receipt/rehearsal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

enum { PATH_BYTES = PLIM_LIBRARIES_PATH };

/* --- the virtual libraries --- */

/*
 * The loader splits its lists at some characters, and ld.so(8) replaces $ORIGIN and its like. A folder with one of them
 * in its path has another name without: that of a descriptor, which is there as long as the ledger is.
 */
static bool make_loadable(char folder[PATH_BYTES])
{
    if (!folder[strcspn(folder, " \t\n\v\f\r:;$")])
        return true;
    const int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        snprintf(folder, PATH_BYTES, "/proc/%ld/fd/%d", (long)getpid(), fd);
    return fd >= 0;
}

static int choose_libraries(char folder[PATH_BYTES])
{
    struct plim_error error = { 0 };
    if (!plim_libraries_find(folder)) {
        plim_fail(&error, PLIM_E_NOT_FOUND, PLIM_NO_OFFSET, "cannot find the virtual libraries");
        plim_error_hint(&error, "they are installed with plimsoll");
    } else if (!make_loadable(folder)) {
        plim_fail_errno(&error, folder, "open the folder of the virtual libraries", errno);
    }
    if (error.code)
        plim_cli_fail(&error);
    return error.code ? PLIM_EXIT_OURS : 0;
}

/* --- the answer --- */

/* The receipt of the engine's log, where the program's output went to a file and is such a log; else NULL. */
static const struct plim_receipt *read_log(const struct plim_rehearse_options *o)
{
    static struct plim_receipt receipt;
    struct plim_error error = { 0 };
    struct stat status;
    if (!o->launch.log || stat(o->launch.log, &status) < 0 || !S_ISREG(status.st_mode))
        return NULL;
    const bool is_log = plim_check_read(o->launch.log, &receipt, &error) == 0 && !strcmp(receipt.from, "log");
    return is_log && receipt.engine[0] ? &receipt : NULL;
}

struct receipt {
    const struct plim_rehearsal *rehearsal;
    const struct plim_find *find;
};

static bool write_json(FILE *out, const void *receipt)
{
    const struct receipt *r = receipt;
    return plim_report_rehearsal_json(out, r->rehearsal, r->find);
}

static bool write_file(const char *path, const struct plim_rehearsal *rehearsal, const struct plim_find *find)
{
    const struct receipt receipt = { rehearsal, find };
    const bool is_written = plim_answer_file_write(path, &(struct plim_answer_writer){ write_json, &receipt });
    if (!is_written)
        plim_print(stderr, "plimsoll: cannot write the receipt: %s (%s)\n", strerror(errno), path);
    return is_written;
}

static int write_receipt(const struct plim_rehearse_options *o, struct plim_rehearsal *rehearsal)
{
    const struct plim_find *find = o->is_search ? &o->find : NULL;
    const struct plim_receipt *engine_log = find ? NULL : read_log(o); /* a search leaves the log of its last trial */
    if (engine_log)
        plim_receipt_copy_engine(&rehearsal->receipt, engine_log);
    bool is_written = !o->receipt_path || write_file(o->receipt_path, rehearsal, find);
    if (o->is_json)
        is_written = plim_report_rehearsal_json(stdout, rehearsal, find) && plim_cli_flush() && is_written;
    if (!o->is_quiet) {
        plim_report_rehearsal_text(stderr, rehearsal, engine_log, plim_cli_is_unicode());
        if (find)
            plim_report_find_text(stderr, find);
    }
    /* the only place of the receipt */
    is_written = is_written && (o->receipt_path || o->is_json || o->is_quiet || !ferror(stderr));
    return is_written ? 0 : PLIM_EXIT_OURS;
}

/* The peak is a lower bound, and the gate wants to know that it fits. It says why. */
static bool is_path_refused(const struct plim_rehearse_options *o, const struct plim_rehearsal *rehearsal)
{
    if (!o->is_gate || o->accepts_guess || !plim_path_is_lower_bound(&rehearsal->path))
        return false;
    if (!o->is_quiet)
        plim_print(stderr, "not passed: the path was guessed or incomplete; --accept-guess lets it pass\n");
    return true;
}

/* Under --gate: whether it ended well on the virtual card, and the path is sure. */
static int gate_status(const struct plim_rehearse_options *o, const struct plim_rehearsal *rehearsal)
{
    const enum plim_end end = plim_end_of(rehearsal);
    const bool is_short = rehearsal->late.is_out_of_memory || rehearsal->other.is_out_of_memory;
    if (end == PLIM_END_STATIC_RUNTIME)
        return PLIM_EXIT_CANNOT_RUN;
    return !plim_end_is_good(end) || is_short || is_path_refused(o, rehearsal) ? PLIM_EXIT_NO : PLIM_EXIT_YES;
}

static int exit_status(const struct plim_rehearse_options *o, const struct plim_rehearsal *rehearsal)
{
    const enum plim_end end = plim_end_of(rehearsal);
    if (end == PLIM_END_TIMEOUT)
        return PLIM_EXIT_TIMEOUT;
    if (o->is_gate)
        return gate_status(o, rehearsal);
    return end == PLIM_END_REACHED || end == PLIM_END_TOO_EARLY ? PLIM_EXIT_YES : rehearsal->exit_code;
}

/* --- a search --- */

static struct plim_find_trial outcome_of(const struct plim_rehearsal *rehearsal, uint64_t value)
{
    const enum plim_end end = plim_end_of(rehearsal);
    const bool is_stopped = end == PLIM_END_TIMEOUT || end == PLIM_END_INTERRUPT;
    struct plim_find_trial trial = { .value = value,
                                     .exit_code = rehearsal->exit_code,
                                     .is_lower_bound = plim_path_is_lower_bound(&rehearsal->path),
                                     .seconds = rehearsal->seconds };
    if (end == PLIM_END_TIMEOUT)
        trial.exit_code = PLIM_EXIT_TIMEOUT;
    for (uint32_t i = 0; i < rehearsal->n_cards; i++)
        trial.peak_bytes += rehearsal->receipt.device[i].peak_bytes;
    const bool is_short = rehearsal->oom.is_set || rehearsal->said.is_set, is_good = plim_end_is_good(end);
    trial.outcome = is_stopped                                        ? PLIM_FIND_STOPPED
                    : is_good && (is_short || rehearsal->n_met_later) ? PLIM_FIND_RECOVERED
                    : is_short                                        ? PLIM_FIND_OUT_OF_MEMORY
                    : is_good                                         ? PLIM_FIND_FITS
                                                                      : PLIM_FIND_FAILED;
    return trial;
}

static void print_trial(const struct plim_find *find, const struct plim_find_trial *trial)
{
    static const char *const words[] = { "fits", "recovered", "out of memory", "failed for another reason", "stopped" };
    char size[PLIM_SIZE_TEXT];
    plim_print(stderr, "%s=%-10llu %-14s peak %s%s, %.1f s\n", find->name, (unsigned long long)trial->value,
               words[trial->outcome], trial->is_lower_bound ? "at least " : "", plim_size_text(size, trial->peak_bytes),
               trial->seconds);
}

/* The receipt is of the largest value that fits, else of the last trial. */
static int search(struct plim_rehearse_options *o, struct plim_rehearsal *rehearsal)
{
    enum { MAX_COMMANDS = 8 << 20 };
    static struct plim_rehearsal trial_rehearsal;
    char *const *arguments = o->launch.arguments;
    struct plim_arena arena;
    uint64_t value;
    int status = 0;
    plim_arena_init(&arena, MAX_COMMANDS);
    while (status == 0 && plim_find_next(&o->find, &value)) {
        o->launch.arguments = plim_find_arguments(&arena, arguments, value);
        status = o->launch.arguments ? plim_rehearse_once(o, &trial_rehearsal) : PLIM_EXIT_OURS;
        if (status)
            break;
        const struct plim_find_trial trial = outcome_of(&trial_rehearsal, value);
        plim_find_note(&o->find, &trial);
        if (!o->is_quiet)
            print_trial(&o->find, &trial);
        if (!o->find.has_largest || o->find.largest == value) {
            plim_ledger_close(rehearsal->ledger);
            *rehearsal = trial_rehearsal;
        } else {
            plim_ledger_close(trial_rehearsal.ledger);
        }
    }
    if (status == 0)
        status = write_receipt(o, rehearsal);
    if (status == 0) {
        const struct plim_find_trial *last = &o->find.trial[o->find.n_trials - 1];
        const bool is_refused = o->find.has_largest && is_path_refused(o, rehearsal);
        status = o->find.is_decided ? (o->find.has_largest && !is_refused ? PLIM_EXIT_YES : PLIM_EXIT_NO)
                 : last->exit_code  ? last->exit_code
                                    : PLIM_EXIT_NO;
    }
    plim_arena_done(&arena);
    return status;
}

/* A second run, in which the work of streams completes late. */
static int run_late(struct plim_rehearse_options *o, struct plim_rehearsal *rehearsal)
{
    static struct plim_rehearsal late;
    o->launch.schedule = "lazy";
    const int status = plim_rehearse_once(o, &late);
    if (status == 0) {
        rehearsal->late = (struct plim_rehearsal_late){ .is_set = true,
                                                        .is_out_of_memory = plim_end_is_for_memory(&late),
                                                        .exit_code = late.exit_code,
                                                        .stopped_by = late.stopped_by };
        for (uint32_t i = 0; i < late.n_cards; i++)
            rehearsal->card[i].late_peak_bytes = late.receipt.device[i].peak_bytes;
    }
    plim_ledger_close(late.ledger);
    return status;
}

static uint64_t sum_of_peaks(const struct plim_rehearsal *rehearsal)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < rehearsal->n_cards; i++)
        sum += rehearsal->receipt.device[i].peak_bytes;
    return sum;
}

/* A second run, in which a selection that nobody knows selects everything. The receipt is of the larger peak. */
static int run_other(struct plim_rehearse_options *o, struct plim_rehearsal *rehearsal)
{
    static struct plim_rehearsal other, larger;
    o->launch.values = "max";
    const int status = plim_rehearse_once(o, &other);
    if (status == 0) {
        const bool is_larger = sum_of_peaks(&other) > sum_of_peaks(rehearsal);
        larger = is_larger ? other : *rehearsal;
        other = is_larger ? *rehearsal : other;
        *rehearsal = larger;
        rehearsal->other = (struct plim_rehearsal_other){ .is_set = true,
                                                          .is_out_of_memory = plim_end_is_for_memory(&other),
                                                          .exit_code = other.exit_code,
                                                          .values = other.values,
                                                          .stopped_by = other.stopped_by,
                                                          .verdict = other.path.verdict };
        for (uint32_t i = 0; i < other.n_cards; i++)
            rehearsal->card[i].other_peak_bytes = other.receipt.device[i].peak_bytes;
    }
    plim_ledger_close(other.ledger);
    return status;
}

/* The run of a recording, and further ones without it. */
static int run_recorded(struct plim_rehearse_options *o, struct plim_rehearsal *rehearsal,
                        struct plim_record_folder *folder)
{
    if (o->record_path) {
        const int status = plim_rehearse_record_begin(o, folder);
        if (status)
            return status;
    }
    const int status = plim_rehearse_once(o, rehearsal);
    o->launch.environment = environ;
    return status;
}

/* Where the rehearsal itself looks: its own nvidia-smi comes first. */
static int find_program(const char *command, const char *libraries, char ret_path[PATH_BYTES],
                        struct plim_error *reterr)
{
    char own[PATH_BYTES + 16];
    const char *folders = getenv("PATH");
    snprintf(own, sizeof own, "%s/programs", libraries);
    if (folders && !strcmp(command, "nvidia-smi") && plim_command_find(command, own, ret_path, PATH_BYTES, reterr) == 0)
        return 0;
    *reterr = (struct plim_error){ 0 };
    return plim_command_find(command, folders, ret_path, PATH_BYTES, reterr);
}

static int rehearse(struct plim_rehearse_options *o, struct plim_rehearsal *rehearsal)
{
    static char path[PATH_BYTES], folder[PATH_BYTES]; /* the options point to them */
    struct plim_error error = { 0 };
    if (choose_libraries(folder))
        return PLIM_EXIT_OURS;
    int result = find_program(o->launch.arguments[0], folder, path, &error);
    if (result == 0)
        result = plim_command_check(path, &error);
    if (result < 0)
        return plim_rehearse_fail(&error);
    if (o->receipt_path && !plim_answer_file_can_be_written(o->receipt_path)) {
        plim_print(stderr, "plimsoll: cannot write the receipt: %s (%s)\n", strerror(errno), o->receipt_path);
        return PLIM_EXIT_OURS;
    }
    if (o->record_path && !plim_cli_can_record(o->record_path))
        return PLIM_EXIT_OURS;
    o->launch.path = path;
    o->launch.libraries = folder;
    o->launch.environment = environ;
    plim_rehearse_watch(o);
    if (o->is_search)
        return search(o, rehearsal);
    if (o->vary.n_variables)
        return plim_rehearse_vary(o);
    struct plim_record_folder recording = { .environment = NULL };
    int status = run_recorded(o, rehearsal, &recording);
    if (status == 0 && o->is_both && strcmp(rehearsal->stopped_by, "interrupt") != 0)
        status = run_late(o, rehearsal);
    if (status == 0 && o->is_both_values && strcmp(rehearsal->stopped_by, "interrupt") != 0)
        status = run_other(o, rehearsal);
    if (status == 0)
        status = write_receipt(o, rehearsal);
    if (status == 0 && o->record_path)
        status = plim_rehearse_record_finish(o, rehearsal, &recording);
    plim_record_folder_remove(&recording);
    return status ? status : exit_status(o, rehearsal);
}

static int run(int argc, char **argv)
{
    static struct plim_rehearse_options options;
    static struct plim_rehearsal rehearsal;
    int status = plim_rehearse_parse(argc, argv, &options);
    if (status)
        return status;
    if (options.is_help)
        return plim_help_command(stdout, &plim_cli_rehearse);
    status = rehearse(&options, &rehearsal);
    plim_ledger_close(rehearsal.ledger);
    return status;
}

const struct plim_cli_command plim_cli_rehearse = {
    .name = "rehearse",
    .arguments = "--card NAME [OPTIONS] -- COMMAND...",
    .summary = "run the real program on a virtual GPU and report what it takes",
    .examples = "  plimsoll rehearse --card 'RTX 4060' -- llama-server -m model.gguf -ngl 99\n"
                "  plimsoll rehearse --card 'A100 40GB' --until steps:3 -- python3 train.py\n"
                "  plimsoll rehearse --card 'RTX 3090' --find N=1..512 -- ./program --batch {}\n",
    .run = run,
    .options = plim_rehearse_list,
};
