# SPDX-License-Identifier: MIT
"""
Turn the knowledge base into a C table: embed_entries.py OUT.c IN.entries... IN.patterns...

The table plim_errors_table has a row for each field: entry, field, text, rest. data/errors/causes.entries explains the
format. What is wrong with an entry stops the build, with file and line, and so does a message that no entry explains.
`embed_entries.py --markdown docs/errors.md data/errors/*.entries` writes the page of the documentation instead,
`--check` says whether it is the one that is there.
"""
import fnmatch
import os
import re
import sys
import textwrap

import embed_csv

FIELDS = ["title", "from", "prints", "kind", "cause", "means", "because", "fix", "instead", "useless", "belief", "since", "source", "see", "own"]
ONCE = {"title", "from", "kind", "cause", "means", "since", "source", "see", "own"}
NEEDED = ["title", "cause", "means", "because", "fix"]
WITH_REST = {"fix", "belief"}
CAUSES = """model_too_big other_process fragmentation kv_cache_context batch_or_activation leak_or_growth optimizer_states host_ram shm
    allocator_limit misconfiguration_utilization driver_or_context not_oom""".split()
MAX_COLUMNS, MAX_TITLE = 150, 78


class Entry:
    def __init__(self, name, where):
        self.name, self.where, self.fields = name, where, []

    def all(self, field):
        return [text for name, text in self.fields if name == field]

    def one(self, field):
        return (self.all(field) or [""])[0]


def complain(where, message):
    sys.exit(f"{where}: {message}")


def read(paths):
    """Entries in the order of the files."""
    entries = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file.read().splitlines(), 1):
                where = f"{path}:{number}"
                if len(line) > MAX_COLUMNS:
                    complain(where, f"longer than {MAX_COLUMNS} columns")
                if not line.strip() or line.startswith("#"):
                    continue
                if line.startswith("== "):
                    entries.append(Entry(line[3:].strip(), where))
                elif not entries:
                    complain(where, "a field before the first entry")
                elif line.startswith(" "):
                    if not entries[-1].fields:
                        complain(where, "goes on with nothing")
                    name, text = entries[-1].fields[-1]
                    entries[-1].fields[-1] = (name, text + " " + line.strip())
                else:
                    name, _, text = line.partition(" ")
                    if name not in FIELDS:
                        complain(where, f"there is no field '{name}'")
                    entries[-1].fields.append((name, text.strip()))
    return entries


def check(entries):
    names = [entry.name for entry in entries]
    for entry in entries:
        if not re.fullmatch(r"[a-z][a-z0-9_-]*", entry.name) or names.count(entry.name) > 1:
            complain(entry.where, f"'{entry.name}' is no name, or there are two")
        for field in NEEDED:
            if not entry.all(field):
                complain(entry.where, f"{entry.name} has no '{field}'")
        for field, text in entry.fields:
            if not text:
                complain(entry.where, f"{entry.name}: '{field}' is empty")
            if field in ONCE and len(entry.all(field)) > 1:
                complain(entry.where, f"{entry.name} has two of '{field}'")
            if field == "belief" and " | " not in text:
                complain(entry.where, f"{entry.name}: a belief without what is so")
        if len(entry.one("title")) > MAX_TITLE:
            complain(entry.where, f"the title is longer than {MAX_TITLE} characters")
        for cause in entry.one("cause").split():
            if cause not in CAUSES:
                complain(entry.where, f"there is no cause '{cause}'")
        for other in entry.one("see").split():
            if other not in names or other == entry.name:
                complain(entry.where, f"see '{other}': there is no such entry")
    for cause in CAUSES:
        if cause not in names:
            sys.exit(f"no entry explains the cause {cause}")


def claims(entries):
    """Who explains which kind, as written; the program takes the longest, and of two alike it would take either."""
    claimed = {}
    for entry in entries:
        for kind in entry.one("kind").split():
            if kind in claimed:
                complain(entry.where, f"{entry.name} claims {kind}, which is {claimed[kind].name}'s")
            claimed[kind] = entry
    return claimed


def check_patterns(paths, claimed):
    """Each message has an entry that was written for it."""
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for block in re.split(r"^(?=\w)", file.read(), flags=re.MULTILINE):
                name = re.match(r"pattern (\S+)", block)
                if not name or re.search(r"^  role +(?:neighbour|series)$", block, re.MULTILINE):
                    continue
                if not any(fnmatch.fnmatchcase(name[1], kind) for kind in claimed):
                    complain(path, f"no entry has the kind {name[1]}: add it to one of data/errors/*.entries")


def rows(entries):
    for entry in entries:
        for field in FIELDS:
            for text in entry.all(field):
                text, bar, rest = text.partition(" | ") if field in WITH_REST else (text, "", "")
                yield [entry.name, field, text, rest if bar else ""]


def code(text):
    """What people type, between backticks that the text does not have."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def plain(text):
    """Text that markdown leaves alone."""
    return re.sub(r"([<>*_`\[\]])", r"\\\1", text)


def wrapped(line):
    """Long lines of text in several; what is indented is a message and stays one line."""
    if len(line) <= MAX_COLUMNS or line.startswith("    "):
        return line
    indent = "  " if line.startswith("- ") else ""
    return "\n".join(textwrap.wrap(line, MAX_COLUMNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False))


def markdown(entries):
    yield "# Errors\n"
    yield "What memory errors of models on GPUs mean and what to do about them: the entries of `plimsoll errors`. This page is made of the files in"
    yield "`data/errors` by `tools/embed_entries.py --markdown`; change them there.\n"
    for entry in entries:
        yield f'- [{plain(entry.one("title"))}](#{entry.name})'
    for entry in entries:
        yield f'\n## <a id="{entry.name}"></a>{plain(entry.one("title"))}\n'
        for text in entry.all("prints"):
            yield f"    {text}"
        yield ("\n" if entry.all("prints") else "") + plain(entry.one("means"))
        for field, heading in (("because", "Why"), ("fix", "What to do"), ("instead", "Or"), ("useless", "What does not help")):
            texts = entry.all(field)
            if texts:
                yield f"\n{heading}:\n"
            for text in texts:
                text, bar, command = text.partition(" | ") if field == "fix" else (text, "", "")
                yield f"- {plain(text)}" + (f" {code(command)}" if bar else "")
        for text in entry.all("belief"):
            claim, _, truth = text.partition(" | ")
            yield f"\nMisconception: *{plain(claim)}* {plain(truth)}"
        if entry.all("since"):
            yield f'\nVersions: {plain(entry.one("since"))}'
        if entry.all("source"):
            yield f'\nSource: {plain(entry.one("source"))}'
        yield "\nCause: " + ", ".join(code(cause) for cause in entry.one("cause").split()) + "." + (
            "  See also: " + ", ".join(f"[{name}](#{name})" for name in entry.one("see").split()) + "." if entry.all("see") else "")


def main(arguments):
    mode = arguments.pop(0) if arguments[0].startswith("--") else ""
    target, *paths = arguments
    patterns = [path for path in paths if path.endswith(".patterns")]
    paths = [path for path in paths if path not in patterns]
    entries = read(sorted(paths, key=lambda path: (not path.endswith("causes.entries"), os.path.basename(path))))
    check(entries)
    check_patterns(patterns, claims(entries))
    if not mode:
        embed_csv.write("errors", ["entry", "field", "text", "rest"], list(rows(entries)), target, "tools/embed_entries.py")
        return
    page = "".join(wrapped(line) + "\n" for text in markdown(entries) for line in text.split("\n"))
    if mode == "--check":
        with open(target, encoding="utf-8") as file:
            sys.exit(0 if file.read() == page else f"{target} is not what its data make: tools/embed_entries.py --markdown")
    with open(target, "w", encoding="utf-8") as out:
        out.write(page)


if __name__ == "__main__":
    main(sys.argv[1:])
