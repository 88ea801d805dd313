#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Compare the names that the virtual libraries export with NVIDIA's newest builds of them: a program does not start if a
library lacks a name that it was linked with. Downloads one wheel after the other, some gigabytes in all.

    wheels.py [--write] [--record] [SONAME...]

--write: put what is new into the lists of src/vgpu/exports. --record: write what these wheels export to tests/vgpu/wheels,
which tests/vgpu/exports.py compares with the libraries that are built, without a network.

Exit status: 0 nothing is new, 1 these are, 77 no wheel could be had. Needs nm and pip.
"""
import argparse
import gzip
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import exports  # noqa: E402

LISTS = exports.FOLDER.parent
RECORDS = LISTS.parent.parent.parent / "tests/vgpu/wheels"
RUNTIME = {"libcudart.so.11.0": "nvidia-cuda-runtime-cu11", "libcudart.so.12": "nvidia-cuda-runtime-cu12", "libcudart.so.13": "nvidia-cuda-runtime"}


def list_of(soname):
    return LISTS / "cudart.names" if soname in RUNTIME else exports.FOLDER / soname


def packages_of(soname):
    """Those that its list is from."""
    if soname in RUNTIME:
        return [RUNTIME[soname]]
    found = re.search(r", as exported by (.*)", list_of(soname).read_text(encoding="utf-8"))
    return re.findall(r"nvidia-[a-z0-9-]+", found[1])


def listed(soname):
    lines = list_of(soname).read_text(encoding="utf-8").splitlines()
    return {line.split()[0] for line in lines if line and not line.startswith("#")}


def newest(package, soname, folder):
    """The path of the library, and the version of its package; None: not to be had."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-cache-dir", "--no-deps",
           "--only-binary=:all:", "--dest", folder, package]
    if subprocess.run(pip, check=False).returncode:
        return None
    wheel = next(pathlib.Path(folder).glob("*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        library = next((name for name in archive.namelist() if name.endswith("/" + soname)), None)
        if library:
            archive.extract(library, folder)
    wheel.unlink()
    return library and (str(pathlib.Path(folder) / library), wheel.name.split("-")[1])


def exported_names(soname, package):
    """The version of the package, and what its library exports of the words that the names of the list begin with."""
    words = {re.match(r"_*[a-z]+", name)[0] for name in listed(soname)}
    with tempfile.TemporaryDirectory() as folder:
        found = newest(package, soname, folder)
        if not found:
            return None
        names = {name for name, _ in exports.exported(found[0])}
    return found[1], sorted(name for name in names if (re.match(r"_*[a-z]+", name) or [""])[0] in words)


def record(soname, package, version, names):
    """A file for each package; the same bytes for the same names."""
    RECORDS.mkdir(exist_ok=True)
    text = f"{soname} {package} {version}\n" + "".join(name.split()[0] + "\n" for name in names)
    (RECORDS / f"{soname}-{package}.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def write(soname, package, version, names):
    path = list_of(soname)
    lines = path.read_text(encoding="utf-8").splitlines()
    head = [line for line in lines if line.startswith("#")]
    if soname not in RUNTIME:
        old = rf"({package} [0-9.]+)( to [0-9.]+)?(?= |$)"
        head = [re.sub(old, rf"\1 to {version}", line) if ", as exported by" in line else line for line in head]
    body = sorted([line for line in lines if line and not line.startswith("#")] + names, key=lambda line: line.split()[0])
    path.write_text("\n".join(head + body) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sonames", nargs="*", metavar="SONAME")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    n_seen = n_new = 0
    for soname in options.sonames or [*RUNTIME, *sorted(path.name for path in exports.FOLDER.iterdir())]:
        for package in packages_of(soname):
            found = exported_names(soname, package)
            if not found:
                print(f"{soname}: no {package} that has it")
                continue
            version, names = found
            if options.record:
                record(soname, package, version, names)
            names = [name for name in names if name.split()[0] not in listed(soname)]
            n_seen += 1
            n_new += len(names)
            print(f"{soname}: {package} {version}: {len(names)} new", *names, sep="\n    ", flush=True)
            if options.write and names:
                write(soname, package, version, names)
    return 77 if not n_seen else 1 if n_new and not options.write else 0


if __name__ == "__main__":
    sys.exit(main())
