/* SPDX-License-Identifier: MIT */
/*
 * Reading the command line. llama.cpp's flags have one dash and several letters (-ngl), pairs of names for on and off,
 * and must be read both here and after "--" as the engine reads them, from the same table: getopt cannot do
 * that.
 */
#include "cli/fit/options.h"

#include "base/mem.h"
#include "base/system.h"
#include "base/text.h"
#include "base/units.h"
#include "engine/type.h"
#include "plimsoll/quant_recipe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct plim_option_help own[PLIM_FIT_MAX_] = {
#define INFO(id, names, value, help) [PLIM_FIT_##id] = { names, "", value, help },
    PLIM_FIT_OPTIONS(INFO)
#undef INFO
};

const struct plim_option_help *plim_fit_option_info(enum plim_fit_option option) { return &own[option]; }

static enum plim_fit_option option_named(const char *name)
{
    for (int i = PLIM_FIT_NONE + 1; i < PLIM_FIT_MAX_; i++)
        if (plim_text_has_word(own[i].names, name))
            return (enum plim_fit_option)i;
    return PLIM_FIT_NONE;
}

/* --- values --- */

static int usage(struct plim_error *reterr, const char *name, const char *value, const char *expected)
{
    return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "invalid value '%.60s' for %s: expected %s", value, name,
                     expected);
}

static int take_size(const char *name, const char *text, uint64_t *ret_bytes, struct plim_error *reterr)
{
    return plim_size_parse(text, ret_bytes) && *ret_bytes > 0 ? 0 : usage(reterr, name, text, "a size like 7.5GiB");
}

/* Of one more card. */
static int take_budget(struct plim_fit_options *o, const char *text, struct plim_error *reterr)
{
    if (o->n_budgets == PLIM_MAX_DEVICES)
        return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "--budget: at most %d", PLIM_MAX_DEVICES);
    return take_size("--budget", text, &o->budget_bytes[o->n_budgets++], reterr);
}

/* An engine, with or without a version. Its setup takes over the settings that both engines have. */
static int take_engine(struct plim_fit_options *o, const char *spec, struct plim_error *reterr)
{
    const struct plim_engine_type *type;
    int result = plim_engine_type_named(spec, &type, &o->version, reterr);
    if (result < 0)
        return result;
    o->has_engine = true;
    if (strcmp(o->arguments.setup.type->rules, type->name) != 0) /* else --client has chosen one of these rules */
        plim_setup_change_type(&o->arguments.setup, type);
    return 0;
}

static bool is_client(const struct plim_engine_type *other, const struct plim_engine_type *type)
{
    return !strcmp(other->rules, type->rules) && strcmp(other->name, other->rules) != 0;
}

/* "cuda, hip": the values of an option. */
static void list_choices(const struct plim_option *option, char *list, size_t size)
{
    list[0] = '\0';
    for (size_t i = 0; option && option->choices[i]; i++)
        snprintf(list + strlen(list), size - strlen(list), "%s%s", i ? ", " : "", option->choices[i]);
}

static int unknown_client(const struct plim_engine_type *type, const char *name, struct plim_error *reterr)
{
    const struct plim_engine_type *other;
    char list[96];
    list_choices(plim_option_with_key(type, "client"), list, sizeof list);
    for (size_t i = 0; (other = plim_engine_type_at(i)); i++)
        if (is_client(other, type))
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", *list ? ", " : "", other->name);
    return usage(reterr, "--client", name, list);
}

/* A client of the engine; or an engine that runs another one's rules as a client does. */
static int take_client(struct plim_fit_options *o, const char *name, struct plim_error *reterr)
{
    struct plim_setup *setup = &o->arguments.setup;
    const struct plim_engine_type *type;
    const char *version;
    o->client = name;
    if (plim_engine_type_named(name, &type, &version, NULL) == 0 && !version && is_client(type, setup->type)) {
        plim_setup_change_type(setup, type);
        return 0;
    }
    int result = plim_engine_type_named(setup->type->rules, &type, NULL, reterr);
    if (result == 0)
        plim_setup_change_type(setup, type);
    if (result == 0)
        result = plim_setup_set(setup, "client", name, NULL);
    return result < 0 ? unknown_client(setup->type, name, reterr) : 0;
}

static int take_backend(struct plim_setup *setup, const char *name, struct plim_error *reterr)
{
    const struct plim_option *backend = plim_option_with_key(setup->type, "backend");
    char list[96];
    if (!backend)
        return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "%s has no choice of --backend", setup->type->name);
    if (plim_setup_set(setup, backend->key, name, NULL) == 0)
        return 0;
    list_choices(backend, list, sizeof list);
    return usage(reterr, "--backend", name, list);
}

static int take_quant(struct plim_fit_options *o, const char *name, struct plim_error *reterr)
{
    o->quant = name;
    if (!strcmp(name, "all") || plim_quant_recipe_named(name))
        return 0;
    return usage(reterr, "--quant", name, "all, or a quantization of llama-quantize: Q4_K_M, Q8_0 ...");
}

/* "512MiB" or "5%" */
static int take_margin(const char *text, struct plim_margin *margin, struct plim_error *reterr)
{
    const char *end;
    double percent = plim_decimal(text, &end);
    if (end != text && !strcmp(end, "%")) {
        if (percent < 0 || percent >= 100)
            return usage(reterr, "--margin", text, "a percentage from 0% to less than 100%");
        *margin = (struct plim_margin){ 1, percent / 100 };
        return 0;
    }
    *margin = (struct plim_margin){ 0, 0 };
    if (!plim_size_parse(text, &margin->bytes))
        return usage(reterr, "--margin", text, "a size or a percentage");
    margin->bytes = margin->bytes ? margin->bytes : 1; /* 0 and 0 would be the default */
    return 0;
}

static int apply(struct plim_fit_options *o, enum plim_fit_option option, const char *value, struct plim_error *reterr)
{
    switch (option) {
    case PLIM_FIT_CARD:
        if (o->n_cards == PLIM_CLI_MAX_CARDS)
            return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "--card: at most %d", PLIM_CLI_MAX_CARDS);
        o->cards[o->n_cards++] = value;
        return 0;
    case PLIM_FIT_BUDGET:
        return take_budget(o, value, reterr);
    case PLIM_FIT_RAM:
        return take_size("--ram", value, &o->ram_bytes, reterr);
    case PLIM_FIT_ENGINE:
        return take_engine(o, value, reterr);
    case PLIM_FIT_CLIENT:
        return take_client(o, value, reterr);
    case PLIM_FIT_BACKEND:
        return take_backend(&o->arguments.setup, value, reterr);
    case PLIM_FIT_QUANT:
        return take_quant(o, value, reterr);
    case PLIM_FIT_QUALITY:
        o->is_quality_strict = !strcmp(value, "strict");
        return plim_text_has_word("any strict", value) ? 0 : usage(reterr, "--quality", value, "any or strict");
    case PLIM_FIT_MARGIN:
        return take_margin(value, &o->margin, reterr);
    case PLIM_FIT_STRICT:
        o->is_strict = true;
        return 0;
    case PLIM_FIT_OFFLINE:
        o->is_offline = true;
        return 0;
    case PLIM_FIT_JSON:
        o->is_json = true;
        return 0;
    case PLIM_FIT_VERBOSE:
        o->is_verbose = true;
        return 0;
    case PLIM_FIT_COLOR:
        o->color = value;
        return plim_text_has_word("auto always never", value)
                   ? 0
                   : usage(reterr, "--color", value, "auto, always or never");
    case PLIM_FIT_HELP:
        o->is_help = true;
        return 0;
    case PLIM_FIT_NONE:
    case PLIM_FIT_MAX_:
        break;
    }
    return 0;
}

/* --- the command line --- */

static int unknown_option(const char *name, struct plim_error *reterr)
{
    int code = plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "unknown option '%.60s'", name);
    plim_error_hint(reterr, "'plimsoll fit --help' lists the options; write a whole command of the engine after '--'");
    return code;
}

/*
 * The option of the engine; or, where none is chosen yet, of one that alone answers for its kind of file, which chooses
 * it.
 */
static const struct plim_option *find_option(struct plim_fit_options *o, const char *name, bool *ret_on)
{
    const struct plim_option *option = plim_option_named(o->arguments.setup.type, name, ret_on);
    const struct plim_engine_type *type;
    const bool is_open = !o->has_engine && !o->client && !o->command.n_words;
    for (size_t i = 0; !option && is_open && (type = plim_engine_type_at(i)); i++) {
        option = type->model_kind != PLIM_MODEL_UNKNOWN ? plim_option_named(type, name, ret_on) : NULL;
        if (option)
            plim_setup_change_type(&o->arguments.setup, type);
    }
    return option;
}

/* One option at argv[*i], with its value; *i moves to the last word of it. */
static int take_option(struct plim_fit_options *o, int argc, char **argv, int *i, struct plim_error *reterr)
{
    char name[64];
    const char *argument = argv[*i], *equals = strncmp(argument, "--", 2) ? NULL : strchr(argument, '=');
    snprintf(name, sizeof name, "%.*s", equals ? (int)(equals - argument) : (int)sizeof name - 1, argument);
    bool on = true;
    enum plim_fit_option option = option_named(name);
    const struct plim_option *other = option ? NULL : find_option(o, name, &on);
    if (option == PLIM_FIT_NONE && !other)
        return unknown_option(name, reterr);
    const char *placeholder = option ? own[option].value : other->help.value;
    const char *value = equals ? equals + 1 : NULL;
    if (equals && !placeholder)
        return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "%s takes no value", name);
    if (placeholder && !value) {
        if (*i + 1 >= argc)
            return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "%s needs a value: %s", name, placeholder);
        value = argv[++*i];
    }
    if (option)
        return apply(o, option, value ? value : "", reterr);
    plim_command_add_option(&o->command, other, argument, strlen(name), value); /* the fixes repeat the given options */
    return plim_option_apply(other, on, value, &o->arguments, reterr);
}

/* An engine's own command line, as it is. */
static int take_command(struct plim_fit_options *o, int argc, char **argv, struct plim_error *reterr)
{
    if (o->command.n_words) {
        const struct plim_command_word *word = &o->command.words[0];
        return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET,
                         "write %.*s after '--', with the other flags of the command", (int)word->length, word->text);
    }
    o->has_command = true;
    int result = plim_command_read(argc, argv, plim_system_environment(), &o->arguments, &o->command, reterr);
    if (result < 0)
        return result;
    if (o->command.is_cut)
        return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "the command has more than %d words",
                         PLIM_COMMAND_WORDS);
    if (o->client)
        result = take_client(o, o->client, reterr);
    if (result < 0)
        return result;
    if (o->arguments.model && o->n_paths)
        return plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "two models given: '%.60s', and '%.60s' in the command",
                         o->paths[0], o->arguments.model);
    return 0;
}

/* The engine first: its options may stand before its name. */
static int choose_engine(int argc, char **argv, struct plim_fit_options *o, struct plim_error *reterr)
{
    const char *name = own[PLIM_FIT_ENGINE].names;
    const size_t n = strlen(name);
    int result = 0;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0 && result >= 0; i++)
        if (!strncmp(argv[i], name, n) && argv[i][n] == '=')
            result = take_engine(o, argv[i] + n + 1, reterr);
        else if (!strcmp(argv[i], name) && i + 1 < argc)
            result = take_engine(o, argv[++i], reterr);
    return result;
}

/* "ORG/REPO:QUANT" of a command, as a name of a model here; without a quantization the one that the program takes. */
static int add_hub_model(struct plim_fit_options *o, struct plim_error *reterr)
{
    const char *model = o->arguments.hub_model, *file = o->arguments.hub_file;
    const size_t size = strlen(model) + (file ? strlen(file) : 0) + sizeof "hf::latest";
    o->hub_name = plim_alloc(size, 1);
    if (!o->hub_name)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    if (file)
        snprintf(o->hub_name, size, "hf:%.*s/%s", (int)strcspn(model, ":"), model, file);
    else
        snprintf(o->hub_name, size, "hf:%s%s", model, strchr(model, ':') ? "" : ":latest");
    o->paths[o->n_paths++] = o->hub_name;
    return 0;
}

int plim_fit_options_parse(int argc, char **argv, struct plim_fit_options *ret_options, struct plim_error *reterr)
{
    struct plim_fit_options *o = ret_options;
    memset(o, 0, sizeof *o);
    plim_arguments_init(&o->arguments);
    o->paths = plim_alloc((size_t)argc + 1, sizeof *o->paths);
    if (!o->paths)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    int result = choose_engine(argc, argv, o, reterr);
    for (int i = 1; i < argc && result >= 0; i++) {
        if (!strcmp(argv[i], "--")) {
            result = i + 1 < argc ? take_command(o, argc - i - 1, argv + i + 1, reterr)
                                  : plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "no command follows '--'");
            break;
        }
        if (argv[i][0] == '-' && argv[i][1])
            result = take_option(o, argc, argv, &i, reterr);
        else
            o->paths[o->n_paths++] = argv[i];
    }
    if (result >= 0 && o->arguments.model)
        o->paths[o->n_paths++] = o->arguments.model;
    else if (result >= 0 && o->arguments.hub_model)
        result = add_hub_model(o, reterr);
    return result;
}

void plim_fit_options_done(struct plim_fit_options *options)
{
    plim_free(options->paths);
    plim_free(options->hub_name);
    options->paths = NULL;
    options->hub_name = NULL;
}
