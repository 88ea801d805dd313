# SPDX-License-Identifier: MIT
"""
Records PyTorch's memory in a program that knows nothing of it (plimsoll rehearse --record, plimsoll trace --record).

Python imports `sitecustomize` when it starts. This one lies in a private folder in front of PYTHONPATH; it waits for
the program to import torch, starts PyTorch's history of allocations when CUDA is first used, notes at the steps of
optimizers how many allocations there have been and where weights, gradients and states lie, and writes the history
with these marks into the folder. It prints nothing, raises nothing, and the sitecustomize that it hides still runs.

Python 3.8 and newer; the standard library only. A process that never uses CUDA writes nothing but a line of `stages`.
"""
import os
import sys


def _append(name, text):
    """One write, so that lines of several processes do not mix."""
    try:
        path = os.path.join(_FOLDER, name)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            os.write(file, ("%d %s\n" % (os.getpid(), " ".join(str(text).split())[:400])).encode("utf-8", "replace"))
        finally:
            os.close(file)
    except Exception:
        pass


def _stage(text):
    _append("stages", text)


def _number(name, otherwise):
    try:
        return int(os.environ.get(name, ""))
    except ValueError:
        return otherwise


def _is_quiet(function):
    """Whatever goes wrong in here is no concern of the program's."""

    def call(*arguments):
        try:
            function(*arguments)
        except Exception as error:
            _append("notes", "%s: %s: %s" % (function.__name__, type(error).__name__, error))

    return call


ADDRESSES = ("weights", "gradients", "states")


class _Recorder:
    MOST_MARKS = 4096
    MOST_ADDRESSES = 2000000

    def __init__(self):
        self.n_steps = _number("PLIM_RECORD_STEPS", 0)
        self.most_entries = max(_number("PLIM_RECORD_ENTRIES", 500000), 1000)
        self.torch = self.script = self.pieces = None
        self.original = None
        self.term_before = None
        self.forget()

    def forget(self):
        """Also in a forked child: it has no CUDA of its parent, and may begin anew."""
        import time

        self.pid = os.getpid()
        self.began = time.time_ns()  # containers have pids of their own
        self.is_recording = False
        self.is_taken_over = False
        self.is_complete = False
        self.has_seen_oom = False
        self.marks = []
        self.n_addresses = 0
        self.n_dropped = 0
        self.optimizers = []
        self.steps = []
        self.stepping_now = []  # an optimizer may wrap others
        self.step_lines = set()
        self.weights_seen = {}
        self.last_counts = {}
        self.dumped_at = 0  # entries of the history
        self.dumped_peak = 0
        self.peak = 0
        self.peak_at = 0
        self.n_dumps = 0

    # --- beginning ---

    def imported(self, torch):
        self.torch = torch
        self.script = getattr(sys.modules.get("__main__"), "__file__", None)
        _stage("torch %s cuda %s" % (torch.__version__, getattr(torch.version, "cuda", None)
                                     or getattr(torch.version, "hip", None)))
        if not hasattr(torch._C, "_cuda_record_memory_history"):
            if hasattr(torch._C, "_cuda_init"):
                _append("notes", "PyTorch %s keeps no history of allocations that can be read (2.1 and newer do)"
                        % torch.__version__)
            return
        import atexit

        atexit.register(_is_quiet(self.end))
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_is_quiet(self.forked))
        self.original = torch.cuda.memory._record_memory_history
        self.watch_own_use()
        optimizer = sys.modules.get("torch.optim.optimizer")
        if hasattr(optimizer, "register_optimizer_step_pre_hook"):
            optimizer.register_optimizer_step_pre_hook(self.stepping)
            optimizer.register_optimizer_step_post_hook(self.stepped)
        torch.cuda._lazy_call(_is_quiet(self.start))

    def start(self):
        torch = self.torch
        if self.is_recording or self.is_taken_over:
            return
        if torch.cuda.get_allocator_backend() != "native":
            _append("notes", "PyTorch's allocator is '%s' here, which keeps no history"
                    % torch.cuda.get_allocator_backend())
            return
        if self.is_history_on():
            self.is_taken_over = True
            return
        self.original("all", context="all", stacks="python", max_entries=self.most_entries)
        self.is_recording = True
        _stage("cuda")
        torch._C._cuda_attach_out_of_memory_observer(self.ran_out)
        finalize = getattr(sys.modules.get("multiprocessing.util"), "Finalize", None)
        if finalize:  # a worker of multiprocessing ends without atexit
            finalize(None, _is_quiet(self.end), exitpriority=-1000)
        self.watch_termination()

    def is_history_on(self):
        ask = getattr(self.torch._C, "_cuda_isHistoryEnabled", None)
        return bool(ask()) if ask else False

    def watch_own_use(self):
        """The program may record for itself: then the history is the program's from there on."""
        import functools

        original, recorder = self.original, self

        @functools.wraps(original)
        def record_memory_history(*arguments, **settings):
            _is_quiet(recorder.hand_over)()
            return original(*arguments, **settings)

        self.torch.cuda.memory._record_memory_history = record_memory_history

    def hand_over(self):
        if not self.is_recording or self.is_taken_over or self.pid != os.getpid():
            self.is_taken_over = True
            return
        _append("notes", "the program records its memory itself: what follows is not in this recording")
        self.dump("own")
        self.is_taken_over = True
        self.is_recording = False
        self.original(None)  # as if nothing had been recorded

    def watch_termination(self):
        """Stopped from outside, Python would end at once; only where the program has no handler."""
        import signal
        import threading

        if threading.current_thread() is not threading.main_thread():
            return
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self.terminated)
            self.term_before = signal.SIG_DFL

    def terminated(self, number, frame):
        import signal

        _is_quiet(self.end)()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def forked(self):
        if self.term_before is not None:
            import signal

            if signal.getsignal(signal.SIGTERM) == self.terminated:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
            self.term_before = None
        self.forget()

    # --- where tensors lie ---

    def add_addresses(self, value, found, depth=0):
        """The storages of CUDA tensors in `value`: tensors, those inside of wrapping tensors, lists and dicts."""
        torch = self.torch
        kind = type(value)
        if torch.Tensor in kind.__mro__:
            if kind.__name__ in ("FakeTensor", "FunctionalTensor"):
                return
            if hasattr(kind, "__tensor_flatten__"):
                for name in value.__tensor_flatten__()[0]:
                    self.add_addresses(getattr(value, name, None), found, depth + 1)
                return
            if value.device.type == "cuda":
                address = value.untyped_storage().data_ptr()
                if address:
                    found.add(address)
            state = value.__dict__.get("quant_state") if hasattr(value, "__dict__") else None
            if state is not None and depth < 3:  # of bitsandbytes: a tensor's scales
                for name in ("absmax", "code", "offset", "state2"):
                    part = getattr(state, name, None)
                    self.add_addresses(getattr(part, "__dict__", part), found, depth + 1)
        elif depth < 4 and (kind is list or kind is tuple):
            for part in value:
                self.add_addresses(part, found, depth + 1)
        elif depth < 4 and dict in kind.__mro__:
            for part in list(dict.values(value)):
                self.add_addresses(part, found, depth + 1)

    def addresses(self, values):
        found = set()
        with self.torch._C.DisableTorchFunction():
            for value in values:
                try:
                    self.add_addresses(value, found)
                except Exception:
                    continue
        return found

    def gradients_of(self, tensors):
        for tensor in tensors:
            try:
                if tensor is not None and tensor.is_leaf:
                    yield tensor.grad
            except Exception:
                continue

    @staticmethod
    def parameters_of(optimizer):
        return [parameter for group in optimizer.param_groups for parameter in group["params"]]

    def of_modules(self):
        """Parameters and buffers of all modules that live."""
        import gc

        module = self.torch.nn.Module
        tensors = []
        for thing in gc.get_objects():
            if module not in type(thing).__mro__:
                continue
            for name in ("_parameters", "_buffers"):
                held = thing.__dict__.get(name)
                if held:
                    tensors.extend(tensor for tensor in list(held.values()) if tensor is not None)
        return tensors

    # --- marks ---

    def counts(self):
        """By device: how many allocations and returns there have been, and bytes now."""
        found = {}
        for device in range(self.torch.cuda.device_count()):
            statistics = self.torch._C._cuda_memoryStats(device)
            number = statistics["allocation"]["all"]
            if not number["allocated"]:
                continue
            found[device] = {
                "allocations": number["allocated"],
                "returns": number["freed"],
                "allocated": statistics["allocated_bytes"]["all"]["current"],
                "allocated_peak": statistics["allocated_bytes"]["all"]["peak"],
                "reserved": statistics["reserved_bytes"]["all"]["current"],
                "reserved_peak": statistics["reserved_bytes"]["all"]["peak"],
            }
        return found

    def mark(self, kind, step, weights=(), gradients=(), states=()):
        counts = self.counts()
        for device, before in self.last_counts.items():
            now = counts.get(device, {"allocations": 0, "returns": 0})
            if now["allocations"] < before["allocations"] or now["returns"] < before["returns"]:
                _append("notes", "the program set PyTorch's counts back: phases before that are lost")
                self.marks = []
                self.n_addresses = 0
                self.n_dropped += 1
                break
        self.last_counts = counts
        self.note_peak(counts)
        mark = {
            "kind": kind,
            "step": step,
            "at": [[device, row["allocations"], row["returns"]] for device, row in counts.items()],
        }
        for name, found in (("weights", weights), ("gradients", gradients), ("states", states)):
            if found:
                mark[name] = sorted(found)
                self.n_addresses += len(found)
        self.marks.append(mark)
        self.forget_middle()
        return counts

    @staticmethod
    def entries_of(counts):
        """At most so many: a return has one or two. Changes of segments have some, too."""
        return sum(row["allocations"] + 2 * row["returns"] for row in counts.values())

    def note_peak(self, counts):
        peak = max([row["reserved_peak"] for row in counts.values()] or [0])
        if peak > self.peak:
            self.peak = peak
            self.peak_at = self.entries_of(counts)

    def forget_middle(self):
        """Bounded memory: the first steps and the last stay. Whole steps go, so that each that begins also ends."""
        while len(self.marks) > self.MOST_MARKS or (self.n_addresses > self.MOST_ADDRESSES and len(self.marks) > 64):
            end = 32
            while end < len(self.marks) - 1 and self.marks[end]["kind"] != "after":
                end += 1
            first = 32
            while first > 0 and self.marks[first - 1]["kind"] != "after":
                first -= 1
            for mark in self.marks[first:end + 1]:
                self.n_addresses -= sum(len(mark.get(name, ())) for name in ADDRESSES)
            del self.marks[first:end + 1]
            self.n_dropped += 1

    def number_of(self, optimizer):
        import weakref

        for number, known in enumerate(self.optimizers):
            if known() is optimizer:
                return number
        self.optimizers.append(weakref.ref(optimizer))
        self.steps.append(0)
        return len(self.optimizers) - 1

    def is_here(self):
        return self.is_recording and self.pid == os.getpid() and not self.is_complete

    def stepping(self, optimizer, arguments, settings):
        _is_quiet(self.mark_before)(optimizer)

    def stepped(self, optimizer, arguments, settings):
        _is_quiet(self.mark_after)(optimizer)

    def note_lines(self):
        """Of the program, in which an optimizer steps: a loop around them is over batches."""
        frame = sys._getframe()
        while frame:
            self.step_lines.add((frame.f_code.co_filename, frame.f_lineno))
            frame = frame.f_back

    def mark_before(self, optimizer):
        if not self.is_here():
            return
        number = self.number_of(optimizer)
        if number in self.stepping_now:  # an exception ended its last step
            del self.stepping_now[self.stepping_now.index(number):]
        self.stepping_now.append(number)
        self.note_lines()
        parameters = self.parameters_of(optimizer)
        weights = self.addresses(parameters)
        if not self.steps[number]:
            weights |= self.addresses(self.of_modules())
        changed = weights if self.weights_seen.get(number) != weights else ()
        self.weights_seen[number] = weights
        self.mark("before" if len(self.stepping_now) == 1 else "inner", self.steps[number], changed,
                  self.addresses(self.gradients_of(parameters)))

    def mark_after(self, optimizer):
        number = self.number_of(optimizer) if self.is_here() else -1
        if number not in self.stepping_now:
            return
        del self.stepping_now[self.stepping_now.index(number):]
        self.steps[number] += 1
        counts = self.mark("inner" if self.stepping_now else "after", self.steps[number] - 1,
                           states=self.addresses([optimizer.state]))
        if self.stepping_now:
            return
        if max(self.steps) >= self.n_steps > 0:
            self.dump("steps")
            self.is_complete = True
            return
        if self.entries_of(counts) - self.dumped_at > self.most_entries // 2 and self.peak > self.dumped_peak:
            self.dump("peak")

    # --- files ---

    def ran_out(self, *sizes):
        if not self.has_seen_oom and self.is_here():
            self.has_seen_oom = True
            _is_quiet(self.dump)("memory")

    def end(self):
        if self.is_here():
            self.dump("exit")
            self.is_complete = True

    def snapshot(self):
        """PyTorch asks torch._inductor for stacks of compiled code, and so imports it, which takes seconds, leaves a
        folder behind, and is in vain where the program compiled nothing."""
        torch, ask = self.torch, self.torch._C._cuda_memorySnapshot
        stand_in = None
        if "_inductor" not in torch.__dict__ and "torch._inductor" not in sys.modules:
            stand_in = torch._inductor = type(sys)("torch._inductor")
        try:
            return ask(None)
        except TypeError:  # 2.5 and older
            return ask()
        finally:
            if stand_in is not None and torch.__dict__.get("_inductor") is stand_in:
                del torch._inductor

    def rank(self):
        distributed = sys.modules.get("torch.distributed")
        try:
            if distributed and distributed.is_available() and distributed.is_initialized():
                return distributed.get_rank()
        except Exception:
            pass
        for name in ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"):
            if os.environ.get(name, "").isdigit():
                return int(os.environ[name])
        return None

    def card_of(self, device):
        """The number that the machine gives a device: each process of a job may see a card of its own as number 0."""
        try:
            return int(self.torch.cuda._get_nvml_device_index(device))
        except Exception:
            return device

    def fraction(self, device):
        """Of the card's memory, that this process may have: a program sets it, and no history tells."""
        try:
            return float(self.torch.cuda.get_per_process_memory_fraction(device))
        except Exception:  # 2.7 and older cannot be asked
            return 1.0

    def write(self, name, put, mode):
        path = os.path.join(_FOLDER, name)
        with open(path + ".part", mode) as file:
            put(file)
        os.replace(path + ".part", path)

    def add_pieces(self, taken, lines):
        """Where the sources behind the stacks work in pieces. Those of PyTorch and of Python's library are left out."""
        own = [os.path.dirname(os.path.abspath(module.__file__)) + os.sep for module in (self.torch, os)]
        paths = {frame["filename"] for history in taken["device_traces"] for entry in history
                 for frame in entry.get("frames", ())}
        if self.pieces is None:
            import importlib.util

            folder = os.path.dirname(os.path.abspath(self.module.__file__))
            spec = importlib.util.spec_from_file_location("_plimsoll_pieces", os.path.join(folder, "pieces.py"))
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            self.pieces = module
        of_program = [path for path in paths if os.path.isabs(path) and not path.startswith(own[0])
                      and ("-packages" + os.sep in path or not path.startswith(own[1]))]
        lines.extend(self.pieces.lines_of(of_program, self.step_lines, self.script))

    def name_of(self, kind):
        return "%d-%d-%s" % (self.pid, self.began, kind)

    def dump(self, kind):
        import pickle

        torch = self.torch
        known = [reference() for reference in self.optimizers]
        modules = self.of_modules()
        counts = self.mark("end", max(self.steps or [0]), self.addresses(modules), self.addresses(self.gradients_of(modules)),
                           self.addresses([optimizer.state for optimizer in known if optimizer is not None]))
        self.n_dumps += 1
        self.dumped_at = self.entries_of(counts)
        self.dumped_peak = self.peak
        if not counts:
            self.marks.pop()
            return
        name = self.name_of(kind)
        taken = self.snapshot()
        self.write(name + ".pickle", lambda file: pickle.dump(taken, file, protocol=4), "wb")
        rank = self.rank()
        lines = [
            "torch %s" % torch.__version__,
            "pid %d" % self.pid,
            "rank %d" % (-1 if rank is None else rank),
            "kind %s" % kind,
            "number %d" % self.n_dumps,
            "snapshot %s.pickle" % name,
            "conf %s" % (os.environ.get("PYTORCH_ALLOC_CONF") or os.environ.get("PYTORCH_CUDA_ALLOC_CONF") or ""),
            "dropped %d" % self.n_dropped,
            "whole %d" % (self.dumped_at < self.most_entries * 9 // 10),
            "peak %d" % (self.dumped_at - self.peak_at < self.most_entries * 9 // 10),
        ]
        for device, row in sorted(counts.items()):
            properties = torch.cuda.get_device_properties(device)
            lines.append("device %d %d %d %d %d %d %s" % (
                device, row["allocated"], row["allocated_peak"], row["reserved"], row["reserved_peak"],
                properties.total_memory, properties.name))
            lines.append("card %d %d" % (device, self.card_of(device)))
        fraction = min([self.fraction(device) for device in counts])
        if 0 < fraction < 1:
            lines.append("fraction %.9f" % fraction)
        for mark in self.marks:
            lines.append("mark %s %d" % (mark["kind"], mark["step"]))
            lines.extend("at %d %d %d" % tuple(place) for place in mark["at"])
            lines.extend("%s %s" % (name, " ".join(map(str, mark[name]))) for name in ADDRESSES if name in mark)
        _is_quiet(self.add_pieces)(taken, lines)
        text = "\n".join(" ".join(line.splitlines()) for line in lines) + "\nend\n"
        self.write(self.name_of(kind) + ".marks", lambda file: file.write(text.encode("utf-8", "replace")), "wb")
        self.marks.pop()  # the end was not the end yet


class _Finder:
    """Finds nothing itself: tells the recorder when torch has been imported."""

    def __init__(self, recorder):
        self.recorder = recorder
        self.asking = set()  # threads that look for the real one

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        import importlib.util
        import threading

        thread = threading.get_ident()
        if thread in self.asking:
            return None
        self.asking.add(thread)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.asking.discard(thread)
        _is_quiet(self.watch)(spec)  # programs look for torch without importing it, too
        return spec

    def watch(self, spec):
        if spec is None:
            return
        loader, recorder = spec.loader, self.recorder
        original = loader.exec_module

        def exec_module(module):
            loader.__dict__.pop("exec_module", None)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            original(module)
            _is_quiet(recorder.imported)(module)

        loader.exec_module = exec_module


def _begin():
    recorder = _Recorder()
    recorder.module = sys.modules[__name__]  # stays when another one takes its name
    torch = sys.modules.get("torch")
    _stage("python")
    if torch is not None and hasattr(torch, "cuda"):
        recorder.imported(torch)
    else:
        sys.meta_path.insert(0, _Finder(recorder))


def _run_hidden(own):
    """The sitecustomize that Python would have found without us; its errors are its own."""
    import importlib.machinery
    import importlib.util

    sys.path[:] = [folder for folder in sys.path if folder != own]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


_FOLDER = os.environ.get("PLIM_RECORD", "")
if _FOLDER and os.path.isdir(_FOLDER):
    _is_quiet(_begin)()
_run_hidden(os.path.dirname(os.path.abspath(__file__)))
