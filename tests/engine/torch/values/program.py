# SPDX-License-Identifier: MIT
"""
The program that is rehearsed: each expression on the CPU, then on the virtual GPU with the same inputs. A line of JSON
for each goes to a file at once, so that nothing is lost when an expression ends the process. Use run.py.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import signal
import sys
import time
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch

import catalogue
import inputs
from compare import KNOWN, Certainty, Compared

warnings.filterwarnings("ignore")
# of one expression on a slow, busy machine, and of the whole process: a size that is garbage ends in an exception
MOST_SECONDS, MOST_BYTES = 20, 6 << 30
NAMES = {"torch": torch, "F": torch.nn.functional, "nn": torch.nn, "math": math, "inf": math.inf, "nan": math.nan}


def evaluate(case, device: str):
    """The result, and the bases of the inputs as they are afterwards."""
    names, bases = dict(NAMES, D=device), {}
    for recipe in case.inputs:
        bases[recipe.name] = inputs.make(recipe, torch).to(device)
        names[recipe.name] = (
            eval("base" + recipe.view, {"base": bases[recipe.name]}) if recipe.view else bases[recipe.name]
        )
    torch.manual_seed(1)
    try:
        code = compile(case.text, "<expression>", "eval")
    except SyntaxError:
        exec(compile(case.text, "<statements>", "exec"), names)
        return names["r"], bases
    return eval(code, names), bases


def attempt(case, device: str):
    signal.alarm(MOST_SECONDS)
    try:
        return *evaluate(case, device), None
    except Exception as error:  # noqa: BLE001: whatever an expression raises is its outcome
        return None, {}, error
    finally:
        signal.alarm(0)


def too_long(number, frame) -> None:
    raise TimeoutError(f"more than {MOST_SECONDS} s")


def not_on_a_card(error: Exception | None) -> bool:
    """PyTorch has no such kernel: a card would raise the same."""
    says = ("not implemented for", "the 'CUDA' backend", "does not support bool dtype on CUDA")
    return isinstance(error, (RuntimeError, NotImplementedError)) and any(text in str(error) for text in says)


def outcome_of(case, certainty: Certainty) -> dict:
    truth, bases, refused = attempt(case, "cpu")
    certainty.of_reads()
    got, got_bases, error = attempt(case, "cuda")
    path = certainty.of_reads()
    marked = "" if path == KNOWN else " (after a guess)"
    if bool(refused) != case.raises or not_on_a_card(error):
        return {"outcome": "no truth", "why": short(refused or error or AssertionError("it is not refused"))}
    if refused and type(error) is type(refused):
        return {"outcome": "equal" if path == KNOWN else "guess", "is_right": True}
    if refused:
        return {"outcome": "wrong" if path == KNOWN else "guess", "why": f"is not refused: {short(refused)}"}
    if error:
        return {"outcome": "raised", "why": short(error) + marked}
    compared = Compared(certainty, case.slack, case.cancels, path, path)
    if case.check:
        check(case, truth, got, compared)
    else:
        compared.value(truth, got, "r")
    of_inputs = Compared(certainty, case.slack, case.cancels, path)
    for name, base in bases.items():
        of_inputs.value(base, got_bases[name], name)
    wrong = compared.wrong + of_inputs.wrong
    if wrong:
        return {"outcome": "wrong", "why": wrong[0]}
    n_different = compared.n_different + of_inputs.n_different
    if n_different or compared.least < KNOWN:
        return {"outcome": "guess", "is_right": not n_different}
    return {"outcome": "equal"}


def check(case, truth, got, compared: Compared) -> None:
    """A random result: its shape and dtype are those of the truth, its values are valid."""
    names = dict(NAMES)
    if not eval(case.check, dict(names, r=truth)):
        raise AssertionError(f"the check does not hold on the CPU: {case}")
    if truth.shape != got.shape or truth.dtype != got.dtype:
        compared.differs(f"r is {got.dtype}{list(got.shape)}, not {truth.dtype}{list(truth.shape)}", compared.path)
        return
    flat = got.contiguous()
    compared.least = min(
        compared.least, compared.certainty.of_memory(flat.data_ptr(), flat.numel() * flat.element_size())
    )
    if not eval(case.check, dict(names, r=flat.cpu())):
        compared.differs(f"r is not valid: {flat.cpu().reshape(-1)[:8].tolist()}", compared.least)


def short(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:200]


def apart(case, folder: str, i: int) -> dict:
    """In a process of its own: memory that nobody used before; and the virtual GPU tells of each kernel once."""
    launched, told = os.path.join(folder, f"kernels-{i}"), os.path.join(folder, f"outcome-{i}")
    child = os.fork()
    if not child:
        os.environ["PLIM_VGPU_KERNELS"] = launched
        result = outcome_of(case, Certainty())
        with open(told, "w", encoding="utf-8") as file:
            json.dump(result, file)
        os._exit(0)
    os.waitpid(child, 0)
    result = {"outcome": "raised", "why": "the process ended"}
    if os.path.exists(told):
        with open(told, encoding="utf-8") as file:
            result = json.load(file)
    if os.path.exists(launched):
        with open(launched, encoding="utf-8", errors="replace") as file:
            result["kernels"] = file.read().splitlines()
    return result


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True, help="a folder; lines are appended to results there")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--first", type=int, default=0, help="index of the first expression")
    parser.add_argument("--apart", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    signal.signal(signal.SIGALRM, too_long)
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
    cases = catalogue.cases(options.seed, options.only)
    certainty = Certainty()
    with open(os.path.join(options.out, "results"), "a", encoding="utf-8", buffering=1) as file:
        for i in range(options.first, len(cases)):
            file.write(json.dumps({"begins": i}) + "\n")
            started = time.monotonic()
            result = apart(cases[i], options.out, i) if options.apart else outcome_of(cases[i], certainty)
            if result["outcome"] == "raised" and not options.apart:
                torch.cuda.empty_cache()  # what an absurd size took is no longer missing for the next
            file.write(json.dumps({"case": i, "s": round(time.monotonic() - started, 4), **result}) + "\n")
        file.write(json.dumps({"torch": torch.__version__, "can_say": certainty.can_say}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
