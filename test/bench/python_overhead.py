#!/usr/bin/env python3
"""What a call costs more from Python than from C, on a model of one element.

  python_overhead.py [--build DIR] [--rounds 15] [--calls 20000] [--json]

Both run the same `.om` with one thread and their arrays in place; the rounds of
both alternate and the medians over the rounds are compared. Needs the built
package, a C compiler, numpy.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]

MODEL = """
func.func @main(%x: tensor<1xf32> {om.name = "x"}) -> (tensor<1xf32> {om.name = "y"}) {
  %y = graph.relu %x : (tensor<1xf32>) -> tensor<1xf32>
  return %y : tensor<1xf32>
}
"""

# Prints the nanoseconds of a call for each line it reads.
PROGRAM = r"""
#include "openatc/om.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(int argc, char **argv) {
  om_error error;
  om_model *model;
  om_session *session;
  om_session_options options = OM_SESSION_OPTIONS_INIT;
  char line[16];
  long calls = argc > 2 ? atol(argv[2]) : 1;
  static _Alignas(OM_ALIGNMENT) float x[16] = {2}, y[16];
  const void *inputs[] = {x};
  void *outputs[] = {y};
  options.threads = 1;
  if (om_model_load_file(argv[1], NULL, &model, &error) != OM_OK ||
      om_session_create(model, &options, &session, &error) != OM_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  while (fgets(line, sizeof line, stdin)) {
    double begin = now();
    for (long i = 0; i < calls; ++i)
      if (om_session_run(session, inputs, outputs, &error) != OM_OK)
        return 1;
    printf("%f\n", (now() - begin) / calls);
    fflush(stdout);
  }
  om_session_free(session);
  om_model_free(model);
  return y[0] != 2;
}
"""


def measure(build, rounds, calls):
    sys.path.insert(0, str(build / "python"))
    import openatc

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "loop.c").write_text(PROGRAM)
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-std=c11", "-D_POSIX_C_SOURCE=199309L",
                        f"-I{ROOT / 'runtime-lite/include'}", folder / "loop.c",
                        build / "lib/libopenatc_runtime.a", "-lpthread", "-o", folder / "loop"],
                       check=True)
        model = openatc.compile(openatc.parse(MODEL), folder / "one.om")
        session = openatc.Session(model, threads=1)
        x, y = openatc.empty(1), openatc.empty(1)
        x[0], y[0] = 2, 0
        inputs, outputs = [x], [y]
        times = {"c": [], "python_in_place": [], "python_new_output": []}
        program = subprocess.Popen([folder / "loop", folder / "one.om", str(calls)],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(rounds + 1):  # the first round warms up
            program.stdin.write("\n")
            program.stdin.flush()
            times["c"].append(float(program.stdout.readline()))
            begin = time.perf_counter_ns()
            for _ in range(calls):
                session.run(inputs, outputs)
            times["python_in_place"].append((time.perf_counter_ns() - begin) / calls)
            begin = time.perf_counter_ns()
            for _ in range(calls):
                session.run(inputs)
            times["python_new_output"].append((time.perf_counter_ns() - begin) / calls)
        program.stdin.close()
        if program.wait() != 0 or y[0] != 2:
            raise SystemExit("the model gave a wrong answer")
    medians = {name: statistics.median(values[1:]) / 1e3 for name, values in times.items()}
    return {"unit": "microseconds a call", **medians,
            "overhead_in_place": medians["python_in_place"] - medians["c"],
            "overhead_new_output": medians["python_new_output"] - medians["c"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path,
                        default=pathlib.Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build")))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--calls", type=int, default=20000)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    result = measure(options.build, options.rounds, options.calls)
    if options.json:
        print(json.dumps(result, indent=2))
        return
    for name, value in result.items():
        print(f"{name:20} {value if isinstance(value, str) else f'{value:8.3f}'}")


if __name__ == "__main__":
    main()
