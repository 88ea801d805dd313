/* SPDX-License-Identifier: MIT */
#include "rehearse/path/value_flow.h"

#include <string.h>

enum { MAX_NAMES = 64, MAX_ROUNDS = 16 };

/* --- tables --- */

/* Keywords that make a statement, or a part of one, a decision. */
static const char *const deciding[] = { "if",     "elif",  "else",  "while", "assert", "and",   "or",
                                        "lambda", "yield", "await", "match", "case",   "raise", "with" };

/* Statements that use no value, whatever names are in them. */
static const char *const idle[] = { "def", "class",  "import",  "from", "global", "nonlocal",
                                    "try", "except", "finally", "pass", "del" };

/* Methods and functions that show a number, or keep it to be shown. */
static const char *const showing[] = {
    "print",
    "debug",
    "info",
    "warning",
    "warn",
    "error",
    "critical",
    "log",
    "log_dict",
    "log_metric",
    "log_metrics",
    "add_scalar",
    "add_scalars",
    "write",
    "set_postfix",
    "set_postfix_str",
    "set_description",
    "set_description_str",
    "append",
    "extend",
    "update",
    "add_row",
    "writerow",
    "save",
    "dump",
    "dumps",
    "track",
    "set_description",
    "info_once",
    "warning_once",
    "echo",
    "log_scalar",
    "add_scalars",
    "write_row",
};

/* Functions of numbers and texts that give a number or a text. */
static const char *const pure[] = {
    "item",
    "tolist",
    "float",
    "int",
    "round",
    "str",
    "repr",
    "format",
    "abs",
    "max",
    "min",
    "sum",
    "len",
    "mean",
    "std",
    "exp",
    "sqrt",
    "log2",
    "log10",
    "pow",
    "norm",
    "cpu",
    "detach",
    "numpy",
    "to",
    "clone",
    "double",
    "join",
    "items",
    "values",
    "keys",
    "get",
    "zip",
    "enumerate",
    "sorted",
    "list",
    "dict",
    "tuple",
    "reversed",
    "time",
    "perf_counter",
    "get_last_lr",
    "get_lr",
    "isoformat",
    "strftime",
    "now",
    "memory_allocated",
    "max_memory_allocated",
    "memory_reserved",
    "max_memory_reserved",
    "ljust",
    "rjust",
    "median",
    "gather_for_metrics",
    "copy",
    "nested_gather",
    "nanmean",
    "squeeze",
    "view",
    "reshape",
    "array",
    "average",
    "asarray",
};

/* Words with which a statement reads a number. */
static const char *const reading[] = { "item", "tolist", "float", "int", "cpu", "numpy" };

/* Objects in which libraries keep numbers until they log them (transformers 5, TRL 1). */
static const char *const stores[] = { "_metrics", "_total_loss_scalar", "total_flos" };

/* What the learning rate is set by takes no memory. */
static const char *const schedulers[] = { "scheduler", "lr_scheduler", "sched" };

/* --- words --- */

struct flow {
    const struct plim_python_source *source;
    bool is_whole;
    bool is_origin;           /* the statement in which the number is read: the reading words are the number */
    bool is_choice;           /* a flag is read, which chooses between two numbers */
    uint32_t name[MAX_NAMES]; /* words: the number has this name */
    uint32_t n_names;
    bool is_full;
};

static bool is_in(const struct flow *f, uint32_t word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (plim_python_is(f->source, word, list[i]))
            return true;
    return false;
}

#define IS_IN(f, word, list) is_in(f, word, list, sizeof(list) / sizeof *(list))

static bool is_name(const struct flow *f, uint32_t word)
{
    const struct plim_python_word *w = &f->source->word[word];
    return w->kind == PLIM_PYTHON_NAME || w->kind == PLIM_PYTHON_INSIDE;
}

static bool is_sign(const struct flow *f, uint32_t word, const char *text)
{
    return f->source->word[word].kind == PLIM_PYTHON_SIGN && plim_python_is(f->source, word, text);
}

static bool is_same(const struct flow *f, uint32_t a, uint32_t b)
{
    const struct plim_python_word *x = &f->source->word[a], *y = &f->source->word[b];
    return x->length == y->length && !memcmp(f->source->text + x->start, f->source->text + y->start, x->length);
}

static bool is_number(const struct flow *f, uint32_t word)
{
    if (!is_name(f, word))
        return false;
    if (f->is_origin)
        return f->is_choice ? plim_python_is(f->source, word, "if") : IS_IN(f, word, reading);
    for (uint32_t i = 0; i < f->n_names; i++)
        if (is_same(f, f->name[i], word))
            return true;
    return false;
}

static bool has_number(const struct flow *f, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        if (is_number(f, i))
            return true;
    return false;
}

/* Returns true when it is new. */
static bool add_name(struct flow *f, uint32_t word)
{
    for (uint32_t i = 0; i < f->n_names; i++)
        if (is_same(f, f->name[i], word))
            return false;
    f->is_full = f->is_full || f->n_names == MAX_NAMES;
    if (!f->is_full)
        f->name[f->n_names++] = word;
    return true;
}

/* Behind the bracket that closes the one at `open`. */
static uint32_t behind(const struct flow *f, uint32_t open, uint32_t to)
{
    uint32_t depth = 0;
    for (uint32_t i = open; i < to; i++) {
        if (is_sign(f, i, "(") || is_sign(f, i, "[") || is_sign(f, i, "{"))
            depth++;
        else if ((is_sign(f, i, ")") || is_sign(f, i, "]") || is_sign(f, i, "}")) && --depth == 0)
            return i + 1;
    }
    return to;
}

/* --- an expression --- */

/* A comparison is no decision yet: it gives a number, which has a name or comes to a condition. */
static bool is_deciding_word(const struct flow *f, uint32_t word)
{
    const enum plim_python_word_kind kind = f->source->word[word].kind;
    return kind == PLIM_PYTHON_NAME ? IS_IN(f, word, deciding) : kind == PLIM_PYTHON_SIGN && is_sign(f, word, ":=");
}

static bool is_scheduler(const struct flow *f, uint32_t word, uint32_t from)
{
    return word >= from + 2 && plim_python_is(f->source, word, "step") && IS_IN(f, word - 2, schedulers);
}

/* What is called is known, or does not get the number. */
static bool is_good_call(const struct flow *f, uint32_t name, uint32_t from, uint32_t to)
{
    if (IS_IN(f, name, showing) || IS_IN(f, name, pure) || is_scheduler(f, name, from))
        return true;
    if (f->is_choice) /* it chooses whether there is a call */
        return false;
    const bool is_method_of_it = name >= from + 2 && is_sign(f, name - 1, ".") && is_number(f, name - 2);
    return !is_method_of_it && !has_number(f, name + 1, behind(f, name + 1, to));
}

/* Behind the condition of `a if c else b` or `[a for a in b if c]`, whose `if` is here. */
static uint32_t behind_condition(const struct flow *f, uint32_t at, uint32_t to)
{
    for (uint32_t i = at + 1; i < to; i++) {
        if (is_sign(f, i, "(") || is_sign(f, i, "[") || is_sign(f, i, "{"))
            i = behind(f, i, to) - 1;
        else if (plim_python_is(f->source, i, "else"))
            return i + 1;
        else if (is_sign(f, i, ")") || is_sign(f, i, "]") || is_sign(f, i, "}") || is_sign(f, i, ","))
            return i;
    }
    return to;
}

/* A choice between numbers is one itself; one between calls may be anything. */
static bool calls_unknown(const struct flow *f, uint32_t from, uint32_t to)
{
    for (uint32_t i = from + 1; i < to; i++)
        if (is_sign(f, i, "(") && is_name(f, i - 1) && !IS_IN(f, i - 1, showing) && !IS_IN(f, i - 1, pure))
            return true;
    return false;
}

/* Whether the number decides something in these words. */
static bool decides(const struct flow *f, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        const bool is_after = i > from && (is_name(f, i - 1) || is_sign(f, i - 1, ")") || is_sign(f, i - 1, "]") ||
                                           f->source->word[i - 1].kind == PLIM_PYTHON_STRING);
        if (i > from && f->source->word[i].kind == PLIM_PYTHON_NAME && plim_python_is(f->source, i, "if")) {
            const uint32_t end = behind_condition(f, i, to);
            const bool is_choice = plim_python_is(f->source, end - 1, "else") && !calls_unknown(f, from, to);
            if (!f->is_choice && !is_choice && has_number(f, i + 1, end))
                return true;
            i = end - 1; /* what decides here is something else */
            continue;
        }
        if (is_deciding_word(f, i))
            return true;
        if (is_sign(f, i, "(") && i > from && is_name(f, i - 1) && !is_good_call(f, i - 1, from, to))
            return true;
        if (is_sign(f, i, "[") && is_after && has_number(f, i + 1, behind(f, i, to)))
            return true;
    }
    return false;
}

/* --- a statement --- */

/* The sign of an assignment outside of brackets; `to`: there is none. */
static uint32_t assignment(const struct flow *f, uint32_t from, uint32_t to)
{
    static const char *const signs[] = { "=", "+=", "-=", "*=", "/=" };
    uint32_t found = to, depth = 0;
    for (uint32_t i = from; i < to; i++) {
        if (f->source->word[i].kind != PLIM_PYTHON_SIGN)
            continue;
        depth += is_sign(f, i, "(") || is_sign(f, i, "[") || is_sign(f, i, "{");
        depth -= depth && (is_sign(f, i, ")") || is_sign(f, i, "]") || is_sign(f, i, "}"));
        if (depth == 0 && IS_IN(f, i, signs))
            found = i; /* the last: a = b = x */
    }
    return found;
}

/* The names left of it: a, b; d[key]; self.total. False: it is kept in an object, where other files see it. */
static bool take_targets(struct flow *f, uint32_t from, uint32_t to, bool *has_new)
{
    bool is_kept = false;
    for (uint32_t i = from; i < to; i++) {
        if (is_name(f, i) && IS_IN(f, i, stores))
            return true;
        if (is_sign(f, i, "[") && i > from) {
            i = behind(f, i, to) - 1;
        } else if (is_name(f, i) && !(i + 1 < to && is_sign(f, i + 1, "."))) {
            is_kept = is_kept || (i > from && is_sign(f, i - 1, "."));
            *has_new = add_name(f, i) || *has_new;
        }
    }
    return !is_kept;
}

/* The function that a statement is in; its name is a word. 0: none. */
static uint32_t function_of(const struct flow *f, const struct plim_python_statement *statement)
{
    uint32_t indent = statement->indent;
    const struct plim_python_statement *first = f->source->statement;
    for (const struct plim_python_statement *s = statement; s-- > first && indent;) {
        if (s->indent >= indent)
            continue;
        indent = s->indent;
        const uint32_t def = plim_python_is(f->source, s->first, "async") ? s->first + 1 : s->first;
        if (plim_python_is(f->source, def, "def") && def + 1 < s->first + s->n)
            return def + 1;
    }
    return 0;
}

/* Of `a.b["c"]` before a method, the name b; the dot: there is none. */
static uint32_t receiver_of(const struct flow *f, uint32_t from, uint32_t dot)
{
    uint32_t at = dot, depth = 0;
    while (at-- > from) {
        depth += is_sign(f, at, "]");
        if (depth == 0)
            return is_name(f, at) ? at : dot;
        depth -= is_sign(f, at, "[");
    }
    return dot;
}

/* losses.append(x): the list has the number. False: it is in an object, where other files see it. */
static bool take_receiver(struct flow *f, uint32_t from, uint32_t to, bool *has_new)
{
    static const char *const keeping[] = { "append", "extend", "update" };
    bool is_kept = false;
    for (uint32_t i = from + 2; i + 1 < to; i++) {
        if (!IS_IN(f, i, keeping) || !is_sign(f, i + 1, "(") || !has_number(f, i + 1, behind(f, i + 1, to)))
            continue;
        const uint32_t name = receiver_of(f, from, i - 1);
        if (IS_IN(f, name, stores))
            continue;
        is_kept = is_kept || !is_name(f, name) || (name > from && is_sign(f, name - 1, "."));
        *has_new = add_name(f, name) || *has_new;
    }
    return !is_kept;
}

/* What one statement does with the number; it may give it new names. */
static enum plim_flow follow(struct flow *f, const struct plim_python_statement *s, bool *has_new)
{
    const uint32_t from = s->first, to = s->first + s->n;
    uint32_t function;
    bool is_kept_here = true;
    if (!has_number(f, from, to) || IS_IN(f, from, idle) || is_sign(f, from, "@"))
        return PLIM_FLOW_LOGGED;
    if (plim_python_is(f->source, from, "for")) {
        uint32_t in = from;
        while (in < to && !plim_python_is(f->source, in, "in"))
            in++;
        if (f->is_origin || !has_number(f, in, to))
            return f->is_origin ? PLIM_FLOW_DECIDES : PLIM_FLOW_LOGGED;
        take_targets(f, from + 1, in, has_new);
        return decides(f, in, to) ? PLIM_FLOW_DECIDES : PLIM_FLOW_LOGGED;
    }
    if (plim_python_is(f->source, from, "return")) {
        if (decides(f, from + 1, to))
            return PLIM_FLOW_DECIDES;
        if (!f->is_whole || !(function = function_of(f, s)))
            return PLIM_FLOW_LEAVES;
        *has_new = add_name(f, function) || *has_new;
        return PLIM_FLOW_LOGGED;
    }
    if (decides(f, from, to))
        return PLIM_FLOW_DECIDES;
    const uint32_t sign = assignment(f, from, to);
    const bool is_used = sign == to || has_number(f, sign + 1, to) || !is_sign(f, sign, "=");
    if (sign < to && is_used)
        is_kept_here = take_targets(f, from, sign, has_new);
    is_kept_here = take_receiver(f, from, to, has_new) && is_kept_here;
    return is_kept_here || f->is_whole ? PLIM_FLOW_LOGGED : PLIM_FLOW_LEAVES;
}

enum plim_flow plim_flow_from(const struct plim_python_source *source, uint32_t line, bool is_flag, bool is_whole,
                              uint32_t *ret_line)
{
    struct flow f = { .source = source, .is_whole = is_whole, .is_origin = true, .is_choice = is_flag };
    bool has_new = false, is_found = false;
    *ret_line = line;
    for (uint32_t i = 0; i < source->n_statements; i++) {
        const struct plim_python_statement *s = &source->statement[i];
        if (line < s->first_line || line > s->last_line)
            continue;
        if (!has_number(&f, s->first, s->first + s->n)) {
            if (is_flag && decides(&f, s->first, s->first + s->n))
                return PLIM_FLOW_DECIDES;
            continue;
        }
        const enum plim_flow flow = follow(&f, s, &has_new);
        is_found = true;
        if (flow != PLIM_FLOW_LOGGED)
            return flow;
    }
    f.is_origin = f.is_choice = false;
    for (int round = 0; has_new; round++) {
        has_new = false;
        for (uint32_t i = 0; i < source->n_statements; i++) {
            const enum plim_flow flow = follow(&f, &source->statement[i], &has_new);
            *ret_line = source->statement[i].first_line;
            if (flow != PLIM_FLOW_LOGGED)
                return flow;
        }
        if (f.is_full || (has_new && round == MAX_ROUNDS))
            return PLIM_FLOW_DECIDES;
    }
    return is_found ? PLIM_FLOW_LOGGED : PLIM_FLOW_UNKNOWN;
}
