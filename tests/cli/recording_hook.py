#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The start-up hook of recordings with a torch that is not PyTorch: what it does to a program, and what it leaves alone.

    recording_hook.py [--python PYTHON]... HOOK          HOOK: src/record/hook/sitecustomize.py

Real PyTorch is in tests/engine/torch/record.
"""
from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

# As much of PyTorch as the hook asks for; it counts what was turned on.
TORCH = '''
import sys, types
__version__ = "2.99.0"
version = types.SimpleNamespace(cuda="13.0")
class Tensor: pass
class _Module: pass
nn = types.SimpleNamespace(Module=_Module)
calls = []
queue = []
class _Off:
    def __enter__(self): return self
    def __exit__(self, *error): return False
n = {"taken": 0}
def statistics(device):
    row = {"current": 512, "peak": 512, "allocated": n["taken"], "freed": 0}
    return {"allocation": {"all": row}, "allocated_bytes": {"all": row}, "reserved_bytes": {"all": row}}
_C = types.SimpleNamespace(_cuda_record_memory_history=None, _cuda_memoryStats=statistics, DisableTorchFunction=_Off,
    _cuda_attach_out_of_memory_observer=lambda observer: calls.append("observer"),
    _cuda_memorySnapshot=lambda pool: {"segments": [], "device_traces": []})
def _record_memory_history(*arguments, **settings): calls.append((arguments, sorted(settings)))
memory = types.SimpleNamespace(_record_memory_history=_record_memory_history)
properties = types.SimpleNamespace(name="A card\\nof two lines", total_memory=1 << 30)
cuda = types.SimpleNamespace(memory=memory, _lazy_call=queue.append, get_allocator_backend=lambda: "native",
    device_count=lambda: 1, get_device_properties=lambda device: properties)
def use_cuda():
    n["taken"] += 1
    while queue: queue.pop()()
hooks = []
optimizer = types.ModuleType("torch.optim.optimizer")
optimizer.register_optimizer_step_pre_hook = optimizer.register_optimizer_step_post_hook = hooks.append
sys.modules["torch.optim.optimizer"] = optimizer
'''
CASES: list = []


class Place:
    """A folder as `plimsoll` makes it, and one of the program's own."""

    def __init__(self, folder: str, hook: str, python: str) -> None:
        self.folder, self.python = os.path.join(folder, "record"), python
        self.own = os.path.join(folder, "own")
        os.makedirs(os.path.join(self.folder, "hook"))
        for name in ("sitecustomize.py", "pieces.py"):
            shutil.copy(os.path.join(os.path.dirname(hook), name), os.path.join(self.folder, "hook", name))
        self.put("torch/__init__.py", TORCH)

    def put(self, name: str, text: str) -> None:
        path = os.path.join(self.own, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def run(self, text: str, *flags: str, has_hook: bool = True, **variables: str) -> str:
        path = [os.path.join(self.folder, "hook")] if has_hook else []
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join([*path, self.own]), PLIM_RECORD=self.folder,
                           PLIM_RECORD_STEPS="0", PYTHONDONTWRITEBYTECODE="1", **variables)
        done = subprocess.run([self.python, *flags, *(["-c", text] if text else [])], env=environment, capture_output=True, text=True,
                              timeout=60)
        return f"{done.returncode} {done.stdout}{done.stderr}".strip()

    def read(self, name: str) -> str:
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8") as file:
            return file.read()

    def written(self, ending: str) -> list[str]:
        return sorted(name for name in os.listdir(self.folder) if name.endswith(ending))


def case(function):
    CASES.append(function)
    return function


def demand(found, wanted, what: str) -> None:
    if found != wanted:
        raise AssertionError(f"{what}: {found!r}, expected {wanted!r}")


@case
def a_program_without_torch_is_as_before(place: Place) -> None:
    text = "import sys; print([p for p in sys.path if 'record' in p], [type(f).__name__ for f in sys.meta_path][1:], 7)"
    demand(place.run(text)[:2], "0 ", "ends well")
    demand("record" in place.run(text), False, "the hook's folder is not on the path")
    demand(place.written(".marks"), [], "nothing is written")


@case
def the_hidden_sitecustomize_runs(place: Place) -> None:
    place.put("sitecustomize.py", "print('mine'); WHO = 'mine'")
    demand(place.run("import sitecustomize; print(sitecustomize.WHO)"), "0 mine\nmine", "it is the program's")


@case
def the_error_of_a_hidden_sitecustomize_is_its_own(place: Place) -> None:
    place.put("sitecustomize.py", "raise ValueError('mine')")
    without, told = place.run("print(1)", has_hook=False), place.run("print(1)")
    demand(told, without, "as without the hook")


@case
def children_have_it_too(place: Place) -> None:
    place.run("import subprocess, sys; subprocess.run([sys.executable, '-c', 'pass'])")
    demand(place.read("stages").count(" python\n"), 2, "stages of two processes")


@case
def a_look_for_torch_is_no_import(place: Place) -> None:
    text = ("import importlib.util; importlib.util.find_spec('torch'); importlib.util.find_spec('torch'); import torch; "
            "print(len(torch.hooks))")
    demand(place.run(text), "0 2", "hooks")


@case
def torch_keeps_its_loader(place: Place) -> None:
    text = ("import torch, sys; print(type(torch.__loader__).__name__, vars(torch.__loader__).keys() & {'exec_module'}, "
            "sum('_Finder' in type(f).__name__ for f in sys.meta_path))")
    demand(place.run(text), "0 SourceFileLoader set() 0", "loader, and no finder any more")


@case
def an_error_of_torch_is_the_programs(place: Place) -> None:
    place.put("torch/__init__.py", "raise ImportError('broken')")
    told = place.run("import torch")
    demand(told.startswith("1 ") and told.endswith("ImportError: broken"), True, told)


@case
def nothing_begins_before_cuda(place: Place) -> None:
    demand(place.run("import torch; print(torch.calls)"), "0 []", "calls")
    demand(place.written(".marks"), [], "nothing is written")


@case
def the_history_begins_with_cuda_and_is_written_at_exit(place: Place) -> None:
    text = "import torch; torch.use_cuda(); print(torch.calls)"
    demand(place.run(text), "0 [(('all',), ['context', 'max_entries', 'stacks']), 'observer']", "calls")
    marks = place.written(".marks")
    demand(len(marks), 1, "marks")
    demand(" 1073741824 A card of two lines\n" in place.read(marks[0]), True, "a line for each thing")
    demand(place.read(marks[0]).endswith("mark end 0\nat 0 1 0\nend\n"), True, place.read(marks[0]))


# A line for each place: the lines of it, the line of the loop, and what a piece has at most.
PIECES = '''
LIMIT, LENGTH = 4096, 512
def work(rows, size, LENGTH):
    buffer = make(min(len(rows), LIMIT))
    for start in range(0, len(rows), LIMIT):
        for part in rows.split(size):
            make(part)
    for part in torch.split(rows, 8): make(part)
    parts = [make(part) for part in rows.split(LENGTH, dim=0)]
    for i in range(len(rows)): make(min(size, i))
    for i in range(9, 0, -1): make(i)
    for word in "a b".split(" "): make(word)
    for part in rows.split([1, 2]): make(part)
'''
PLACES = [(4, 4, 4, 4096), (6, 7, 5, 4096), (7, 7, 6, 0), (8, 8, 8, 8), (9, 9, 9, 0)]


@case
def what_works_in_pieces_is_known_from_the_source(place: Place) -> None:
    place.put("loops.py", PIECES)
    text = ("import sys, torch, loops\ntorch._C._cuda_memorySnapshot = lambda pool: {'segments': [], 'device_traces': [[{'frames': ["
            "{'filename': loops.__file__, 'line': 7, 'name': 'work'}, {'filename': '??'}, {'filename': torch.__file__}]}, {}]]}\n"
            "torch.use_cuda()")
    demand(place.run(text), "0", "the program")
    demand(place.read("notes"), "", "notes")
    path = os.path.join(place.own, "loops.py")
    lines = place.read(place.written(".marks")[0]).splitlines()
    demand([line for line in lines if line.startswith("pieces ")], ["pieces %d %d %d %d %s" % (*row, path) for row in PLACES], "places")


# An optimizer steps in line 9: the loop around that is over batches, the others are over pieces. LENGTH has two values.
BATCHES = '''
import torch
LENGTH = 4
class Optimizer: param_groups, state = [], {}
def train(rows, size):
    for start in range(0, rows, size):
        for part in range(0, size, 8):
            make(part)
        for hook in torch.hooks: hook(Optimizer, (), {})
    for part in range(0, rows, LENGTH):
        make(part)
LENGTH = 5
def make(part): pass
train(4, 2)
'''


@case
def a_loop_over_batches_is_none_over_pieces(place: Place) -> None:
    place.put("batches.py", BATCHES)
    text = ("import torch\n"
            "torch._C._cuda_memorySnapshot = lambda pool: {'segments': [], 'device_traces': [[{'frames': [{'filename': batches.__file__}]}]]}\n"
            "torch.use_cuda()\nimport batches")
    demand(place.run(text), "0", "the program")
    demand(place.read("notes"), "", "notes")
    lines = place.read(place.written(".marks")[0]).splitlines()
    demand([line.split()[1:5] for line in lines if line.startswith("pieces ")], [["8", "8", "7", "8"], ["11", "11", "10", "0"]], "places")


SCRIPT = '''
import torch
torch._C._cuda_memorySnapshot = lambda pool: {"segments": [], "device_traces": [[{"frames": [{"filename": work.__code__.co_filename}]}]]}
torch.use_cuda()
SIZE = 16
def work(rows):
    for part in range(0, rows, SIZE): make(part)
'''


@case
def names_of_the_script_are_known(place: Place) -> None:
    place.put("script.py", SCRIPT)
    text = os.path.join(place.own, "script.py")
    demand(place.run("", text), "0", "the program")
    demand(f"pieces 7 7 7 16 {text}" in place.read(place.written(".marks")[0]).splitlines(), True, "places")


# Memory runs out before LIMIT has a value; the program ends with one.
TWICE = """
import atexit, sys
read = []
sys.addaudithook(lambda event, given: read.append(given[0]) if event == "open" else None)
def count(name): return sum(str(path).endswith(name) for path in read)
atexit.register(lambda: print(count("late.py"), count("pieces.py")))
import torch, late
observers = []
torch._C._cuda_attach_out_of_memory_observer = observers.append
torch._C._cuda_memorySnapshot = lambda pool: {"segments": [], "device_traces": [[{"frames": [{"filename": late.__file__}]}]]}
torch.use_cuda()
read.clear()
observers[0](0, 1, 1, 1)
late.begin()
"""
LATE = """
def begin():
    globals()["LIMIT"] = 16
def work(rows):
    for part in range(0, rows, LIMIT): make(part)
"""


@case
def sources_are_read_once_and_names_as_they_are_then(place: Place) -> None:
    place.put("late.py", LATE)
    demand(place.run(TWICE), "0 1 1", "how often the source and the reader of sources were opened")
    found = {name.rsplit("-", 1)[1]: [line.split()[1:5] for line in place.read(name).splitlines() if line.startswith("pieces ")]
             for name in place.written(".marks")}
    demand(found, {"memory.marks": [["5", "5", "5", "0"]], "exit.marks": [["5", "5", "5", "16"]]}, "places of both dumps")
    demand(place.read("notes"), "", "notes")


@case
def what_it_stumbles_over_is_noted_and_not_said(place: Place) -> None:
    text = "import torch; torch.cuda.get_allocator_backend = None; torch.use_cuda(); print(1)"
    demand(place.run(text), "0 1", "the program")
    demand("TypeError" in place.read("notes"), True, "notes")


@case
def an_older_torch_is_noted(place: Place) -> None:
    place.put("torch/__init__.py", "import types\n__version__ = '1.13'\n_C = types.SimpleNamespace(_cuda_init=0)\n"
              "version = types.SimpleNamespace(cuda='11.7')")
    demand(place.run("import torch; print(1)"), "0 1", "the program")
    demand("keeps no history" in place.read("notes"), True, "notes")


@case
def a_program_that_records_itself_gets_its_history(place: Place) -> None:
    text = ("import torch; torch.use_cuda(); del torch.calls[:]; "
            "torch.cuda.memory._record_memory_history('state', max_entries=5); print(torch.calls)")
    demand(place.run(text), "0 [((None,), []), (('state',), ['max_entries'])]", "ours is taken back before")
    demand([name.rsplit("-", 1)[1] for name in place.written(".marks")], ["own.marks"], "what was recorded until then")


@case
def a_forked_child_writes_nothing_of_its_parents(place: Place) -> None:
    text = "import torch, os, sys; torch.use_cuda(); child = os.fork(); child and os.waitpid(child, 0); sys.exit(0)"
    demand(place.run(text, "-W", "ignore"), "0", "both end well")
    demand(len(place.written(".marks")), 1, "marks of the parent")


@case
def termination_ends_it_as_before(place: Place) -> None:
    text = "import torch, os, signal; torch.use_cuda(); os.kill(os.getpid(), signal.SIGTERM); print('lived')"
    demand(place.run(text), "-15", "ended by the signal")
    demand(len(place.written(".marks")), 1, "marks")


@case
def its_own_handler_stays(place: Place) -> None:
    text = ("import torch, os, signal; signal.signal(signal.SIGTERM, lambda *a: print('mine')); torch.use_cuda(); "
            "os.kill(os.getpid(), signal.SIGTERM)")
    demand(place.run(text), "0 mine", "the program's handler")


@case
def a_folder_that_is_gone_disturbs_nobody(place: Place) -> None:
    text = "import torch, shutil, os; torch.use_cuda(); shutil.rmtree(os.environ['PLIM_RECORD']); print(1)"
    demand(place.run(text), "0 1", "the program")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", action="append")
    parser.add_argument("hook")
    options = parser.parse_args()
    failures = 0
    for python in options.python or [sys.executable]:
        for check in CASES:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    check(Place(folder, options.hook, python))
                except AssertionError as error:
                    failures += 1
                    print(f"{python}: {check.__name__.replace('_', ' ')}: {error}")
    print(f"{failures} failures in {len(CASES)} cases")
    return 1 if failures else 0


sys.exit(main())
