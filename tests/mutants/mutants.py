# SPDX-License-Identifier: MIT
"""The lists of mutants (*.mutants; run.py says how they are written), and a mutant put into a source file."""
from __future__ import annotations

import dataclasses
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "cli"))
import run as cli_run  # noqa: E402 - tests/cli/run.py: what cases there are

SUITES = ("unit", "cli", "faults", "terminal", "remote", "docs", "explain", "receipts", "picture", "build")


class Wrong(Exception):
    """A mutant that cannot be read or no longer applies."""


@dataclasses.dataclass(frozen=True)
class Suite:
    """What should notice: tests of one kind, of all names; the suite of one name is run alone."""

    kind: str
    name: str
    sanitized: bool

    def __str__(self) -> str:
        return " ".join(word for word in ("sanitized" if self.sanitized else "", self.kind, self.name) if word)


@dataclasses.dataclass
class Mutant:
    name: str
    where: str
    file: str = ""
    function: str = ""
    search: list[str] = dataclasses.field(default_factory=list)
    replacement: list[str] = dataclasses.field(default_factory=list)
    suites: list[Suite] = dataclasses.field(default_factory=list)
    survives: str = ""
    alone: bool = False

    def text(self) -> str:
        return repr((self.file, self.function, self.search, self.replacement, [str(suite) for suite in self.suites]))


def read_suite(words: str, where: str) -> Suite:
    sanitized = words.startswith("sanitized ")
    kind, _, name = words.removeprefix("sanitized ").partition(" ")
    if kind not in SUITES or (kind in ("unit", "cli") and not name):
        raise Wrong(f"{where}: 'by {words}' names no suite")
    return Suite(kind, name, sanitized)


def read_line(mutant: Mutant, word: str, rest: str, where: str) -> None:
    if word == "in":
        mutant.file, _, mutant.function = rest.partition(" ")
    elif word == "-":
        mutant.search.append(rest)
    elif word == "+":
        mutant.replacement.append(rest)
    elif word == "by":
        mutant.suites.append(read_suite(rest, where))
    elif word == "survives" and rest:
        mutant.survives = rest
    elif word == "alone":
        mutant.alone = True
    else:
        raise Wrong(f"{where}: unknown line '{word} {rest}'")


def read_list(path: pathlib.Path) -> list[Mutant]:
    found: list[Mutant] = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        word, _, rest = line.partition(" ")
        where = f"{path.name}:{number}"
        if not line or line.startswith("#"):
            continue
        if word == "==":
            found.append(Mutant(rest, where))
        elif not found:
            raise Wrong(f"{where}: a line before the first '=='")
        else:
            read_line(found[-1], word, rest, where)
    for mutant in found:
        if not (mutant.name and mutant.file and mutant.function and mutant.search and mutant.suites):
            raise Wrong(f"{mutant.where}: a mutant needs a name, 'in', '-' and 'by'")
    return found


def read_all() -> list[Mutant]:
    found = [mutant for path in sorted(HERE.glob("*.mutants")) for mutant in read_list(path)]
    names: dict[str, str] = {}
    for mutant in found:
        if mutant.name in names:
            raise Wrong(f"{mutant.where}: {names[mutant.name]} has this name as well")
        names[mutant.name] = mutant.where
    return found


# -- a mutant in its source file -------------------------------------------------------------------------------------


def blank(text: str) -> str:
    """The source with comments, strings and characters replaced by spaces, line by line as long as before."""
    pattern = r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    return re.sub(pattern, lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=re.S)


def definitions(text: str) -> list[tuple[int, int]]:
    """First and last character of every definition at the level of the file; a macro is one as well."""
    found = []
    begin = None
    depth = at = 0
    for line in blank(text).splitlines(keepends=True):
        end = at + len(line)
        bare = line.strip()
        if begin is None and bare:
            begin, depth = at, 0
        if begin is not None:
            is_macro = text[begin] == "#"
            depth += 0 if is_macro else bare.count("{") - bare.count("}")
            if not bare.endswith("\\") if is_macro else depth == 0 and bare.endswith((";", "}")):
                found.append((begin, end))
                begin = None
        at = end
    return found


def defines(code: str, name: str) -> bool:
    """Whether a definition, blanked, is that of name: a function, a table, a constant, a type or a macro."""
    head, brace, body = code.partition("{")
    word = rf"\b{re.escape(name)}\b"
    if code.startswith("#"):
        return re.match(rf"#\s*define\s+{word}", code) is not None
    if re.match(rf"\w+\({re.escape(name)}\)\s*$", head):
        return bool(brace)  # PLIM_TAKE(name)
    if re.search(word + r"\)?\s*\(", head):
        return bool(brace)
    if re.search(rf"\b(struct|union|enum)\s+{word}\s*$", head) or re.search(word + r"(\[[^\]]*\])*\s*(=|;)", head):
        return True
    if re.search(rf"^}} ?{word}(\[[^\]]*\])*\s*(=|;|,)", code, re.M):  # struct row { ... } rows[] =
        return True
    return re.match(r"(typedef )?enum[^(]*$", head) is not None and re.search(word + r"\s*(=|,|\})", body) is not None


def find_function(text: str, name: str) -> tuple[int, int]:
    plain = blank(text)
    found = [(begin, end) for begin, end in definitions(text) if defines(plain[begin:end], name)]
    if len(found) != 1:
        raise Wrong(f"{len(found) or 'no'} definitions of {name}")
    return found[0]


def apply(mutant: Mutant, text: str) -> str:
    """The text with the mistake in it; spaces and new lines of the search stand for any."""
    begin, end = find_function(text, mutant.function)
    words = "\n".join(mutant.search).split()
    found = list(re.finditer(r"\s+".join(re.escape(word) for word in words), text[begin:end]))
    if len(found) != 1:
        raise Wrong(f"{mutant.function} has the search text {len(found)} times")
    new = "\n".join(mutant.replacement)
    if new.split() == words:
        raise Wrong("the replacement is what was there")
    at, to = begin + found[0].start(), begin + found[0].end()
    return text[:at] + new + text[to:]


# -- is the list in order? -------------------------------------------------------------------------------------------


def suite_files(suite: Suite) -> list[pathlib.Path]:
    """The files of a suite: when they change, what was found out with them is found out again."""
    tests = ROOT / "tests"
    if suite.kind == "unit":
        word, name = re.split(r"[ ,]", suite.name)[0], suite.name.replace(" ", "_")
        paths = (tests / "unit" / f"test_{word}.c", tests / "vgpu" / f"{word}.py", tests / "vgpu" / f"{name}.c")
        return [path for path in paths if path.exists()]
    if suite.kind == "cli":
        return [path for path in sorted((tests / "cli").glob("*.cases"))
                if any(cli_run.is_called(case, suite.name) for case in cli_run.read_cases(path))]
    pattern = {"terminal": "cli/terminal.py", "remote": "remote/*.py", "faults": "faults/*.*", "docs": "docs/*.py", "explain": "explain/*.py",
               "receipts": "data/receipts-*.txt", "picture": "picture/*.py", "build": "mutants/*.py"}
    return sorted(tests.glob(pattern[suite.kind]))


def check(mutants: list[Mutant]) -> list[str]:
    """A complaint for every mutant that does not apply or whose suite is gone."""
    complaints = []
    for mutant in mutants:
        try:
            path = ROOT / mutant.file
            if not mutant.file.startswith("src/") or not path.is_file():
                raise Wrong(f"no file {mutant.file}")
            apply(mutant, path.read_text())
            for suite in mutant.suites:
                if not suite_files(suite):
                    raise Wrong(f"no suite '{suite}'")
        except Wrong as wrong:
            complaints.append(f"{mutant.where}: {mutant.name}: {wrong}")
    return complaints


def bare_folders(mutants: list[Mutant]) -> list[str]:
    """Folders of src/ without a mutant."""
    folders = sorted(path.name for path in (ROOT / "src").iterdir() if path.is_dir())
    return [f"no mutant of src/{name}" for name in folders if not any(m.file.startswith(f"src/{name}/") for m in mutants)]
