#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
    run.py --plimsoll PROGRAM --zoo FOLDER --vocabulary FOLDER --split FOLDER [NAME...]

Models on servers: a table of what a server does and what the program makes of it. The servers are those of server.py, on
this machine; every case has a pair of its own, and an empty cache. NAME selects cases by a part of their name.

Of each case is checked, beside its row: the program ends by itself, no server sent more than 64 MiB and what was on its
way, nothing was written outside the cache, and the token went to no other server.
"""
from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import json
import math
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
from typing import Callable

import server

TIMEOUT_S = 120  # a busy machine
SIDE_BY_SIDE = 8  # most of them wait
MOST_BYTES = (64 << 20) + (16 << 20)  # what is received, and what the system's buffers take
TOKEN = "hf_thisIsTheTokenOfThisTest0123456789abcd"
MACHINE = ["--card", "RTX 4090", "--ram", "64GiB", "-c", "4096"]
NO_PROXY = {"no_proxy": "*"}


@dataclasses.dataclass
class World:
    """What a check may look at: the servers, and the folders of the case."""
    here: server.Server
    other: server.Server
    folder: pathlib.Path
    zoo: pathlib.Path
    run: Callable[..., subprocess.CompletedProcess[str]]
    result: subprocess.CompletedProcess[str] | None = None

    @property
    def cache(self) -> pathlib.Path:
        return self.folder / "cache" / "plimsoll"

    def document(self) -> dict:
        assert self.result
        return json.loads(self.result.stdout)


@dataclasses.dataclass
class Case:
    name: str
    model: str  # {here}, {other}: the URLs of the servers
    exit: int = 0
    err: str = ""
    out: str = ""
    options: tuple[str, ...] = ()
    command: tuple[str, ...] = ()  # after "--"; then there is no other model
    env: dict[str, str] = dataclasses.field(default_factory=dict)
    before: Callable[[World], None] | None = None
    check: Callable[[World], str | None] | None = None  # what is wrong, or None


# --- what is checked beyond the row ---

def is_like_the_file(world: World) -> str | None:
    """The bill is that of the file itself, but for its name and where it is."""
    near = world.run(str(world.zoo / "qwen3-0.6b-Q4_K_M.gguf"), "--json")
    wanted, got = json.loads(near.stdout), world.document()
    for document in (wanted, got):
        document["model"].pop("path")
        document["model"].pop("name")
        document.pop("source", None)
        document["notes"] = [note for note in document["notes"] if not note.startswith("headers only")]
        for fix in document["fixes"]:
            fix.pop("command")
    return None if wanted == got else "the bill is not that of the file"


def one_range(world: World) -> str | None:
    source = world.document()["source"]
    sent = sum(request.sent for request in world.here.requests)
    if source["requests"] != len(world.here.requests) or source["requests"] != 1:
        return f"{len(world.here.requests)} requests; {source}"
    if not sent <= source["received_bytes"] <= sent + 4096 or sent > 1 << 20:
        return f"{sent} bytes sent, {source['received_bytes']} received"
    return is_like_the_file(world)


def in_parts(world: World) -> str | None:
    """A header of several MiB: ranges follow each other, and the last is all that may be too much."""
    header = 9_530_000
    spans = [tuple(map(int, re.findall(r"\d+", request.headers["Range"]))) for request in world.here.requests]
    if any(first != before[1] + 1 for before, (first, _) in zip(spans, spans[1:])):
        return f"ranges do not follow each other: {spans}"
    if spans[-1][0] >= header or len(spans) > 6:
        return f"more than the header and one range: {spans}"
    return None


def no_secret(world: World) -> str | None:
    return world.result.stderr if "secret" in world.result.stderr else None


def no_server_again(world: World) -> str | None:
    n = len(world.here.requests)
    again = world.run(world.result.args[2], "--offline", "--json")
    if again.returncode != 0 or len(world.here.requests) != n:
        return f"--offline: {again.returncode}, {len(world.here.requests) - n} requests; {again.stderr}"
    source = json.loads(again.stdout)["source"]
    return None if source["requests"] == 0 and source["cached_bytes"] > 0 else f"{source}"


def not_modified(world: World) -> str | None:
    """The second time the server is asked whether the file is the same, and sends nothing."""
    n = len(world.here.requests)
    again = world.run(world.result.args[2], "--json")
    new = world.here.requests[n:]
    if again.returncode != 0 or len(new) != 1 or new[0].sent != 0 or "If-None-Match" not in new[0].headers:
        return f"{again.returncode}, {[(request.path, request.sent, request.headers) for request in new]}"
    return None


def only_the_list(world: World) -> str | None:
    """The second time the list of a hub is enough: it has the hash of every file."""
    n = len(world.here.requests)
    again = world.run(world.result.args[2], "--json")
    new = world.here.requests[n:]
    return None if again.returncode == 0 and len(new) == 1 and "/api/" in new[0].path else f"{[r.path for r in new]}"


def is_changed(world: World) -> str | None:
    """A file that has another etag than the cached one is read again."""
    path = world.here.files["qwen3-0.6b-Q4_K_M.gguf"]
    other = world.zoo / "llama-3.2-1b-Q4_K_M.gguf"
    world.here.files[path.name] = other
    again = world.run(world.result.args[2], "--json")
    return None if json.loads(again.stdout)["model"]["arch"] == "llama" else again.stdout[:300]


def token_here(world: World) -> str | None:
    with_token = [request for request in world.here.requests if request.headers.get("Authorization") == f"Bearer {TOKEN}"]
    return None if len(with_token) == len(world.here.requests) > 0 else "the hub did not get the token"


def token_nowhere(world: World) -> str | None:
    with_token = [request.path for request in [*world.here.requests, *world.other.requests] if "Authorization" in request.headers]
    return f"the token went to {with_token}" if with_token else None


def token_not_away(world: World) -> str | None:
    if not world.other.requests:
        return "the other server was not asked"
    return token_here(world)


def all_parts(world: World) -> str | None:
    document = world.document()
    return None if document["source"]["requests"] == 3 and document["model"]["n_layer"] == 28 else str(document["source"])


def has_projector(world: World) -> str | None:
    document = world.document()
    labels = {line["label"] for line in document["devices"][0]["lines"]}
    named = document["source"]["projector"] or ""
    return None if named.endswith("mmproj-gemma-3-4b-F16.gguf") and any("mmproj" in label for label in labels) else f"{named} {labels}"


def through_proxy(world: World) -> str | None:
    paths = [request.path for request in world.here.requests]
    return None if paths and all(path.startswith("http://models.invalid/") for path in paths) else f"{paths}"


def few_requests(world: World) -> str | None:
    n = len(world.here.requests) + len(world.other.requests)
    return None if n <= 9 else f"{n} requests"


def four_requests(world: World) -> str | None:
    return None if len(world.here.requests) == 4 else f"{len(world.here.requests)} requests"


def no_request(world: World) -> str | None:
    return f"{[request.path for request in world.here.requests]}" if world.here.requests else None


def cache_is_private(world: World) -> str | None:
    modes = [oct(path.stat().st_mode & 0o777) for path in [world.cache, *world.cache.rglob("*")]]
    return None if modes and set(modes) <= {"0o700", "0o600"} else f"{modes}"


# --- stores on this machine ---

def put(path: pathlib.Path, target: pathlib.Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


def hub_cache(world: World, commit: str = "a" * 40, main: str = "a" * 40) -> None:
    folder = world.folder / "home" / ".cache" / "huggingface" / "hub" / "models--ok--gguf"
    put(folder / "blobs" / "0123", world.zoo / "qwen3-0.6b-Q4_K_M.gguf")
    put(folder / "snapshots" / commit / "Qwen3-0.6B-Q4_K_M.gguf", pathlib.Path("../../blobs/0123"))
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text(main)


def hub_cache_of_a_path(world: World) -> None:
    hub_cache(world, main="../snapshots/" + "a" * 40)


def flat_cache(world: World) -> None:
    put(world.folder / "home" / ".cache" / "llama.cpp" / "ok_gguf_Qwen3-0.6B-Q4_K_M.gguf", world.zoo / "qwen3-0.6b-Q4_K_M.gguf")


def lm_studio(world: World) -> None:
    put(world.folder / "home" / ".lmstudio" / "models" / "ok" / "gguf" / "Qwen3-0.6B-Q4_K_M.gguf",
        world.zoo / "qwen3-0.6b-Q4_K_M.gguf")


def part_of_a_split(world: World) -> None:
    put(world.folder / "home" / ".lmstudio" / "models" / "ok" / "split" / "q-Q4_K_M-00001-of-00003.gguf",
        world.here.files["qwen3-0.6b-Q4_K_M-00001-of-00003.gguf"])


def poisoned_cache(world: World) -> None:
    """What stands in the cache for this URL is damaged: it is read again, not believed."""
    first = world.run(f"{world.here.url}/ok/qwen3-0.6b-Q4_K_M.gguf")
    assert first.returncode == 0
    for path in (world.cache / "headers").iterdir():
        path.write_bytes(path.read_bytes()[:17 << 10])


def linked_cache(world: World) -> None:
    """A link in the place of an entry is not followed, and not written through."""
    first = world.run(f"{world.here.url}/ok/qwen3-0.6b-Q4_K_M.gguf")
    assert first.returncode == 0
    for path in (world.cache / "headers").iterdir():
        path.unlink()
        path.symlink_to(world.folder / "precious")
    (world.folder / "precious").write_text("mine")


def precious_stays(world: World) -> str | None:
    return None if (world.folder / "precious").read_text() == "mine" else "a file outside the cache was written"


WHOLE = "the server sends whole files only"
Q4 = "qwen3-0.6b-Q4_K_M.gguf"

CASES = [
    # --- what works ---
    Case("one range", "{here}/ok/" + Q4, out="FITS", options=("--json",), check=one_range),
    Case("it says what was read", "{here}/ok/" + Q4, out="headers only: 1.0"),
    Case("a header of some MiB", "{here}/ok/vocabulary.gguf", check=in_parts),
    Case("parts of a split", "{here}/ok/qwen3-0.6b-Q4_K_M-00001-of-00003.gguf", options=("--json",), check=all_parts),
    Case("a later part is named", "{here}/ok/qwen3-0.6b-Q4_K_M-00003-of-00003.gguf", options=("--json",), check=all_parts),
    Case("again without a server", "{here}/ok/" + Q4, check=no_server_again),
    Case("again, and nothing is sent", "{here}/ok/" + Q4, check=not_modified),
    Case("again, and it is another file", "{here}/ok/" + Q4, check=is_changed),
    Case("the cache is for this user", "{here}/ok/" + Q4, check=cache_is_private),
    Case("a damaged cache", "{here}/ok/" + Q4, out="FITS", before=poisoned_cache),
    Case("a link in the cache", "{here}/ok/" + Q4, out="FITS", before=linked_cache, check=precious_stays),
    Case("no place for a cache", "{here}/ok/" + Q4, out="FITS", env={"XDG_CACHE_HOME": "/dev/null", "HOME": "/dev/null"}),
    Case("through a proxy", "http://models.invalid/ok/" + Q4, out="FITS", env={"http_proxy": "{here}", "no_proxy": ""},
         check=through_proxy),
    Case("a small file from a server without ranges", "{here}/ok/page.gguf", 3, "expected GGUF, found a web page"),
    # --- a hub ---
    Case("a quantization", "hf:ok/gguf:Q4_K_M", options=("--json",), out='"llama', check=only_the_list),
    Case("in any case", "hf:ok/gguf:q4_k_m", out="llama-3.2-1b"),
    Case("the whole tag wins", "hf:ok/unsloth:Q4_K_M", out="qwen3, "),
    Case("the longer tag", "hf:ok/unsloth:UD-Q4_K_M", out="llama, "),
    Case("a file of a repository", "hf:ok/gguf/llama-3.2-1b-Q4_K_M.gguf", out="llama-3.2-1b"),
    Case("a file in a folder", "hf:ok/folders:Q4_K_M", out="qwen3, "),
    Case("the page of a file", "{here}/ok/gguf/blob/main/" + Q4, out="qwen3, "),
    Case("the link of a download", "{here}/ok/gguf/resolve/main/" + Q4 + "?download=true", out="qwen3, "),
    Case("the page of a repository", "{here}/ok/single", out="qwen3, "),
    Case("one model is enough", "hf:ok/single", out="qwen3, "),
    Case("a projector", "hf:ok/vision:Q4_K_M", options=("--json",), check=has_projector),
    Case("several models", "hf:ok/gguf", 2, "add the quantization, as in hf:ORG/REPO:Q4_K_M; there are Q4_K_M, Q8_0"),
    Case("several files of a quantization", "hf:ok/twins:Q4_K_M", 2, "2 files are Q4_K_M"),
    Case("none of a quantization", "hf:ok/gguf:Q9_K", 3, "there are Q4_K_M, Q8_0"),
    Case("no such repository", "hf:ok/nothing:Q4_K_M", 3, "does not show it without a token (status 401, RepoNotFound)"),
    Case("no model", "hf:ok/datasets", 3, "there is no model in it"),
    Case("pages of a list", "hf:pages/three", 2, "there are 3 models"),
    Case("a list without an end of pages", "hf:pages/endless", 2, "there are 16 models"),
    Case("a page on another host", "hf:away/list", 3, "there is no model in it"),
    Case("a huge list", "hf:huge/list", 3, "the server sends more than"),
    Case("many files", "hf:many/list:Q4_0", 2, "4096 files are Q4_0"),
    Case("half a list", "hf:broken/list", 3, "the server's list of files cannot be read"),
    Case("a list that is none", "hf:object/list", 3, "the server's list of files cannot be read"),
    Case("paths that lead elsewhere", "hf:hostile/list", 3, "there is no model in it"),
    Case("no such name", "hf:qwen", 2, "does not name a repository"),
    Case("a name with a path", "hf:a/../../b", 2, "does not name", check=no_request),
    Case("a name out of the API", "hf:a/b?x=y", 2, "does not name", check=no_request),
    Case("a user in an address", "http://me:secret@127.0.0.1/x.gguf", 2, "user names in addresses are not taken"),
    Case("weights with their index", "hf:ok/tensors", out="headers only"),
    Case("weights are named after their repository", "hf:ok/tensors", out='"name": "tensors"', options=("--json",)),
    Case("weights with their index, at a URL", "{here}/ok/model.safetensors.index.json", out="headers only"),
    Case("llama.cpp's own words", "", command=("llama-server", "-hf", "ok/gguf:Q8_0"), out="llama-3.2-1b"),
    Case("its default", "", command=("llama-server", "-c", "4096", "-hf", "ok/gguf"), out="llama-3.2-1b"),
    Case("its word for a file", "", command=("llama-cli", "-hfr", "ok/gguf", "--hf-file", "llama-3.2-1b-Q8_0.gguf"), out="llama-3.2-1b"),
    Case("its word for a URL", "", command=("llama-cli", "-mu", "{here}/ok/" + Q4), out="qwen3, "),
    Case("a command to paste", "", 1, command=("llama-server", "-hf", "ok/gguf:Q4_K_M", "-c", "4000000"),
         out="llama-server -hf ok/gguf:Q4_K_M -c "),
    Case("a command to paste for a name", "hf:ok/gguf:Q4_K_M", 1, options=("-c", "4000000"),
         out="llama-server -hf ok/gguf:Q4_K_M -c "),
    Case("a command to paste for a URL", "{here}/ok/" + Q4, 1, options=("-c", "4000000"), out="llama-server -mu {here}/ok/" + Q4),
    # --- stores ---
    Case("the cache of huggingface_hub", "hf:ok/gguf:Q4_K_M", out="is on this machine", before=hub_cache, check=no_request),
    Case("its name of a commit leads nowhere", "hf:ok/gguf:Q4_K_M", out="llama-3.2-1b", before=hub_cache_of_a_path),
    Case("the older cache of llama.cpp", "hf:ok/gguf:Q4_K_M", out="is on this machine", before=flat_cache, check=no_request),
    Case("the folder of LM Studio", "hf:ok/gguf:Q4_K_M", out="is on this machine", before=lm_studio, check=no_request),
    Case("a store without a server", "hf:ok/gguf:Q4_K_M", out="is on this machine", before=lm_studio, options=("--offline",),
         check=no_request),
    Case("a split that is not whole here", "hf:ok/split:Q4_K_M", out="headers only", before=part_of_a_split),
    # --- tokens ---
    Case("the token goes to the hub", "hf:ok/gguf:Q4_K_M", env={"HF_TOKEN": TOKEN}, check=token_here),
    Case("not after a redirect", "{here}/away/" + Q4, env={"HF_TOKEN": TOKEN}, out="FITS", check=token_not_away),
    Case("not to another server", "{other}/ok/" + Q4, env={"HF_TOKEN": TOKEN}, out="FITS", check=token_nowhere),
    Case("not in clear text", "http://models.invalid/ok/" + Q4, out="FITS", check=token_nowhere,
         env={"http_proxy": "{here}", "no_proxy": "", "HF_TOKEN": TOKEN, "HF_ENDPOINT": "http://models.invalid"}),
    Case("a token that is none", "hf:ok/gguf:Q4_K_M", 2, "HF_TOKEN has a character", env={"HF_TOKEN": "a\r\nHost: b"}, check=no_request),
    Case("an endpoint that is none", "hf:ok/gguf:Q4_K_M", 2, "HF_ENDPOINT is not an address", env={"HF_ENDPOINT": "file:///etc"}),
    # --- redirects ---
    Case("a redirect", "{here}/moved/" + Q4, out="FITS"),
    Case("a redirect to another host", "{here}/away/" + Q4, out="FITS"),
    Case("redirects in a circle", "{here}/loop/" + Q4, 5, "more than 8 redirects", check=few_requests),
    Case("a redirect without encryption", "{here}/down/" + Q4, 5, "redirects to an address that is not encrypted"),
    Case("a redirect to a file", "{here}/file/" + Q4, 5, "redirects to what is no address of a file"),
    Case("a redirect to nowhere", "{here}/nowhere/" + Q4, 5, "redirects to what is no address of a file"),
    Case("a redirect with a key", "{here}/signed/" + Q4, 3, "404) ({here}/404/" + Q4 + ")", check=no_secret),
    Case("addresses that do not last", "{here}/short-lived/vocabulary.gguf", out="FITS"),
    # --- refusals ---
    Case("401", "{here}/401/" + Q4, 3, "does not show it without a token (status 401, RepoNotFound)"),
    Case("403", "{here}/403/" + Q4, 3, "its owner must grant access"),
    Case("404", "{here}/404/" + Q4, 3, "the server has no such file (status 404)"),
    Case("a file that is not there", "{here}/ok/none.gguf", 3, "the server has no such file (status 404, EntryNotFound)"),
    Case("416", "{here}/416/" + Q4, 3, "no such part of the file (status 416)"),
    Case("an empty file", "{here}/ok/empty.gguf", 3, "no such part of the file (status 416)"),
    Case("429, then good", "{here}/429-once/" + Q4, out="FITS"),
    Case("429 until tomorrow", "{here}/429-long/" + Q4, 5, "asks to come back later (status 429"),
    Case("503 until a day", "{here}/503-date/" + Q4, 5, "asks to come back later (status 503"),
    Case("500, then good", "{here}/500-once/" + Q4, out="FITS"),
    Case("500", "{here}/500/" + Q4, 5, "answered with status 500", check=four_requests),
    Case("another status", "{here}/teapot/" + Q4, 5, "answered with status 418"),
    Case("nobody there", "http://127.0.0.1:1/x.gguf", 5, "127.0.0.1"),
    Case("no such host", "http://plimsoll.invalid/x.gguf", 5, "plimsoll.invalid"),
    Case("not in the cache", "{here}/ok/" + Q4, 5, "not in the cache", options=("--offline",), check=no_request),
    Case("a repository that is not in the cache", "hf:ok/gguf:Q4_K_M", 5, "nor in the cache", options=("--offline",), check=no_request),
    Case("no libcurl", "{here}/ok/" + Q4, 5, "need libcurl", env={"PLIMSOLL_CURL": "libnone.so.4"}, check=no_request),
    Case("a library that is not libcurl", "{here}/ok/" + Q4, 5, "is not libcurl", env={"PLIMSOLL_CURL": "libm.so.6"}),
    # --- answers that are wrong ---
    Case("a connection that ends", "{here}/cut/" + Q4, 5, "", check=four_requests),
    Case("a connection that ends once", "{here}/cut-once/" + Q4, out="FITS"),
    Case("a server without ranges", "{here}/whole/endless.gguf", 3, WHOLE),
    Case("a server that streams", "{here}/stream/endless.gguf", 3, WHOLE),
    Case("more than was asked for", "{here}/more/endless.gguf", 5, "the server sends more than"),
    Case("another part", "{here}/other-part/" + Q4, 5, "the server sent bytes 1 to"),
    Case("a part that is too long", "{here}/part-too-long/" + Q4, 5, "the server sent bytes 0 to"),
    Case("a part of how many bytes", "{here}/no-total/" + Q4, 5, "does not say which of how many bytes"),
    Case("a part of where", "{here}/no-range/" + Q4, 5, "does not say which of how many bytes"),
    Case("a range that cannot be read", "{here}/wild-range/" + Q4, 5, "does not say which of how many bytes"),
    Case("a file that ends in its data", "{here}/small-total/" + Q4, 3, "past the end of the file"),
    Case("a file that ends in its header", "{here}/small-total/vocabulary.gguf", 3, "the file ends inside the metadata"),
    Case("a size that changes", "{here}/changing/vocabulary.gguf", 5, "the file changed while it was read"),
    Case("an etag that changes", "{here}/new-etag/vocabulary.gguf", 5, "the file changed while it was read"),
    Case("compressed", "{here}/gzip/" + Q4, 5, "compressed"),
    Case("a byte for each request", "{here}/dribble/" + Q4, 5, "no answer within 2 seconds", env={"PLIMSOLL_SECONDS": "2"}),
    Case("a head without an end", "{here}/heads/" + Q4, 5, ""),
    Case("slow bytes", "{here}/slow/" + Q4, 5, "no answer within 1 seconds", env={"PLIMSOLL_SECONDS": "1"}),
    Case("no answer", "{here}/silent/" + Q4, 5, "no answer within 1 seconds", env={"PLIMSOLL_SECONDS": "1"}),
    Case("no HTTP", "{here}/garbage/" + Q4, 5, ""),
    Case("a web page", "{here}/ok/page.gguf", 3, "found a web page"),
    Case("2^60 tensors", "{here}/ok/many-tensors.gguf", 3, "at most 131072 are read"),
    Case("2^60 keys", "{here}/ok/many-keys.gguf", 3, "at most 65536 are read"),
    Case("a header that does not end", "{here}/ok/endless.gguf", 3, "MiB"),
    Case("several headers that do not end", "{here}/ok/endless.gguf", 3, "MiB came from servers",
         options=("{here}/moved/endless.gguf", "{here}/away/endless.gguf")),
    Case("a key that is 512 MiB away", "{here}/ok/far-key.gguf", 3, "the header has more than 64 MiB"),
    Case("a header of 99 MB", "{here}/ok/large-header.safetensors", 3, ""),
    Case("a header of 2^55 bytes", "{here}/ok/wide-header.safetensors", 3, ""),
]


# --- the runner ---

WIDTH, FF, VOCABULARY = 256, 512, 1024
LAYER = {"input_layernorm": [WIDTH], "post_attention_layernorm": [WIDTH], "self_attn.q_proj": [WIDTH, WIDTH],
         "self_attn.k_proj": [WIDTH, WIDTH], "self_attn.v_proj": [WIDTH, WIDTH], "self_attn.o_proj": [WIDTH, WIDTH],
         "mlp.gate_proj": [FF, WIDTH], "mlp.up_proj": [FF, WIDTH], "mlp.down_proj": [WIDTH, FF]}
TENSORS = [{"model.embed_tokens": [VOCABULARY, WIDTH], **{f"model.layers.0.{name}": shape for name, shape in LAYER.items()}},
           {**{f"model.layers.1.{name}": shape for name, shape in LAYER.items()}, "model.norm": [WIDTH],
            "lm_head": [VOCABULARY, WIDTH]}]
CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": WIDTH, "intermediate_size": FF,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": VOCABULARY,
          "max_position_embeddings": 4096, "tie_word_embeddings": False, "torch_dtype": "bfloat16", "rms_norm_eps": 1e-5,
          "rope_theta": 10000.0}


def safetensors(folder: pathlib.Path) -> list[pathlib.Path]:
    """Two shards of a small model, their index and its config.json."""
    folder.mkdir()
    places, total = {}, 0
    for shard, tensors in enumerate(TENSORS, 1):
        name, header, at = f"model-0000{shard}-of-00002.safetensors", {}, 0
        for tensor, shape in tensors.items():
            n_bytes = 2 * math.prod(shape)
            header[tensor + ".weight"] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + n_bytes]}
            places[tensor + ".weight"] = name
            at += n_bytes
        text = json.dumps(header).encode()
        (folder / name).write_bytes(struct.pack("<Q", len(text)) + text + bytes(at))
        total += at
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": total}, "weight_map": places}))
    (folder / "config.json").write_text(json.dumps(CONFIG))
    return sorted(folder.iterdir())


def make_files(arguments: argparse.Namespace, folder: pathlib.Path) -> tuple[dict[str, pathlib.Path], dict[str, list[str]]]:
    zoo, split = pathlib.Path(arguments.zoo), pathlib.Path(arguments.split)
    files = {path.name: path for path in [zoo / Q4, zoo / "llama-3.2-1b-Q4_K_M.gguf", zoo / "gemma-3-4b-Q4_K_M.gguf",
                                          zoo / "mmproj-gemma-3-4b-F16.gguf", *split.iterdir(), *safetensors(folder / "tensors")]}
    files["llama-3.2-1b-Q8_0.gguf"] = zoo / "llama-3.2-1b-Q4_K_M.gguf"
    files["vocabulary.gguf"] = next(iter(pathlib.Path(arguments.vocabulary).iterdir()))
    files["Qwen3-0.6B-Q4_K_M.gguf"] = zoo / Q4
    files["Qwen3-0.6B-UD-Q4_K_M.gguf"] = zoo / "llama-3.2-1b-Q4_K_M.gguf"
    repositories = {
        "gguf": ["README.md", "llama-3.2-1b-Q4_K_M.gguf", "llama-3.2-1b-Q8_0.gguf", "imatrix.gguf"],
        "single": [Q4, "config.json"],
        "unsloth": ["Qwen3-0.6B-UD-Q4_K_M.gguf", "Qwen3-0.6B-Q4_K_M.gguf"],
        "folders": ["Q4_K_M/" + Q4, "Q8_0/x-Q8_0.gguf"],
        "vision": ["gemma-3-4b-Q4_K_M.gguf", "mmproj-gemma-3-4b-F16.gguf", "mmproj-gemma-3-4b-F32.gguf"],
        "twins": ["a-Q4_K_M.gguf", "b-Q4_K_M.gguf"],
        "split": sorted(path.name for path in split.iterdir()),
        "datasets": ["README.md", "train.parquet"],
        "tensors": [path.name for path in (folder / "tensors").iterdir()],
    }
    return files, repositories


def snapshot(folder: pathlib.Path) -> set[pathlib.Path]:
    return {path for path in folder.rglob("*") if "cache" not in path.relative_to(folder).parts[:1]}


def run_case(case: Case, program: str, zoo: pathlib.Path, files: dict, repositories: dict) -> str | None:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "home").mkdir()
        other = server.Server(dict(files), repositories)
        here = server.Server(dict(files), repositories, other.url)

        def fill(text: str) -> str:
            return text.replace("{here}", here.url).replace("{other}", other.url)

        env = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "XDG_CACHE_HOME": str(folder / "cache"),
               "HF_HUB_CACHE": str(folder / "home/.cache/huggingface/hub"), "HF_ENDPOINT": here.url, **NO_PROXY,
               "LLAMA_CACHE": str(folder / "home/.cache/llama.cpp"), **{key: fill(value) for key, value in case.env.items()}}
        for key in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
            if key in os.environ:
                env[key] = os.environ[key]

        def run(model: str, *options: str) -> subprocess.CompletedProcess[str]:
            command = ["--", *map(fill, case.command)] if case.command else []
            words = [*([model] if model else []), *MACHINE[:-2 if command else None], *options, *command]
            return subprocess.run([program, "fit", *words], env=env, capture_output=True, text=True,
                                  timeout=TIMEOUT_S, cwd=folder, check=False)

        world = World(here, other, folder, zoo, run)
        if case.before:
            case.before(world)
            here.requests.clear()
        before = snapshot(folder)
        try:
            world.result = run(fill(case.model), *map(fill, case.options))
        except subprocess.TimeoutExpired:
            return f"it did not end within {TIMEOUT_S} s"
        finally:
            here.over.set()
        wrong = judge(case, world, fill)
        if wrong is None and snapshot(folder) != before:
            wrong = f"it wrote {snapshot(folder) - before}"
        leftovers = [path.name for path in folder.rglob("*") if path.suffix and path.parent.name == "headers"]
        here.stop()
        other.stop()
        return wrong or (f"it left {leftovers}" if leftovers else None)


def judge(case: Case, world: World, fill: Callable[[str], str]) -> str | None:
    result = world.result
    assert result
    sent = sum(request.sent for request in [*world.here.requests, *world.other.requests])
    said = f"\n  exit {result.returncode}\n  out: {result.stdout[-600:]}\n  err: {result.stderr[-600:]}"
    if result.returncode != case.exit:
        return f"exit {case.exit} expected{said}"
    if fill(case.err) not in result.stderr:
        return f"stderr has no '{case.err}'{said}"
    is_json = "--json" in case.options
    wanted = fill(case.out)
    if wanted and (wanted if not is_json else wanted.lower()) not in (result.stdout.lower() if is_json else result.stdout):
        return f"stdout has no '{case.out}'{said}"
    if case.exit > 1 and not result.stderr.startswith("plimsoll: "):
        return f"no message{said}"
    if sent > MOST_BYTES:
        return f"{sent} bytes were sent"
    if any(TOKEN in json.dumps(request.headers) for request in world.other.requests) or TOKEN in result.stdout + result.stderr:
        return "the token was shown or sent elsewhere"
    wrong = case.check(world) if case.check else None
    return f"{wrong}{said}" if wrong else None


def main() -> int:
    parser = argparse.ArgumentParser()
    for name in ("plimsoll", "zoo", "vocabulary", "split"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    cases = [case for case in CASES if not arguments.names or any(name in case.name for name in arguments.names)]
    program = os.path.abspath(arguments.plimsoll)
    failures = 0
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        files, repositories = make_files(arguments, pathlib.Path(name))
        zoo = pathlib.Path(arguments.zoo).absolute()
        for case, wrong in zip(cases, pool.map(lambda case: run_case(case, program, zoo, files, repositories), cases)):
            if wrong:
                failures += 1
                print(f"FAILED: {case.name}: {wrong}")
    print(f"{len(cases) - failures} of {len(cases)} cases of models on servers are right")
    return 1 if failures or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
