# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every C and C++ file of the repository is formatted as .clang-format says, and every text file
ends with a newline and has no space at the end of a line."""

import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FORMATTER = shutil.which("clang-format-22")
# Data of tests, and IR as its printer writes it, are kept byte for byte.
VERBATIM = (".bin", ".bmp", ".ckpt", ".gz", ".index", ".jpg", ".mlir", ".npy", ".npz", ".om", ".onnx",
            ".pb", ".png", ".ppm")


def tracked(*patterns):
    answer = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", *patterns], capture_output=True,
                            text=True)
    if answer.returncode:
        pytest.skip("not a git checkout: the files of the repository are not known")
    return [name for name in answer.stdout.split("\0") if name and (ROOT / name).exists()]


@pytest.mark.skipif(FORMATTER is None, reason="clang-format-22 is not installed")
def test_sources_are_formatted():
    names = tracked("*.c", "*.cpp", "*.h", "*.hpp")
    assert names
    answer = subprocess.run([FORMATTER, "--dry-run", "--Werror", "--ferror-limit=1", *names],
                            cwd=ROOT, capture_output=True, text=True)
    wrong = sorted({line.split(":")[0] for line in answer.stderr.splitlines() if ": error:" in line})
    assert answer.returncode == 0, f"clang-format-22 -i {' '.join(wrong)}"


def test_lines_end_clean():
    wrong = []
    for name in tracked():
        path = ROOT / name
        data = path.read_bytes()
        if path.suffix in VERBATIM or b"\0" in data or not data:
            continue
        if not data.endswith(b"\n"):
            wrong.append(f"{name}: no newline at the end")
        wrong += [f"{name}:{number}: space at the end of the line"
                  for number, line in enumerate(data.split(b"\n"), 1)
                  if line.endswith((b" ", b"\t", b"\r"))]
    assert not wrong, "\n".join(wrong[:40])
