# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What docs/python.md shows runs, from its first line to its last."""

import re

from conftest import ROOT


def test_python_page(tmp_path, monkeypatch, capsys):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "python.md").read_text(),
                        re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 5
    names = {}
    for block in blocks:
        exec(compile(block, "python.md", "exec"), names)
    printed = capsys.readouterr().out
    assert printed.startswith("3\n") and "func.func @main" in printed and "cosine" in printed
    assert (tmp_path / "digits.om").exists() and (tmp_path / "digits.html").exists()
