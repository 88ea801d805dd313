#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
What the words of a log say of the cause: learn_causes.py BAGS.csv WEIGHTS.csv [--check | --cross]

BAGS.csv has the words of logs whose causes people have told (data/causes/README.md). WEIGHTS.csv gets one row for each word and one
column for each cause, in thousandths: a multinomial logistic regression with a quadratic penalty, over word sets that are scaled to
length 1. --check: exit 1 unless WEIGHTS.csv is what BAGS.csv teaches, up to rounding. --cross: leave out one draw after the other,
with all logs that are nearly one of its own, and say how often its causes are named, and named right, by what the rest teaches.
"""
import argparse
import collections
import csv
import math
import sys

STRENGTH = 30.0     # of the data against the penalty: more names more, and less of it right. --cross of 1039 logs: 606 named and 96 %
#                     of them right with 3; 809 and 93 % with 30; 858 and 92 % with 100
SHARE = 0.5         # a cause is named when it is more likely than all others together, as in src/diagnose/cause/rules_words.c
LEAST_WORDS = 20    # and when so many words are known: likewise
LEAST_LOGS = 8      # that a word stands in
THOUSANDTHS = 1000
ALIKE = 0.7         # of the words of two logs, those that both have: with more they are one post, or copies of one message
MEMORY = 12         # pairs of steps that L-BFGS keeps
STEPS = 400
SLOPE = 2e-3        # of the objective per weight, where it counts as flat


def read_bags(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [dict(row, words=row["words"].split(), accepted=row["accepted"].split()) for row in csv.DictReader(file)]


class Problem:
    """Rows of word numbers, all of one value 1/sqrt(n); word 0 is the bias, which has value 1 and no penalty."""

    def __init__(self, bags, causes):
        count = collections.Counter(word for bag in bags for word in bag["words"])
        self.words = [""] + sorted(word for word, n in count.items() if n >= LEAST_LOGS)
        self.causes = causes
        self.number_of = {word: i for i, word in enumerate(self.words)}
        self.rows = [self.row(bag["words"]) for bag in bags]
        self.right = [causes.index(bag["cause"]) for bag in bags]

    def row(self, words):
        return [self.number_of[word] for word in words if word in self.number_of]

    def shares(self, weights, row):
        k = len(self.causes)
        value = 1 / math.sqrt(len(row)) if row else 0
        scores = weights[:k]
        for c in range(k):
            scores[c] += value * sum(weights[i * k + c] for i in row)
        top = max(scores)
        scores = [math.exp(score - top) for score in scores]
        total = sum(scores)
        return [score / total for score in scores]

    def slope(self, weights):
        """The objective and its gradient."""
        k = len(self.causes)
        gradient = [0.0] * k + weights[k:]
        objective = 0.5 * sum(w * w for w in weights[k:])
        for row, right in zip(self.rows, self.right):
            shares = self.shares(weights, row)
            objective -= STRENGTH * math.log(max(shares[right], 1e-300))
            shares[right] -= 1
            value = STRENGTH / math.sqrt(len(row)) if row else 0
            for c in range(k):
                gradient[c] += STRENGTH * shares[c]
                step = value * shares[c]
                for i in row:
                    gradient[i * k + c] += step
        return objective, gradient


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def direction(gradient, pairs):
    """L-BFGS: the gradient, bent by what the last steps showed of the curvature."""
    bent, kept = list(gradient), []
    for step, change, scale in reversed(pairs):
        a = scale * dot(step, bent)
        kept.append(a)
        bent = [x - a * y for x, y in zip(bent, change)]
    if pairs:
        step, change, _ = pairs[-1]
        factor = dot(step, change) / dot(change, change)
        bent = [factor * x for x in bent]
    for (step, change, scale), a in zip(pairs, reversed(kept)):
        b = scale * dot(change, bent)
        bent = [x + (a - b) * y for x, y in zip(bent, step)]
    return bent


def learn(problem, weights=None):
    """The optimum, which is the same from whatever weights the search begins."""
    weights = weights or [0.0] * (len(problem.words) * len(problem.causes))
    objective, gradient = problem.slope(weights)
    pairs = []
    for _ in range(STEPS):
        if max(abs(x) for x in gradient) < SLOPE:
            return weights
        way = direction(gradient, pairs)
        descent = dot(way, gradient)
        length = 1.0 if pairs else 1 / math.sqrt(dot(gradient, gradient))
        while True:
            trial = [w - length * x for w, x in zip(weights, way)]
            trial_objective, trial_gradient = problem.slope(trial)
            if trial_objective <= objective - 1e-4 * length * descent or length < 1e-12:
                break
            length /= 2
        step = [a - b for a, b in zip(trial, weights)]
        change = [a - b for a, b in zip(trial_gradient, gradient)]
        if dot(step, change) > 0:
            pairs = (pairs + [(step, change, 1 / dot(step, change))])[-MEMORY:]
        weights, objective, gradient = trial, trial_objective, trial_gradient
    sys.exit(f"no optimum after {STEPS} steps")


def write(path, problem, weights):
    k = len(problem.causes)
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["word", *problem.causes])
        for i, word in enumerate(problem.words):
            out.writerow([word, *(round(THOUSANDTHS * w) for w in weights[i * k:i * k + k])])


def check(path, problem):
    with open(path, newline="", encoding="utf-8") as file:
        columns, *rows = list(csv.reader(file))
    if columns != ["word", *problem.causes] or [row[0] for row in rows] != problem.words:
        sys.exit(f"{path}: other words or causes than the bags have: run tools/learn_causes.py without --check")
    rounded = [int(cell) / THOUSANDTHS for row in rows for cell in row[1:]]
    farthest = max(abs(a - b) for a, b in zip(learn(problem, rounded), rounded))
    if farthest > 1 / THOUSANDTHS:
        sys.exit(f"{path}: {farthest:.3f} off what the bags teach: run tools/learn_causes.py without --check")


def are_alike(bag, other):
    words, others = set(bag["words"]), set(other["words"])
    return len(words & others) > ALIKE * len(words | others)


def taught_without(bags, held):
    """What may teach the causes of the logs in `held`: posts were drawn more than once, and many quote the same message."""
    return [bag for bag in bags if not any(bag is log or are_alike(bag, log) for log in held)]


def cross(bags, causes):
    total = collections.Counter()
    print("| draw left out | logs | cause named | right | sure causes | named | right |\n|---|---:|---:|---:|---:|---:|---:|")
    for draw in sorted({bag["draw"] for bag in bags}, key=int):
        held = [bag for bag in bags if bag["draw"] == draw]
        problem = Problem(taught_without(bags, held), causes)
        weights, n = learn(problem), collections.Counter()
        for bag in held:
            row = problem.row(bag["words"])
            shares = problem.shares(weights, row)
            best = max(range(len(causes)), key=shares.__getitem__)
            is_named = shares[best] > SHARE and len(row) >= LEAST_WORDS
            for which in ("all", "sure") if bag["sure"] == "yes" else ("all",):
                n[which] += 1
                n[which, "named"] += is_named
                n[which, "right"] += is_named and causes[best] in bag["accepted"]
        total += n
        print_row(draw, n)
    print_row("all", total)


def print_row(name, n):
    counts = (n["all"], n["all", "named"], n["all", "right"], n["sure"], n["sure", "named"], n["sure", "right"])
    print(f"| {name} | {' | '.join(str(count) for count in counts)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bags")
    parser.add_argument("weights")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--cross", action="store_true")
    arguments = parser.parse_args()
    bags = read_bags(arguments.bags)
    causes = sorted({bag["cause"] for bag in bags})
    if arguments.cross:
        cross(bags, causes)
    elif arguments.check:
        check(arguments.weights, Problem(bags, causes))
    else:
        problem = Problem(bags, causes)
        write(arguments.weights, problem, learn(problem))


if __name__ == "__main__":
    main()
