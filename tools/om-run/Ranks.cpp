//===-- Ranks.cpp - runs a model that was split over ranks ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every rank has a session of its own: a thread of this process each, or a process each under
// mpirun. Ranks exchange their figures at the end, with a collective of their own, and rank 0
// prints them.

#include "tools/om-run/Ranks.h"

#include "collectives/MpiPlugin.h"
#include "openatc/ranks.h"
#include "support/JsonText.h"
#include "support/ModelText.h"
#include "support/Npy.h"
#include "support/OmIdentity.h"
#include "support/OneLine.h"
#include "support/RunErrors.h"
#include "tools/common/Inputs.h"
#include "tools/common/Print.h"
#include "tools/om-run/Manifest.h"
#include "tools/om-run/Report.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

namespace atc::tools {

namespace {
using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr const char *kindNames[OM_COLLECTIVE_KINDS] = {
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send", "receive"};

double millisecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// The measurements that ranks send each other at the end, as plain bytes.
struct Figures {
  uint32_t rank, threads;
  double loadMs, firstRunMs, medianMs, minMs;
  uint64_t fileBytes, weightsBytes, arenaBytes;
  om_traffic traffic; ///< of the first run
};

/// Runs one rank: its session, with its share of the inputs and outputs.
class RankRun {
public:
  RankRun(const Options &options, const Manifest &manifest, om_ranks *ranks, uint32_t threads)
      : options(options), manifest(manifest), ranks(ranks), threads(threads),
        rank(ranks->collectives->rank) {}

  /// Runs everything up to the exchange of figures. Returns false after an error, which the other
  /// ranks have been told.
  bool run() {
    if (load() && readInputFiles() && runAll() && exchange())
      return true;
    const std::string line = errors.empty() ? "" : errors.front();
    const std::string sentence = "rank " + std::to_string(rank) + " has failed: " +
                                 (line.find(": ") < 8 ? line.substr(line.find(": ") + 2) : line);
    if (beforeAbort)
      beforeAbort();
    ranks->abort(ranks, sentence.c_str());
    return false;
  }

  /// Called with the errors at hand, before the other ranks end this one.
  std::function<void()> beforeAbort;
  std::vector<std::string> errors;
  std::vector<Figures> all;         ///< of all ranks
  std::vector<NamedTensor> outputs; ///< that this rank writes

private:
  bool failed(ErrorCode code, const std::string &sentence) {
    errors.push_back(codedLine(code, sentence));
    return false;
  }
  std::string named(const std::string &sentence) const {
    return "rank " + std::to_string(rank) + ": " + sentence;
  }

  bool load() {
    const std::string &path = manifest.files[rank];
    const auto begin = Clock::now();
    om_load_options loading = OM_LOAD_OPTIONS_INIT;
    loading.verify_weights = options.verify;
    loading.threads = threads;
    std::error_code status;
    if (!std::filesystem::exists(path, status))
      return failed("E10410",
                    "the file '" + path + "' of rank " + std::to_string(rank) + " does not exist.");
    model = om::Model::loadFile(path, error, loading);
    if (!model)
      return failed("E10041", "'" + path + "' cannot be loaded: " + error.message());
    om_session_options running = OM_SESSION_OPTIONS_INIT;
    running.threads = threads;
    running.max_memory = options.maxMemory;
    // Ranks share the processors, and wait for each other.
    running.spin_us = 0;
    if (model.info().npu_launches) {
      std::string reason;
      if (!npu.create({}, reason))
        return failed("E10001", reason);
      running.device = npu.device();
    }
    session = om::Session(model, error, running);
    if (!session ||
        om_session_set_collectives(session.get(), ranks->collectives, &error.c) != OM_OK)
      return failed(codeOf(error.code(), "E10041"),
                    "'" + path + "' cannot be run: " + error.message());
    // Files of two models with the same sizes would exchange their tensors without an error.
    if (const std::string &known = manifest.identities[rank];
        !known.empty() && omIdentity(path) != known)
      return failed("E13005", "'" + path + "' is not the file of rank " + std::to_string(rank) +
                                  " that '" + manifest.path +
                                  "' was written with: ranks of different compilations do not "
                                  "compute one model; compile it again with atc --parallel.");
    figures.rank = rank;
    figures.threads = om_session_threads(session.get());
    figures.loadMs = millisecondsSince(begin);
    figures.fileBytes = std::filesystem::file_size(path, status);
    figures.weightsBytes = model.info().weights_bytes;
    figures.arenaBytes = model.info().arena_bytes;
    return true;
  }

  /// Reads the inputs that this rank has; --input is about those of the whole model.
  bool readInputFiles() {
    const std::vector<om::Tensor> own = model.inputs();
    std::vector<om::Tensor> whole(manifest.inputs.size());
    std::vector<int> position(whole.size(), -1);
    for (size_t i = 0; i < whole.size(); ++i) {
      for (size_t k = 0; k < own.size(); ++k)
        if (own[k].name == manifest.inputs[i]) {
          whole[i] = own[k];
          position[i] = static_cast<int>(k);
        }
      whole[i].name = manifest.inputs[i];
    }
    inputs.resize(own.size());
    MemoryShare memory(options.maxMemory);
    errors = readInputs(options.input, whole, [&](size_t i, const std::string &file, auto &reason) {
      return position[i] < 0 ||
             readValue(file, own[position[i]], memory, inputs[position[i]], reason);
    });
    std::string reason;
    for (size_t k = 0; k < own.size() && errors.empty(); ++k)
      if (!inputs[k] && !memory.take({own[k]}, reason))
        errors.push_back(reason);
      else if (!inputs[k])
        inputs[k] = om::Value::tensor(own[k].dtype, own[k].dims, nullptr, error);
    return errors.empty();
  }

  bool runOnce(double &milliseconds) {
    const auto begin = Clock::now();
    made = session.run(inputs, error);
    milliseconds = millisecondsSince(begin);
    return !error ||
           failed(codeOf(error.code(), "E10062", /*ofNode=*/"E10062"), named(error.message()));
  }

  bool runAll() {
    double milliseconds;
    if (!runOnce(figures.firstRunMs))
      return false;
    ranks->traffic(ranks, &figures.traffic);
    for (uint32_t i = 0; i < options.warmup; ++i)
      if (!runOnce(milliseconds))
        return false;
    std::vector<double> times;
    for (uint32_t i = 0; i < options.loop; ++i) {
      if (!runOnce(milliseconds))
        return false;
      times.push_back(milliseconds);
    }
    if (times.empty())
      times.push_back(figures.firstRunMs);
    std::sort(times.begin(), times.end());
    figures.minMs = times.front();
    figures.medianMs = times[times.size() / 2];
    return writeOutputs();
  }

  bool isMine(const std::string &name) const {
    return std::any_of(
        manifest.outputs.begin(), manifest.outputs.end(),
        [&](const Manifest::Output &output) { return output.name == name && output.rank == rank; });
  }

  bool writeOutputs() {
    for (NamedTensor &output : tensorsOf(model.outputs(), made))
      if (isMine(output.tensor.name))
        outputs.push_back(std::move(output));
    if (options.output.empty())
      return true;
    std::error_code status;
    std::filesystem::create_directories(options.output, status);
    for (const NamedTensor &output : outputs) {
      std::string reason;
      if (!writeValue(options.output + "/" + fileNameOf(output.tensor.name) + ".npy", output,
                      reason))
        errors.push_back(reason);
    }
    return errors.empty();
  }

  /// Gathers the figures of all ranks.
  bool exchange() {
    const om_collectives &table = *ranks->collectives;
    all.resize(table.ranks);
    std::vector<uint32_t> group(table.ranks);
    for (uint32_t i = 0; i < table.ranks; ++i)
      group[i] = i;
    om_collective gather = {};
    gather.name = "figures of the run";
    gather.kind = OM_ALL_GATHER;
    gather.dtype = OM_U8;
    gather.ranks = group.data();
    gather.rank_count = table.ranks;
    gather.input = &figures;
    gather.input_bytes = sizeof(Figures);
    gather.output = all.data();
    gather.output_bytes = sizeof(Figures) * table.ranks;
    void *request = nullptr;
    return (table.start(table.user, &gather, &request, &error.c) == OM_OK &&
            table.wait(table.user, request, &error.c) == OM_OK) ||
           failed("E10062", named(error.message()));
  }

  const Options &options;
  const Manifest &manifest;
  om_ranks *ranks;
  const uint32_t threads, rank;
  om::Error error;
  om::Model model;
  Npu npu; // outlives the session that uses it
  om::Session session;
  std::vector<om::Value> inputs, made;
  Figures figures = {};
};

uint64_t sum(const uint64_t (&counts)[OM_COLLECTIVE_KINDS]) {
  uint64_t total = 0;
  for (uint64_t count : counts)
    total += count;
  return total;
}

Json rankJson(const Figures &figures) {
  Json traffic = Json::object();
  for (int kind = 0; kind < OM_COLLECTIVE_KINDS; ++kind)
    if (figures.traffic.calls[kind])
      traffic[kindNames[kind]] = {{"calls", figures.traffic.calls[kind]},
                                  {"sent_bytes", figures.traffic.sent_bytes[kind]},
                                  {"received_bytes", figures.traffic.received_bytes[kind]},
                                  {"busy_ms", figures.traffic.busy_nanoseconds[kind] * 1e-6}};
  return {{"rank", figures.rank},
          {"threads", figures.threads},
          {"load_ms", figures.loadMs},
          {"first_run_ms", figures.firstRunMs},
          {"latency_ms", {{"median", figures.medianMs}, {"min", figures.minMs}}},
          {"file_bytes", figures.fileBytes},
          {"weights_bytes", figures.weightsBytes},
          {"arena_bytes", figures.arenaBytes},
          {"waited_ms", figures.traffic.waited_nanoseconds * 1e-6},
          {"traffic", std::move(traffic)}};
}

void printFigures(const Options &options, const Manifest &manifest, const char *connection,
                  const std::vector<Figures> &all) {
  if (options.json) {
    Json json = {{"model", manifest.model},       {"file", manifest.path},
                 {"parallel", manifest.parallel}, {"connection", connection},
                 {"outputs", Json::array()},      {"ranks", Json::array()}};
    for (const Manifest::Output &output : manifest.outputs)
      json["outputs"].push_back({{"name", output.name}, {"rank", output.rank}});
    for (const Figures &figures : all)
      json["ranks"].push_back(rankJson(figures));
    printLines(stdout, jsonText(json));
    return;
  }
  print(stdout, "\nmodel %s, %s, %zu ranks over %s\n", manifest.model.c_str(),
        manifest.parallel.c_str(), all.size(), connection);
  print(stdout, "%4s  %12s  %12s  %10s  %10s  %10s  %12s\n", "rank", "weights", "arena", "run ms",
        "waited ms", "messages", "sent");
  for (const Figures &figures : all)
    print(stdout, "%4u  %12s  %12s  %10.3f  %10.3f  %10llu  %12s\n", figures.rank,
          bytesText(figures.weightsBytes).c_str(), bytesText(figures.arenaBytes).c_str(),
          figures.medianMs, figures.traffic.waited_nanoseconds * 1e-6,
          static_cast<unsigned long long>(sum(figures.traffic.calls)),
          bytesText(sum(figures.traffic.sent_bytes)).c_str());
  if (!options.profile)
    return;
  print(stdout, "\n%4s  %-14s  %8s  %14s  %14s  %10s\n", "rank", "collective", "calls",
        "bytes sent", "bytes received", "busy ms");
  for (const Figures &figures : all)
    for (int kind = 0; kind < OM_COLLECTIVE_KINDS; ++kind)
      if (figures.traffic.calls[kind])
        print(stdout, "%4u  %-14s  %8llu  %14llu  %14llu  %10.3f\n", figures.rank, kindNames[kind],
              static_cast<unsigned long long>(figures.traffic.calls[kind]),
              static_cast<unsigned long long>(figures.traffic.sent_bytes[kind]),
              static_cast<unsigned long long>(figures.traffic.received_bytes[kind]),
              figures.traffic.busy_nanoseconds[kind] * 1e-6);
}

void printLine(const std::string &line) { print(stderr, "%s\n", oneLine(line).c_str()); }

uint32_t threadsFor(const Options &options, uint32_t ranksHere) {
  if (options.threads)
    return options.threads;
  return std::max(1u, std::thread::hardware_concurrency() / std::max(1u, ranksHere));
}

/// Runs all ranks as threads of this process.
int runThreads(const Options &options, const Manifest &manifest) {
  const uint32_t count = manifest.files.size();
  std::vector<om_ranks *> ranks(count);
  om::Error error;
  if (om_loopback_open(count, options.rankTimeout, ranks.data(), &error.c) != OM_OK) {
    printLine(codedLine("E10062", error.message()));
    return 1;
  }
  std::vector<std::unique_ptr<RankRun>> runs;
  for (om_ranks *own : ranks)
    runs.push_back(std::make_unique<RankRun>(options, manifest, own, threadsFor(options, count)));
  std::mutex mutex;
  std::vector<std::string> firstErrors;
  for (auto &run : runs)
    run->beforeAbort = [&, own = run.get()] {
      std::lock_guard lock(mutex);
      if (firstErrors.empty())
        firstErrors = own->errors;
    };
  std::vector<std::thread> threads;
  std::vector<char> good(count);
  for (uint32_t i = 0; i < count; ++i) {
    try {
      threads.emplace_back([&, i] { good[i] = runs[i]->run(); });
    } catch (const std::system_error &problem) {
      const std::string sentence =
          "no thread can be started for rank " + std::to_string(i) + ": " + problem.what();
      runs[i]->errors.push_back(codedLine("E10062", sentence));
      runs[i]->beforeAbort();
      ranks[i]->abort(ranks[i], sentence.c_str());
      break;
    }
  }
  for (std::thread &thread : threads)
    thread.join();
  const bool done = std::all_of(good.begin(), good.end(), [](char own) { return own != 0; });
  for (const std::string &line : firstErrors)
    printLine(line);
  if (done) {
    for (const auto &run : runs)
      if (!options.json)
        for (const NamedTensor &output : run->outputs)
          printOutput(output);
    printFigures(options, manifest, "threads", runs.front()->all);
  }
  runs.clear();
  for (om_ranks *own : ranks)
    own->close(own);
  return done ? 0 : 1;
}

/// Returns the folders with the libraries of the program's own installation.
std::vector<std::string> libraryFolders() {
  std::error_code status;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", status);
  if (status)
    return {};
  const auto prefix = program.parent_path().parent_path();
  return {(prefix / OPENATC_LIBRARY_FOLDER).string(), (prefix / "lib").string()};
}

/// Runs the rank that this process is.
int runProcess(const Options &options, const Manifest &manifest) {
  std::string reason;
  om_mpi_open_function open = collectives::loadMpiPlugin(libraryFolders(), reason);
  if (!open) {
    printLine(codedLine("E10055", "om-run was started by mpirun, but its plug-in for MPI cannot be "
                                  "loaded: " +
                                      reason +
                                      "; install libopenmpi-dev and build OpenATC, or run without "
                                      "mpirun: then all ranks are threads of one process."));
    return 1;
  }
  om_ranks *ranks = nullptr;
  om::Error error;
  if (open(options.rankTimeout, &ranks, &error.c) != OM_OK) {
    printLine(codedLine("E10062", error.message()));
    return 1;
  }
  const uint32_t rank = ranks->collectives->rank, count = ranks->collectives->ranks;
  if (count != manifest.files.size()) {
    if (rank == 0)
      printLine(codedLine("E10057",
                          "the model is split over " + std::to_string(manifest.files.size()) +
                              " ranks, but mpirun has started " + std::to_string(count) +
                              ": use mpirun -np " + std::to_string(manifest.files.size()) + "."));
    ranks->close(ranks);
    return 1;
  }
  bool done;
  {
    RankRun run(options, manifest, ranks,
                threadsFor(options, std::max(1u, collectives::mpirunVariable(
                                                     "OMPI_COMM_WORLD_LOCAL_SIZE"))));
    run.beforeAbort = [&] {
      for (const std::string &line : run.errors)
        printLine(line);
      std::fflush(nullptr);
    };
    if ((done = run.run())) {
      if (!options.json)
        for (const NamedTensor &output : run.outputs)
          printOutput(output);
      if (rank == 0)
        printFigures(options, manifest, "MPI", run.all);
      std::fflush(stdout);
    }
  }
  ranks->close(ranks);
  return done ? 0 : 1;
}

} // namespace

std::string findManifest(const std::string &model) {
  auto endsWith = [&](const std::string &end) {
    return model.size() > end.size() &&
           model.compare(model.size() - end.size(), end.size(), end) == 0;
  };
  if (endsWith(".manifest"))
    return model;
  // A split model is also found by the name that it would have as one file.
  const std::string path =
      (endsWith(".om") ? model.substr(0, model.size() - 3) : model) + ".manifest";
  std::error_code status;
  return !std::filesystem::exists(model, status) && std::filesystem::exists(path, status) ? path
                                                                                          : "";
}

int runRanks(const Options &options, const std::string &path) {
  if (!options.shape.empty() || !options.dump.empty() || !options.compare.empty() ||
      options.state || options.npu.anyOfSimulator() || !options.npu.timeline.empty() ||
      !options.npu.report.empty() || options.requireSignature || options.refuseNativeCode ||
      !options.cpuLevel.empty() || options.maxIterations || options.maxSeconds > 0 ||
      options.sessions > 1 || options.duration > 0 || options.random || options.seed ||
      options.images.isAnyGiven() || !options.labels.empty()) {
    printLine(codedLine("E10057", "of a model that is split over ranks, om-run takes --input, "
                                  "--output, --loop, --warmup, --threads, --max_memory, "
                                  "--rank_timeout, --profile, --json and --no-verify."));
    return 1;
  }
  if (std::error_code status; !std::filesystem::exists(path, status)) {
    printLine(codedLine("E10410", "the manifest '" + path + "' does not exist."));
    return 1;
  }
  Manifest manifest;
  std::string reason;
  if (!readManifest(path, manifest, reason)) {
    printLine(reason);
    return 1;
  }
  return collectives::mpirunVariable("OMPI_COMM_WORLD_SIZE") ||
                 collectives::mpirunVariable("PMI_SIZE")
             ? runProcess(options, manifest)
             : runThreads(options, manifest);
}

} // namespace atc::tools
