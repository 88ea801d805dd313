# SPDX-License-Identifier: MIT
"""The commands whose calls fail, and the files that they read and write."""
from __future__ import annotations

import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "cli"))

import fixture  # noqa: E402

GIB_IN_KB = 1 << 20
SMALL = "../../models/qwen2.5-0.5b-Q4_K_M.gguf"
PART = "../../models/split/qwen3-0.6b-Q4_K_M-00001-of-00003.gguf"
CHECKPOINT = "../../models/checkpoint"
LOG = "../../models/crash.log"
SNAPSHOT = "../../models/snapshot.pickle"
CARD = ["--card", "RTX 4060"]

# What a user wrote before: `--force`, `--receipt` and `--log` may replace it, but only by something whole.
FORMER = b"written by someone before\n"
# A page replaces a page alone.
FORMER_PAGE = b"<!doctype html>\n<!-- SPDX-License-Identifier: MIT -->\n" + FORMER


@dataclasses.dataclass(frozen=True)
class Case:
    """A command in a folder of its own. `names`: an error names one of these; `before`: files that are there already."""

    name: str
    arguments: tuple[str, ...]
    names: tuple[str, ...]
    before: tuple[str, ...] = ()
    stdin: str = ""
    n_models: int = 1  # each may have an error of its own
    has_receipt: bool = False  # receipt.json differs in times from run to run; stdout too with --json
    env: tuple[tuple[str, str], ...] = ()

    @property
    def command(self) -> str:
        return self.arguments[0]


def all_cases(program: str, nvml: str) -> list[Case]:
    live = (("PLIMSOLL_NVML", nvml), ("FAKE_NVML", "usual"))
    hollow_part = "out/qwen3-0.6b-Q4_K_M-0000{}-of-00003.gguf"
    rehearse = ("rehearse", *CARD, "--receipt", "receipt.json", "--log", "run.log")
    ran = (program, "receipt", "log", "ledger", "virtual libraries", "/proc")
    return [
        Case("fit", ("fit", SMALL, *CARD), ("qwen2.5",)),
        Case("fit-json", ("fit", SMALL, "--json"), ("qwen2.5",)),
        Case("fit-split", ("fit", PART, *CARD), ("qwen3",)),
        Case("fit-folder", ("fit", "../../models/several", *CARD), ("several",), n_models=2),
        Case("fit-live", ("fit", SMALL), ("qwen2.5",), env=live),
        Case("fit-ollama", ("fit", "small", *CARD), ("small", "sha256-")),
        Case("hollow", ("hollow", SMALL, "-o", "new/"), ("new", "qwen2.5")),
        Case("hollow-force", ("hollow", SMALL, "-o", "out.gguf", "--force", "--json"), ("out.gguf", "(.)", "qwen2.5"), ("out.gguf",)),
        Case("hollow-parts", ("hollow", PART, "-o", "out/"), ("out", "qwen3")),
        Case("hollow-parts-force", ("hollow", PART, "-o", "out/", "--force"), ("out", "qwen3"),
             tuple(hollow_part.format(i) for i in (1, 3))),
        Case("hollow-checkpoint", ("hollow", CHECKPOINT, "-o", "out", "--json"), ("out", "checkpoint")),
        Case("explain", ("explain", LOG), ("crash.log",)),
        Case("explain-stdin", ("explain", "-", "--json"), ("standard input",), stdin=LOG),
        Case("check-log", ("check", "--receipt-from", "../../models/server.log", "--json"), ("server.log",)),
        Case("check-receipt", ("check", SMALL, "../../models/receipt.json"), ("receipt.json", "qwen2.5")),
        Case("trace-page", ("trace", SNAPSHOT, "--html", "page.html"), ("snapshot.pickle", "page"), ("page.html",)),
        Case("rehearse", (*rehearse, "--", program), ran, ("receipt.json", "run.log"), has_receipt=True),
        Case("rehearse-text", ("rehearse", *CARD, "--", program), ran),
        Case("rehearse-json", ("rehearse", *CARD, "--json", "--log", "run.log", "-q", "--", program), ran, has_receipt=True),
        Case("rehearse-stop", (*rehearse, "--until", "stable:0.2", "-q", "--", program, "stay"), ran, has_receipt=True),
        Case("rehearse-find", ("rehearse", *CARD, "--find", "N=1..2", "--log", "run.log", "--json", "-q", "--", program, "{}"), ran,
             has_receipt=True),
    ]


def make_models(models: pathlib.Path) -> None:
    def run(*arguments: str) -> None:
        subprocess.run([sys.executable, str(fixture.MAKER), *arguments], check=True, stdout=subprocess.DEVNULL)

    run("qwen2.5-0.5b", "llama-3.2-1b", "llama-3.1-8b", "-o", str(models))
    run("qwen3-0.6b", "--split", "3", "-o", str(models / "split"))
    (models / "several" / "deep").mkdir(parents=True)
    os.link(models / "llama-3.2-1b-Q4_K_M.gguf", models / "several" / "a.gguf")
    os.link(models / "qwen2.5-0.5b-Q4_K_M.gguf", models / "several" / "deep" / "b.gguf")
    fixture.make_checkpoint(models / "checkpoint")


def make_machine(root: pathlib.Path) -> None:
    """64 GB of RAM, of which a control group leaves 20."""
    group = root / "sys" / "fs" / "cgroup" / "job"
    group.mkdir(parents=True)
    (root / "proc" / "self").mkdir(parents=True)
    meminfo = f"MemTotal: {64 * GIB_IN_KB} kB\nMemFree: {40 * GIB_IN_KB} kB\nMemAvailable: {48 * GIB_IN_KB} kB\n"
    (root / "proc" / "meminfo").write_text(meminfo)
    (root / "proc" / "self" / "cgroup").write_text("0::/job\n")
    (group / "memory.max").write_text(f"{24 << 30}\n")
    (group / "memory.current").write_text(f"{5 << 30}\n")
    (group / "memory.stat").write_text(f"anon 1\ninactive_file {1 << 30}\n")


def make_world(root: pathlib.Path, plimsoll: str, program: str) -> dict[str, str]:
    """Models, logs, a receipt, and a machine that is always the same; returns the environment of the runs."""
    models = root / "models"
    make_machine(root / "machine")
    make_models(models)
    fixture.make_store(root / "ollama", models)
    shutil.copy(fixture.LOGS / "crash" / "pytorch.log", models / "crash.log")
    shutil.copy(TESTS / "data" / "traces" / "train-2.15.pickle", models / "snapshot.pickle")
    shutil.copy(fixture.LOGS / "llama-8b.log", models / "server.log")
    env = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(root),
        "TERM": "dumb",
        "LC_ALL": "C.UTF-8",
        "OLLAMA_MODELS": str(root / "ollama"),
        "PLIMSOLL_SYSROOT": str(root / "machine"),
        "PLIMSOLL_NVML": str(root / "no-such-library.so"),
    }
    receipt = ["rehearse", *CARD, "--receipt", str(models / "receipt.json"), "-q", "--", program]
    subprocess.run([plimsoll, *receipt], check=True, env=env, stdout=subprocess.DEVNULL)
    return env
