# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scripts that the pages name exist, and scripts can be called as they stand on the pages."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
NAMED = re.compile(r"(?<![\w./{-])((?:[\w-]+/)*[\w-]+\.(?:py|sh))\b")


def files():
    """The files of the checkout, or of an unpacked source tree."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "*.py", "*.sh"],
                            capture_output=True, text=True)
    if listed.returncode == 0:
        return [ROOT / name for name in listed.stdout.split("\0") if name]
    return [path for suffix in ("py", "sh") for path in ROOT.rglob(f"*.{suffix}")
            if "build" not in path.relative_to(ROOT).parts[0]]


def is_called(path):
    """Whether it does something when it is called; pytest calls the tests, and `python -m` what
    is in a package."""
    return path.suffix == ".sh" or (
        path.name != "__main__.py"
        and re.search(r'^if __name__ == "__main__":', path.read_text(), re.MULTILINE) is not None)


def named(page):
    return sorted(set(NAMED.findall(page.read_text())))


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_scripts_on_pages_exist(page):
    # CMake makes a file of its template, x of x.in.
    known = [str(path.relative_to(ROOT)).removesuffix(".in")
             for path in [*files(), *ROOT.glob("cmake/*.in")]]
    for script in named(page):
        found = [name for name in known if name == script or name.endswith("/" + script)]
        assert found, f"{page.name} names {script}, which does not exist"
        # With a folder in front it is meant from the root.
        assert "/" not in script or script in known, f"{page.name}: {script} means {found}"


def test_pages_name_scripts():
    assert sum(len(named(page)) for page in PAGES) > 10


@pytest.mark.parametrize("path", [path for path in files() if is_called(path)],
                         ids=lambda path: str(path.relative_to(ROOT)))
def test_scripts_can_be_called(path):
    assert path.stat().st_mode & 0o111 == 0o111, f"chmod +x {path}"
    assert path.read_text().startswith("#!/"), f"{path} has no line that names its interpreter"
