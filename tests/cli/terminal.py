#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Names, logs and arguments of any bytes, in every place where the program repeats them: what reaches the terminal is
characters that are shown, line ends of our own and nothing else, on both streams; a name takes as many lines as the
same name with '?' in it; and JSON has the name itself, without such a character in the document.
"""
from __future__ import annotations

import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from typing import Callable, Iterator

import shown

HERE = pathlib.Path(__file__).parent
MAKER = HERE.parent / "gguf" / "make.py"
SEED = 20
SIDE_BY_SIDE = 2

# A terminal obeys the first of these; the others deceive the reader.
HOSTILE = [
    b"a\x1b[2J\x1b]0;pwn\x07\nFITS b",
    b"c1 \xc2\x9b2J\xc2\x85FITS",
    b"raw \x9b2J\x90\x85",
    b"\xe2\x80\xaegpj.b\xe2\x81\xa6",
    b"x\xe2\x80\xa8FITS\xe2\x80\xa9y",
    b"\xe2\x80\x8bhidden\xef\xbb\xbf\xc2\xad",
    b"caf\xe9 \xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80",
    b"\r\b\x7f\tz\x0b",
    b"\xf3\xa0\x81\x81tags \xe6\xbc",
]


def noise(seed: int) -> list[bytes]:
    """More of them, at random; a name has no '/' and no byte of zero."""
    source = random.Random(seed)
    pieces = [piece for text in HOSTILE for piece in text.split(b" ")]
    made = []
    for _ in range(6):
        parts = [source.choice(pieces) if source.random() < 0.4 else bytes([source.randrange(1, 256)]) for _ in range(12)]
        made.append(b"".join(parts).replace(b"/", b"_")[:60])
    return made


def made_harmless(name: bytes) -> bytes:
    """The name as the terminal has it."""
    text = name.decode("utf-8", "surrogateescape")
    return "".join(c if shown.is_shown(c) else "?" for c in text).encode()


def not_shown(output: bytes) -> str | None:
    """Without colours: the output is no terminal."""
    try:
        return "has an escape sequence" if b"\x1b" in output else shown.hidden_in(output.decode())
    except UnicodeDecodeError as error:
        return f"is not UTF-8: {error}"


# --- the world: one model, with names to choose ---


def with_text(model: bytes, key: bytes, value: bytes) -> bytes:
    """The GGUF file with another text of this key. Its tensors stay aligned: a hole follows them."""
    at = model.index(struct.pack("<Q", len(key)) + key) + 8 + len(key) + 4
    (length,) = struct.unpack_from("<Q", model, at)
    value += b"." * (-(len(value) - length) % 32)
    return model[:at] + struct.pack("<Q", len(value)) + value + model[at + 8 + length :]


class World:
    def __init__(self, root: pathlib.Path, program: str, nvml: str) -> None:
        self.root, self.program, self.count = root, program, itertools.count()
        subprocess.run([sys.executable, str(MAKER), "qwen2.5-0.5b", "-o", str(root)], check=True, stdout=subprocess.DEVNULL)
        self.model = root / "qwen2.5-0.5b-Q4_K_M.gguf"
        self.size = self.model.stat().st_size
        with open(self.model, "rb") as file:
            self.header = file.read(1 << 20)
        (root / "proc").mkdir()
        (root / "proc" / "meminfo").write_text("MemTotal: 67108864 kB\nMemFree: 41943040 kB\nMemAvailable: 50331648 kB\n")
        self.env = {**os.environ, "PLIMSOLL_SYSROOT": str(root), "PLIMSOLL_NVML": str(root / "none.so"), "HOME": str(root),
                    "LC_ALL": "C.UTF-8", "TERM": "xterm", "OLLAMA_MODELS": str(root / "ollama")}
        self.nvml = nvml

    def folder(self) -> pathlib.Path:
        path = self.root / f"folder-{next(self.count):05}"  # all of one length, for lines that are wrapped
        path.mkdir()
        return path

    def write_model(self, key: bytes, value: bytes) -> bytes:
        path = self.folder() / "model.gguf"
        path.write_bytes(with_text(self.header, key, value))
        os.truncate(path, self.size + 4096)
        return os.fsencode(path)


# --- places of a name: each makes a command, and whether the name is to be found in the command's JSON ---

Place = Callable[[World, bytes], "tuple[list[bytes], dict[bytes, bytes] | None]"]
CARD = [b"--card", b"RTX 4060"]


def model_in_folder(world: World, name: bytes) -> tuple:
    folder = os.fsencode(world.folder())
    os.link(world.model, os.path.join(folder, name + b".gguf"))
    return [b"fit", folder, *CARD, b"-c", b"4096"], None


def models_on_sizes(world: World, name: bytes) -> tuple:
    return [model_in_folder(world, name)[0][0], *model_in_folder(world, name)[0][1:2]], None


def model_by_path(world: World, name: bytes) -> tuple:
    path = os.path.join(os.fsencode(world.folder()), name + b".gguf")
    os.link(world.model, path)
    return [b"fit", path, b"--budget", b"300MiB", b"-v"], None


def name_in_model(world: World, name: bytes) -> tuple:
    return [b"fit", world.write_model(b"general.name", name), *CARD, b"-v"], None


def architecture_of_model(world: World, name: bytes) -> tuple:
    return [b"fit", world.write_model(b"general.architecture", name), *CARD, b"-v"], None


def name_of_card(world: World, name: bytes) -> tuple:
    env = {b"PLIMSOLL_NVML": os.fsencode(world.nvml), b"FAKE_NVML_NAME": name}
    return [b"fit", os.fsencode(world.model)], env


def name_of_process(world: World, name: bytes) -> tuple:
    folder = world.folder()
    shutil.copytree(world.root / "proc", folder / "proc")
    (folder / "proc" / "77").mkdir()
    (folder / "proc" / "77" / "stat").write_bytes(b"77 (" + name[:15] + b") S 1" + b" 0" * 48 + b"\n")
    (folder / "proc" / "77" / "cmdline").write_bytes(name[:60] + b"\0")
    log = folder / "crash.log"
    log.write_text("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 8.00 GiB "
                   "of which 1.00 GiB is free. Process 77 has 5.00 GiB memory in use.\n")
    env = {b"PLIMSOLL_NVML": os.fsencode(world.nvml), b"PLIMSOLL_SYSROOT": os.fsencode(folder)}
    return [b"explain", os.fsencode(log)], env


def log_with(text: bytes) -> Place:
    def place(world: World, name: bytes) -> tuple:
        log = world.folder() / "crash.log"
        log.write_bytes(text.replace(b"@", name.replace(b"\n", b" ")))
        return [b"explain", os.fsencode(log)], None

    return place


def path_of_log(world: World, name: bytes) -> tuple:
    path = os.path.join(os.fsencode(world.folder()), name)
    with open(path, "wb") as log:
        log.write(b"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n")
    return [b"explain", path], None


def receipt_with(world: World, name: bytes) -> tuple:
    """Labels and names of a document, which may be any text."""
    text = name.decode("utf-8", "replace")
    line = {"pillar": "weights", "label": text, "bytes": 5 << 20}
    device = {"id": "gpu0", "name": text, "lines": [line, {**line, "label": "model buffer"}]}
    receipt = {"schema": "plimsoll.receipt/1", "from": "rehearse", "engine": {"name": text, "version": text},
               "model": {"name": text}, "setup": {"n_ctx": 8, "type_k": text}, "devices": [device]}
    bill = {**receipt, "schema": "plimsoll.fit/1", "model": {"name": "another"}, "setup": {"n_ctx": 9, "type_k": "f16"}}
    folder = world.folder()
    (folder / "receipt.json").write_text(json.dumps(receipt))
    (folder / "bill.json").write_text(json.dumps(bill))
    return [b"check", os.fsencode(folder / "bill.json"), os.fsencode(folder / "receipt.json")], None


def receipt_from_log(world: World, name: bytes) -> tuple:
    log = world.folder() / "server.log"
    text = (HERE / "logs" / "llama-server.log").read_bytes()
    text = re.sub(rb"general.name( *)str( *)= .*", lambda m: b"general.name" + m[1] + b"str" + m[2] + b"= " + name.replace(b"\n", b" "), text)
    log.write_bytes(text.replace(b"RTX 4060", name.replace(b"\n", b" ")))
    return [b"check", b"--receipt-from", os.fsencode(log)], None


def checkpoint(world: World, name: bytes) -> tuple:
    folder = os.path.join(os.fsencode(world.folder()), name)
    os.mkdir(folder)
    header = json.dumps({"weight": {"dtype": "F16", "shape": [64, 64], "data_offsets": [0, 8192]}}).encode()
    for part in (name + b".safetensors", b"config.json"):
        with open(os.path.join(folder, part), "wb") as file:
            file.write(b"{}" if part == b"config.json" else struct.pack("<Q", len(header)) + header + bytes(8192))
    return [b"hollow", folder, b"-o", os.path.join(os.fsencode(world.folder()), name)], None


def rehearsed(world: World, name: bytes) -> tuple:
    path = os.path.join(os.fsencode(world.folder()), name)
    os.symlink("/bin/true", path)
    return [b"rehearse", *CARD, b"--", path, name], None


def arguments(*words: bytes) -> Place:
    def place(world: World, name: bytes) -> tuple:
        return [word.replace(b"@", name).replace(b"MODEL", os.fsencode(world.model)) for word in words], None

    return place


def variable(key: bytes, *words: bytes) -> Place:
    return lambda world, name: (arguments(*words)(world, name)[0], {key: name})


PLACES: dict[str, Place] = {
    "a file of a folder": model_in_folder,
    "a file of a folder, cards of all sizes": models_on_sizes,
    "the model's path": model_by_path,
    "general.name": name_in_model,
    "general.architecture": architecture_of_model,
    "a card's name": name_of_card,
    "a process on a card": name_of_process,
    "the kernel's line": log_with(b"[1.5] Out of memory: Killed process 812 (@) total-vm:12345678kB, anon-rss:12000000kB, UID:0\n"),
    "a path in a traceback": log_with(b'Traceback (most recent call last):\n  File "/x/@.py", line 3, in @\n'
                                      b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB (@)\n"),
    "a model in a log": log_with(b"llama_model_load: error loading model: unable to allocate CUDA0 buffer\n"
                                 b"common_init_from_params: failed to load model '/models/@.gguf'\n"),
    "the path of a log": path_of_log,
    "a receipt": receipt_with,
    "the log of a server": receipt_from_log,
    "a checkpoint": checkpoint,
    "a command": arguments(b"@"),
    "help of a command": arguments(b"help", b"@"),
    "a file that is not there": arguments(b"fit", b"none/@.gguf", *CARD),
    "--card": arguments(b"fit", b"MODEL", b"--card", b"@"),
    "--card and a number": arguments(b"fit", b"MODEL", b"--card", b"99x @"),
    "--budget": arguments(b"fit", b"MODEL", b"--budget", b"@"),
    "--ram": arguments(b"fit", b"MODEL", b"--ram", b"@"),
    "--engine": arguments(b"fit", b"MODEL", b"--engine", b"@"),
    "--engine and a version": arguments(b"fit", b"MODEL", b"--engine", b"llama.cpp@@"),
    "--client": arguments(b"fit", b"MODEL", b"--client", b"@"),
    "--backend": arguments(b"fit", b"MODEL", b"--backend", b"@"),
    "--margin": arguments(b"fit", b"MODEL", b"--margin", b"@"),
    "--color": arguments(b"fit", b"MODEL", b"--color", b"@"),
    "an option": arguments(b"fit", b"MODEL", b"--@"),
    "a value": arguments(b"fit", b"MODEL", b"-c", b"@"),
    "a rule for tensors": lambda world, name: arguments(b"fit", b"MODEL", *CARD, b"-ot", b"@=CPU", b"-v")(world, name.replace(b"?", b".")),
    "a flag of a command": arguments(b"fit", *CARD, b"--", b"llama-server", b"-m", b"MODEL", b"--@", b"-a", b"@"),
    "the program of a command": arguments(b"fit", *CARD, b"--", b"@", b"-m", b"MODEL"),
    "a command that is changed": arguments(b"fit", b"--budget", b"300MiB", b"--", b"llama-server", b"-m", b"MODEL", b"-a", b"@"),
    "a variable": variable(b"LLAMA_ARG_CTX_SIZE", b"fit", *CARD, b"--", b"llama-server", b"-m", b"MODEL"),
    "a variable of a path": variable(b"LLAMA_ARG_MMPROJ", b"fit", *CARD, b"--", b"llama-server", b"-m", b"MODEL"),
    "the driver's library": variable(b"PLIMSOLL_NVML", b"fit", b"MODEL"),
    "the store": variable(b"OLLAMA_MODELS", b"fit", b"nonesuch", *CARD),
    "a query of cards": arguments(b"cards", b"@"),
    "an option of cards": arguments(b"cards", b"--@"),
    "an option of engines": arguments(b"engines", b"--@"),
    "a query of errors": arguments(b"errors", b"CUDA out of memory", b"@"),
    "words of no error": arguments(b"errors", b"@"),
    "a log that is not there": lambda world, name: ([b"explain", b"none/" + b"".join(name.split())], None),
    "words instead of a log": arguments(b"explain", b"no such words @"),
    "an exit status": arguments(b"explain", b"--exit-status", b"@"),
    "a bill that is not there": arguments(b"check", b"@", b"MODEL"),
    "too many files": arguments(b"check", b"a.json", b"b.log", b"@"),
    "one model too many": arguments(b"hollow", b"MODEL", b"@", b"-o", b"x"),
    "the card of a rehearsal": arguments(b"rehearse", b"--card", b"@", b"--", b"true"),
    "the end of a rehearsal": arguments(b"rehearse", b"--until", b"@", b"--", b"true"),
    "a search": arguments(b"rehearse", b"--find", b"@=1..2", b"--", b"true"),
    "a program": arguments(b"rehearse", *CARD, b"--", b"none/@"),
    "a rehearsal": arguments(b"rehearse", *CARD, b"--receipt", b"none/@", b"--", b"true"),
    "a program that runs": rehearsed,
    "what is generated": arguments(b"--generate", b"@"),
}

# Places whose whole output is the same: a table of models, in which a name may forge no row.
SAME = {"a file of a folder", "a file of a folder, cards of all sizes"}

# Sequences for a terminal are taken out of logs before they are read.
OF_LOGS = {"the kernel's line", "the log of a server"}

# Places in which the name, where it is text, is found again in JSON; and in which it only has to be JSON.
KEPT = {"the model's path", "general.name", "general.architecture", "a card's name", "the kernel's line", "a receipt", "a checkpoint",
        "a query of errors", "the log of a server", "a process on a card"}
IN_JSON = KEPT | {"a file of a folder", "a path in a traceback", "a model in a log", "a command that is changed", "a rule for tensors",
                  "a flag of a command", "a variable of a path", "words of no error", "a query of cards"}


def run(world: World, words: list[bytes], more: dict[bytes, bytes] | None) -> tuple[int, bytes, bytes]:
    env = {**{os.fsencode(k): os.fsencode(v) for k, v in world.env.items()}, **(more or {})}
    done = subprocess.run([os.fsencode(world.program), *words], cwd=world.root, env=env, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def texts_of(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from texts_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_of(inner)


def is_kept(name: bytes, document: object) -> bool:
    """A part of it: names are cut, and bytes that are not UTF-8 are not the same."""
    longest = max(re.split("[\n\t\r\ufffd ]", name.decode("utf-8", "replace")), key=len)
    return any(longest[:10] in found for found in texts_of(document))


def complaints(world: World, where: str, name: bytes) -> Iterator[str]:
    place = PLACES[where]
    words, env = place(world, name)
    status, out, err = run(world, words, env)
    harmless = run(world, *place(world, made_harmless(name)))
    if status < 0 or status == 70:
        yield f"exit status {status}"
    is_changed = where in OF_LOGS and re.search(b"[\x1b\r\b]", name)
    for stream, text, other in (("stdout", out, harmless[1]), ("stderr", err, harmless[2])):
        wrong = not_shown(text)
        if wrong:
            yield f"{stream} {wrong}"
        if text.count(b"\n") != other.count(b"\n") and not is_changed:
            yield f"{stream} has {text.count(10)} lines, and {other.count(10)} of the name with marks: {text[-300:]!r}"
    if where in SAME and out != harmless[1]:
        yield f"stdout is not that of the name with marks: {out!r}"
    if where not in IN_JSON:
        return
    split = words.index(b"--") if b"--" in words else len(words)
    words, env = place(world, name)
    status, out, err = run(world, [*words[:split], b"--json", *words[split:]], env)
    wrong = not_shown(out)
    if wrong or status < 0 or status == 70:
        yield f"JSON: exit status {status}: {wrong}: {err!r}"
    elif out and where in KEPT and not is_changed and not is_kept(name, json.loads(out)):
        yield "JSON lost the name"
    elif out:
        json.loads(out)


def wrong_characters(world: World) -> Iterator[str]:
    """All of Unicode, in arguments as long as the system takes them."""
    size = 30000
    for start in range(1, 0x110000, size):
        text = "".join(chr(c) for c in range(start, min(start + size, 0x110000)) if not 0xD800 <= c < 0xE000)
        _, _, err = run(world, [("_" + text).encode()], None)
        printed = err.decode().partition("'_")[2].rpartition("'\n")[0]
        printed = printed.partition("'\nhint: ")[0] if "'\nhint: " in printed else printed
        wanted = "".join(c if shown.is_shown(c) else "?" for c in text)
        differ = [f"U+{ord(raw):04X}" for raw, a, b in zip(text, wanted, printed) if a != b]
        if len(printed) != len(wanted) or differ:
            yield f"FAIL from U+{start:04X}: {len(printed)} characters of {len(wanted)}, {differ[:20]}"


def main() -> int:
    parser = argparse.ArgumentParser(description="Hostile names in every place: the terminal and JSON stay safe.")
    parser.add_argument("--plimsoll", required=True, metavar="PROGRAM")
    parser.add_argument("--nvml", required=True, metavar="LIBRARY")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("places", nargs="*", metavar="PLACE")
    options = parser.parse_args()
    chosen = options.places or list(PLACES)
    names = [*HOSTILE, *noise(options.seed)]
    n_failed = 0
    with tempfile.TemporaryDirectory(prefix="plimsoll-terminal-") as directory:
        world = World(pathlib.Path(directory), str(pathlib.Path(options.plimsoll).resolve()), str(pathlib.Path(options.nvml).resolve()))
        # Each place meets the first name and, in turn, one or two others; under sanitizers, which are slow, one name.
        tasks = [(where, name) for i, where in enumerate(chosen) for k, name in enumerate(names)
                 if options.places or (k == i % len(names) if "PLIMSOLL_SANITIZED" in os.environ else k == 0 or (k + i) % 11 == 0)]
        with concurrent.futures.ThreadPoolExecutor(max_workers=SIDE_BY_SIDE) as pool:
            found = list(pool.map(lambda task: list(complaints(world, *task)), tasks))
        wrong = [] if options.places else list(wrong_characters(world))
    for line in wrong:
        n_failed += 1
        print(line)
    for (where, name), lines in zip(tasks, found):
        n_failed += bool(lines)
        for line in lines:
            print(f"FAIL {where}, {name!r}: {line}")
    print(f"{len(tasks)} names in {len(chosen)} places, {n_failed} failed")
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main())
