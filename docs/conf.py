# How Sphinx makes a site of these pages: scripts/docs.sh.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]

project = "OpenATC"
author = "the OpenATC developers"
copyright = "the OpenATC developers; Apache License 2.0 with LLVM exceptions"
version = release = re.search(r"VERSION (\d+\.\d+\.\d+)",
                              (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]

extensions = ["myst_parser"]
myst_heading_anchors = 4
exclude_patterns = ["_build"]
# MLIR, and the vendor's files, have no lexer; mistaken highlighting is worse than none.
highlight_language = "none"
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "alabaster"
html_theme_options = {"description": release + ": neural networks, compiled", "page_width": "1100px",
                      "fixed_sidebar": True}
html_sidebars = {"**": ["about.html", "navigation.html", "searchbox.html"]}
html_show_sourcelink = False
html_copy_source = False
