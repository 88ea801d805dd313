# SPDX-License-Identifier: MIT
"""
The two programs that are compared: llama.cpp behind llama_probe, and `plimsoll fit`.
"""
from __future__ import annotations

import argparse
import json
import os
import subprocess
import time

ENGINE_TIMEOUT_S = 120

# Models of the zoo that no program runs alone: adapters and projectors.
NOT_ALONE = ("lora", "mmproj")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("models", nargs="*", metavar="MODEL", help="models whose names begin so (default: all)")
    parser.add_argument("--plimsoll", required=True)
    parser.add_argument("--probe", required=True)
    parser.add_argument("--vgpu", required=True, help="folder of the virtual GPU's libraries")
    parser.add_argument("--engine", required=True, help="folder of llama.cpp's libraries")
    parser.add_argument("--models-dir", required=True, help="folder of models (tests/gguf/make.py --all -o DIR)")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--part", type=int, default=1, metavar="N", help="one of N models, other ones each day")
    parser.add_argument("-v", "--verbose", action="store_true")


def is_there(options: argparse.Namespace) -> bool:
    if os.path.isdir(options.engine):
        return True
    print(f"skipped: no engine in {options.engine}; tests/engine/fetch.sh brings it")
    return False


def version(options: argparse.Namespace) -> str:
    """The engine's version as `plimsoll fit --engine llama.cpp@VERSION` takes it, from the package that brought it."""
    try:
        with open(os.path.join(options.engine, "_nlcBuildMetadata.json"), encoding="utf-8") as file:
            return json.load(file)["buildOptions"]["llamaCpp"]["release"]
    except OSError:
        return "v0.5.0"


def models(options: argparse.Namespace) -> list[str]:
    """The paths of the models to load."""
    names = sorted(name for name in os.listdir(options.models_dir) if name.endswith(".gguf"))
    names = [name for name in names if name.split("-")[0] not in NOT_ALONE]
    if options.models:
        names = [name for name in names if any(name.startswith(prefix) for prefix in options.models)]
    part = getattr(options, "part", 1)
    if part > 1:
        first = int(time.time()) // 86400 % part
        print(f"one of {part} models, from the {first + 1}. on: another part each day, all of them in make test-engines")
        names = names[first::part]
    return [os.path.join(options.models_dir, name) for name in names]


def name_of(path: str) -> str:
    return os.path.basename(path).removesuffix(".gguf")


def run_engine(options: argparse.Namespace, path: str, flags: list[str], devices: list[str]) -> tuple[str, str]:
    """What the engine prints with these flags and GPUs ("MIB" or "MIB:FREE"), and why it gave up ("" when it did not)."""
    environment = dict(
        os.environ, LD_LIBRARY_PATH=f"{options.vgpu}:{options.engine}", PLIM_VGPU_RAW=",".join(devices),
        LD_PRELOAD=f"{options.vgpu}/libplimsoll-preload.so",
    )
    command = [options.probe, options.engine, path, *flags]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace",
                              timeout=ENGINE_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return "", f"nothing after {ENGINE_TIMEOUT_S} s"
    if "probe: ready" in done.stdout:
        return done.stdout, ""
    said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    telling = (line for line in reversed(said) if "rror" in line or "fail" in line or "require" in line)
    return done.stdout, next(telling, said[-1] if said else f"exit {done.returncode}")


def run_fit(options: argparse.Namespace, path: str, arguments: list[str]) -> dict:
    """The answer of `plimsoll fit --json`."""
    command = [options.plimsoll, "fit", "--json", "--engine", f"llama.cpp@{version(options)}", *arguments, path]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)}: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)
