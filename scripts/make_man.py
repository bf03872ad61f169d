#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes man pages and completions of tools: make_man.py <output folder> <tool> ...

Every tool prints its options with --help-json. <output>/man1 gets a page for each tool, <output>/bash and
<output>/zsh the completions.
"""
import json
import pathlib
import re
import subprocess
import sys

SEE_ALSO = ["amct", "atc", "atc-opt", "atc-translate", "om-dump", "om-run", "om-sign"]


# ---- man pages ---------------------------------------------------------------------


def roff(text):
    """Text as roff takes it: no line begins with a request, dashes are minus signs."""
    text = text.replace("\\", "\\\\").replace("-", "\\-")
    return "\n".join("\\&" + line if line[:1] in ".'" else line for line in text.splitlines())


def lines(texts):
    """Texts with a line break between them."""
    return [line for text in texts for line in (".br", text)][1:]


def by_group(options):
    groups = {}
    for option in options:
        groups.setdefault(option["group"] or "Options", []).append(option)
    return groups


def man_options(options):
    out = []
    for option in options:
        head = ", ".join(f"\\fB{roff(name)}\\fR" for name in option["names"])
        out += [".TP", head + (f" \\fI{roff(option['value'])}\\fR" if option["value"] else "")]
        text = option["help"] or "accepted for compatibility"
        if option["choices"] and not all(choice in text for choice in option["choices"]):
            text += ". Values: " + ", ".join(option["choices"])
        out.append(roff(text))
    return out


def synopsis(name, command):
    words = [f"\\fB{roff(name)}\\fR"]
    if any(option["names"][0].startswith("-") for option in command["options"]):
        words.append("[\\fIoptions\\fR]")
    words += [f"\\fI{roff(option['names'][0])}\\fR" for option in command["options"]
              if not option["names"][0].startswith("-")]
    return " ".join(words)


def man_page(tool, version):
    name = tool["name"]
    summary = tool["text"].split(". ")[0].split(":")[0].rstrip(".")
    out = [f'.TH {name.upper()} 1 "" "OpenATC {version}" "OpenATC"', ".SH NAME",
           f"{roff(name)} \\- {roff(summary[:1].lower() + summary[1:])}", ".SH SYNOPSIS"]
    commands = tool["commands"]
    if commands:
        out += lines(synopsis(f"{name} {command['name']}", command) for command in commands)
    else:
        out.append(synopsis(name, tool))
    out += [".SH DESCRIPTION", roff(tool["text"])]
    for group, options in by_group(tool["options"]).items():
        out += [f".SH {roff(group.upper())}", *man_options(options)]
    for command in commands:
        out += [f".SH \"{roff((name + ' ' + command['name']).upper())}\"", roff(command["text"]) + "."]
        for options in by_group(command["options"]).values():
            out += man_options(options)
    if tool["footer"]:
        out += [".SH NOTES", *lines(map(roff, tool["footer"].splitlines()))]
    others = [other for other in SEE_ALSO if other != name]
    out += [".SH SEE ALSO", ", ".join(f"\\fB{roff(other)}\\fR(1)" for other in others)]
    return "\n".join(out) + "\n"


# ---- completions -------------------------------------------------------------------


def long_names(options):
    """Dashed names; a second spelling with other dashes is left out."""
    names, seen = [], set()
    for option in options:
        for name in option["names"]:
            plain = name.replace("_", "-")
            if name.startswith("--") and plain not in seen:
                seen.add(plain)
                names.append(name)
    return names


def bash_values(options):
    cases = []
    for option in options:
        spelled = "|".join(name for name in option["names"] if name.startswith("-"))
        if not spelled or not option["value"]:
            continue
        if option["choices"]:
            cases.append(f"    {spelled}) COMPREPLY=($(compgen -W '{' '.join(option['choices'])}' -- \"$cur\")); return;;")
        elif option["file"]:
            cases.append(f"    {spelled}) COMPREPLY=($(compgen -f -- \"$cur\")); compopt -o filenames 2>/dev/null; return;;")
        else:
            cases.append(f"    {spelled}) return;;")
    return cases


def bash_completion(tool):
    """For bash 4 and later; needs nothing of the package bash-completion.

    Bash splits --name=value at the sign: the words before the cursor are then --name and =.
    """
    name = tool["name"]
    function = "_openatc_" + name.replace("-", "_")
    commands = [command["name"] for command in tool["commands"]]
    out = [f"# Completion of {name} for bash.", f"{function}() {{",
           "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=",
           "  COMPREPLY=()",
           "  if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi"]
    parts = [("", tool)] + [(command["name"], command) for command in tool["commands"]]
    if commands:
        out += ["  local word", "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do",
                f"    case $word in {'|'.join(commands)}) command=$word; break;; esac", "  done"]
    out.append("  case $command in")
    for command, part in parts:
        words = long_names(part["options"]) + (commands if not command else [])
        out.append(f"  \"{command}\")")
        values = bash_values(part["options"])
        if values:
            out += ["    case $prev in", *values, "    esac"]
        # Values follow the name after a sign or a blank; with a sign, no blank is added.
        out += [f"    COMPREPLY=($(compgen -W '{' '.join(words)}' -- \"$cur\"))", "    ;;"]
    out += ["  esac",
            "  if [[ ${#COMPREPLY[@]} -eq 0 && $cur != -* ]]; then",
            "    COMPREPLY=($(compgen -f -- \"$cur\")); compopt -o filenames 2>/dev/null", "  fi",
            "}", f"complete -F {function} {name}"]
    return "\n".join(out) + "\n"


def zsh_text(text):
    text = re.sub(r"[\[\]:'`$\\\"]", " ", text)
    return re.sub(r"\s+", " ", text).strip()


def zsh_argument(option):
    if not option["value"]:
        return ""
    if option["choices"]:
        return f":value:({' '.join(option['choices'])})"
    return ":file:_files" if option["file"] else ":value:"


def zsh_arguments(options):
    specs, positional = [], ""
    for option in options:
        text = zsh_text(option["help"])
        if not option["names"][0].startswith("-"):
            positional = "'*:file:_files'"
            continue
        for name in option["names"]:
            sign = "=" if option["value"] and name.startswith("--") else ""
            specs.append(f"'{name}{sign}[{text}]{zsh_argument(option)}'")
    return specs + ([positional] if positional else [])


def zsh_completion(tool):
    name = tool["name"]
    out = [f"#compdef {name}", f"# Completion of {name} for zsh."]
    if tool["commands"]:
        names = " ".join(command["name"] for command in tool["commands"])
        out += ["local command=${words[(r)(" + names.replace(" ", "|") + ")]}", "case $command in"]
        for command in tool["commands"]:
            out += [f"{command['name']})", "  _arguments \\",
                    " \\\n".join("    " + spec for spec in zsh_arguments(command["options"])), "  ;;"]
        out += ["*)", "  _arguments \\",
                " \\\n".join("    " + spec for spec in
                             [*zsh_arguments(tool["options"]), f"'1:command:({names})'"]), "  ;;", "esac"]
    else:
        out += ["_arguments \\",
                " \\\n".join("  " + spec for spec in zsh_arguments(tool["options"]))]
    return "\n".join(out) + "\n"


def main():
    output, tools = pathlib.Path(sys.argv[1]), sys.argv[2:]
    for folder in ("man1", "bash", "zsh"):
        (output / folder).mkdir(parents=True, exist_ok=True)
    for path in tools:
        def ask(option):
            return subprocess.run([path, option], check=True, capture_output=True, text=True).stdout
        tool = json.loads(ask("--help-json"))
        version = tool.get("version", "")
        name = tool["name"]
        (output / "man1" / f"{name}.1").write_text(man_page(tool, version), encoding="utf-8")
        (output / "bash" / name).write_text(bash_completion(tool), encoding="utf-8")
        (output / "zsh" / f"_{name}").write_text(zsh_completion(tool), encoding="utf-8")


if __name__ == "__main__":
    main()
