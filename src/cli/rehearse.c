/* SPDX-License-Identifier: MIT */
/* plimsoll rehearse: run a program on virtual cards and say what it took. */
#include "base/text.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "cli/machine.h"
#include "rehearse/command.h"
#include "rehearse/launch.h"
#include "report/rehearsal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern char **environ;

enum { EXIT_TIMEOUT = 124, EXIT_OURS = 125, EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127, PATH_BYTES = 4096 };
enum option {
    OPTION_CARD,
    OPTION_UNTIL,
    OPTION_TIMEOUT,
    OPTION_RECEIPT,
    OPTION_LOG,
    OPTION_JSON,
    OPTION_GATE,
    OPTION_QUIET,
    OPTION_HELP,
    N_OPTIONS
};

static const struct plim_flag_info rows[N_OPTIONS] = {
    [OPTION_CARD] = { "--card", "", "NAME",
                      "a card of the catalogue, '2x NAME', or a size like 7.5GiB; once for each" },
    [OPTION_UNTIL] = { "--until", "", "WHEN",
                       "exit, ready (takes connections, nothing new for 2 s) or stable[:SECONDS] "
                       "(no new peak); default: exit, but a server is stopped when it is stable for 5 s" },
    [OPTION_TIMEOUT] = { "--timeout", "", "SECONDS", "stop the program then: exit status 124" },
    [OPTION_RECEIPT] = { "--receipt", "", "FILE", "write the receipt there as JSON (plimsoll.receipt/1)" },
    [OPTION_LOG] = { "--log", "", "FILE", "what the program prints goes there" },
    [OPTION_JSON] = { "--json", "", NULL, "the receipt as JSON on standard output; needs --log" },
    [OPTION_GATE] = { "--gate", "", NULL, "exit status 1 when it ran out of memory, else 0 if the program ended well" },
    [OPTION_QUIET] = { "-q --quiet", "", NULL, "no receipt on standard error" },
    [OPTION_HELP] = { "-h --help", "", NULL, "this text" },
};

static void list_options(struct plim_cli_options ret_groups[PLIM_CLI_MAX_GROUPS])
{
    ret_groups[0] = (struct plim_cli_options){ "Options", rows, N_OPTIONS };
}

struct arguments {
    struct plim_machine machine;
    struct plim_notes notes;
    struct plim_launch launch;
    const char *receipt_path;
    char card[160];
    bool is_json, is_gate, is_quiet, is_help;
};

static int usage(const char *what, const char *value)
{
    plim_cli_usage("plimsoll rehearse --card 'RTX 4060' -- COMMAND...; --help lists the options", what, value);
    return EXIT_OURS;
}

/* --- options --- */

static int add_card(struct arguments *a, const char *text)
{
    struct plim_error error = { 0 };
    uint64_t size;
    const size_t n = strlen(a->card);
    const char last = *text ? text[strlen(text) - 1] : '0'; /* a number alone is a name: 4060 */
    if ((last < '0' || last > '9') && plim_size_parse(text, &size) && size > 0) {
        if (a->machine.n_cards == PLIM_SETUP_MAX_DEVICES)
            return usage("too many cards: %s", text);
        plim_card_of_budget(size, &a->machine.card[a->machine.n_cards++]);
    } else if (plim_cli_add_cards(text, &a->machine, &a->notes, &error) < 0) {
        plim_cli_fail(&error);
        return EXIT_OURS;
    }
    snprintf(a->card + n, sizeof a->card - n, "%s%s", n ? ", " : "", text);
    return 0;
}

static bool read_seconds(const char *text, double *ret_seconds)
{
    const char *end;
    const double seconds = plim_decimal(text, &end);
    if (end == text || (*end && strcmp(end, "s") != 0) || !(seconds > 0) || seconds > 1e9)
        return false;
    *ret_seconds = seconds;
    return true;
}

static int read_until(struct arguments *a, const char *text)
{
    struct plim_launch *launch = &a->launch;
    if (!strcmp(text, "exit"))
        launch->until = PLIM_UNTIL_EXIT;
    else if (!strcmp(text, "ready"))
        launch->until = PLIM_UNTIL_READY;
    else if (!strcmp(text, "stable") || (!strncmp(text, "stable:", 7) && read_seconds(text + 7, &launch->stable_s)))
        launch->until = PLIM_UNTIL_STABLE;
    else
        return usage("--until: '%s' is not exit, ready or stable[:SECONDS]", text);
    return 0;
}

static int set(struct arguments *a, enum option option, const char *value)
{
    switch (option) {
    case OPTION_CARD:
        return add_card(a, value);
    case OPTION_UNTIL:
        return read_until(a, value);
    case OPTION_TIMEOUT:
        return read_seconds(value, &a->launch.timeout_s) ? 0 : usage("--timeout: '%s' are no seconds", value);
    case OPTION_RECEIPT:
        a->receipt_path = value;
        return 0;
    case OPTION_LOG:
        a->launch.log = value;
        return 0;
    case OPTION_JSON:
        a->is_json = true;
        return 0;
    case OPTION_GATE:
        a->is_gate = true;
        return 0;
    case OPTION_QUIET:
        a->is_quiet = true;
        return 0;
    default:
        a->is_help = true;
        return 0;
    }
}

static enum option option_named(const char *name)
{
    for (int i = 0; i < N_OPTIONS; i++)
        if (plim_flag_is_in(name, rows[i].names))
            return (enum option)i;
    return N_OPTIONS;
}

/* --name VALUE and --name=VALUE, until -- or the first word that is no option. */
static int parse(int argc, char **argv, struct arguments *a)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0; i++) {
        char name[32];
        const char *equals = strchr(argv[i], '=');
        const size_t length = equals ? (size_t)(equals - argv[i]) : strlen(argv[i]);
        snprintf(name, sizeof name, "%.*s", (int)length, argv[i]);
        const enum option option = length < sizeof name ? option_named(name) : N_OPTIONS;
        if (option == N_OPTIONS || (equals && !rows[option].value))
            return usage("there is no option '%s'", argv[i]);
        if (rows[option].value && !equals && i + 1 == argc)
            return usage("%s needs a value", argv[i]);
        const char *value = !rows[option].value ? "" : equals ? equals + 1 : argv[++i];
        int status = set(a, option, value);
        if (status)
            return status;
    }
    if (i < argc && !strcmp(argv[i], "--"))
        i++;
    a->launch.arguments = argv + i;
    if (a->is_help)
        return 0;
    if (i == argc)
        return usage("there is no command to rehearse%s", "");
    if (a->machine.n_cards == 0)
        return usage("on which card? --card NAME%s", "");
    return a->is_json && !a->launch.log ? usage("--json needs --log FILE: standard output is the program's%s", "") : 0;
}

/* --- the virtual libraries --- */

/* Beside this program when it was not installed; else where the installation put them, wherever it was moved to. */
static bool find_libraries(char folder[PATH_BYTES])
{
    static const char *const places[] = { "/vgpu", ("/../" PLIM_VGPU_FOLDER), "/../lib/plimsoll/vgpu" };
    char self[PATH_BYTES], probe[2 * PATH_BYTES];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return false;
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(probe, sizeof probe, "%.3000s%s/libcuda.so.1", self, places[i]);
        if (access(probe, R_OK) == 0) {
            snprintf(folder, PATH_BYTES, "%.3000s%s", self, places[i]);
            return true;
        }
    }
    return false;
}

/* --- the answer --- */

static bool is_python(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return !strncmp(name, "python", 6) || !strcmp(name, "torchrun") || !strcmp(name, "vllm");
}

/* Functions that the libraries do not have are those of PyTorch and vLLM before those of others. */
static void hint(const struct plim_rehearsal *receipt, const char *path)
{
    bool is_lacking = false;
    for (uint32_t i = 0; i < receipt->ledger->n_warnings && i < PLIM_LEDGER_MAX_WARNINGS; i++)
        is_lacking = is_lacking || !strcmp(receipt->ledger->warning[i].kind, "not_supported");
    if (is_lacking || (is_python(path) && receipt->exit_code != 0))
        fputs("hint: the virtual GPU has what llama.cpp needs; PyTorch and vLLM are not supported yet\n", stderr);
}

static int write_receipt(const struct arguments *a, const struct plim_rehearsal *receipt)
{
    bool is_right = true;
    if (a->receipt_path) {
        FILE *out = fopen(a->receipt_path, "we");
        is_right = out && plim_report_rehearsal_json(out, receipt);
        is_right = out && fclose(out) == 0 && is_right;
        if (!is_right)
            fprintf(stderr, "plimsoll: the receipt could not be written: %s (%s)\n", strerror(errno), a->receipt_path);
    }
    if (a->is_json)
        is_right = plim_report_rehearsal_json(stdout, receipt) && plim_cli_flush() && is_right;
    if (!a->is_quiet)
        plim_report_rehearsal_text(stderr, receipt);
    return is_right ? 0 : EXIT_OURS;
}

static int exit_status(const struct arguments *a, const struct plim_rehearsal *receipt)
{
    const bool is_stopped_by_us = !strcmp(receipt->stopped_by, "ready") || !strcmp(receipt->stopped_by, "stable");
    if (!strcmp(receipt->stopped_by, "timeout"))
        return EXIT_TIMEOUT;
    if (a->is_gate && receipt->ledger->oom.is_set)
        return PLIM_EXIT_NO;
    return is_stopped_by_us ? PLIM_EXIT_YES : receipt->exit_code;
}

static int rehearse(struct arguments *a, struct plim_ledger *ledger, int ledger_fd)
{
    static struct plim_rehearsal receipt;
    char path[PATH_BYTES], folder[PATH_BYTES];
    struct plim_error error = { 0 };
    if (!find_libraries(folder)) {
        fputs("plimsoll: the virtual libraries are not there\nhint: they are installed with the program\n", stderr);
        return EXIT_OURS;
    }
    int result = plim_command_find(a->launch.arguments[0], getenv("PATH"), path, sizeof path, &error);
    if (result == 0)
        result = plim_command_check(path, &error);
    a->launch.path = path;
    a->launch.libraries = folder;
    a->launch.environment = environ;
    receipt.command = a->launch.arguments;
    receipt.ledger = ledger;
    snprintf(receipt.card_name, sizeof receipt.card_name, "%s", a->card);
    for (uint32_t i = 0; i < a->machine.n_cards; i++)
        plim_rehearsal_describe(&a->machine.card[i], &ledger->card[i]);
    ledger->n_cards = a->machine.n_cards;
    if (result == 0)
        result = plim_launch_run(&a->launch, ledger_fd, &receipt, &error);
    if (result < 0) {
        plim_cli_fail(&error);
        return error.code == PLIM_E_NOT_FOUND ? EXIT_NOT_FOUND
               : error.code == PLIM_E_NOMEM   ? EXIT_OURS
                                              : EXIT_CANNOT_RUN;
    }
    int status = write_receipt(a, &receipt);
    hint(&receipt, path);
    return status ? status : exit_status(a, &receipt);
}

static int run(int argc, char **argv)
{
    static struct arguments a;
    a.launch.stable_s = 5;
    int status = parse(argc, argv, &a);
    if (status)
        return status;
    if (a.is_help)
        return plim_help_command(stdout, &plim_cli_rehearse);
    int fd = memfd_create("plimsoll-ledger", MFD_CLOEXEC);
    struct plim_ledger *ledger = fd >= 0 ? plim_ledger_create(fd) : NULL;
    if (ledger)
        status = rehearse(&a, ledger, fd);
    else
        fprintf(stderr, "plimsoll: the ledger could not be made: %s\n", strerror(errno));
    plim_ledger_close(ledger);
    if (fd >= 0)
        close(fd);
    return ledger ? status : EXIT_OURS;
}

const struct plim_cli_command plim_cli_rehearse = {
    .name = "rehearse",
    .arguments = "--card NAME [OPTIONS] -- COMMAND...",
    .summary = "run the real program on a virtual GPU: what it takes",
    .examples = "  plimsoll rehearse --card 'RTX 4060' -- llama-server -m model.gguf -ngl 99\n"
                "  plimsoll rehearse --card '2x RTX 3090' --receipt receipt.json -- ./program\n",
    .run = run,
    .options = list_options,
};
