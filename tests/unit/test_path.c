/* SPDX-License-Identifier: MIT */
/* Where a number goes in a file of Python, what hangs on a value, and the verdict on a path. */
#include "unit.h"

#include "rehearse/path/checks.h"
#include "rehearse/path/path.h"
#include "rehearse/path/uses.h"
#include "rehearse/path/value_flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* --- words and statements --- */

static uint32_t n_words(const char *text, enum plim_python_word_kind kind)
{
    struct plim_python_source source;
    uint32_t n = 0;
    assert_true(plim_python_source_of(text, strlen(text), &source));
    for (uint32_t i = 0; i < source.n_words; i++)
        n += source.word[i].kind == kind;
    plim_python_source_done(&source);
    return n;
}

static void test_words(void **state)
{
    (void)state;
    assert_int_equal(n_words("a = 'x y' # b", PLIM_PYTHON_NAME), 1);
    assert_int_equal(n_words("a = f'{b:.3f} {{c}} {d[\"e\"]}'", PLIM_PYTHON_INSIDE), 3); /* with that of the format */
    assert_int_equal(n_words("'''\na\n''' + rb'\\'' + b", PLIM_PYTHON_NAME), 1);
    assert_int_equal(n_words("a <= b", PLIM_PYTHON_SIGN), 1);
    assert_int_equal(n_words("'never closed\na", PLIM_PYTHON_NAME), 1);
    assert_int_equal(n_words("f'{'", PLIM_PYTHON_NAME), 0);
    assert_int_equal(n_words(")]}", PLIM_PYTHON_SIGN), 3);
}

static void test_statements(void **state)
{
    (void)state;
    static const char text[] = "f(a,\n  b)\nif x: y = 1; z\nwhile \\\n  q:\n    pass\n";
    static const uint32_t lines[][2] = { { 1, 2 }, { 3, 3 }, { 3, 3 }, { 3, 3 }, { 4, 5 }, { 6, 6 } };
    struct plim_python_source source;
    assert_true(plim_python_source_of(text, strlen(text), &source));
    assert_int_equal(source.n_statements, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(source.statement[i].first_line, lines[i][0]);
        assert_int_equal(source.statement[i].last_line, lines[i][1]);
    }
    assert_int_equal(source.statement[5].indent, 4);
    plim_python_source_done(&source);
    assert_false(plim_python_source_of("a\0b", 3, &source));
    assert_false(plim_python_source_open("/dev/zero", &source));
    assert_false(plim_python_source_open("/nowhere.py", &source));
}

/* --- where a number goes --- */

static void test_flows(void **state)
{
    (void)state;
    static const struct {
        const char *text; /* the number is read in line 1 */
        enum plim_flow flow;
        bool is_whole;
        uint32_t line;
        bool is_flag;
    } rows[] = {
        { "print(loss.item())", PLIM_FLOW_LOGGED, true, 1, false },
        { "print(\n    f'{i} {loss.item():.3f}'\n)", PLIM_FLOW_LOGGED, true, 2, false },
        { "logger.info('%d', int(x))", PLIM_FLOW_LOGGED, true, 1, false },
        { "total += loss.item() * n\nprint(total / n)", PLIM_FLOW_LOGGED, true, 1, false },
        { "losses.append(loss.item())\nprint(sum(losses) / len(losses))", PLIM_FLOW_LOGGED, true, 1, false },
        { "log['a'] = a.item()\nfor k, v in log.items():\n    print(k, v)", PLIM_FLOW_LOGGED, true, 1, false },
        { "v = loss_of(model, x).item()\nwandb.log({'v': v})", PLIM_FLOW_LOGGED, true, 1, false },
        { "bar.set_postfix(loss=loss.item())", PLIM_FLOW_LOGGED, false, 1, false },
        { "v = a.item()\nscheduler.step(v)", PLIM_FLOW_LOGGED, true, 1, false },
        { "a = b.item()\nif c: print(a)", PLIM_FLOW_LOGGED, true, 1, false },
        { "del a\na = b.item()\ndel a", PLIM_FLOW_LOGGED, true, 2, false },
        { "v = x.item() if n > 0 else 0.0\nprint(v)", PLIM_FLOW_LOGGED, true, 1, false },
        { "print(sum(v.item() for v in vs if v is not None))", PLIM_FLOW_LOGGED, true, 1, false },
        { "v = x.item() if y > 0 else 0.0\nprint(v)", PLIM_FLOW_LOGGED, true, 1, true },
        { "v = x.item()\na = w / v if v > 0 else 0.0\nprint(a)", PLIM_FLOW_LOGGED, true, 1, false },
        { "print('right', (a == b).sum().item())", PLIM_FLOW_LOGGED, true, 1, false },
        { "print(not x.item())", PLIM_FLOW_LOGGED, true, 1, false },
        /* what may steer */
        { "print(x.item() and f())", PLIM_FLOW_DECIDES, true, 1, false },
        { "f(x.item() == 0)", PLIM_FLOW_DECIDES, true, 1, false },
        { "v = x.item()\na = f() if v > 0 else 0.0", PLIM_FLOW_DECIDES, true, 1, false },
        { "v = x.item()\na = [w for w in ws if v > 0]", PLIM_FLOW_DECIDES, true, 1, false },
        { "v = x.item()\na = w if v > 0 else 0.0\nif a: f()", PLIM_FLOW_DECIDES, true, 1, false },
        { "v = x.item() if y > 0 else 0.0\nif v: f()", PLIM_FLOW_DECIDES, true, 1, true },
        { "v = f(x) if y > 0 else 0.0\nf(v)", PLIM_FLOW_DECIDES, true, 1, true },
        { "if y: print(x.item())", PLIM_FLOW_DECIDES, true, 1, true },
        { "while y: print(x.item() if z else 0)", PLIM_FLOW_DECIDES, true, 1, true },
        { "print(sum(v for v in vs if v.item()))", PLIM_FLOW_DECIDES, true, 1, false },
        { "v = f(x).item() if y > 0 else 0.0", PLIM_FLOW_DECIDES, true, 1, true },
        { "print(x.item(), y or z)", PLIM_FLOW_DECIDES, true, 1, true },
        { "y and print(x.item())", PLIM_FLOW_DECIDES, true, 1, false },
        { "if x.item() > 3: pass", PLIM_FLOW_DECIDES, true, 1, false },
        { "while float(x) > 0:\n    pass", PLIM_FLOW_DECIDES, true, 1, false },
        { "assert x.item()", PLIM_FLOW_DECIDES, true, 1, false },
        { "y = a if x.item() else b\nf(y)", PLIM_FLOW_DECIDES, true, 1, false },
        { "y = x.item() == 0\nif not y:\n    f()", PLIM_FLOW_DECIDES, true, 1, false },
        { "y = rows[x.item()]", PLIM_FLOW_DECIDES, true, 1, false },
        { "y = torch.zeros(int(x))", PLIM_FLOW_DECIDES, true, 1, false },
        { "for i in x.tolist():\n    print(i)", PLIM_FLOW_DECIDES, true, 1, false },
        { "n = x.item()\nfor i in range(n):\n    f()", PLIM_FLOW_DECIDES, true, 1, false },
        { "n = x.item()\ny = torch.empty(n)", PLIM_FLOW_DECIDES, true, 1, false },
        { "n = x.item()\nm = 2 * n\nif m:\n    f()", PLIM_FLOW_DECIDES, true, 1, false },
        { "a.append(x.item())\nif sum(a) < best:\n    best = 1", PLIM_FLOW_DECIDES, true, 1, false },
        { "n = x.item()\nn.grow()", PLIM_FLOW_DECIDES, true, 1, false },
        { "print(rows[x.item()])", PLIM_FLOW_DECIDES, true, 1, false },
        { "print(evaluate(x.item()))", PLIM_FLOW_DECIDES, true, 1, false },
        { "print(f'{evaluate(x.item())}')", PLIM_FLOW_DECIDES, true, 1, false },
        { "f = lambda: x.item()", PLIM_FLOW_DECIDES, true, 1, false },
        { "stopper.update(x.item())\nif stopper.stops:\n    stop()", PLIM_FLOW_DECIDES, true, 1, false },
        { "def f():\n    return x.item()\nif f():\n    g()", PLIM_FLOW_DECIDES, true, 2, false },
        { "def f():\n    return x.item()\nprint(f())", PLIM_FLOW_LOGGED, true, 2, false },
        /* other files may see it */
        { "def f():\n    return x.item()", PLIM_FLOW_LEAVES, false, 2, false },
        { "self.total += x.item()", PLIM_FLOW_LEAVES, false, 1, false },
        { "self.losses[mode].append(x.item())", PLIM_FLOW_LEAVES, false, 1, false },
        { "self.losses[mode].append(x.item())\nif self.losses: f()", PLIM_FLOW_DECIDES, true, 1, false },
        { "f().append(x.item())", PLIM_FLOW_LEAVES, false, 1, false },
        { "self._metrics[mode][\"a\"].append(x.item())\nif self._metrics: f()", PLIM_FLOW_LOGGED, false, 1, false },
        { "self.total += x.item()\nprint(self.total)", PLIM_FLOW_LOGGED, true, 1, false },
        /* no number is read there */
        { "y = x + 1", PLIM_FLOW_UNKNOWN, true, 1, false },
        { "", PLIM_FLOW_UNKNOWN, true, 1, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct plim_python_source source;
        uint32_t line;
        assert_true(plim_python_source_of(rows[i].text, strlen(rows[i].text), &source));
        const enum plim_flow flow = plim_flow_from(&source, rows[i].line, rows[i].is_flag, rows[i].is_whole, &line);
        if (flow != rows[i].flow)
            fail_msg("flow %d, not %d: %s", (int)flow, (int)rows[i].flow, rows[i].text);
        plim_python_source_done(&source);
    }
}

static void test_checks(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum plim_check_value value;
        bool has_passed;
    } rows[] = {
        { "if not torch.isfinite(x): stop()", PLIM_CHECK_SET, false }, /* the body is on the line, too */
        { "if not torch.isfinite(x):\n    stop()", PLIM_CHECK_SET, true },
        { "if not torch.isfinite(x):\n    stop()", PLIM_CHECK_UNSET, false },
        { "if not torch.isfinite(x):\n    stop()", PLIM_CHECK_MIXED, false },
        { "if a and not torch.isfinite(x):\n    stop()", PLIM_CHECK_SET, true },
        { "if torch.isnan(x).any() or torch.isinf(x).any():\n    stop()", PLIM_CHECK_UNSET, true },
        { "if torch.isnan(x).any():\n    stop()", PLIM_CHECK_SET, false },
        { "if (~torch.isfinite(x)).any():\n    stop()", PLIM_CHECK_SET, false },
        { "if not math.isfinite(x.item()):\n    stop()", PLIM_CHECK_NUMBER, true },
        { "if x.item() > 3:\n    stop()", PLIM_CHECK_NUMBER, false },
        { "if math.isnan(x.item()) or x.item() > 3:\n    stop()", PLIM_CHECK_NUMBER, false },
        { "if x.any():\n    stop()", PLIM_CHECK_UNSET, false },
        { "assert x.all()", PLIM_CHECK_SET, true },
        { "assert x.all(), 'no'", PLIM_CHECK_SET, true },
        { "assert x.all()", PLIM_CHECK_UNSET, false },
        { "assert not x.any()", PLIM_CHECK_UNSET, true },
        { "assert x.all() and y", PLIM_CHECK_SET, false },
        { "assert x.item() > 3", PLIM_CHECK_NUMBER, false },
        { "while x.any():\n    f()", PLIM_CHECK_UNSET, false },
        { "", PLIM_CHECK_SET, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct plim_python_source source;
        assert_true(plim_python_source_of(rows[i].text, strlen(rows[i].text), &source));
        if (plim_check_has_passed(&source, 1, rows[i].value) != rows[i].has_passed)
            fail_msg("not %d: %s", rows[i].has_passed, rows[i].text);
        plim_python_source_done(&source);
    }
}

/* Anything may be in a file: it is read within its bounds. */
static void test_noise(void **state)
{
    (void)state;
    static const char letters[] = "if forin\n\t :=()[]{}'\"\\f{}#;.,item a0<>=";
    uint64_t seed = 7;
    for (int round = 0; round < 3000; round++) {
        char text[120];
        struct plim_python_source source;
        uint32_t line;
        for (size_t i = 0; i < sizeof text; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            text[i] = letters[(seed >> 33) % (sizeof letters - 1)];
        }
        assert_true(plim_python_source_of(text, sizeof text, &source));
        for (uint32_t i = 1; i < 6; i++) {
            plim_flow_from(&source, i, round % 3 == 0, round % 2, &line);
            plim_check_has_passed(&source, i, PLIM_CHECK_NUMBER);
        }
        plim_python_source_done(&source);
    }
}

/* --- what hangs on a value --- */

static struct plim_rehearsal_place use(const char *native, const char *frame, bool is_zero)
{
    struct plim_ledger_guess guess = { .count = 2, .n_zero = is_zero ? 2 : 0, .size_bytes = 8 };
    struct plim_rehearsal_place place = { 0 };
    snprintf(guess.native, sizeof guess.native, "%s", native);
    snprintf(guess.python.innermost, sizeof guess.python.innermost, "%s", frame);
    plim_use_of(&guess, NULL, &place);
    return place;
}

static void test_uses(void **state)
{
    (void)state;
    static const struct {
        const char *native, *frame;
        bool is_zero, is_harmless;
        enum plim_effect effect;
    } rows[] = {
        { "a at::_ops::item::call\n", "/x/site-packages/torch/_tensor_str.py:12 f", true, true, PLIM_EFFECT_NONE },
        { "a at::_ops::nonzero::call\n", "/me/a.py:1 f", true, false, PLIM_EFFECT_HIGHER },
        { "a at::_ops::nonzero::call\n", "/me/a.py:1 f", false, false, PLIM_EFFECT_UNKNOWN },
        { "a at::_ops::copy_::call\na at::_ops::nonzero::call\n", "", true, false, PLIM_EFFECT_HIGHER },
        { "a at::_ops::is_nonzero::call\na at::_ops::item::call\n", "/me/a.py:1 f", true, false, PLIM_EFFECT_UNKNOWN },
        { "", "", true, false, PLIM_EFFECT_UNKNOWN },
        { "", "/x/site-packages/torch/amp/grad_scaler.py:5 _maybe_opt_step", true, true, PLIM_EFFECT_NONE },
        { "", "/x/site-packages/torch/amp/grad_scaler.py:5 _maybe_opt_step", false, false, PLIM_EFFECT_HIGHER },
        { "", "/x/site-packages/torch/distributions/normal.py:5 __init__", false, true, PLIM_EFFECT_NONE },
        { "", "/x/site-packages/torch/distributions/normal.py:5 __init__", true, false, PLIM_EFFECT_HIGHER },
        { "", "no frame at all", true, false, PLIM_EFFECT_UNKNOWN },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct plim_rehearsal_place place = use(rows[i].native, rows[i].frame, rows[i].is_zero);
        assert_int_equal(place.is_harmless, rows[i].is_harmless);
        assert_int_equal(place.effect, rows[i].effect);
        assert_true(place.what[0] && place.decided[0]);
    }
}

/* A condition stays one, however its line reads; a number is followed through the file. */
static void test_the_source_of_a_use(void **state)
{
    (void)state;
    char path[] = "/tmp/plimsoll-path-XXXXXX", frame[64];
    const int fd = mkstemp(path);
    static const char text[] = "print(x.item())\nif y.item():\n    pass\n";
    assert_true(fd >= 0 && write(fd, text, sizeof text - 1) == sizeof text - 1);
    close(fd);
    snprintf(frame, sizeof frame, "%s:1 <module>", path);
    assert_true(use("a at::_ops::item::call\n", frame, true).is_harmless);
    assert_false(use("a at::_ops::is_nonzero::call\n", frame, true).is_harmless);
    assert_false(use("a at::_ops::nonzero::call\n", frame, true).is_harmless);
    snprintf(frame, sizeof frame, "%s:2 <module>", path);
    const struct plim_rehearsal_place place = use("a at::_ops::item::call\n", frame, true);
    assert_false(place.is_harmless);
    assert_string_equal(place.text, "if y.item():");
    unlink(path);
}

/* --- the verdict --- */

static struct plim_rehearsal rehearsal;

static struct plim_rehearsal_path *judged(struct plim_ledger *ledger, const char *stopped_by, int exit_code)
{
    static char program[] = "p";
    static char *const command[] = { program, NULL };
    memset(&rehearsal, 0, sizeof rehearsal);
    rehearsal.ledger = ledger;
    rehearsal.command = command;
    rehearsal.stopped_by = stopped_by;
    rehearsal.exit_code = exit_code;
    plim_path_judge(&rehearsal);
    return &rehearsal.path;
}

static void guess(struct plim_ledger *ledger, uint64_t hash, const char *frame)
{
    struct plim_ledger_guess place = { .size_bytes = 4 };
    snprintf(place.python.innermost, sizeof place.python.innermost, "%s", frame);
    snprintf(place.python.user, sizeof place.python.user, "/me/train.py:9 main");
    plim_ledger_guessed(ledger, hash, &place, true);
}

static void test_verdicts(void **state)
{
    (void)state;
    struct plim_ledger *ledger = plim_ledger_create(-1);
    assert_non_null(ledger);
    assert_int_equal(judged(ledger, "exit", 0)->verdict, PLIM_PATH_EXACT);
    guess(ledger, 5, "/x/site-packages/torch/_tensor_str.py:12 f");
    guess(ledger, 5, "/x/site-packages/torch/_tensor_str.py:12 f");
    struct plim_rehearsal_path *path = judged(ledger, "steps", 0);
    assert_int_equal(path->verdict, PLIM_PATH_HARMLESS);
    assert_int_equal(path->basis, PLIM_BASIS_ASSUMED);
    assert_int_equal(path->n_places, 1);
    assert_int_equal(path->place[0].count, 2);
    assert_string_equal(path->place[0].where, "/me/train.py:9 main");
    assert_string_equal(path->place[0].inside, "torch/_tensor_str.py:12 f");
    assert_false(plim_path_is_lower_bound(path));
    guess(ledger, 6, "/me/gone.py:1 f");
    path = judged(ledger, "ready", 143);
    assert_int_equal(path->verdict, PLIM_PATH_GUESSED);
    assert_int_equal(path->n_places, 2);
    assert_false(path->place[0].is_harmless); /* the most important first */
    assert_true(plim_path_is_lower_bound(path));
    assert_int_equal(rehearsal.n_warnings, 1); /* of one line */
    assert_int_equal(rehearsal.warning[0].count, 3);
    assert_int_equal(judged(ledger, "timeout", 143)->verdict, PLIM_PATH_INCOMPLETE);
    assert_int_equal(judged(ledger, "interrupt", 0)->verdict, PLIM_PATH_INCOMPLETE);
    assert_int_equal(judged(ledger, "exit", 3)->verdict, PLIM_PATH_INCOMPLETE);
    plim_ledger_close(ledger);
}

/* More places than there is room for are counted, and then nobody knows what they are. */
static void test_too_many_places(void **state)
{
    (void)state;
    struct plim_ledger *ledger = plim_ledger_create(-1);
    assert_non_null(ledger);
    for (uint64_t i = 1; i <= PLIM_LEDGER_MAX_GUESSES + 10; i++)
        guess(ledger, i * 0x9e3779b97f4a7c15, "/x/site-packages/torch/_tensor_str.py:12 f");
    const struct plim_rehearsal_path *path = judged(ledger, "exit", 0);
    assert_int_equal(path->n_assumed, PLIM_LEDGER_MAX_GUESSES + 10);
    assert_int_equal(path->verdict, PLIM_PATH_GUESSED);
    plim_ledger_close(ledger);
}

static void test_training(void **state)
{
    (void)state;
    struct plim_ledger *ledger = plim_ledger_create(-1);
    struct plim_ledger_stack stack = { .native = "libtorch.so torch::autograd::Engine::evaluate_function\n" };
    assert_non_null(ledger);
    struct plim_ledger_process *process = &ledger->process[1];
    process->has_optimizers = process->has_made_optimizer = 1;
    assert_int_equal(judged(ledger, "exit", 0)->verdict, PLIM_PATH_EXACT); /* it did not train */
    plim_ledger_site(ledger, 0, PLIM_KIND_ALLOC, 77, &stack);
    struct plim_rehearsal_path *path = judged(ledger, "exit", 0);
    assert_int_equal(path->verdict, PLIM_PATH_INCOMPLETE);
    assert_non_null(strstr(path->incomplete, "no optimizer took a step"));
    process->has_made_optimizer = 0; /* gradients for something else */
    assert_int_equal(judged(ledger, "exit", 0)->verdict, PLIM_PATH_EXACT);
    process->n_optimizer_steps = 1;
    assert_int_equal(judged(ledger, "exit", 0)->verdict, PLIM_PATH_EXACT);
    process->n_without_states = 1;
    path = judged(ledger, "exit", 0);
    assert_int_equal(path->verdict, PLIM_PATH_INCOMPLETE);
    assert_non_null(strstr(path->incomplete, "states"));
    plim_ledger_close(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_statements),
        cmocka_unit_test(test_flows),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_checks),
        cmocka_unit_test(test_uses),
        cmocka_unit_test(test_the_source_of_a_use),
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_too_many_places),
        cmocka_unit_test(test_training),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
