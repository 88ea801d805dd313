#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Make the corpora that the harnesses start from: seeds.py MAKE.py DIR

Headers are those of the zoo, cut to a few layers; words are those of the manual. Nothing of it is kept in the
repository. Prints the folders.
"""
from __future__ import annotations

import json
import pathlib
import shlex
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests"))
import step_file  # noqa: E402
import trace_forms  # noqa: E402

LAYERS = 3
MAX_SEED_BYTES = 16384

SIZES = ["8GiB", "7.5 GiB", "8192MiB", "8G", "512m", "1", "0.5T", "1.999999999kib", "18446744073709551616", "9e9"]
CARDS = ["RTX 4060", "2x RTX 3090", "nvidia geforce rtx4060", "A100 40GB", "H100 MIG 1g.10gb", "rx 7900 xtx", "M2 Max",
         "RTX 409", "none", "16 x t4", "rtx 4060 ti 16gb", "AMD Radeon RX 9070", "Tesla P40"]
NAMES = ["model-00001-of-00003.gguf", "Q4_K_M", "q8_0", "v0.5.0", "b10256", "blk.3.ffn_down_exps.weight", "IQ2_XXS",
         "token_embd.weight", "gr\u00fc\u00df \u4f60\u597d \U0001f600", "\x1b[31m", "v0.5.0-rc1"]
MODEL_NAMES = ["Qwen/Qwen3-14B", "qwen3:14b-q8_0", "bartowski/Qwen_Qwen3-14B-GGUF:Q5_K_M", "Llama-3.1-8B.i1-IQ3_M.gguf",
               "https://huggingface.co/a/b/resolve/main/Meta-Llama-3.1-8B-Instruct-UD-Q4_K_XL-00001-of-00002.gguf?download=true",
               "gemma 3 12b it qat", "llama", "qwne3-14b", "hf.co/unsloth/gpt-oss-20b-GGUF:F16"]
PRICES = ["card,buy,per_hour\nRTX 3090,700,0.25\n", "# mine\r\nper_hour , Card,note\r\n0.5,\"RTX 4090\",\"a, \"\"b\"\"\"\r\n",
          "card,buy\n4060,-1\n", "card\n"]
SWEEPS = [
    "B = 1, 2, 4\nS = 128..512 step 128\nskip = B=4 S>256\ndraw = 5 seed 3\ncolumns = peak_bytes, x = devices.*.need_bytes\n"
    "timeout = 10m\nrun = plimsoll rehearse --card \"RTX 4090\" --\n  # a comment\n  python train.py --batch {B} --seq {S}\n\0"
    "B,S,peak_bytes,x,status,exit,seconds,reason,key\n1,128,7,8,ok,0,1.0,,a7787e2c8637f3c2\n",
    "a, b = 1 x, 2 \"y z\"\nskip = a*a >= 4\nskip = b != x\nrun = sh -c 'echo {{a}} {b}' \\  \n\0a,b,status,exit,seconds,reason,key\n"
    "1,x,failed,-9,0.5,\"it, \"\"failed\"\"\",0123456789abcdef\n",
]
REMOTE = [
    "0hf:bartowski/Qwen3-14B-GGUF:Q4_K_M", "0https://hub.example/a/b/blob/main/c d.gguf?download=true", "0hf://a/b/c/d.gguf",
    "0http://[::1]:8080/x.gguf?key=1#top", "0https://hub.example/a/b/tree/main",
    "1HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 72-100/1000\r\nContent-Length: 29\r\nETag: \"abc\"\r\n",
    "1HTTP/2 200\r\ncontent-length: 12\r\nlink: <https://hub.example/api?cursor=a>; rel=\"next\"\r\ncontent-encoding: gzip\r\n",
    "1HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nX-Error-Code: GatedRepo\r\nLocation: /x\r\n",
    '2Q4_K_M\n[{"type":"file","path":"a/b-Q4_K_M-00001-of-00002.gguf","size":7,"oid":"1","lfs":{"oid":"2","size":7}},'
    '{"type":"file","path":"mmproj-F16.gguf","size":1},{"type":"directory","path":"a"}]',
    '2\n[{"type":"file","path":"model.safetensors.index.json"},{"type":"file","path":"config.json"}]',
]
SEEN = ["plimsoll seen 1\n4000 5000 1789913600 1789999999000 60000 2147483648 -1 1789999000000 1 -1 0\n"
        "9999 0 -1 1789999999000 -1 -1 -1 0 0 0 1789990000000\n", "plimsoll seen 1\n"]
PROC = [
    "0pos:\t0\ndrm-driver:\tamdgpu\ndrm-client-id:\t11\ndrm-pdev:\t0000:03:00.0\ndrm-total-vram:\t204800 KiB\n"
    "drm-memory-vram:\t102400 KiB\ndrm-resident-vram:\t102400 KiB\ndrm-engine-gfx:\t8000 ns\n",
    "0drm-driver:\txe\ndrm-client-id:\t3\ndrm-resident-vram0:\t23992 KiB\ndrm-cycles-rcs:\t28\ndrm-total-cycles-rcs:\t76\n"
    "drm-engine-capacity-vcs:\t2\ndrm-total-system:\t0\n",
    "1123 (a) R 1 (b) S 1 123 123 0 -1 4194304 0 0 0 0 5 1 0 0 20 0 3 0 85680000 6442450944 786432 0\n",
    "2Name:\tx\nUid:\t1000\t1000\t1000\t1000\nNSpid:\t123\t7\nSigIgn:\t0000000000000001\n",
    "312:memory:/docker/" + 64 * "a" + "\n0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod6a1b2c3d_0001_4002_"
    "8003_9a0b1c2d3e4f.slice/cri-containerd-" + 64 * "b" + ".scope (deleted)\n",
    "30::/system.slice/node7_slurmstepd.scope/job_4713/step_0/user/task_0\n9:memory:/slurm/uid_1/job_7/step_0\n",
    "4llama-server\0-m\0/models/a-00001-of-00003.gguf\0--model=/models/a-00002-of-00003.gguf\0ggml-base.bin\0",
]
COMMANDS = [
    "m.gguf --card|RTX 4060|--ctx-size|32768",
    "--|llama-server|-m|model.gguf|-c|32768|-ngl|99|-ctk|q8_0|-ctv|q8_0|-fa|on",
    "--|/usr/bin/llama-cli|-m|a.gguf|-ts|3,1|-sm|row|-mg|1|--no-mmap|--temp|0.7|-p|hello",
    "--card|2x RTX 3090|-ot|\\.ffn_.*_exps=CPU,blk\\.2\\.=CUDA1|-cmoe|-ncmoe|2|x.gguf",
    "--budget|1MiB|-np|4|-no-kvu|--swa-full|-b|4096|-ub|1024|--margin|10%|x.gguf",
    "--client=ollama|--engine=llama.cpp@b10256|--backend|vulkan|--ram|64GiB|-nkvo|-cram|-1",
    "--fit|off|--fit-target|512|--fit-ctx|1024|-ngl|auto|--n-outputs-max|64|--embedding",
    "--json|--strict|-v|--color|never|-lm|none|--no-op-offload|--mtp|--draft|8|-c|0",
    "--card|none|-md|d.gguf|-ngld|0|-ctkd|q4_0|--lora|a.gguf,b.gguf|--mmproj|v.gguf|--no-mmproj-offload",
]
HOSTS = [
    ["MemTotal:       65536000 kB\nMemFree: 100 kB\nMemAvailable:   60000000 kB\n", "0::/a\n", "8589934592\n",
     "1073741824\n", "anon 5\nfile 7\ninactive_file 536870912\n", "", ""],
    ["MemTotal: 65536000 kB\nMemAvailable: 60000000 kB\n", "12:cpu,memory:/a\n0::/\n", "max\n", "0\n", "", "4294967296\n",
     "1048576\n"],
    ["MemTotal: 18446744073709551615 kB\n", "0::/a/../b\n", "", "", "", "", ""],
]

CONFIGS = [
    {"architectures": ["LlamaForCausalLM"], "attention_bias": True, "mlp_bias": True},
    {"architectures": ["Qwen3MoeForCausalLM"], "head_dim": 4, "num_experts": 2, "moe_intermediate_size": 4, "mlp_only_layers": [1]},
    {"architectures": ["MixtralForCausalLM"], "num_local_experts": 2, "tie_word_embeddings": False},
    {"architectures": ["Gemma3ForConditionalGeneration"], "text_config": {"hidden_size": 8, "intermediate_size": 8,
     "num_hidden_layers": 2}, "vision_config": {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "image_size": 28,
                                                "patch_size": 14, "vision_use_head": False}},
]
SIZES_OF_CONFIG = {"dtype": "bfloat16", "num_hidden_layers": 2, "hidden_size": 8, "intermediate_size": 16, "vocab_size": 10,
                   "num_attention_heads": 2, "num_key_value_heads": 1}


def safetensors(header: str) -> bytes:
    text = header.encode() + b" " * (-len(header.encode()) % 8)
    return struct.pack("<Q", len(text)) + text


def configs() -> list[bytes]:
    return [json.dumps({**SIZES_OF_CONFIG, **config}).encode() for config in CONFIGS]


def checkpoints() -> list[bytes]:
    """Headers of safetensors files, and an index: a harness reads both."""
    def tensor(kind: str, shape: list[int], begin: int, end: int) -> dict:
        return {"dtype": kind, "shape": shape, "data_offsets": [begin, end]}

    headers = [{}, {"a": tensor("F16", [2, 3], 0, 12), "b": tensor("F4", [4], 12, 14)},
               {"__metadata__": {"format": "pt", "\u00e9": "\U0001f600"}, "x": tensor("I64", [], 0, 8), "y": tensor("U8", [0], 8, 8)}]
    index = json.dumps({"metadata": {"total_size": 20}, "weight_map": {"a": "m-1.safetensors", "b": "m-2.safetensors"}})
    return [safetensors(json.dumps(header)) for header in headers] + [index.encode()]


def put(folder: pathlib.Path, seeds: list[bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds):
        (folder / f"{number:04}").write_bytes(seed)
    print(folder)


def headers(make: str, scratch: pathlib.Path) -> list[bytes]:
    """The bytes before the data of every file of the zoo: the data is a hole, so the file ends where blocks do."""
    subprocess.run([sys.executable, make, "--all", "--layers", str(LAYERS), "-o", str(scratch)], check=True,
                   stdout=subprocess.DEVNULL)
    seeds = []
    for path in sorted(scratch.glob("*.gguf")):
        with open(path, "rb") as file:
            head = file.read(MAX_SEED_BYTES).rstrip(b"\0")
        seeds.append(head + bytes(-len(head) % 32))
        path.unlink()
    scratch.rmdir()
    return [seed for seed in seeds if len(seed) < MAX_SEED_BYTES]


def messages(data: pathlib.Path) -> list[bytes]:
    """The examples of the patterns: with plain line ends, in another encoding, several in one log."""
    seeds, text = [], ""
    for path in sorted(data.glob("*.patterns")):
        for line in path.read_text(encoding="utf-8").splitlines():
            key, _, value = line.strip().partition(" ")
            if key == "example":
                text = value.strip()
            elif key == ".." and text:
                text += "\n" + value
            elif text:
                seeds.append(text.encode() + b"\n")
                text = ""
    several = [b"\n".join(seeds[i::17]) for i in range(17)]
    wide = [seed.decode().encode("utf-16") for seed in seeds[::23]]
    return [b"\x25" + seed for seed in seeds + several + wide]


def commands(cases: pathlib.Path) -> list[bytes]:
    """The command lines of the CLI tests, on the files that the harness has; rehearsals are left out."""
    seeds = []
    for path in sorted(cases.glob("*.cases")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line.startswith("$ plimsoll ") or "rehearse" in line:
                continue
            words = shlex.split(line)[2:]
            words = ["log" if word.startswith("logs/") else "m.gguf" if word.endswith(".gguf") else word for word in words]
            seeds.append("\n".join(words).encode())
    return seeds + [b"explain\n-\n\1\nCUDA error: out of memory\n", b"check\nb.json\nr.json", b"hollow\nhf\n-o\nout"]


def steps() -> list[bytes]:
    """Recorded steps: small trainings, one with every kind of everything, one with nothing."""
    made = (step_file.everything(), step_file.training(), step_file.pieces(), step_file.turns(), step_file.training(3, variables=False),
            {"shapes": []})
    return [step_file.encode(step) for step in made]


def main() -> int:
    make, root = sys.argv[1], pathlib.Path(sys.argv[2])
    models = headers(make, root / "headers")
    small = struct.pack("<4sIQQ", b"GGUF", 3, 0, 0)
    setups = [bytes([a, 16 * a & 255, 255, a % 81, 0, 5 * (1 + a % 3), a % 35, a % 16]) for a in range(len(models))]
    put(root / "fuzz_gguf", models + [small])
    put(root / "fuzz_bill", [model + setup for model, setup in zip(models, setups)])
    logs = sorted((pathlib.Path(__file__).parent.parent / "tests" / "cli" / "logs").glob("*.log"))
    put(root / "fuzz_log", [b"\x40" + path.read_bytes() for path in logs])
    put(root / "fuzz_explain", messages(pathlib.Path(__file__).parent.parent / "data" / "errors"))
    put(root / "fuzz_safetensors", checkpoints())
    put(root / "fuzz_hf_config", configs())
    put(root / "fuzz_cli", commands(pathlib.Path(__file__).parent.parent / "tests" / "cli"))
    snapshots = sorted((pathlib.Path(__file__).parent.parent / "tests" / "data" / "traces").glob("*.pickle"))
    small = min(snapshots, key=lambda path: path.stat().st_size).read_bytes()
    put(root / "fuzz_snapshot", [path.read_bytes() for path in snapshots] + list(trace_forms.forms(small).values()))
    put(root / "fuzz_step", steps())
    put(root / "fuzz_size", [text.encode() for text in SIZES])
    put(root / "fuzz_card", [text.encode() for text in CARDS])
    put(root / "fuzz_names", [text.encode() for text in NAMES])
    put(root / "fuzz_model_names", [text.encode() for text in MODEL_NAMES])
    put(root / "fuzz_prices", [text.encode() for text in PRICES])
    put(root / "fuzz_sweep", [text.encode() for text in SWEEPS])
    put(root / "fuzz_seen", [text.encode() for text in SEEN])
    put(root / "fuzz_proc", [text.encode() for text in PROC])
    put(root / "fuzz_remote", [text.encode() for text in REMOTE])
    put(root / "fuzz_flags", [text.replace("|", "\n").encode() for text in COMMANDS])
    put(root / "fuzz_host", [b"\xff".join(part.encode() for part in parts) for parts in HOSTS])
    return 0


if __name__ == "__main__":
    sys.exit(main())
