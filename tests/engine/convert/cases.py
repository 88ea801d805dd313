# SPDX-License-Identifier: MIT
"""
The configs whose conversion is recorded: cases.txt, one per line,

    NAME [5] [--OPTION] [KEY=JSON...]      # comment

NAME is a config's file in data/models without ".json", completed by data/models-filled.csv, or one in the folder configs:
the defaults of a class of transformers. 5: the checkpoint's layout comes from transformers 5, which knows the architecture,
and not from transformers 4; 0: from written_layout.py. KEY=JSON completes or changes the config (KEY may be a path:
vision_config.depth), KEY=- takes it away. NAME@WORD is a second case of the same config.
"""
from __future__ import annotations

import csv
import functools
import json
import os
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
FOLDERS = (os.path.join(ROOT, "data", "models"), os.path.join(HERE, "configs"))
TRANSFORMERS = {4: "4.57.6", 5: "5.23.0"}


def without_notes(config: dict) -> dict:
    return {key: value for key, value in config.items() if not key.startswith("_")}


@functools.cache
def filled() -> dict[str, dict[str, object]]:
    """What the catalogue completes: name -> key -> value."""
    found: dict[str, dict[str, object]] = {}
    with open(os.path.join(ROOT, "data", "models-filled.csv"), encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["id"].replace("/", "__"), {})[row["key"]] = json.loads(row["value"])
    return found


def walk(config: dict, key: str) -> tuple[dict, str]:
    """The object that holds the key of a path, made where it is not, and the last word of the path."""
    *way, last = key.split(".")
    for step in way:
        if config.get(step) is None:
            config[step] = {}
        config = config[step]
    return config, last


@dataclass
class Case:
    name: str
    transformers: int = 4
    options: list[str] = field(default_factory=list)
    changes: dict[str, object] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)
    remark: str = ""

    def config(self) -> dict:
        """The config as the converter gets it."""
        found = None
        for folder in FOLDERS:
            path = os.path.join(folder, self.name.split("@")[0] + ".json")
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    found = without_notes(json.load(file))
        if found is None:
            raise FileNotFoundError(f"no config of {self.name}")
        for key, value in filled().get(self.name.split("@")[0], {}).items():
            place, last = walk(found, key)
            if place.get(last) is None:
                place[last] = value
        for key, value in self.changes.items():
            place, last = walk(found, key)
            place[last] = value
            if value is None and key in self.removed:
                del place[last]
        return found

    def notes(self) -> list[str]:
        made = f"{self.name}: llama.cpp v0.5.0, convert_hf_to_gguf.py with transformers {TRANSFORMERS[4]}; "
        layout = f"transformers {TRANSFORMERS[self.transformers]}" if self.transformers else "written_layout.py"
        lines = [made + "checkpoint laid out by " + layout]
        if self.changes:
            lines.append("changed: " + " ".join(f"{key}={json.dumps(value)}" for key, value in self.changes.items()))
        return lines


def parse(line: str) -> Case:
    text, _, remark = line.partition("#")
    name, *words = text.split()
    case = Case(name, remark=remark.strip())
    for word in words:
        key, equals, value = word.partition("=")
        if word in ("0", "5"):
            case.transformers = int(word)
        elif word.startswith("--"):
            case.options.append(word)
        elif value == "-":
            case.removed.add(key)
            case.changes[key] = None
        elif equals:
            case.changes[key] = json.loads(value)
        else:
            raise ValueError(f"cases.txt: {line!r}")
    return case


def read() -> list[Case]:
    with open(os.path.join(HERE, "cases.txt"), encoding="utf-8") as file:
        return [parse(line) for line in file if line.split("#")[0].strip()]
