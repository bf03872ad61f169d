# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pages of docs/ are a site: every page has its place in it, every link leads somewhere.

OPENATC_ALL_COMMANDS=1 also makes the site, where Sphinx is installed."""
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
NAMES = {str(page.relative_to(ROOT / "docs"))[:-3] for page in PAGES}
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")


def anchors(page):
    """What a heading is called in a link: letters, digits and dashes."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    heads = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"\[(.*?)\]\(.*?\)", r"\1", head).lower()).replace(" ", "-")
            for head in heads}


def test_listed_pages_exist():
    """Those that docs/index.md does not list yet appear under "More"."""
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = [name for tree in re.findall(r"^```{toctree}\n(.*?)^```", index, re.MULTILINE | re.DOTALL)
              for name in re.findall(r"^([\w/-]+)$", tree, re.MULTILINE)]
    assert len(listed) == len(set(listed)) >= 25
    assert set(listed) <= NAMES


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for path, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        if ":" in path:
            continue
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {path}"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{page.name}: {path}#{anchor}"


def test_the_site_is_made(tmp_path):
    if os.environ.get("OPENATC_ALL_COMMANDS") != "1":
        pytest.skip("runs with OPENATC_ALL_COMMANDS=1")
    if subprocess.run(["/usr/bin/python3", "-c", "import sphinx, myst_parser"], capture_output=True).returncode:
        pytest.skip("not installed: python3-sphinx, python3-myst-parser")
    result = subprocess.run([ROOT / "scripts" / "docs.sh", tmp_path / "site"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    for name in NAMES:
        assert (tmp_path / "site" / f"{name}.html").exists()


