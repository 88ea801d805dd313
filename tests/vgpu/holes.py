# SPDX-License-Identifier: MIT
"""Files that are written under the preload have the content, length and offset of plain writes; their zeros are holes.

    holes.py FOLDER_OF_THE_VIRTUAL_GPU
"""
import ctypes
import errno
import mmap
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile

KIB, MIB = 1 << 10, 1 << 20


class Twin:
    """A file and the bytes that it must have."""

    def __init__(self, path: pathlib.Path):
        self.path, self.at, self.content = path, 0, bytearray()
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)

    def put(self, at: int, data: bytes) -> None:
        self.content.extend(bytes(max(0, at + len(data) - len(self.content))) if data else b"")
        self.content[at:at + len(data)] = data

    def check(self, what: str) -> None:
        assert os.lseek(self.fd, 0, os.SEEK_CUR) == self.at, f"{what}: offset"
        assert os.fstat(self.fd).st_size == len(self.content), f"{what}: length"
        assert os.pread(self.fd, len(self.content) + 1, 0) == self.content, f"{what}: content"


def draw_bytes(draw: random.Random) -> bytes:
    """Zeros and noise by turns, of lengths that are multiples of nothing."""
    parts = [bytes(draw.choice((1, 4 * KIB, 70 * KIB, 200 * KIB)) + draw.randrange(3)) if draw.randrange(2)
             else draw.randbytes(draw.choice((1, 100, 5 * KIB, 80 * KIB))) for _ in range(draw.randrange(1, 6))]
    return b"".join(parts)


def test_like_plain_writes(folder: pathlib.Path) -> None:
    draw = random.Random(7)
    twin = Twin(folder / "twin")
    for turn in range(300):
        kind, data = draw.randrange(6), draw_bytes(draw)
        if kind == 0:
            assert os.write(twin.fd, data) == len(data)
            twin.put(twin.at, data)
            twin.at += len(data)
        elif kind == 1:
            at = draw.randrange(MIB)
            assert os.pwrite(twin.fd, data, at) == len(data)
            twin.put(at, data)
        elif kind == 2:
            more = [draw_bytes(draw), b"", data]
            assert os.writev(twin.fd, more) == sum(map(len, more))
            twin.put(twin.at, b"".join(more))
            twin.at += sum(map(len, more))
        elif kind == 3:
            twin.at = os.lseek(twin.fd, draw.randrange(MIB), os.SEEK_SET)
        elif kind == 4:
            length = draw.randrange(MIB)
            os.truncate(twin.fd, length)
            twin.content = (twin.content + bytes(MIB))[:length]
        else:
            end = os.open(twin.path, os.O_WRONLY | os.O_APPEND)
            assert os.write(end, data) == len(data)
            os.close(end)
            twin.put(len(twin.content), data)
        twin.check(f"turn {turn}, {kind}")


def test_zeros_take_no_room(folder: pathlib.Path) -> None:
    path = folder / "checkpoint"
    with open(path, "wb") as file:
        file.write(b"header")
        file.write(bytes(64 * MIB))
        file.write(b"trailer")
    status = path.stat()
    assert status.st_size == 64 * MIB + 13 and status.st_blocks * 512 < MIB, status
    with open(path, "r+b", buffering=0) as file:  # real bytes, then zeros over them
        file.write(b"x" * 32 * MIB)
        assert os.fstat(file.fileno()).st_blocks * 512 >= 32 * MIB
        file.seek(0)
        assert file.write(bytes(32 * MIB)) == 32 * MIB
        assert os.fstat(file.fileno()).st_blocks * 512 < MIB
    assert path.read_bytes() == bytes(64 * MIB + 6) + b"trailer"


def test_errors(folder: pathlib.Path) -> None:
    zeros = bytes(MIB)
    (folder / "short").write_bytes(b"abc")
    reader = os.open(folder / "short", os.O_RDONLY)
    for call in (lambda: os.write(reader, zeros), lambda: os.pwrite(reader, zeros, 0), lambda: os.write(-1, zeros)):
        try:
            call()
            raise AssertionError("a write to a file that is not open for it")
        except OSError as error:
            assert error.errno == 9, error
    assert os.lseek(reader, 0, os.SEEK_CUR) == 0 and (folder / "short").read_bytes() == b"abc"
    near, far = os.pipe()
    if os.fork() == 0:
        os._exit(0 if os.write(far, zeros) == MIB else 1)
    os.close(far)
    got = b""
    while part := os.read(near, MIB):
        got += part
    assert got == zeros and os.wait()[1] == 0
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100 * KIB, hard))
    limited = os.open(folder / "limited", os.O_WRONLY | os.O_CREAT)
    assert os.write(limited, zeros) == 100 * KIB and os.lseek(limited, 0, os.SEEK_CUR) == 100 * KIB
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))


def test_memory_that_cannot_be_read(folder: pathlib.Path) -> None:
    """EFAULT, or what there is before it: no signal."""
    libc = ctypes.CDLL(None, use_errno=True)
    fd = os.open(folder / "wrong", os.O_RDWR | os.O_CREAT)
    cut = os.open(folder / "cut", os.O_RDWR | os.O_CREAT)
    os.truncate(cut, 2 * MIB)
    map_file = mmap.mmap(cut, 2 * MIB)
    os.truncate(cut, MIB)
    at_file = ctypes.addressof(ctypes.c_char.from_buffer(map_file))
    for address, least, most in ((4096, -1, -1), (at_file + MIB, -1, -1), (at_file, 0, MIB)):
        os.lseek(fd, 0, os.SEEK_SET)
        written = libc.write(fd, ctypes.c_void_p(address), ctypes.c_size_t(2 * MIB if address == at_file else MIB))
        assert least <= written <= most, (address, written)
        assert written >= 0 or ctypes.get_errno() == errno.EFAULT, ctypes.get_errno()
        assert os.lseek(fd, 0, os.SEEK_CUR) == max(0, written)


def test_writers_share_an_offset(folder: pathlib.Path) -> None:
    """Four processes write to one open file: no record is lost or torn."""
    size, each = 128 * KIB, 40
    fd = os.open(folder / "shared", os.O_RDWR | os.O_CREAT)
    children = []
    for k in range(4):
        if (pid := os.fork()) == 0:
            for i in range(each):
                os.write(fd, bytes([k + 1]) + bytes(size - 2) + bytes([k + 1]))
            os._exit(0)
        children.append(pid)
    assert all(os.waitpid(pid, 0)[1] == 0 for pid in children)
    content = (folder / "shared").read_bytes()
    assert len(content) == 4 * each * size
    records = [content[i:i + size] for i in range(0, len(content), size)]
    assert all(r[0] == r[-1] and not any(r[1:-1]) for r in records)
    assert sorted(r[0] for r in records) == sorted([1, 2, 3, 4] * each)


def main() -> None:
    ours = pathlib.Path(sys.argv[1]) / "libplimsoll-preload.so"
    if "PLIM_TEST_PRELOADED" not in os.environ:
        environment = dict(os.environ, LD_PRELOAD=str(ours), PLIM_TEST_PRELOADED="1")
        sys.exit(subprocess.run([sys.executable, *sys.argv], env=environment).returncode)
    for name, test in sorted(globals().items()):
        if name.startswith("test_"):
            with tempfile.TemporaryDirectory() as folder:
                test(pathlib.Path(folder))


if __name__ == "__main__":
    main()
