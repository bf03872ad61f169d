#!/usr/bin/env bash
# Uses an installed OpenATC as a new user would: use_installed.sh <digits> <bin> [--programs]
#   digits       the folder of the bundled network, its pictures and the scores of the reference
#   bin          the folder of atc, amct and om-run, and of the Python that has the package
#   --programs   also builds the C and C++ examples beside `digits`, with CMake and pkg-config
# Works in a temporary folder; needs nothing of the source tree.
set -euo pipefail
digits=$(realpath "$1") bin=$2 programs=${3:-}
export PATH="$bin:$PATH"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# agrees <file of scores> <tolerance, of the reference's range>
agrees() {
  "$bin/python3" - "$1" "$digits/reference_scores.npy" "$2" <<'PY'
import sys
import numpy as np
scores, reference = np.load(sys.argv[1]).ravel(), np.load(sys.argv[2])[7]
error = np.abs(scores - reference).max() / np.ptp(reference)
assert scores.argmax() == 7, scores
assert error <= float(sys.argv[3]), error
print(f"   a 7, as it should be; error {error:.1e} of the range")
PY
}
quiet() { "$@" > log 2>&1 || { cat log >&2; exit 1; }; }

echo "== $(atc --version)"
model=$digits/digits.onnx picture=$digits/pictures/digit_7.npy
echo "== compile and run for the CPU"
quiet atc --model="$model" --framework=5 --target=cpu --output=digits
quiet om-run digits.om --input "$picture" --output cpu
agrees cpu/scores.npy 1e-4
echo "== compile and run for the simulated NPU"
quiet atc --model="$model" --framework=5 --soc_version=Ascend310P3 --output=npu
quiet om-run npu.om --input "$picture" --output npu
agrees npu/scores.npy 1e-2
echo "== quantize, compile and run"
quiet amct calibrate --model="$model" --data="$digits/pictures" --output=int8/digits --batch_num=10
quiet atc --model=int8/digits_deploy_model.onnx --framework=5 --target=cpu --output=int8/digits
quiet om-run int8/digits.om --input "$picture" --output int8
agrees int8/scores.npy 0.1
echo "== Python"
"$bin/python3" - "$digits" <<'PY'
import sys
import numpy as np
import openatc
digits = sys.argv[1]
session = openatc.Session(openatc.compile(digits + "/digits.onnx", soc="Ascend310P3"))
scores, = session.run([np.load(digits + "/pictures/digit_3.npy")])
assert scores.argmax() == 3 and session.npu["cycles"] > 0
PY
quiet "$bin/python3" -m openatc info digits.om

if [ -n "$programs" ]; then
  examples=$(dirname "$digits")
  for example in embed-c embed-cpp; do
    echo "== $example with CMake"
    quiet cmake -S "$examples/$example" -B "$example"
    quiet cmake --build "$example"
    "$example/classify" digits.om "$picture" | head -1 | grep -q ^7
  done
  echo "== embed-c and embed-npu with pkg-config"
  cc "$examples/embed-c/classify.c" $(pkg-config --cflags --libs openatc) -o classify
  ./classify digits.om "$picture" | head -1 | grep -qx 7
  cc "$examples/embed-npu/simulate.c" $(pkg-config --cflags --libs openatc-npu) -o simulate
  ./simulate npu.om "$picture" > /dev/null
fi
