#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Logs whose causes people have told, as rows of one more draw: bag_logs.py PLIMSOLL BAGS.csv LABELS.csv FOLDER > NEW.csv

LABELS.csv has the columns file (in FOLDER), cause, sure (yes or no) and accepted (causes, with blanks). NEW.csv has the rows of
BAGS.csv and these; logs that are nearly one that is there are left out and told. Words that too few logs have go: no text can be had
back from a row. data/causes/README.md says what a row is.
"""
import collections
import csv
import json
import os
import re
import subprocess
import sys

from learn_causes import LEAST_LOGS, are_alike, read_bags

COLUMNS = ["draw", "cause", "sure", "accepted", "words"]
# As in src/diagnose/cause/rules_words.c.
RATIOS = [("tried_bytes", "total_bytes"), ("allocated_bytes", "total_bytes"), ("free_bytes", "total_bytes"),
          ("tried_bytes", "free_bytes"), ("tried_bytes", "allocated_bytes"), ("reserved_unallocated_bytes", "total_bytes")]
STEPS = ["0.01", "0.05", "0.2", "0.5", "0.8", "1", "1.5"]


def words_of(log):
    """Runs of 2 to 20 ASCII letters, in small letters, as src/diagnose/cause/bag.c reads them."""
    text = log.decode("latin-1")
    return {word.lower() for word in re.findall("(?<![A-Za-z])[A-Za-z]{2,20}(?![A-Za-z])", text)}


def facts_of(plimsoll, path):
    """What `plimsoll explain` reads of the first failure: its kind, its stage, and ratios of its figures."""
    run = subprocess.run([plimsoll, "explain", "--json", path], capture_output=True, check=False)
    findings = json.loads(run.stdout)["findings"]
    if not findings:
        return set()
    finding, numbers = findings[0], findings[0]["numbers"]
    facts = {f"{key}={finding[key]}" for key in ("kind", "stage") if finding.get(key)}
    for value, whole in RATIOS:
        if numbers.get(value) is not None and numbers.get(whole):
            ratio = numbers[value] / numbers[whole]
            facts.add(f"{value}/{whole}=" + next((step for step in STEPS if ratio <= float(step)), "more"))
    return facts


def main(plimsoll, bags_path, labels_path, folder):
    bags = read_bags(bags_path)
    draw = 1 + max(int(bag["draw"]) for bag in bags)
    with open(labels_path, newline="", encoding="utf-8") as file:
        labels = list(csv.DictReader(file))
    for label in labels:
        path = os.path.join(folder, label["file"])
        with open(path, "rb") as file:
            words = words_of(file.read()) | facts_of(plimsoll, path)
        bag = {"draw": draw, "cause": label["cause"], "sure": label["sure"], "accepted": label["accepted"].split(), "words": words}
        if any(are_alike(bag, other) for other in bags):
            print(f"{label['file']}: nearly a log that is there, left out", file=sys.stderr)
        else:
            bags.append(bag)
    count = collections.Counter(word for bag in bags for word in bag["words"])
    rows = csv.writer(sys.stdout, lineterminator="\n")
    rows.writerow(COLUMNS)
    for bag in bags:
        words = sorted(word for word in bag["words"] if count[word] >= LEAST_LOGS)
        rows.writerow([bag["draw"], bag["cause"], bag["sure"], " ".join(bag["accepted"]), " ".join(words)])


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
