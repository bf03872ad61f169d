#!/usr/bin/env bash
# Runs every fuzz program of this folder for a number of inputs and prints one table.
#
#   test/fuzz/report.sh [--quick] [--divide N] [--inputs N] [--seconds N] [--seed S] [--json] [--build DIR] [PROGRAM[=N]...]
#
# --divide divides the numbers of inputs, --quick by 100; --inputs sets that of each program, PROGRAM=N that of
# one. --seconds runs each program again and again with the next seed, until it has run that long. --json prints
# an array with an object per program, and the table as messages. Without a PROGRAM all are run. A row is printed
# when its program has ended. The exit code is 1 where a program is missing or has found something. Build first
# with AddressSanitizer (scripts/test.sh --asan) and name build-asan for findings that a plain build does not show.
set -euo pipefail
cd "$(dirname "$0")/../.."

build=build divide=1 inputs='' json='' seconds=0 first_seed=1 programs=()
while [ $# -gt 0 ]; do
  case $1 in
  --quick) divide=100 ;;
  --divide) shift; divide=${1:?} ;;
  --inputs) shift; inputs=${1:?} ;;
  --json) json=1 ;;
  --seed) shift; first_seed=${1:?} ;;
  --seconds) shift; seconds=${1:?} ;;
  --build) shift; build=${1:?} ;;
  fuzz-*) programs+=("$1") ;;
  *) sed -n '2,11p' "$0" >&2; exit 2 ;;
  esac
  shift
done
# libMLIR is not instrumented; its containers cross the boundary.
export ASAN_OPTIONS=detect_container_overflow=0:allow_user_poisoning=0:detect_leaks=0:allocator_may_return_null=1

# The number of inputs, and the folders of seeds; a program that is not listed has a folder that
# is called after it.
settings() { # program
  case $1 in
  fuzz-host-kernels) echo 10000000 ;;
  fuzz-random-graphs) echo 10000 ;;
  fuzz-onnx-import) echo 100000 test/fuzz/corpus-onnx ;;
  fuzz-tf-import) echo 20000 test/fuzz/corpus-tf ;;
  fuzz-tf-checkpoint) echo 1000000 test/fuzz/corpus-checkpoint ;;
  fuzz-caffe-import) echo 20000 test/fuzz/corpus-caffe ;;
  fuzz-air-import) echo 20000 test/fuzz/corpus-air ;;
  fuzz-tflite-import) echo 20000 test/fuzz/corpus-tflite ;;
  fuzz-acl-calls) echo 20000 test/fuzz/corpus-acl ;;
  fuzz-compile) echo 10000 --replay=0 test/fuzz/corpus-onnx test/fuzz/corpus-tf test/fuzz/corpus-tflite ;;
  fuzz-npu-program) echo 1000000 test/fuzz/corpus-npu ;;
  fuzz-acl-model) echo 100000 test/runtime-lite/golden test/fuzz/corpus-om-run ;;
  fuzz-om-dump) echo 100000 test/runtime-lite/golden test/fuzz/corpus-om-run ;;
  fuzz-om-run) echo 100000 test/fuzz/corpus-om-run ;;
  fuzz-om-load) echo 1000000 test/runtime-lite/golden $(ls -d test/fuzz/corpus-om 2>/dev/null) ;;
  *) local kind=${1#fuzz-}; echo 1000000 "test/fuzz/corpus-${kind%%-*}" ;;
  esac
}

# The first number behind, or in front of, a word of a line.
behind() { sed -nE "s/.*[ ,]$2 ([0-9.]+).*/\1/p" <<<"$1"; }
before() { sed -nE "s/.*[ ,]([0-9.]+) $2.*/\1/p" <<<" $1"; }

failed=0
rows=()
if [ ${#programs[@]} = 0 ]; then
  for source in test/fuzz/fuzz-*.cpp; do
    programs+=("$(basename "$source" .cpp)")
  done
fi

# Runs `program` once for `count` inputs of `seed`; sets status, accepted, refused and findings.
run_once() {
  local output line crashes hangs
  # shellcheck disable=SC2086
  case $program in
  fuzz-host-kernels) set -- --calls "$count" --seed "$seed" ;;
  fuzz-random-graphs) set -- --graphs "$count" --seed "$seed" --jobs "$(nproc)" ;;
  *) set -- --mutations="$count" --seed="$seed" $folders ;;
  esac
  output=$("$build/bin/$program" "$@" 2>&1) && status=0 || status=1
  line=$(tail -n 1 <<<"$output")
  case $program in
  fuzz-host-kernels) accepted=$(before "$line" computed) ;;
  fuzz-random-graphs) accepted=$(before "$line" same) ;;
  *) accepted=$(behind "$line" accepted) ;;
  esac
  case $program in
  fuzz-host-kernels | fuzz-random-graphs)
    refused=$(before "$line" refused) findings=$(before "$line" findings)
    ;;
  *)
    refused=$(behind "$line" refused)
    crashes=$(behind "$line" crashes) hangs=$(behind "$line" hangs)
    findings=$((${crashes:-1} + ${hangs:-0}))
    ;;
  esac
  # What ends without its line of figures has found something.
  [ -n "$findings" ] && [ -n "$accepted" ] || { findings=1; echo "$program, seed $seed: $line" >&2; }
  if [ "$status" != 0 ] || [ "$findings" != 0 ]; then
    failed=1
    # The inputs, so that each can be tried again.
    tail -n 20 <<<"$output" >&2
  fi
}

elapsed() { awk "BEGIN { print ($(date +%s%N) - $begin) / 1e9 }"; }

# One line of the table: on the standard output, or among the messages where that is JSON.
print_row() {
  if [ -n "$json" ]; then printf "$@" >&2; else printf "$@"; fi
}

print_row '%-20s %10s %10s %10s %9s %9s %10s\n' program inputs accepted refused findings seconds 'per second'
for program in "${programs[@]}"; do
  read -r count folders <<<"$(settings "${program%%=*}")"
  count=${inputs:-$((count / divide))}
  case $program in
  *=*) count=${program#*=} program=${program%%=*} ;;
  esac
  if [ ! -x "$build/bin/$program" ]; then
    echo "$program is not in $build/bin: build it first" >&2
    failed=1
    continue
  fi
  begin=$(date +%s%N)
  all=0 all_accepted=0 all_refused=0 all_findings=0 seed=$first_seed
  while :; do
    run_once
    all=$((all + count)) all_accepted=$((all_accepted + ${accepted:-0}))
    all_refused=$((all_refused + ${refused:-0})) all_findings=$((all_findings + findings))
    seed=$((seed + 1))
    awk "BEGIN { exit !($(elapsed) < $seconds) }" || break
  done
  seconds_taken=$(elapsed)
  print_row '%-20s %10d %10d %10d %9d %9.1f %10.0f\n' "$program" "$all" "$all_accepted" "$all_refused" "$all_findings" \
    "$seconds_taken" "$(awk "BEGIN { print ($seconds_taken > 0 ? $all / $seconds_taken : 0) }")"
  rows+=("$program $all $all_accepted $all_refused $all_findings $seconds_taken")
done

if [ -n "$json" ]; then
  printf '%s\n' "${rows[@]}" | awk 'BEGIN { print "[" }
    { printf "%s  {\"program\": \"%s\", \"inputs\": %d, \"accepted\": %d, \"refused\": %d, \"findings\": %d, \"seconds\": %.1f}",
             (NR > 1 ? ",\n" : ""), $1, $2, $3, $4, $5, $6 }
    END { print "\n]" }'
fi
exit $failed
