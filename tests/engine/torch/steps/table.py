# SPDX-License-Identifier: MIT
"""
What recorded steps predict for sizes that were not recorded, beside what PyTorch took there: the table of docs/accuracy.md.

    table.py --plimsoll PROGRAM --data FOLDER [--page docs/accuracy.md] [--check] [NAME...]

FOLDER has NAME.step and truths.csv (record.py writes them), largest/NAME.step and largest.csv (largest.py does). Without --page the
rows of each size are printed; with --check the page must have this table already.
"""
from __future__ import annotations

import argparse
import concurrent.futures
import json
import pathlib
import re
import statistics
import subprocess
import sys
from dataclasses import dataclass

import design
import largest as searches
import program
import record

BEGIN, END = "<!-- steps:begin -->", "<!-- steps:end -->"


@dataclass
class Row:
    name: str
    batch: int
    length: int
    is_between: bool
    errors: tuple[float, float] | None  # of allocated and reserved, of the truth; None: refused
    said: str  # by the program: its answer's source, or why it refuses


def fit(a: argparse.Namespace, name: str, *arguments: str) -> tuple[dict, str]:
    command = [a.plimsoll, "fit", f"{a.data}/{name}.step", "--json", *arguments]
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    return json.loads(done.stdout) if done.stdout else {}, done.stderr.split("\n")[0]


def predicted(a: argparse.Namespace, key: tuple[str, int, int], truth: tuple[int, int]) -> Row:
    name, batch, length = key
    answer, error = fit(a, name, "--card", record.CARD, "--set", f"B={batch}", "--set", f"S={length}")
    step, sizes = answer.get("step") or {}, design.drawn(name)
    is_between = batch <= sizes.batches[-1] and length <= sizes.lengths[-1]
    said = (step.get("allocated_peak_bytes"), step.get("reserved_peak_bytes"))
    errors = None if None in said else tuple(mine / true - 1 for mine, true in zip(said, truth))
    return Row(name, batch, length, is_between, errors, step.get("source", error or answer.get("refusal") or "no figures"))


@dataclass
class Found:
    """What `rehearse --find` found, beside what --max says of a step of that card and of one of another card."""
    search: design.Search
    truth: int
    between: int | str | None  # with the bounds of that search
    of_card: int | str | None
    of_other: int | str | None


def most(a: argparse.Namespace, step: str, variable: str, *arguments: str) -> int | str | None:
    """None: refused. As text: that much fits, and what is larger has another shape, which the answer asks to record."""
    if not pathlib.Path(a.data, step + ".step").exists():
        return None
    answer = (fit(a, step, "--max", variable, *arguments)[0].get("step") or {}).get("largest") or {}
    is_decided = answer.get("fails_at") is not None or answer.get("unknown_at") is None
    return answer.get("value") if is_decided else f"{answer['value']} or more"


def largest(a: argparse.Namespace) -> list[Found]:
    return [Found(s, int(row["largest"]), most(a, f"largest/{s.name}", f"B={row['low']}..{row['high']}", "--card", s.card),
                  most(a, f"largest/{s.name}", "B", "--card", s.card),
                  most(a, s.name, "B", "--card", s.card, "--set", f"S={s.length}"))
            for s, row in searches.read_found(a.data).items() if s.name in (a.names or program.PROGRAMS)]


# --- the page ---

def percent(x: float) -> str:
    return f"{100 * x:+.2f} %" if abs(x) >= 0.00005 else "0"


def worst(errors: list[float]) -> float:
    return max(errors, key=abs)


def cells(rows: list[Row]) -> list[str]:
    errors = [row.errors for row in rows if row.errors]
    return [percent(worst([e[i] for e in errors])) if errors else "refused" for i in range(2)]


def figures(rows: list[Row], what: str) -> list[str]:
    errors, n_refused = [row.errors for row in rows if row.errors], sum(not row.errors for row in rows)
    lines = []
    for i, name in enumerate(("allocated", "reserved")):
        of = [e[i] for e in errors]
        if of:
            row = [what, name, str(len(of)), str(n_refused), f"{100 * statistics.median(map(abs, of)):.2f} %", percent(min(*of, 0)),
                   percent(max(*of, 0)), str(sum(abs(e) < 0.0001 for e in of))]
            lines.append(f"| {' | '.join(row)} |")
    return lines


def largest_lines(found: list[Found]) -> list[str]:
    others = [f for f in found if isinstance(f.of_other, int)]
    n_undecided = sum(isinstance(f.between, str) for f in found)
    n_between, n_card = sum(f.between == f.truth for f in found), sum(f.of_card == f.truth for f in found)
    n_other = sum(f.of_other == f.truth for f in others)
    worst_other = max((abs(f.of_other - f.truth) / f.truth for f in others), default=0)
    head = ["The largest batch that fits, by `rehearse --find B=LOW..HIGH`, and by `fit --max` of a step that was recorded at three small batches",
            f"on that card ({len(found)} of {len(design.searches())} planned searches have been run).",
            f"`--max B=LOW..HIGH` decides {len(found) - n_undecided}, and is equal in {n_between} of them; `--max B`, which begins at the recorded",
            f"batches, is equal in {n_card}.",
            f"Of the steps above, recorded on a {record.CARD} and at fewer tokens, `--max B` is equal in {n_other} of {len(others)},",
            f"and at most {100 * worst_other:.1f} % off.",
            "", "| program | length | card | `--find` | `--max B=LOW..HIGH` | `--max B` | recorded on another card |",
            "| --- | ---: | --- | ---: | ---: | ---: | ---: |"]
    return head + [f"| {f.search.name} | {f.search.length} | {f.search.card} | {f.truth} | {f.between or 'refused'} | {f.of_card or 'refused'} | "
                   f"{f.of_other or ''} |" for f in found] + [""]


def text(rows: list[Row], found: list[Found]) -> str:
    between, beyond = [row for row in rows if row.is_between], [row for row in rows if not row.is_between]
    names = list(dict.fromkeys(row.name for row in rows))
    lines = [
        f"{len(names)} programs that train ([program.py](../tests/engine/torch/steps/program.py)), recorded at small sizes with `--vary`, and what",
        "the step says of sizes that were not recorded, beside PyTorch's own peaks in a rehearsal there. *Between*: inside the recorded range.",
        "*Beyond*: a batch of four times the largest recorded, or a text of four times its length, or a picture of four times its points.",
        "The sizes were drawn before any ran.",
        "",
        "| sizes | peak | predicted | refused | median error | lowest | highest | below 0.01 % |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        *figures(between, "between"), *figures(beyond, "beyond"), "",
    ]
    lines += largest_lines(found) if found else []
    lines += ["Worst error of a program, of two or three sizes each:", "",
              "| program | between: allocated | reserved | beyond: allocated | reserved | refused |", "| --- | ---: | ---: | ---: | ---: | ---: |"]
    for name in names:
        mine = [row for row in rows if row.name == name]
        n_refused = sum(not row.errors for row in mine)
        errors = cells([row for row in mine if row.is_between]) + cells([row for row in mine if not row.is_between])
        lines.append(f"| {name} | {' | '.join(errors)} | {n_refused or ''} |")
    return "\n".join([BEGIN, *lines, END])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("--plimsoll", "--data"):
        parser.add_argument(option, required=True)
    parser.add_argument("--page")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("names", nargs="*")
    a = parser.parse_args()
    truths = {key: truth for key, truth in record.read_truths(f"{a.data}/truths.csv").items()
              if key[0] in (a.names or program.PROGRAMS) and pathlib.Path(a.data, key[0] + ".step").exists()}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(lambda item: predicted(a, *item), truths.items()))
    if not a.page:
        for row in rows:
            print(f"{row.name} B={row.batch} S={row.length}", "between" if row.is_between else "beyond",
                  *map(percent, row.errors or ()), row.said)
        for found in largest(a):
            print(found)
        sys.exit(0)
    page = pathlib.Path(a.page).read_text(encoding="utf-8")
    new = re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: text(rows, largest(a)), page, flags=re.S)
    if a.check and new != page:
        sys.exit(f"{a.page} has another table: write it with --page {a.page}")
    pathlib.Path(a.page).write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
