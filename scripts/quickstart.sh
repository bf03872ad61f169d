#!/usr/bin/env bash
# From a fresh checkout to a classified picture: installs what is needed, builds
# the compiler and the runtime, compiles the bundled digit network and runs it.
#
#   scripts/quickstart.sh [digit]      which bundled picture to classify (default 7)
set -euo pipefail
cd "$(dirname "$0")/.."

digit=${1:-7}
picture=examples/digits/pictures/digit_${digit}.npy
if [ ! -f "$picture" ]; then
  echo "There is no bundled picture of '$digit'; choose a digit 0 to 9." >&2
  exit 1
fi

scripts/build.sh atc om-run om-dump

work=build/quickstart
mkdir -p "$work"
echo
echo "== Compiling examples/digits/digits.onnx for this machine's CPU"
build/bin/atc --model=examples/digits/digits.onnx --framework=5 --output="$work/digits" --target=cpu
echo
echo "== Classifying $picture"
build/bin/om-run "$work/digits.om" --input "$picture" --output "$work/out" --loop 100

/usr/bin/python3 - "$work/out/scores.npy" "$digit" <<'PY'
import sys
import numpy as np
scores = np.load(sys.argv[1]).ravel()
answer = int(scores.argmax())
odds = np.exp(scores - scores.max())
print(f"\nThe picture shows a {answer} ({odds[answer] / odds.sum():.1%} sure).")
sys.exit(answer != int(sys.argv[2]))
PY
