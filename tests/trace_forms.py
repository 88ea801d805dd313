# SPDX-License-Identifier: MIT
"""The forms in which people keep a snapshot of PyTorch's memory, made of the pickle that PyTorch writes."""
import base64
import gzip
import io
import json
import pickle
import zipfile


def page(raw: bytes) -> bytes:
    """What `python -m torch.cuda._memory_viz trace_plot` writes: the pickle, padded, as base64 in JSON in a page."""
    padded = raw + b"\0" * (3 - len(raw) % 3)
    files = json.dumps([{"name": "snapshot.pickle", "base64": base64.b64encode(padded).decode()}])
    return ("\n<!DOCTYPE html>\n<html>\n<head>\n</head>\n<body>\n<script type=\"module\">\nimport {add_local_files} from "
            f"\"https://example.org/MemoryViz.js\"\nconst local_files = {files}\nadd_local_files(local_files, 'Active Memory Timeline')\n"
            "</script>\n</body>\n").encode()


def archive(name: str, raw: bytes, method: int) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as packed:
        packed.writestr(zipfile.ZipInfo(name), raw, method)
        packed.writestr(zipfile.ZipInfo("archive/version"), "3\n")
    return file.getvalue()


def old_save(data: object) -> bytes:
    """torch.save() before 1.6: a number, a version and sizes come first, each a pickle of its own."""
    return b"".join(pickle.dumps(part, 2) for part in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}, data, []))


def forms(raw: bytes) -> dict[str, bytes]:
    """By the ends of their names."""
    data = pickle.loads(raw)
    text = json.dumps(data).encode()
    half = len(raw) // 2
    return {
        "json": text,
        "pretty.json": json.dumps(data, indent=1).encode(),
        "json.gz": gzip.compress(text, mtime=0),
        "gz": gzip.compress(raw[:half], mtime=0) + gzip.compress(raw[half:], mtime=0),
        "html": page(raw),
        "html.gz": gzip.compress(page(raw), mtime=0),
        "viz.json": json.dumps([{"name": "snapshot.pickle", "base64": base64.b64encode(raw).decode()}]).encode(),
        "pt": archive("archive/data.pkl", pickle.dumps(data, 2), zipfile.ZIP_STORED),
        "zip": archive("snapshot.pickle", raw, zipfile.ZIP_DEFLATED),
        "old.pt": old_save(data),
        "p5": pickle.dumps(data, 5),
    }
