/* SPDX-License-Identifier: MIT */
#include "diagnose/scan/text_kind.h"

#include "base/gnu_string.h"
#include "base/mem.h"
#include "diagnose/scan/match_limits.h"

#include <string.h>

enum {
    SENTENCE = 240, /* characters before and behind the words that are looked at */
    LINE = 600,
};

enum test { IS_CODE, IS_TESTED_STRING, IS_CHANGE, IS_HELP, IS_ASKED, IS_MY_OWN, IS_LED_TO, IS_GENERAL, TEST_MAX_ };

/* Of the line, of the words themselves, or of the sentence up to them and behind them. */
/* clang-format off */
static const struct {
    uint32_t options;
    const char *text;
} tests[TEST_MAX_] = {
    /* A statement that begins with a keyword and has the signs of one, or a comment. */
    [IS_CODE] = { 0,
        "^ ?(?:\\d{1,5} ?[|:]? )?[+-]? ?(?:(?:except|raise|elif|else if|if|for|while|\\}? ?catch|throws?|"
        "return|assert\\w*|print(?:f|ln!?)?|[fs]n?printf|e?println!|puts|log(?:ger|ging)?\\.\\w+|LOG\\w*|"
        "console\\.\\w+|warnings\\.warn|case|panic!|bail!|anyhow!|Err|self\\.\\w+|with|pytest\\.\\w+|"
        "EXPECT_\\w+|ASSERT_\\w+|[A-Z]*_?CHECK\\w*|static|const(?:expr)?|let|var|private|public|TEST\\w*|it|"
        "describe|expect|grep|sed|echo|def|fn|func(?:tion)?|class|import|from|fmt\\.\\w+|errors\\.New|"
        "std::\\w+|\\w+ (?::=|=|\\+=)(?= ))(?!\\w) ?(?=.{0,120}[(){}\\[\\];=\"'])[(\"'f]?.*|#(?:define|"
        "include|if)\\b.*|//.*|/\\*.*|<!--.*|\"\"\".*|'''.*)" },
    /* The words are looked for in something. */
    [IS_TESTED_STRING] = { 0,
        "(?:\\bin (?!line:? ?\\d)(?:str|repr|e|err|ex|error|exc|msg|message|text|output|stderr|line|"
        "log)\\b[ (.):\\]]|\\.(?:lower|upper)\\(\\)|[.:](?:contains|includes|indexOf|find|[Ss]tarts_?[Ww]ith|"
        "match|search|test|toContain|toThrow)\\w*\\(|strn?(?:case)?(?:str|cmp)\\(|strings\\.Contains|"
        "re\\.\\w+\\(|grep (?:-\\w+ )*['\"]|isinstance\\(|raises\\(|assertRaises|[ =(]::?(?:cuda|"
        "hip)Error\\w+|\" if \\w+ else \")" },
    /* "- Fix OOM when ...", "ab12cd3 fix: ...", "... by @x in https://...", "(#123)" at the end */
    [IS_CHANGE] = { PCRE2_CASELESS,
        "^ ?(?:(?:[-*+]|\xe2\x80\xa2|\\d{1,3}\\.) |[-*+]? ?`?[0-9a-f]{7,40}`?:? |"
        "[-*+]? ?\\[?\\(?#\\d{1,6}[\\])]?:? |(?:fix|feat|chore|docs|perf|refactor|test|build|ci|bugfix|hotfix|"
        "revert)(?:\\([^)]{1,40}\\))?!?: |\\[)(?:\\[[^\\]]{1,40}\\] ?|[^\\]\\[ ]{1,40}\\] ?|"
        "\\([^)]{1,30}\\) ?|`[0-9a-f]{7,40}` ?|\\w{1,20}: |"
        "\\*\\*[^*]{1,60}\\*\\*:? ?){0,4}(?:(?:bug ?)?fix\\w*|add(?:s|ed|ing)?|avoid\\w*|prevent\\w*|"
        "handl\\w+|improv\\w+|reduc\\w+|mitigat\\w+|resolv\\w+|remov\\w+|support\\w*|allow\\w*|catch\\w*|"
        "check\\w*|detect\\w*|document\\w*|explain\\w*|distinguish\\w*|implement\\w*|introduc\\w+|"
        "optimi[sz]\\w+|better|work ?around|made?|make|ensure\\w*|don't|do not|no longer|properly|gracefully|"
        "report\\w*|show\\w*|print\\w*|log|rais\\w+|recover\\w*|skip\\w*|use|us(?:ing|ed)|updat\\w+|lower\\w*|"
        "increas\\w+|decreas\\w+|enabl\\w+|monitor\\w*|try|consider)\\b(?![:=])|^ ?(?:[-*+] )?(?:fix|feat|"
        "chore|docs|refactor|bugfix|hotfix)(?:\\([^)]{1,40}\\))?!?: |\\(#\\d{2,6}\\)\\.? ?$|"
        "by @[\\w-]+ in https?:|^ ?[-*+] \\[[ xX]\\] " },
    /* An option, a row of a table, a link, a line of a test run, a label of advice. */
    [IS_HELP] = { PCRE2_CASELESS,
        "^ ?- [A-Z]+_[A-Z_]+: |^ ?--?[a-z][\\w-]*(?![\\w:-])[ =,]|^[^|]*\\|[^|]*\\| ?$|\\|[^|]*\\|[^|]*\\| ?$|"
        "\\]\\((?:#|https?:)|(?:\\bPASSED|\\bSKIPPED|\\bXFAIL|\\bTPASS\\b.*|\\.\\.\\. ?ok|\xe2\x9c\x93|"
        "\xe2\x9c\x94) ?(?:\\[ *\\d+%\\])? ?$|^ ?(?:[-*#>] ?|\\d+[.)] ?)*\\**(?:symptoms?|solutions?|"
        "workarounds?|tips?|hints?|troubleshooting|faqs?|usage|pitfalls?|common (?:errors?|issues?|problems?|"
        "mistakes?))\\b[^:]{0,40}:|\\btroubleshoot\\w*\\b" },
    /* Up to the words: somebody asks how it is done. */
    [IS_ASKED] = { PCRE2_CASELESS,
        "(?:\\bhow (?:to|do|can|should|you can|we can)\\b|\\bwhat (?:to do|does|is|are|causes?)\\b|"
        "\\bways? (?:to|of)\\b|\\bguide to\\b|\\btips\\b)[^:;|]{0,100}$" },
    /* In the sentence: somebody tells what happened. */
    [IS_MY_OWN] = { 0,
        "(?:\\b(?:I|we|We|my|My|our|Our|me)\\b(?!/))" },
    /* Up to the words: "to avoid", "if you get", "may lead to", "such as". */
    [IS_LED_TO] = { PCRE2_CASELESS,
        "(?:\\b(?:avoid|prevent|fix|resolv|solv|handl|overcom|mitigat|reduc|address|eliminat|catch|diagnos|"
        "troubleshoot|reproduc|caus|simulat|tackl|minimi[sz]|alleviat)(?:e|es|s|ed|"
        "ing)?(?: ['\"`*(]?\\w[\\w'\"`*,/()-]*){0,4}|\\b(?:trigger|detect|debug)(?:s|"
        "ing)?(?= [^-])(?: ['\"`*(]?\\w[\\w'\"`*,/()-]*){0,4}|\\b(?:recover|protect|suffer|guard)(?:s|ed|"
        "ing)? (?:from|against)(?: ['\"`*(]?\\w[\\w'\"`*,/()-]*){0,4}|\\b(?:(?:leads?|leading) to|result(?:s|"
        "ing)? in)(?: ['\"`*(]?\\w[\\w'\"`*,/()-]*){0,4}|\\b(?:if|whenever|unless|in case) [^:;|]{1,100}|"
        "\\b(?:when|once|until|should|while) (?:you|your|there is|the (?:gpu|model|card|system|device|machine|"
        "server|batch|kernel|process|host|node|container|program)|an?|any|memory|not|[\\w.]+\\(\\))(?: [^:;|"
        "]{0,100}|$)|\\byou(?:'ll| may| might| can| could| will| would|r)? (?:also |still |sometimes |often |"
        "see|get|encounter|run|hit|receive|face|experience|gpu|card)\\b[^:;|]{0,80}|\\b(?:can|could|may|might|"
        "will|would|should)(?: (?:also|still|easily|quickly|sometimes|often|even|then|not|just|always|"
        "never))? (?:cause|lead|result|trigger|run|go|get|hit|throw|raise|produce|encounter|fail|crash|be|"
        "become|happen|see|end|show|return|exhaust|give|kill)\\b[^:;|]{0,60}|\\b(?:such as|for example|"
        "e\\.g\\.?|i\\.e\\.?|including|typical(?:ly)?|usually|often|common(?:ly)?|frequent(?:ly)?|sometimes|"
        "generally|against|risk of|chance of|likelihood of|cases? of|event of|instead of|without|versus|"
        "vs\\.?|kinds? of|types? of|different|distinguish\\w*|between|causes? of|reasons? for|cause|no more|"
        "no longer)(?: ['\"`*(]?\\w[\\w'\"`*,/()-]*){0,4}) ?[\"'`*(\\[]*(?:(?:[\\w.]*(?:Error|Exception)|"
        "[Ee]rror):? ?)?[\"'`*(\\[]*(?:CUDA |GPU |the |a |an |any )?$" },
    /* Behind the words: "error occurs when", "means that", "can be caused by". */
    [IS_GENERAL] = { PCRE2_CASELESS,
        "^[\\w]{0,12}[)\"'`*\\]]*,? ?(?:\\([^)]{0,40}\\) ?)?(?:['\"`]?(?:cuda|gpu|runtime|oom|errors?|"
        "exceptions?|issues?|problems?|messages?|failures?|crash(?:es)?|situations?|conditions?|killer|kills?|"
        "events?|status)\\b['\"`*)]* ?){0,4}(?:(?:usually|often|typically|generally|commonly|frequently|"
        "sometimes|also|only|mostly|always|then|simply|basically|most likely) )?(?:occurs?\\b|happens?\\b|"
        "arises?\\b|appears?\\b|means?\\b|indicates?\\b|suggests?\\b|results? (?:when|from)|refers? to|"
        "stems? from|comes? from|signals? that|prevents?\\b|remains?\\b|(?:is|are) (?:an?|one|the|usually|"
        "often|typically|commonly|caused|thrown|raised|due|most|not|likely|common|generally|frequently|simply|"
        "handled|caught|reported|treated|expected|possible|encountered|avoided|triggered)\\b|(?:can|may|might|"
        "could|will|would|should|must)\\b(?! not (?:allocate|be (?:allocated|loaded)))|(?:when|if|because|as|"
        "while|since) (?:your|you|the gpu|there is|a |an )|and (?:how|what|why)\\b|in (?:general|practice|"
        "pytorch|tensorflow|python|most cases)\\b|[-\xe2\x80\x93]+ (?:what|how|why)\\b|\\? )" },
};
/* clang-format on */

struct plim_text_kinds {
    pcre2_code *codes[TEST_MAX_];
    pcre2_match_data *data;
    pcre2_match_context *limits;
};

struct plim_text_kinds *plim_text_kinds_new(void)
{
    struct plim_text_kinds *g = plim_alloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->data = pcre2_match_data_create(1, NULL);
    g->limits = plim_match_limits();
    if (!g->data || !g->limits) {
        plim_text_kinds_free(g);
        return NULL;
    }
    return g;
}

void plim_text_kinds_free(struct plim_text_kinds *g)
{
    if (!g)
        return;
    for (int i = 0; i < TEST_MAX_; i++)
        pcre2_code_free(g->codes[i]);
    pcre2_match_data_free(g->data);
    pcre2_match_context_free(g->limits);
    plim_free(g);
}

/* What does not compile holds nowhere; the tests see to it that all do. */
static bool holds(struct plim_text_kinds *g, enum test test, const char *text, size_t size)
{
    int code = 0;
    PCRE2_SIZE at = 0;
    if (!g->codes[test])
        g->codes[test] =
            pcre2_compile((PCRE2_SPTR)tests[test].text, PCRE2_ZERO_TERMINATED, tests[test].options, &code, &at, NULL);
    return g->codes[test] && pcre2_match(g->codes[test], (PCRE2_SPTR)text, size, 0, 0, g->data, g->limits) >= 0;
}

/* The first place in the window that is not before the one in the raw bytes. */
static size_t place_of(const struct plim_window *w, uint32_t raw)
{
    size_t low = 0, high = w->length;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (w->from[middle] < raw)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_line_end(const struct plim_window *w, size_t at) { return w->is_join[at] && w->text[at] == ' '; }

static size_t line_start(const struct plim_window *w, size_t at)
{
    size_t i = at;
    while (i > 0 && at - i < LINE && !is_line_end(w, i - 1))
        i--;
    return i;
}

static size_t line_end(const struct plim_window *w, size_t at)
{
    size_t i = at;
    while (i < w->length && i - at < LINE && !is_line_end(w, i))
        i++;
    return i;
}

static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

/* "word. Next": not "e.g. this", "3.5 GB", "file.py". */
static bool ends_sentence(const struct plim_window *w, size_t at)
{
    const char c = w->text[at];
    if (c != '.' && c != '!' && c != '?')
        return false;
    return w->text[at + 1] == ' ' && !is_lower(w->text[at + 2]) && !(at > 1 && w->text[at - 2] == '.');
}

/* A line that goes on in the next one: that begins with a small letter. */
static bool goes_on(const struct plim_window *w, size_t blank)
{
    return blank > 0 && is_lower(w->text[blank + 1]) && !strchr(".!?:;", w->text[blank - 1]);
}

static size_t sentence_start(const struct plim_window *w, size_t at)
{
    size_t i = at;
    while (i > 0 && at - i < SENTENCE && !ends_sentence(w, i - 1) && !(is_line_end(w, i - 1) && !goes_on(w, i - 1)))
        i--;
    return i;
}

static size_t sentence_end(const struct plim_window *w, size_t at)
{
    size_t i = at;
    while (i < w->length && i - at < SENTENCE && !ends_sentence(w, i) && !(is_line_end(w, i) && !goes_on(w, i)))
        i++;
    return i;
}

/* The window has no marks before its lines. */
static bool is_comment(const char *raw, uint32_t at)
{
    uint32_t start = at;
    while (start > 0 && at - start < LINE && raw[start - 1] != '\n')
        start--;
    while (start < at && (raw[start] == ' ' || raw[start] == '\t'))
        start++;
    const bool is_indented = start > 0 && (raw[start - 1] == ' ' || raw[start - 1] == '\t');
    return start + 1 < at && ((raw[start] == '/' && (raw[start + 1] == '/' || raw[start + 1] == '*')) ||
                              (raw[start] == '#' && raw[start + 1] == ' ' && is_indented));
}

/* A traceback whose lines were joined: `raise ValueError("...") ValueError: what is said of it`. */
static bool is_behind_raise(const char *line, const char *at)
{
    unsigned n_quotes = 0;
    while (line < at && *line == ' ')
        line++;
    if (strncmp(line, "raise ", 6) != 0)
        return false;
    for (; line < at; line++) {
        n_quotes += *line == '"';
        if (n_quotes > 0 && n_quotes % 2 == 0 && !strncmp(line, "Error: ", 7))
            return true;
    }
    return false;
}

static bool is_code(struct plim_text_kinds *g, const struct plim_window *w, const char *raw, size_t at)
{
    const size_t first = line_start(w, at), last = line_end(w, at);
    return is_comment(raw, w->from[at]) ||
           (holds(g, IS_CODE, w->text + first, last - first) && !is_behind_raise(w->text + first, w->text + at));
}

enum plim_text_kind plim_text_kind_at(struct plim_text_kinds *g, const struct plim_window *w, const char *raw,
                                      uint32_t raw_start, uint32_t raw_end)
{
    const size_t start = place_of(w, raw_start), end = place_of(w, raw_end);
    const size_t first = line_start(w, start), last = line_end(w, start);
    const char *line = w->text + first;
    if (start >= w->length)
        return PLIM_TEXT_KIND_LOG;
    /* A message can be at the end of what began with a line of the source. */
    if (is_code(g, w, raw, start) && is_code(g, w, raw, end > start ? end - 1 : start))
        return PLIM_TEXT_KIND_CODE;
    if (holds(g, IS_CHANGE, line, last - first))
        return PLIM_TEXT_KIND_CHANGES;
    if (holds(g, IS_HELP, line, last - first))
        return PLIM_TEXT_KIND_HELP;
    const size_t from = sentence_start(w, start), to = sentence_end(w, end);
    if (holds(g, IS_TESTED_STRING, w->text + from, to - from))
        return PLIM_TEXT_KIND_CODE;
    if (holds(g, IS_ASKED, w->text + from, start - from))
        return PLIM_TEXT_KIND_PROSE;
    if (holds(g, IS_MY_OWN, w->text + from, to - from))
        return PLIM_TEXT_KIND_LOG;
    const bool is_past = memmem(w->text + start, end - start, " ran out", 8) != NULL;
    if ((!is_past && holds(g, IS_LED_TO, w->text + from, start - from)) ||
        holds(g, IS_GENERAL, w->text + end, to - end))
        return PLIM_TEXT_KIND_PROSE;
    return PLIM_TEXT_KIND_LOG;
}
