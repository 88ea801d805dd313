# SPDX-License-Identifier: MIT
"""
Turn the patterns of error messages into C tables: embed_patterns.py [--examples] finding.h frameworks.csv prose.rules OUT.c IN.patterns...

data/errors/README.md says how the files are written. What a file gets wrong is said with its line, and breaks the build.
With --examples: the table that tests/unit/test_patterns.c runs instead.
"""
import collections
import csv
import os
import re
import sys

ROLES = ["failure", "fault", "consequence", "wrapper", "look_alike", "recovered", "neighbour", "series"]
LINES = ["anywhere", "start", "end", "whole", "alarm"]
KEEPS = ["last", "first", "min", "max", "sum"]
STAGES = """weights kv compute pool startup fraction sampler graph prefill decode optimizer dataloader handle status host shm
cap virtual api""".split()
CAUSES = """model_too_big other_process fragmentation kv_cache_context batch_or_activation leak_or_growth
optimizer_states host_ram shm allocator_limit misconfiguration_utilization driver_or_context not_oom""".split()
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "kB": 1000, "MB": 10**6, "GB": 10**9}
DECIMAL = r"[0-9]{1,20}(?:,[0-9]{3}){0,6}(?:[.,][0-9]{0,12})?"
# What stands where somebody took a figure out: the message is the same, and the figure unknown.
HIDDEN = (r"(?:[\[<][A-Za-z_ ]{0,12}(?:REDACTED|[Rr]edacted|REMOVED|[Rr]emoved|HIDDEN|[Hh]idden|MASKED|[Mm]asked)[A-Za-z_ ]{0,8}[\]>]"
          r"|\*{3,12}|[Xx]{2,20}(?:[.,][Xx]{1,20}){0,4}|[Xx](?:[.,][Xx]{1,20}){1,4})")
UNIT = r"(?:[KMGTPEkmgt](?:i?[Bb](?:ytes?)?|i)?|[Bb]ytes?|B)(?![A-Za-z0-9])"
MACROS = {
    # A size ends with its unit: "2.00 Gi" of a cut "2.00 GiB" is none.
    "%SIZE%": rf"(?:-?{DECIMAL} ?{UNIT}|{HIDDEN}(?: ?{UNIT})?)",
    "%INT%": rf"(?:-?[0-9]{{1,20}}(?:,[0-9]{{3}}){{0,6}}(?![0-9])|{HIDDEN})",
    "%DEC%": rf"(?:-?{DECIMAL}(?![0-9])|{HIDDEN})",
    "%ANY%": r".{0,200}?",
    "%FAR%": r".{0,800}?",
    "%WORD%": r"[^ ]{1,120}",
    "%PATH%": r"""[^ "']{1,200}""",
    # A date with its zone, or a span: src/diagnose/scan/stamp.h
    "%TIME%": r"(?:(?:[A-Z][a-z]{2},? )?[0-9]{1,2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} ?[+-][0-9]{2}:?[0-9]{2}"
              r"|[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:]{8}(?:\.[0-9]{1,9})?(?:Z| ?[+-][0-9]{2}:?[0-9]{2})"
              r"|(?:[0-9]{1,6}(?:\.[0-9]{1,6})?(?:months?|weeks?|days?|min|w|d|h|ms|m|s)\b ?){1,7})",
    # A size that is no round number of GB, so nobody's card; up to three words; a file and a line of a source.
    "%EXACT%": r"(?:[0-9]{1,20}(?:[.,][0-9]{1,12})? ?(?:[KMkm]i?[Bb]|[Bb]ytes?|B)\b|[0-9]{1,6}\.[0-9]{1,12} ?[GTgt]i?[Bb]\b|[0-9]{6,20}\b)",
    "%FEW%": r"(?: \w{1,14}){0,3}?",
    "%SOURCE%": r"[\w./\\-]{1,120}\.(?:c|cc|cpp|cxx|cu|cuh|h|hh|hpp|hxx|inl|rs|go|cs|jl|py|pyx|[fF]90)"
                r"\"?(?:[:(,]{1,2} ?(?:line )?[0-9]{1,6}\)?| line [0-9]{1,6})",
    # Of phrases: that it could not; that it has no memory; with words for the card's or the computer's between.
    "%CANT%": r"(?:[Ff]ail(?:ed|ure|s|ing)?|FAILED|[Uu]nable|UNABLE|[Cc]ould ?(?:not|n['’]?t)"
              r"|COULD NOT|[Cc]an ?(?:not|['’]t)|CANNOT|"
              r"[Nn]ot able|[Ee]rror|ERROR|[Ii]mpossible)",
    "%OUTOF%": r"(?:[Oo]ut of|OUT OF|Out Of|[Nn]ot? enough|NOT ENOUGH|[Ii]nsufficient|INSUFFICIENT|[Ll]ack of|[Ll]ow on)",
    "%CARD%": r"(?: (?:available|free|allocatable|remaining|single|GPU|gpu|CUDA|cuda|HIP|XPU|NPU|[Dd]evice|DEVICE|video|[Gg]raphics|global|"
              r"local|card|"
              r"OpenCL|Vulkan|Metal|MPS|texture|accelerator)){0,4}",
    "%RAM%": r"(?: (?:available|free|contiguous)){0,2} (?:host|system|CPU|cpu|main|pinned|page-?locked|virtual|physical|heap|process|node|"
             r"swap|committed|paged)"
             r"(?: (?:host|pinned|swap|virtual|physical))?",
    # Of people's words, in any order: the computer's memory, that it ended, and up to five words between them.
    "%RAMWORD%": r"(?:(?<!gpu )(?<!video )(?<!cache-)\b(?:(?:(?:system|cpu|host|main|physical|server|node|computer)(?:'s)? )?d?ram|swap"
                 r"|(?:system|cpu|host|main|physical|server|node|computer)(?:'s)?(?: ram| side)? mem(?:ory)?"
                 r"|mem(?:ory)?,? \(?(?:and )?not (?:the )?(?:cuda|gpu|vram|video)(?: memory)?)\b\)?"
                 r"(?: (?:usage|use|consumption|utili[sz]ation|space))?|内存)",
    "%ENDED%": r"(?:\b(?:r[au]ns?|running|run|goes|went|going) out\b|\bout[- ]of\b|\booms?\b|\boomed\b|\bcrash\w{0,3}\b"
               r"|\bkilled\b|\bkills\b|\bdies\b|\bdied\b|\beats?\b|\beating\b|\bfull\b|\bused up\b|\bfill(?:s|ed)? up\b|\bfills\b"
               r"|\bnot enough\b|\binsufficient\b|\bexceed\w{0,3}\b(?! [0-9])|\bexhaust\w{0,3}\b"
               r"|\bmax(?:es|ed|ing)? out\b|\bmaxed\b|\bbl(?:ows?|owing|ew|own) up\b|\bexplod\w{1,3}\b|\boverflow\w{0,3}\b|\bsurpass\w{0,3}\b"
               r"|\b(?:fully|completely) (?:used|utili[sz]ed|occupied|consumed)\b|爆|溢出|不足|不够|用完|占满|耗尽)",
    "%FINE%": r"(?:\b(?:works?|worked|fine|trains?|trained|ok|okay|loads?|loaded|renders?|starts?|started"
              r"|runs?(?! out)|ran(?! out)|good|great|goes through|comes up|survives"
              r"|(?:fix(?:e[sd])?|solve[sd]?) (?:it|the|my|this)|no problems?|succeeds|fits)\b"
              r"|正常|没问题|能跑|可以|不会)",
    "%OOMWORD%": r"(?:\booms?\b|\boomed\b|\bout[- ]of[- ]mem\w{0,4}|\bnot enough\b|\br[au]ns? out\b|\bcrash\w{0,3}\b"
                 r"|\bdies\b|\bdied\b|\bfails?\b|\bfailed\b|\berrors?\b|爆|不足|不够|溢出|OOM)",
    "%TAKEN%": r"(?:\b(?:r[au]ns?|running|run|goes|went|going) out\b|\bout[- ]of\b|\beats?\b|\beating\b|\bate\b"
               r"|\bfill(?:s|ed|ing)? up\b|\bfills\b"
               r"|\bnot enough\b|\binsufficient\b|\bexceed\w{0,3}\b(?! [0-9])|\bexhaust\w{0,3}\b|\bmax(?:es|ed|ing)? out\b"
               r"|\bbl(?:ows?|owing|ew|own) up\b)",
    # Memory that grew until it ended: what stands for it, that it rises, all the time, that it is kept, how it ends. The
    # first defines what the others are made of, for patterns that have no other groups: (?1) a memory, (?2) it rises, (?3)
    # all the time, (?4) between, (?5) it grew. In front stands what all these begin with: nothing else is tried elsewhere.
    "%GROWTH%": r"(?=\b[a-z]|n't|显|内)"
                r"(?=(?1)|(?2)|(?3)|\b(?:k(?:eep|ept)|not?\b|never|without|fail|v?ram)|n't|显存|内存)"
                r"(?(DEFINE)(\b(?:(?:prompt |ram )?cache|(?:mem(?:ory)?|d?ram|v-?ram|rss|swap|heap)(?:'s)?"
                r"(?: (?:usage|use|utili[sz]ation|footprint))?"
                r"|consumption|footprint)\b)"
                r"(\b(?<!suddenly )(?<!instantly )(?<!immediately )(?:eat(?:s|ing)?|grow(?:s|ing|n|th)?|grew|increas(?:es?|ed|ing)"
                r"|ris(?:es|ing|e)|rose|climb(?:s|ed|ing)?|accumulat\w{1,3}|creep(?:s|ing)|leak(?:s|ing|ed)?|swell(?:s|ing)|balloon(?:s|ing)"
                r"|(?:go(?:es|ing)|build(?:s|ing)?|built|fill(?:s|ing)?|pil(?:es|ing)|add(?:s|ing|ed)) up)\b)"
                r"(\b(?:over time|(?:each|every|until|till|constantly|steadily|gradually|slowly|indefinitely|forever|further|rapidly)\b"
                r"|continu\w+|linear\w{0,2}|unbounded\w{0,2}|endless\w{0,2}|monotonic\w{0,4}|without (?:limit|bound|end)|more and more"
                r"|bit by bit|little by little|(?:and|but) (?:never|(?:does )?not (?:releas|free)\w*)"
                r"|(?:per|over|by|after|with|an?) (?:the |more )?(?:step|batch|epoch|iteration|request|call|frame|run|hour|minute|day|time|use)s?"
                r"|only\b|(?:during|over|throughout|as|with|on) (?:the |my )?(?:model swap|training|inference|run|epochs?|days|hours|generations?)))"
                r"([^;:|?]{0,60}?)"
                r"((?1)(?4)\b(?:(?:k(?:eep(?:s|ing)?|ept)(?: on)?|start(?:s|ed)|begins?|began)(?: to| \w{3,10}ly)? (?2)"
                r"|(?2)(?4)\b(?3)|(?3)(?4)\b(?2))"
                r"|(?2)[^;:|?]{0,30}?\b(?1)(?4)\b(?3)"
                r"|(?3)(?: and \w{3,14}|,)?[^;:|?]{0,24}?\b(?:(?2)[^;:|?]{0,30}?\b(?1)|(?1)[^;:|?]{0,24}?\b(?2))"
                r"|\bk(?:eep(?:s|ing)?|ept)(?: on)? (?2)(?4)\b(?1)"
                r"|(?1)[^;:|?]{0,60}?\bfrom (?:about |around |only )?~?[0-9][0-9.]{0,6} ?[gm]i?b?\b(?: \w{1,12}){0,4}? up to (?:\w{4,8} )?~?[0-9]"
                r"|(?3)[^.;:|?]{0,60}?\badd(?:s|ed|ing)?\b[^.;:|?]{0,30}?(?:in)?to (?:the |my )?(?1)"
                r"|(?:\b(?:not|never|no longer|without|fail(?:s|ed)? to)|(?<=\w)n't)(?: \w{2,12}){0,2}? "
                r"(?:releas\w{1,3}|freed?|freeing|clear\w{0,3}|purg\w{1,3}|reclaim\w{0,3}|unload\w{0,3}|g(?:ive|iven) back)\b[^.;:|?]{0,40}?\b(?1)"
                r"|(?1)[^.;:|?]{0,30}?\b(?:not|never|n't|no longer|fail(?:s|ed)? to) (?:\w{2,12} ){0,2}?"
                r"(?:releas\w{1,3}|freed?|clear\w{0,3}|purg\w{1,3}|reclaim\w{0,3}|re-?used|g(?:ive|iven) back|return\w{0,3})\b"
                r"|(?:显存|内存|\bv?ram)(?:(?!。|；).){0,60}?(?:(?:一直|不断|持续|逐渐|越来越|逐步|缓慢|每次)(?:(?!。|；).){0,36}?(?:增|涨|高|大|泄|升)"
                r"|(?:不|没|未|没有)(?:会)?(?:自动)?(?:释放|清理|回收|下降)|泄[漏露]|增长到)"
                r"|\bmemory leak(?:s|ed|ing|age)?\b(?! (?:detector|checker|sanitizer))))",
    "%NEAR%": r"[ ,:('\"`*-]{1,3}(?:(?!(?:may|might|can|could|would|should|if)\b)[\w'%/.-]{1,14}[ ,:('\"`*)-]{1,3}){0,5}?",
    # What is defined before the phrases of a pattern, by number: SUBROUTINES.
    "%OPEN%": r"(?<![=`(])(?<![^: ][\"'])(?<![^:] [\"'])",
    "%LEAD%": "(?3)",
    "%GAP%": "(?2){0,60}?",
}
# Rules of data/errors/prose.rules that the phrases of a pattern are put together with; the first three are subroutines, in
# this order: PCRE2 would write out each repetition.
SUBROUTINES = ["phrase-gap", "phrase-near", "phrase-lead"]
# The others, in the order of enum plim_prose_rule_id (src/diagnose/scan/prose_rules.h).
TEXT_KINDS = ["code", "tested-string", "change", "help", "question", "report", "advice", "explanation", "definition",
              "said-general", "said-teller", "said-page", "said-once", "said-aside", "said-when", "said-denied", "said-named", "said-happened",
              "said-before", "said-came", "said-title", "said-behind", "voice-self", "voice-you", "voice-page",
              "voice-change", "voice-log", "voice-report", "voice-particular"]
LISTS = ["anchor", "more", "before", "path", "near", "package", "name"]
WORDS = ["wraps", "refines", "recovers", "takes"]
FLAGS = ["general", "said", "weak", "shell", "open", "dump", "relay"]  # `yes`, or not there
ONCE = ["framework", "role", "cause", "stage", "match", "keep", "line", "note"] + FLAGS

# What logs without a failure are full of: a trigger made of it makes the scan slower.
COMMON = " ".join("""
 error errors failed failure memory device devices allocate allocated allocation allocating allocator available cuda
model models loading loaded process processes python torch traceback warning worker workers server request requests
tensor tensors buffer buffers current currently message module modules package packages exception runtime function
context version total running started starting tokens training attention output return returned result number status
engine prompt processing complete completed completion loss cache size usage system kernel killed signal during please
reduce setting config module default library libraries requested required initialized initialize initialization
resource pytorch reserved enough throughput progress connection iteration operation generation time file line info debug rank
step epoch train learning rate gradient batch input using with from this that have been could would will the and for not is
of to in on at by """.split())
COMMON = f" {COMMON} "
FREQUENT = dict(zip("etaoinsrhldcumfpgwybvkxjqz", range(26)))


class Wrong(Exception):
    pass


def read_blocks(path):
    """[(kind, id, [(line number, key, value)])]"""
    blocks = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip()
            text = line.lstrip()
            if not text or text.startswith("#"):
                continue
            key, _, value = text.partition(" ")
            value = value if key in ("..", "example") else value.strip()
            if line[0] not in " \t":
                if key not in ("pattern", "program", "grammar") or not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", value):
                    raise Wrong(f"{path}:{number}: 'pattern ID', 'program ID' or 'grammar ID' begins a block")
                blocks.append((key, value, path, number, []))
            elif not blocks:
                raise Wrong(f"{path}:{number}: a line before the first block")
            else:
                blocks[-1][4].append((number, key, value.strip() if key != ".." else value))
    return blocks


def expand(text, where):
    for name in re.findall(r"%[A-Z]+%", text):
        if name not in MACROS:
            raise Wrong(f"{where}: there is no macro {name}")
    for name, value in MACROS.items():
        text = text.replace(name, value)
    return text


def check_regex(text, names, where):
    if re.search(r"(?<!\\)\.[*+]|(?<!\\)\\S[*+]|\{\d*,\}", text):
        raise Wrong(f"{where}: without an upper bound; use %ANY%, %FAR% or {{0,N}}")
    if re.search(r"[*+}][?+]?\)(?:[*+]|\{)", re.sub(r"\\.", "", expand_free(text))):
        raise Wrong(f"{where}: a repetition of a repetition")
    for name in re.findall(r"\(\?<([A-Za-z_]\w*)>", text):
        if name not in names:
            raise Wrong(f"{where}: '{name}' is no number and no word of src/diagnose/finding.h")


def expand_free(text):
    """The text without its macros, which are bounded as they are."""
    return re.sub(r"%[A-Z]+%", "x", text)


def names_of(header):
    with open(header, encoding="utf-8") as file:
        text = file.read()
    numbers = dict(re.findall(r"X\([A-Z0-9_]+, (\w+), ([A-Z]+)\)", text))
    words = re.findall(r"X\([A-Z0-9_]+, (\w+)\)", text)
    return list(numbers), words


def read_prose(path):
    """{name: (is it caseless, expression)} of the rules in prose.rules."""
    rules, macros = {}, {}
    kind = name = None
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            key, _, value = line.strip().partition(" ")
            value = value.strip()
            if not key or key.startswith("#"):
                continue
            if key in ("rule", "macro"):
                kind, name = key, value
                if kind == "rule":
                    rules[name] = (False, "")
            elif key == "caseless" and kind == "rule":
                rules[name] = (True, "")
            elif key in ("text", "..") and kind == "macro":
                macros[name] = macros.get(name, "") + value
            elif key in ("text", "..") and kind == "rule":
                for macro, text in macros.items():
                    value = value.replace(f"%{macro}%", text)
                rules[name] = (rules[name][0], rules[name][1] + value)
            else:
                raise Wrong(f"{path}:{number}: unknown key '{key}'")
    for needed in SUBROUTINES + ["phrase-prose", "phrase-behind"] + TEXT_KINDS:
        if needed not in rules:
            raise Wrong(f"{path}: rule '{needed}' is missing")
    return rules


class Pattern:
    frameworks, prose = [], {}  # of all patterns: main() reads them

    def __init__(self, kind, ident, path, number, lines, names):
        self.id, self.where = ident, f"{path}:{number}"
        self.is_program, self.is_grammar = kind == "program", kind == "grammar"
        self.once, self.examples = {}, []
        self.lists = {key: [] for key in LISTS + WORDS}
        self.grammar, self.phrases, self.skips = None, [], []
        self.units, self.sets = [], []
        numbers, words = names
        allowed = set(numbers) | set(words) | {"other_pid", "other_bytes"}
        for at, key, value in lines:
            self.take(key, value, f"{path}:{at}", allowed, numbers, words)
        if kind != "grammar":
            self.finish()

    def take(self, key, value, where, allowed, numbers, words):
        if key in ("match", "more", "before"):
            check_regex(value, allowed, where)
            value = expand(value, where)
        if key in LISTS:
            self.lists[key].append(value)
        elif key in WORDS:
            self.lists[key] += value.split()
        elif key in ONCE:
            if key in self.once:
                raise Wrong(f"{where}: a second {key}")
            self.once[key] = value
        elif key == "grammar":
            self.grammar = value
        elif key in ("phrase", "skip"):
            check_regex(value, (), where)
            (self.phrases if key == "phrase" else self.skips).append(expand(value, where))
        elif key == "unit":
            name, unit = value.split()
            if name not in numbers or unit not in UNITS:
                raise Wrong(f"{where}: unit NAME {'|'.join(UNITS)}")
            self.units.append((name, UNITS[unit]))
        elif key == "set":
            name, _, text = value.partition(" ")
            if name in numbers:
                self.sets.append((name, int(text), None))
            elif name in words:
                self.sets.append((name, 0, text))
            else:
                raise Wrong(f"{where}: '{name}' is no number and no word")
        elif key == "example":
            self.examples.append([value, None, where])
        elif key == "..":
            self.examples[-1][0] += "\n" + value
        elif key == "gives":
            self.examples[-1][1] = value
        elif key == "not":
            self.examples.append([value, False, where])
        else:
            raise Wrong(f"{where}: there is no key '{key}'")

    def finish(self):
        if self.phrases:  # any of them, unless it is advice or code
            rule = {name: text for name, (_, text) in self.prose.items()}
            phrases = f"(?:{'|'.join(self.phrases)}){rule['phrase-behind']}"
            groups = "".join(f"({text})" for text in [rule[name] for name in SUBROUTINES] + [phrases])
            one = f"(?{len(SUBROUTINES) + 1})"
            skips = "|".join([rule["phrase-prose"] + one] + self.skips)
            self.once["match"] = f"(?(DEFINE){groups})(?:(?:{skips})(*SKIP)(*FAIL)|{one})"
        if self.is_program:
            self.lists["path"] += [f"/{package}/" for package in self.lists["package"]]
            self.once.setdefault("framework", self.id)
            self.once.setdefault("match", "|".join(re.escape(anchor) for anchor in self.lists["anchor"]) or "(*FAIL)")
        for key, choices in (("role", ROLES), ("keep", KEEPS), ("line", LINES), ("stage", STAGES), ("cause", CAUSES),
                             ("framework", self.frameworks)):
            if key in self.once and self.once[key] not in choices:
                raise Wrong(f"{self.where}: {key} '{self.once[key]}' is none of {', '.join(choices)}")
        for key in ("framework", "match") + (() if self.is_program else ("role",)):
            if key not in self.once:
                raise Wrong(f"{self.where}: {self.id} has no {key}")
        for key in FLAGS:
            if self.once.get(key, "yes") != "yes":
                raise Wrong(f"{self.where}: {key} yes, or nothing")
        if "said" in self.once and self.once.get("role") not in ("neighbour", "series"):
            self.once["general"] = "yes"
        if self.lists["name"] and not self.is_program:
            raise Wrong(f"{self.where}: only a program has a name")
        if not any(self.lists[key] for key in ("anchor", "path", "near", "package", "name")):
            raise Wrong(f"{self.where}: {self.id} has no anchor")
        for anchor in self.lists["anchor"]:
            if (len(anchor.encode()) < 6 and "said" not in self.once) or "  " in anchor:
                raise Wrong(f"{self.where}: anchor '{anchor}': 6 bytes at least, single blanks")

    def role(self):
        return "PROGRAM" if self.is_program else self.once["role"].upper()


# --- triggers ---

GRAM, SCANNED = 6, 4  # bytes of a trigger, and of what the scanner looks for at once


def rarity(word):
    """How rare six characters are in logs: higher is rarer."""
    score = 0.0
    for c in word:
        if c.islower():
            score += 3.0 + FREQUENT[c] / 8
        elif c.isupper():
            score += 6
        elif c.isdigit():
            score += 3
        elif c in " ":
            score -= 2
        elif c in "\"'=<>&":
            score -= 20  # JSON, HTML and mail write them in another way
        else:
            score += 5.5 if c in "_#%$!<>{}|" else 4
    lower = word.lower()
    score -= 6 * sum(lower[i:i + SCANNED] in COMMON for i in range(GRAM - SCANNED + 1))
    if re.search(r"[a-z]+[A-Z]", word):
        score += 3
    return score


def word_at(anchor, at):
    """The word of GRAM bytes that begins there; "" when no character ends with it."""
    return next((anchor[at:end] for end in range(at + 1, len(anchor) + 1) if len(anchor[at:end].encode()) == GRAM), "")


def triggers_of(anchor):
    """Up to two places in an anchor at which to look for it: a line may be broken in one of them."""
    places = [i for i in range(len(anchor) - GRAM + 1) if anchor[i:i + GRAM].isascii()]
    if not places:  # of other scripts: two or three characters that are as many bytes
        places = [i for i in range(len(anchor)) if word_at(anchor, i)]
        if not places:
            raise Wrong(f"anchor '{anchor}': {GRAM} bytes in a row are needed")
        return places[:1]
    places.sort(key=lambda i: -rarity(anchor[i:i + GRAM]))
    chosen = [places[0]]
    for i in places[1:]:
        if abs(i - places[0]) >= GRAM:
            chosen.append(i)
            break
    return chosen


# --- C ---

def quoted(text):
    out = []
    for byte in text.encode():
        c = chr(byte)
        if c in '"\\?':
            out.append("\\" + c)
        elif 32 <= byte < 127:
            out.append(c)
        else:
            out.append(f"\\{byte:03o}")
    return '"' + "".join(out) + '"'


def list_name(pattern, key):
    return re.sub(r"[^a-z0-9]", "_", pattern.id) + "_" + key


def write_shared(patterns, out):
    """Expressions of several patterns stand in the tables once: one address, one compiled expression. {text: its name}"""
    counts = collections.Counter(text for pattern in patterns for key in ("more", "before") for text in pattern.lists[key])
    shared = {text: f"shared_{i}" for i, (text, n) in enumerate(counts.items()) if n > 1}
    out.writelines(f"static const char {name}[] = {quoted(text)};\n" for text, name in shared.items())
    return shared


def write_wrappings(patterns, out):
    """What each framework wraps, directly or through others: not through `other`, which is what many wrap."""
    direct = {}
    for pattern in patterns:
        if pattern.lists["wraps"]:
            direct.setdefault(pattern.once["framework"], set()).update(pattern.lists["wraps"])
    for framework in direct:
        new = direct[framework]
        while new:
            new = {inner for outer in new - {"other"} for inner in direct.get(outer, ())} - direct[framework]
            direct[framework] = direct[framework] | new
    rows = sorted((framework, sorted(wrapped - {framework})) for framework, wrapped in direct.items())
    for i, (_, wrapped) in enumerate(rows):
        out.write(f"static const char *const wrapped_{i}[] = {{ {', '.join(map(quoted, wrapped))}, NULL }};\n")
    out.write("const struct plim_wrapping plim_wrappings[] = {\n")
    out.writelines(f"    {{ {quoted(framework)}, wrapped_{i} }},\n" for i, (framework, _) in enumerate(rows))
    out.write(f"}};\nconst uint16_t plim_n_wrappings = {len(rows)};\n")


def write_tables(patterns, names, out):
    numbers, words = names
    out.write("/* Made by tools/embed_patterns.py; do not edit. */\n")
    out.write("#include \"diagnose/scan/patterns/pattern.h\"\n#include \"diagnose/scan/prose_rules.h\"\n\n")
    shared = write_shared(patterns, out)
    for pattern in patterns:
        for key in LISTS + ["wraps", "refines", "recovers"]:
            if pattern.lists[key]:
                out.write(f"static const char *const {list_name(pattern, key)}[] = {{\n")
                out.writelines(f"    {shared.get(text) or quoted(text)},\n" for text in pattern.lists[key])
                out.write("    NULL,\n};\n")
        rows = [f"{{ PLIM_VALUE_UNIT, PLIM_N_{name.upper()}, {amount}, NULL }}" for name, amount in pattern.units]
        for name, amount, text in pattern.sets:
            rows.append(f"{{ PLIM_VALUE_SET_NUMBER, PLIM_N_{name.upper()}, {amount}, NULL }}" if text is None else
                        f"{{ PLIM_VALUE_SET_WORD, PLIM_W_{name.upper()}, 0, {quoted(text)} }}")
        for name in pattern.lists["takes"]:
            if name not in numbers and name not in words:
                raise Wrong(f"{pattern.where}: takes '{name}', which is no number and no word")
            kind = "NUMBER, PLIM_N_" if name in numbers else "WORD, PLIM_W_"
            rows.append(f"{{ PLIM_VALUE_TAKE_{kind}{name.upper()}, 0, NULL }}")
        if rows:
            out.write(f"static const struct plim_pattern_value {list_name(pattern, 'values')}[] = {{\n")
            out.writelines(f"    {row},\n" for row in rows)
            out.write("    { PLIM_VALUE_END, 0, 0, NULL },\n};\n")
    out.write("\nconst struct plim_pattern plim_patterns[] = {\n")
    for pattern in patterns:
        once = pattern.once
        out.write("    {\n")
        out.write(f"        .id = {quoted(pattern.id)}, .framework = {quoted(once['framework'])},\n")
        out.write(f"        .stage = {quoted(once.get('stage', ''))}, .note = {quoted(once.get('note', ''))},\n")
        out.write(f"        .role = PLIM_PATTERN_ROLE_{pattern.role()}, .keep = PLIM_KEEP_{once.get('keep', 'last').upper()},\n")
        if "line" in once:
            out.write(f"        .line = PLIM_LINE_{once['line'].upper()},\n")
        out.write(f"        .cause = PLIM_CAUSE_{once.get('cause', 'unknown').upper()},\n")
        for key in FLAGS:
            if key in once:
                out.write(f"        .is_{key} = true,\n")
        out.write(f"        .match = {quoted(once['match'])},\n")
        for key in LISTS + ["wraps", "refines", "recovers"]:
            if pattern.lists[key]:
                out.write(f"        .{key + 's' if key in ('anchor', 'path', 'near', 'package', 'name') else key} = {list_name(pattern, key)},\n")
        if pattern.units or pattern.sets or pattern.lists["takes"]:
            out.write(f"        .values = {list_name(pattern, 'values')},\n")
        out.write("    },\n")
    out.write("};\n")
    out.write(f"const uint16_t plim_n_patterns = {len(patterns)};\n\n")
    rows = []
    for i, pattern in enumerate(patterns):
        for anchor in pattern.lists["anchor"] if "said" not in pattern.once else []:
            rows += [(word_at(anchor, at), anchor, at, i) for at in triggers_of(anchor)]
    out.write("const struct plim_trigger plim_triggers[] = {\n")
    out.writelines(f"    {{ {quoted(w)}, {quoted(a)}, {len(a.encode())}, {len(a[:at].encode())}, {i} }},\n"
                   for w, a, at, i in sorted(rows))
    out.write("};\n")
    out.write(f"const uint16_t plim_n_triggers = {len(rows)};\n\n")
    write_wrappings(patterns, out)
    out.write("const struct plim_prose_rule plim_prose_rules[PLIM_PROSE_RULE_MAX_] = {\n")
    for name in TEXT_KINDS:
        is_caseless, text = Pattern.prose[name]
        out.write(f"    [PLIM_PROSE_{name.upper().replace('-', '_')}] = {{ {str(is_caseless).lower()}, {quoted(text)} }},\n")
    out.write("};\n")


def write_examples(patterns, out):
    out.write("/* Made by tools/embed_patterns.py; do not edit. */\n#include \"pattern_examples.h\"\n\n")
    out.write("const struct pattern_example pattern_examples[] = {\n")
    n = 0
    for pattern in patterns:
        for text, gives, where in pattern.examples:
            kind = "false" if gives is False else "true"
            gives = "NULL" if not gives else quoted(gives)
            where = quoted(where.split("/")[-1])
            out.write(f"    {{ {quoted(pattern.id)}, {where}, {quoted(text)}, {gives}, {kind} }},\n")
            n += 1
    out.write(f"}};\nconst size_t n_pattern_examples = {n};\n")


def ids_like(ident, ids, own):
    """The ids that a list means: one by name, or with a star at its end all that begin so, but the pattern's own."""
    if not ident.endswith("*"):
        return [ident]
    found = [each for each in ids if each.startswith(ident[:-1]) and each != own]
    return found or [ident]


def main(arguments):
    is_examples = arguments[0] == "--examples"
    header, frameworks, prose, target, *sources = arguments[is_examples:]
    names = names_of(header)
    with open(frameworks, newline="", encoding="utf-8") as file:
        Pattern.frameworks = [row["id"] for row in csv.DictReader(file)]
    Pattern.prose = read_prose(prose)
    patterns = []
    for source in sorted(sources, key=os.path.basename):
        patterns += [Pattern(*block, names) for block in read_blocks(source)]
    grammars = {pattern.id: pattern for pattern in patterns if pattern.is_grammar}
    patterns = [pattern for pattern in patterns if not pattern.is_grammar]
    for pattern in patterns:
        if pattern.grammar and pattern.grammar not in grammars:
            raise Wrong(f"{pattern.where}: there is no grammar '{pattern.grammar}'")
        for key in ("more", "before") if pattern.grammar else ():
            pattern.lists[key] += grammars[pattern.grammar].lists[key]
    ids = [pattern.id for pattern in patterns if not pattern.is_program]
    for ident in ids:
        if ids.count(ident) > 1:
            raise Wrong(f"two patterns '{ident}'")
    failures = [pattern.id for pattern in patterns if pattern.once.get("role") == "failure"]
    for pattern in patterns:
        if pattern.lists["recovers"] == ["any"]:
            pattern.lists["recovers"] = failures
        for key in ("refines", "recovers"):
            pattern.lists[key] = [each for ident in pattern.lists[key] for each in ids_like(ident, ids, pattern.id)]
            for ident in pattern.lists[key]:
                if ident not in ids:
                    raise Wrong(f"{pattern.where}: {key} '{ident}', which is no pattern")
        for ident in pattern.lists["wraps"]:
            if ident not in Pattern.frameworks:
                raise Wrong(f"{pattern.where}: wraps '{ident}', which is no framework")
    with open(target, "w", encoding="ascii") as out:
        if is_examples:
            write_examples(patterns, out)
        else:
            write_tables(patterns, names, out)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (Wrong, OSError, ValueError) as problem:
        sys.exit(str(problem))
