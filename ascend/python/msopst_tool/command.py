# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""msopst create -i op.ini -out cases; msopst run -i cases.json -soc Ascend310P3 -out results."""
import argparse
import csv
import json
import pathlib
import sys
import time

from openatc_toolkit import new_file, printable, reason, write_file

from .cases import CaseError, fail, read_cases, read_threshold
from .create import create
from .runner import Runner, call_function, compare, make_inputs

COLUMNS = ["case", "op", "target", "runs_on", "status", "output", "max_error", "share_beyond", "cosine", "time_us",
           "cycles", "message"]


def parse(arguments):
    parser = argparse.ArgumentParser(prog="msopst", description="Tests single operators on the simulated NPU and the CPU.")
    commands = parser.add_subparsers(dest="command", required=True)
    made = commands.add_parser("create", help="writes a file of cases for the operators of an .ini or a C++ file")
    made.add_argument("-i", "--input", required=True, help="the .ini file, or the .cpp file with classes of OpDef, that describes operators")
    made.add_argument("-out", "--output", default=".", help="the folder for <op>_case_<time>.json")
    made.add_argument("-q", "--quiet", action="store_true", help=argparse.SUPPRESS)
    run = commands.add_parser("run", help="runs the cases of a file and reports precision and speed")
    run.add_argument("-i", "--input", required=True, help="the file of cases")
    run.add_argument("-soc", "--soc_version", required=True, help="the NPU: Ascend310P3 ...")
    run.add_argument("-out", "--output", default=".", help="the folder for results, a new one in it per run")
    run.add_argument("-c", "--case_name", default="all", help="names of cases, with commas; all")
    run.add_argument("-d", "--device_id", default="0", help="accepted: there is one simulated device")
    run.add_argument("-err_thr", "--error_threshold",
                     help='"[0.001,0.001]": the error of an element, the share of elements that may exceed it')
    run.add_argument("-conf", "--config_file", help="accepted: settings of the vendor's tool")
    # The vendor's tool reads shapes from a TensorFlow model, and writes a model with others.
    model = commands.add_parser("mi", help="refused: atc --mode=1 --om=model.pb --framework=3 --json=model.json shows the shapes of a model")
    model.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def run_case(runner, case, arrays, errors):
    """Yields a row of the report per target and output."""
    rows = []

    def add(target, status, **more):
        rows.append({"case": case.name, "op": case.op, "target": target, "status": status} | more)
    try:
        if case.expect_function:
            wanted = call_function(case, arrays)
        elif ("reference", case.name) in errors:
            raise RuntimeError(errors["reference", case.name])
        else:
            wanted, _ = runner.run("reference", case, arrays)
    except RuntimeError as error:
        add("reference", "failed", message=str(error))
        return rows
    for target in ("npu", "cpu"):
        try:
            if (target, case.name) in errors:
                raise RuntimeError(errors[target, case.name])
            outputs, took = runner.run(target, case, arrays)
        except RuntimeError as error:
            add(target, "failed", message=str(error))
            continue
        for i, (got, want) in enumerate(zip(outputs, wanted)):
            found = compare(got, want, case.threshold)
            add(target, "success" if found.pop("pass") else "failed", output=i, **found, **took)
    return rows


def write_report(folder, rows, cases, command):
    failed = {row["case"] for row in rows if row["status"] == "failed"}
    report = {"run_cmd": command,
              "report_list": [{"case_name": case.name, "status": "failed" if case.name in failed else "success",
                               "expect": "success", "trace_detail": {
                                   "st_case_info": {"op": case.op, "error_threshold": case.threshold},
                                   "stage_result": [row for row in rows if row["case"] == case.name]}}
                              for case in cases],
              "summary": {"test case count": len(cases), "success count": len(cases) - len(failed),
                          "failed count": len(failed)}}
    write_file(folder / "st_report.json", json.dumps(report, indent=2))
    with new_file(folder / "result.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="")
        writer.writeheader()
        writer.writerows(rows)
    return report["summary"]


def run(options):
    only = None if options.case_name == "all" else [n.strip() for n in options.case_name.split(",")]
    cases = read_cases(options.input, only)
    if options.error_threshold:
        try:
            threshold = json.loads(options.error_threshold)
        except ValueError:
            threshold = None
        for case in cases:
            case.threshold = read_threshold(threshold, "-err_thr")
    folder = pathlib.Path(options.output) / time.strftime("%Y%m%d%H%M%S")
    for i in range(1, 1000):
        try:
            folder.mkdir(parents=True)
            break
        except FileExistsError:
            folder = folder.with_name(folder.name.split("_")[0] + f"_{i}")
        except OSError as error:
            fail("E13000", f'the folder "{folder}" cannot be made: {error.strerror}')
    runner = Runner(options.soc_version, folder)
    arrays = {case.name: make_inputs(case) for case in cases}
    errors = runner.compile(cases, arrays)
    rows = []
    for case in cases:
        made = run_case(runner, case, arrays[case.name], errors)
        rows += made
        for row in made:
            figures = "" if "max_error" not in row else \
                f"max error {row['max_error']:.3g}, {100 * row['share_beyond']:.3g} % beyond {case.threshold[0]:g}, " \
                f"{row['time_us']:.1f} us"
            print(f"{printable(row['case']):32} {row['target']:9} {row['status']:8} {figures}{printable(row.get('message', ''))}")
    summary = write_report(folder, rows, cases, " ".join(["msopst", *sys.argv[1:]]))
    print(f"{summary['success count']} of {summary['test case count']} cases pass; report: {folder / 'st_report.json'}")
    return 1 if summary["failed count"] else 0


def main(arguments=None):
    options = parse(sys.argv[1:] if arguments is None else arguments)
    try:
        if options.command == "mi":
            fail("E10055", "mi is not supported: atc --mode=1 --om=model.pb --framework=3 --json=model.json shows the shapes of a "
                           "model, and atc --input_shape compiles it with others")
        return create(options) if options.command == "create" else run(options)
    except CaseError as error:
        print(error, file=sys.stderr)
    except MemoryError:
        print("E19001: there is not enough memory for the tensors of the cases", file=sys.stderr)
    except OSError as error:
        print(f"E13004: cannot write {reason(error)}", file=sys.stderr)
    return 1
