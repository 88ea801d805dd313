# SPDX-License-Identifier: MIT
"""
The programs that plimsoll is timed beside, in the versions that are named here: brought by the Go tool and by pip, and
kept. Each function returns a name, what the command does, and the command; or raises Missing with the reason.
"""
import glob
import os
import shutil
import sys

from beside import Missing, call

GGUF_PARSER = "v0.26.3"
GGUF_PYTHON = "0.19.0"
LLMFIT = "1.1.17"
HF_MEM = "0.5.6"
ACCELERATE = "1.15.0"
TRANSFORMERS = "5.23.0"
PT_SNAP = "0.3.0"

READ_HEADER = "import sys; from gguf import GGUFReader; GGUFReader(sys.argv[1])"
# hf-mem has the address of its hub in its code. This is its program, which asks another one.
HF_MEM_PROGRAM = """import os, httpx2
get = httpx2.AsyncClient.get
async def get_here(client, url, **options):
    return await get(client, url.replace("https://huggingface.co", os.environ["HF_ENDPOINT"]), **options)
httpx2.AsyncClient.get = get_here
from hf_mem.cli import main
main()"""


def install_program(folder):
    """gguf-parser itself, by `go install`."""
    program = os.path.join(folder, "gguf-parser")
    if not os.path.exists(program):
        call(["go", "install", f"github.com/gpustack/gguf-parser-go/cmd/gguf-parser@{GGUF_PARSER}"],
             env={**os.environ, "GOBIN": folder})
    return program


def build_on_library(source, folder):
    """What gguf-parser does with a local file, on its own library: for where the program is not to be had."""
    program = os.path.join(folder, "gguf-parser-library")
    if not os.path.exists(program):
        work = os.path.join(folder, "gguf-parser-source")
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        shutil.copy(os.path.join(source, "bench", "gguf_parser.go"), os.path.join(work, "main.go"))
        call(["go", "mod", "init", "bench"], cwd=work)
        call(["go", "get", f"github.com/gpustack/gguf-parser-go@{GGUF_PARSER}"], cwd=work)
        call(["go", "build", "-o", program, "."], cwd=work)
    return program


def gguf_parser(source, folder, model, ctx):
    if not shutil.which("go"):
        raise Missing("the Go tool is not installed")
    try:
        program = install_program(folder)
        return (f"gguf-parser {GGUF_PARSER}", f"estimate of {os.path.basename(model)}, -c {ctx}, as JSON",
                [program, "--path", model, "--ctx-size", str(ctx), "--json"])
    except Missing as reason:
        print(f"the program gguf-parser cannot be installed, so its library stands in for it: {reason}")
        program = build_on_library(source, folder)
        return (f"gguf-parser {GGUF_PARSER}", f"its library: header and estimate of {os.path.basename(model)}, -c {ctx}, as JSON",
                [program, model, str(ctx)])


def install(folder, name, *steps, sites=()):
    """An environment of Python's that pip fills once, step by step; it sees the packages of `sites` too."""
    venv = os.path.join(folder, name)
    python, ready = os.path.join(venv, "bin", "python"), os.path.join(venv, "ready")
    if not os.path.exists(ready):
        shutil.rmtree(venv, ignore_errors=True)
        call([sys.executable, "-m", "venv", venv])
        for site in sites:
            with open(os.path.join(glob.glob(os.path.join(venv, "lib", "python*", "site-packages"))[0], "more.pth"), "a",
                      encoding="utf-8") as file:
                file.write(site + "\n")
        for step in steps:
            call([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *step])
        open(ready, "w", encoding="utf-8").close()
    return os.path.join(venv, "bin")


def gguf_python(folder, model):
    bin_ = install(folder, f"gguf-{GGUF_PYTHON}", [f"gguf=={GGUF_PYTHON}"])
    return (f"Python gguf {GGUF_PYTHON}", "GGUFReader(file): the header, no estimate",
            [os.path.join(bin_, "python"), "-c", READ_HEADER, model])


def llmfit(folder, what, *arguments):
    """It finds models by name in a database that it carries; no network."""
    bin_ = install(folder, f"llmfit-{LLMFIT}", [f"llmfit=={LLMFIT}"])
    return f"llmfit {LLMFIT}", what, [os.path.join(bin_, "llmfit"), "--profile", "nvidia-rtx-4090", *arguments]


def hf_mem(folder, what, *arguments):
    bin_ = install(folder, f"hf-mem-{HF_MEM}", [f"hf-mem=={HF_MEM}"])
    return f"hf-mem {HF_MEM}", what, [os.path.join(bin_, "python"), "-c", HF_MEM_PROGRAM, *arguments]


def accelerate(source, folder, vgpu, what, *arguments):
    """It needs PyTorch, which is large: the one that tests fetch, if they did, with stand-ins for CUDA's libraries."""
    torch = glob.glob(os.path.join(source, ".cache", "torch", "lib", "python*", "site-packages"))
    if not torch:
        raise Missing("accelerate needs PyTorch in .cache/torch: sh tests/engine/fetch_torch.sh small .cache/torch")
    bin_ = install(folder, f"accelerate-{ACCELERATE}",
                   ["huggingface_hub==2.4.0", "tokenizers==0.23.3", "safetensors==0.8.0", "regex", "pyyaml", "psutil", "packaging", "tqdm"],
                   ["--no-deps", f"accelerate=={ACCELERATE}", f"transformers=={TRANSFORMERS}"], sites=torch)
    return f"accelerate {ACCELERATE}", what, ["env", f"LD_LIBRARY_PATH={vgpu}", os.path.join(bin_, "accelerate-estimate-memory"), *arguments]


def pt_snap(folder, snapshot):
    """It puts a snapshot into a database beside it, and answers from there."""
    program = os.path.join(install(folder, f"pt-snap-{PT_SNAP}", [f"pt-snap-cli=={PT_SNAP}"]), "pt-snap")
    script = f"cd {os.path.dirname(snapshot)} && HOME=. && export HOME && {program} import {snapshot} --force >&2 && " \
             f"{program} query {snapshot}.db --device 0 --template-use memory_peak >&2"
    return f"pt-snap {PT_SNAP}", "reads into a database; the peak", ["sh", "-c", script]
