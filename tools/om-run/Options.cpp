//===-- Options.cpp - the options of om-run -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/om-run/Options.h"

#include "tools/common/CommandLine.h"

namespace atc::tools {

/// Adds the model, the values of its inputs and where its outputs go.
static void addRunOptions(CLI::App &app, Options &options) {
  app.add_option("model", options.model,
                 "the .om file; or the .manifest of a model that is split over ranks, which are "
                 "threads of this process, or under mpirun -np N a process each")
      ->required();
  app.add_option("--rank_timeout,--rank-timeout", options.rankTimeout,
                 "seconds that a rank waits for another one (default 60)")
      ->type_name("SECONDS")
      ->check(positiveNumber());
  app.add_option(
         "-i,--input", options.input,
         "input files: a.npy,b.bin in the model's order, or name=file,...; a .npy file must "
         "have the input's type and shape, an image is decoded and resized, any other file has "
         "its raw bytes; an input without a file is zeros, a state what it begins with; several "
         "files of one name are the "
         "items of a sequence; values may stand for a file, \"ids=[[101,2023,102]]\"; may be given "
         "several times")
      ->join(',')
      ->type_name("FILES");
  app.add_option("--shape", options.shape,
                 "values of dynamic dims of inputs, \"name:1,3,416,416;other:1,4\": for "
                 "inputs without a file or with one of raw bytes; with gears the shapes of the "
                 "inputs choose the gear; may be given several times")
      ->join(';')
      ->type_name("SHAPES");
  app.add_option("-o,--output", options.output, "write each output as <name>.npy into this folder")
      ->type_name("DIR");
  app.add_flag("--random", options.random,
               "inputs without a file are random values, not zeros; states begin as ever");
  app.add_option("--seed", options.seed, "the seed of --random (default 0)")->type_name("N");
  app.add_flag(
      "--state", options.state,
      "keep the model's state from run to run; all runs have the same inputs, and a file "
      "for a state is its first value. Runs of --warmup, --loop and --profile all count: with "
      "--loop=N alone there are N + 1; outputs that are states are those of the last one");
  app.add_option("--labels", options.labels,
                 "a file with one line per class; an output with as many values is shown as its "
                 "5 largest values with their labels")
      ->type_name("FILE");
  app.add_flag("--json", options.json, "print one JSON object instead of tables");
}

/// Adds how many runs are measured, and how.
static void addMeasureOptions(CLI::App &app, Options &options) {
  app.add_option("--loop", options.loop, "measure this many runs, after the first")->type_name("N");
  app.add_option("--duration", options.duration, "or measure for this long")
      ->type_name("SECONDS")
      ->check(positiveNumber())
      ->excludes("--loop");
  app.add_option("--sessions", options.sessions,
                 "sessions that run at once, each with the runs of --loop; shows the runs per "
                 "second of all of them together")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  app.add_option("--warmup", options.warmup, "runs between the first and the measured ones")
      ->type_name("N");
  app.add_option("--threads", options.threads,
                 "threads of a session (default: the processors, divided among the sessions)")
      ->type_name("T")
      ->check(CLI::Range(1, 1024));
  app.add_flag("--profile", options.profile, "measure each launch");
}

/// Adds what a run may take.
static void addLimitOptions(CLI::App &app, Options &options) {
  app.add_option(
         "--max_memory,--max-memory", options.maxMemory,
         "bytes that the session may hold at once, and as many for the inputs and outputs, with "
         "a unit or without: 512MB, 2GB "
         "(default: three quarters of the machine's memory)")
      ->type_name("BYTES")
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false));
  app.add_option("--max_iterations,--max-iterations", options.maxIterations,
                 "iterations of all loops in a run (default: no limit)")
      ->type_name("N")
      ->check(positiveNumber());
  app.add_option("--max_time,--max-time", options.maxSeconds,
                 "seconds that a run may take (default: no limit)")
      ->type_name("SECONDS")
      ->check(positiveNumber());
}

/// Adds the dump of tensors and their comparison with a reference.
static void addCompareOptions(CLI::App &app, Options &options) {
  app.add_option("--dump", options.dump,
                 "write every tensor that a launch makes as <name>.npy into this folder")
      ->type_name("DIR");
  app.add_option("--compare", options.compare,
                 "run once and compare every tensor that a launch makes with the reference: the "
                 "model the .om was compiled from (interpreted by atc-translate), or a folder of "
                 "<name>.npy; names the first bad layer")
      ->type_name("MODEL|DIR");
  app.add_option(
         "--tolerance", options.tolerance,
         "largest error that --compare accepts, relative to the reference's range "
         "(default: as the types of a tensor and of those before it allow, 1e-4 for f32, 0.01 "
         "for f16 and what an NPU computes, 0.03 for 8-bit integers and for what an NPU computes "
         "of a quantized model, 0.05 for bf16)")
      ->type_name("X")
      ->check(nonNegativeNumber());
}

/// Adds what is checked when the file is loaded, and which code is chosen.
static void addLoadOptions(CLI::App &app, Options &options) {
  app.add_flag(
      "--verify,!--no-verify", options.verify,
      "check the weights' hash when loading, which reads the whole file (default: yes); header, "
      "code and tables are checked always");
  app.add_flag("--require-signature,--require_signature", options.requireSignature,
               "run only a model that is signed with a trusted key");
  app.add_option("--trusted-key,--trusted_key", options.trustedKeys,
                 "a public key file of om-sign; may be given more than once")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_flag("--refuse-native-code,--refuse_native_code", options.refuseNativeCode,
               "refuse a model that holds native code");
  app.add_option("--cpu-level,--cpu_level", options.cpuLevel,
                 "use the code for this CPU level (default: the best that fits)")
      ->type_name("NAME");
}

void addOptions(CLI::App &app, Options &options) {
  addRunOptions(app, options);
  addMeasureOptions(app, options);
  addLimitOptions(app, options);
  addCompareOptions(app, options);
  addLoadOptions(app, options);
  addImageOptions(app, options.images);
  addNpuOptions(app, options.npu);
}

} // namespace atc::tools
