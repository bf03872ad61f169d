#!/usr/bin/env python3
"""Predicts the inner loops of a compiled model for cores that are not at hand.

  mca.py [--cores cascadelake,znver3] [--all] [--json] model.om ...

Disassembles the kernels of the code image that the loader would select on a core (by the
launch table of om-dump), finds the innermost loops that multiply and add, and lets llvm-mca
simulate them. A row is a loop of a kernel:

  share       cycles that the multiplications of an iteration need at the rate of the core
              (measured by llvm-mca on independent ones) over the predicted cycles
  bottleneck  what the simulation waits for: a port, data dependencies, or the front end
  stack       vectors that an iteration moves to the stack and back
  weight      the kernel's part of the model's operations

Without --all only the loop of a kernel with the most multiplications is listed: it
is the one that runs longest. llvm-mca knows no caches: a loop that reads from L2 or beyond is slower.
It knows no tile registers, either (each of their instructions takes 100 cycles there): loops that
multiply in them have no row.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORES = {"skylake-avx512": "x86-64", "cascadelake": "x86-64", "icelake-server": "x86-64",
         "sapphirerapids": "x86-64", "znver3": "x86-64", "znver4": "x86-64",
         "neoverse-n1": "aarch64", "neoverse-v1": "aarch64"}
# Features of code images that a core does not have.
NEWER = {"cascadelake": {"avx512bf16", "avx512fp16", "avx512vbmi", "avxvnni"},
         "skylake-avx512": {"avx512vnni", "avx512bf16", "avx512fp16", "avx512vbmi", "avxvnni"},
         "icelake-server": {"avx512bf16", "avx512fp16", "avxvnni"},
         "znver3": {"avx512f", "avxvnni"}, "znver4": {"avx512fp16", "avxvnni"}}
TARGETS = {"x86-64": ("x86_64", "elf64-x86-64"), "aarch64": ("aarch64", "elf64-littleaarch64")}
# Instructions that multiply; the first that matches decides what the loop is measured by.
MULTIPLY = re.compile(r"^(vfn?m(?:add|sub)\d*p[sd]|vpdpbusds?|vpdpwssds?|vpmaddubsw|vpmaddwd|pmaddubsw|pmaddwd"
                      r"|v?mulps|fmla|udot|sdot)$")
BRANCH = {"x86-64": re.compile(r"^j[a-z]+$"), "aarch64": re.compile(r"^(b\.\w+|cbn?z|tbn?z)$")}

Loop = collections.namedtuple("Loop", "kernel address lines multiplies instruction registers")
Row = collections.namedtuple("Row", "model level core kernel layers address instructions multiplies "
                                    "cycles share bottleneck stack weight")
STACK = re.compile(r"\(%rsp|\[sp\b")


def llvm_tool(name):
    """The path of a tool of LLVM; None where it is not installed."""
    return shutil.which(f"{name}-22") or shutil.which(name, path="/usr/lib/llvm-22/bin") \
        or shutil.which(name)


def disassemble(code, arch, folder):
    """[(address, mnemonic, operands)] of the bytes of a code image."""
    triple, form = TARGETS[arch]
    raw, wrapped = folder / "image.bin", folder / "image.o"
    raw.write_bytes(code)
    subprocess.run([llvm_tool("llvm-objcopy"), "-I", "binary", "-O", form, "--rename-section",
                    ".data=.text,code,alloc,load,readonly", raw, wrapped], check=True)
    text = subprocess.run([llvm_tool("llvm-objdump"), "-d", "--no-show-raw-insn", "--mattr=+all"
                           if arch == "aarch64" else "-Matt", wrapped],
                          check=True, capture_output=True, text=True).stdout
    lines = []
    for line in text.splitlines():
        if match := re.match(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*)$", line):
            operands = re.sub(r"\s*(//|<).*$" if arch == "aarch64" else r"\s*(#|<).*$",
                              "", match[3]).strip()
            lines.append((int(match[1], 16), match[2], operands))
    return lines


def width_of(operands):
    """What tells instructions of one name apart: the registers they use."""
    kinds = re.findall(r"%([xyz]mm)\d|\.(\d+[bhsd])", operands)
    return max((a or b for a, b in kinds), default="")


def inner_loops(kernel, lines, arch):
    """The innermost loops of a kernel's instructions that multiply."""
    at = {address: index for index, (address, _, _) in enumerate(lines)}
    spans = []
    for index, (address, mnemonic, operands) in enumerate(lines):
        if not BRANCH[arch].match(mnemonic):
            continue
        target = re.search(r"0x([0-9a-f]+)", operands)
        first = at.get(int(target[1], 16)) if target else None
        if first is not None and first <= index:
            spans.append((first, index))
    loops = []
    for first, last in spans:
        if any((a, b) != (first, last) and first <= a and b <= last for a, b in spans):
            continue
        body = lines[first:last]  # Without the branch, which a core predicts.
        found = [(m, width_of(o)) for _, m, o in body if MULTIPLY.match(m)]
        if found:
            (mnemonic, registers), _ = collections.Counter(found).most_common(1)[0]
            loops.append(Loop(kernel, lines[first][0], body,
                              sum(f == (mnemonic, registers) for f in found), mnemonic, registers))
    return loops


def on_stack(loop):
    """The instructions of a loop that move a vector to the stack or back."""
    return sum(bool(width_of(operands) and STACK.search(operands)) or
               bool(re.match(r"(ld|st)[rp]$", mnemonic) and re.match(r"q\d", operands) and
                    STACK.search(operands)) for _, mnemonic, operands in loop.lines)


def probe_of(loop, arch):
    """Independent copies of a loop's multiplication, to measure the rate of a core."""
    if arch == "aarch64":
        parts = f"v{{0}}.{loop.registers}, v30.{loop.registers}, v31.{loop.registers}"
        if loop.instruction in ("udot", "sdot"):
            parts = "v{0}.4s, v30.16b, v31.16b"
        return [f"{loop.instruction} {parts.format(i)}" for i in range(24)]
    r = loop.registers
    last = 28 if r == "zmm" else 12
    if loop.instruction.startswith("v"):
        return [f"{loop.instruction} %{r}{last + 1}, %{r}{last + 2}, %{r}{i}" for i in range(last)]
    return [f"{loop.instruction} %{r}{last + 1}, %{r}{i}" for i in range(last)]


def text_of(line):
    address, mnemonic, operands = line
    # Targets of jumps inside the loop (the tail of a mask) and of constants are of no interest here.
    return f"{mnemonic} {operands}"


def simulate(regions, arch, core):
    """[(cycles per iteration, bottleneck)] of lists of instructions; None for what the model of
    the core does not know."""
    iterations = 40
    source = "\n".join(f"# LLVM-MCA-BEGIN r{i}\n" + "\n".join(region) + "\n# LLVM-MCA-END"
                       for i, region in enumerate(regions))
    if arch == "aarch64":
        source = source.replace("# LLVM", "// LLVM")
    run = subprocess.run([llvm_tool("llvm-mca"), f"-mtriple={TARGETS[arch][0]}", f"-mcpu={core}",
                          f"-iterations={iterations}", "-bottleneck-analysis", "-all-stats=false",
                          "-instruction-info=false", "-resource-pressure=false",
                          "-skip-unsupported-instructions=lack-sched"],
                         input=source + "\n", capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(f"llvm-mca for {core} failed:\n{run.stderr[:2000]}")
    results = [None] * len(regions)
    for part in re.split(r"(?m)^\[\d+\] Code Region - r", run.stdout)[1:]:
        index = int(re.match(r"\d+", part)[0])
        cycles = int(re.search(r"Total Cycles:\s+(\d+)", part)[1]) / iterations
        results[index] = (cycles, bottleneck_of(part))
    return results


def bottleneck_of(part):
    ports = re.findall(r"- (\S+)\s+\[ ([\d.]+)% \]", part)
    shares = dict(re.findall(r"(Resource Pressure|Data Dependencies):\s+\[ ([\d.]+)% \]", part))
    if not shares or max(map(float, shares.values())) < 10:
        return "front end or none"
    name = max(shares, key=lambda key: float(shares[key]))
    if name == "Resource Pressure" and ports:
        return max(ports, key=lambda port: float(port[1]))[0]
    return name.lower()


def image_for(core, images):
    """The index of the image that the loader would select on a core; None where none runs."""
    fitting = [index for index, image in enumerate(images) if CORES[core] == image["arch"] and
               not NEWER.get(core, set()) & set(image["features"])]
    return max(fitting, key=lambda index: len(images[index]["features"]), default=None)


def analyze(om, dump, wanted, every=False):
    """The rows of a compiled model; `dump` is what om-dump --json says about it."""
    weights, layers = collections.Counter(), collections.defaultdict(list)
    for step in dump["schedule"]:
        if step["kind"] == "launch":
            kernel = dump["kernels"][step["kernel"]]
            weights[kernel] += step["cost"]
            layers[kernel].append(step["name"])
    total = max(1, sum(weights.values()))
    rows = []
    data = pathlib.Path(om).read_bytes()
    for index, image in enumerate(dump["images"]):
        cores = [core for core in wanted if image_for(core, dump["images"]) == index]
        if not cores:
            continue
        segment = dump["segments"][image["segment"]]
        with tempfile.TemporaryDirectory() as folder:
            lines = disassemble(data[segment["offset"]:segment["offset"] + segment["size"]],
                                image["arch"], pathlib.Path(folder))
        loops = []
        ends = sorted(image["entries"])[1:] + [lines[-1][0] + 1]
        for entry, end in zip(sorted(image["entries"]), ends):
            kernel = dump["kernels"][image["entries"].index(entry)]
            own = inner_loops(kernel, [line for line in lines if entry <= line[0] < end],
                              image["arch"])
            loops += own if every or not own else [max(own, key=lambda loop: loop.multiplies)]
        if not loops:
            continue
        probes = {(loop.instruction, loop.registers): probe_of(loop, image["arch"])
                  for loop in loops}
        regions = [[text_of(line) for line in loop.lines] for loop in loops]
        for core in cores:
            results = simulate(regions + list(probes.values()), image["arch"], core)
            rates = {key: result[0] / len(probes[key])
                     for key, result in zip(probes, results[len(loops):]) if result}
            for loop, result in zip(loops, results):
                key = loop.instruction, loop.registers
                if result and key in rates:
                    rows.append(Row(dump["model"], image["level"], core, loop.kernel,
                                    layers[loop.kernel], loop.address, len(loop.lines),
                                    loop.multiplies, result[0],
                                    loop.multiplies * rates[key] / result[0], result[1],
                                    on_stack(loop), weights[loop.kernel] / total))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="+", type=pathlib.Path, help="compiled models (.om)")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--cores", default=",".join(CORES), help="comma-separated")
    parser.add_argument("--all", action="store_true", help="all inner loops of a kernel")
    parser.add_argument("--min-weight", type=float, default=0.0,
                        help="leave out kernels with a smaller part of the operations")
    parser.add_argument("--json", action="store_true", help="one JSON list on stdout")
    args = parser.parse_args()
    if not llvm_tool("llvm-mca"):
        raise SystemExit("needs llvm-mca, llvm-objcopy and llvm-objdump (Debian: llvm-22)")
    cores = args.cores.split(",")
    if unknown := [core for core in cores if core not in CORES]:
        raise SystemExit(f"no such core: {', '.join(unknown)}; known: {', '.join(CORES)}")
    rows = []
    for om in args.models:
        dump = json.loads(subprocess.run([args.build / "bin/om-dump", om, "--json"], check=True,
                                         capture_output=True).stdout)
        rows += [row for row in analyze(om, dump, cores, args.all)
                 if row.weight >= args.min_weight]
    if args.json:
        json.dump([row._asdict() for row in rows], sys.stdout, indent=1)
        print()
        return
    print(f"{'model':18} {'core':15} {'level':15} {'kernel':24} {'launches':>8} {'weight':>6} {'instr':>5} "
          f"{'mul':>4} {'cycles':>7} {'share':>6} {'stack':>5}  bottleneck")
    for row in sorted(rows, key=lambda row: (row.model, row.core, -row.weight)):
        print(f"{row.model:18.18} {row.core:15} {row.level:15.15} {row.kernel:24.24} {len(row.layers):8} "
              f"{row.weight:6.1%} {row.instructions:5} {row.multiplies:4} {row.cycles:7.1f} "
              f"{row.share:6.0%} {row.stack:5}  {row.bottleneck}")


if __name__ == "__main__":
    main()
