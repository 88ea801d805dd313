# SPDX-License-Identifier: MIT
"""
`wheel.py FILE [HOW...]` has a package with the library FILE, which looks for a card as NVIDIA's static runtime does
(private_runtime.c). HOW: `loaded` does not ask it to; `card` uses the card by itself; `fails` ends with status 1.
"""
import ctypes
import os
import pathlib
import shutil
import sys
import tempfile

import card

name, how = sys.argv[1], sys.argv[2:]
with tempfile.TemporaryDirectory() as folder:
    package = pathlib.Path(folder) / "site-packages" / "somewheel"
    package.mkdir(parents=True)
    shutil.copy(os.environ["PRIVATE_RUNTIME"], package / name)
    library = ctypes.CDLL(str(package / name))
    found = "loaded" not in how and library.find_card()
    if "card" in how:
        card.alloc(10)
    print("on the CPU" if found else "ready")
    sys.exit(1 if "fails" in how else 0)
