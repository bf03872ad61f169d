# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every function that a header declares for others has a comment. A comment stands for the
declarations that follow it without an empty line. Constructors, operators, overrides, accessors that
only return a member and one-line functions without parameters, whose name and expression say it,
need none; nor do the vendor's headers in ascend/include."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEFT_OUT = ("ascend/include/", "examples/", "lit-tests/", "test/")
# Declarations that are no functions, or whose comment is that of what makes them.
NO_FUNCTION = re.compile(r"(using|typedef|static_assert|enum|friend|extern template|return|if|for|"
                         r"while|switch|std::function|[A-Z_0-9]+\(|struct|class|#)")
EXPRESSION = re.compile(r"\(\) (const )?\{ return [^;{}]*; \}$")
ACCESSOR = re.compile(r"\{ (return [*&!]?[\w.\->:<>*()+\[\] ]*;)? ?\}$")


def headers():
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard"],
                            capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [name for name in listed.stdout.splitlines()
            if name.endswith((".h", ".hpp")) and not name.startswith(LEFT_OUT)
            and (ROOT / name).is_file()]


def without_literals(line):
    line = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])\'', '""', line)
    return re.sub(r"//.*|/\*.*?\*/", "", line).strip()


class Reader:
    """Goes through a header line by line and collects declarations that need a comment."""

    def __init__(self):
        self.scopes = []      # of each namespace or class around: may others see what comes?
        self.text = ""        # of the declaration that has begun
        self.described = False  # by a comment in front of it
        self.found = []

    def read(self, source):
        in_comment = in_macro = False
        for number, line in enumerate(source.splitlines(), 1):
            line = line.strip()
            if in_macro or line.startswith("#"):
                in_macro = line.endswith("\\")
                continue
            if in_comment or line.startswith("/*"):
                in_comment = "*/" not in line
                self.described |= not self.text
                continue
            if not line and not self.text:
                self.described = False
            elif line.startswith("//"):
                self.described |= not self.text
            elif line:
                self.add(without_literals(line), number, "///<" in line)
        return self.found

    def add(self, code, number, trailing):
        label = re.fullmatch(r"(public|protected|private):", code)
        if label:
            self.scopes[-1][0] = label[1] == "public" and self.scopes[-1][1]
            self.described = False
            return
        if not self.text:
            self.begin = number
        self.text = f"{self.text} {code}".strip()
        if self.text.count("(") > self.text.count(")"):
            return
        depth = self.text.count("{") - self.text.count("}")
        if depth < 0:
            if self.scopes:
                self.scopes.pop()
            self.end()
        elif depth > 0:
            self.open_scope()
        elif code.endswith((";", "}")):
            if not (self.described or trailing):
                self.check()
            self.text = ""

    def end(self):
        self.text = ""
        self.described = False

    def open_scope(self):
        visible = not self.scopes or self.scopes[-1][0]
        if re.match(r'(inline )?namespace\b|extern ""', self.text):
            self.scopes.append([visible, visible])
            self.end()
        kind = re.match(r"(template <.*> )?(class|struct|union)\b", self.text)
        if kind and "(" not in self.text.split(" : ")[0] and self.text.endswith("{"):
            self.scopes.append([visible and kind[2] != "class", visible])
            self.end()

    def check(self):
        if self.scopes and not self.scopes[-1][0]:
            return
        declaration = re.sub(r"^(template <.*?>+ )?((static|virtual|inline|constexpr|consteval|explicit) )*", "",
                             self.text)
        head = declaration.split("{")[0]
        name = re.search(r"([\w~:]+) ?\(", head)
        if (not name or NO_FUNCTION.match(declaration) or "operator" in head or "override" in head
                or "=" in head.split("(")[0] or name[1].startswith("~") or "(*" in head
                or head.startswith(name[0]) or re.search(r"= (default|delete);$", declaration)
                or ACCESSOR.search(declaration) or EXPRESSION.search(declaration)):
            return
        self.found.append((self.begin, declaration[:80]))


def test_every_function_of_a_header_has_a_comment():
    missing = [f"{name}:{number}: {text}" for name in headers()
               for number, text in Reader().read((ROOT / name).read_text())]
    assert not missing, "\n".join(missing)


def test_the_test_sees_functions():
    source = """
namespace a {
int bare(int x);
/// Returns one.
int first(int x);
int second(std::function<int(int)> f = {});

inline int body(int x) {
  return x / 2;
}
class Shape {
  int hidden(int x);

public:
  Shape(int sides);
  int sides() const { return count; }
  int area(int x,
           int y) const;
  /// Returns both.
  int both();
  bool operator==(const Shape &) const;
  void add(int x) { count += x; } ///< in place

private:
  int secret(int x);
};
#define MACRO(x) \\
  int generated(int x);
struct Open {
  int field = call(1);
  static int make(int x);
};
} // namespace a
"""
    found = [text for _, text in Reader().read(source)]
    assert [text.split("(")[0] for text in found] == ["int bare", "int body", "int area", "int make"]
