//===-- Profile.cpp -----------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/observe/Profile.h"

#include "ascend/src/Collection.h"
#include "support/JsonText.h"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <sys/syscall.h>
#include <unistd.h>

namespace atc::ascend {
namespace {

using Json = nlohmann::ordered_json;

Json tensorsOf(const om_model *model, const uint32_t *indices, uint32_t count) {
  Json tensors = Json::array();
  for (uint32_t i = 0; i < count; ++i) {
    om_tensor_info info = OM_TENSOR_INFO_INIT;
    if (om_model_get_tensor(model, indices[i], &info) != OM_OK)
      continue;
    tensors.push_back({{"type", om_dtype_name(info.dtype)},
                       {"dims", std::vector<int64_t>(info.dims, info.dims + info.rank)}});
  }
  return tensors;
}

Json launchesOf(const Model &model) {
  Json launches = Json::array();
  om_launch_info info = OM_LAUNCH_INFO_INIT;
  for (uint32_t i = 0; om_model_get_launch(model.model.get(), i, &info) == OM_OK; ++i) {
    uint64_t nanoseconds = 0, runs = 0;
    if (om_session_get_profile(model.session.get(), i, &nanoseconds, &runs) != OM_OK)
      break;
    launches.push_back({{"name", info.name ? info.name : ""},
                        {"kernel", info.kernel ? info.kernel : ""},
                        {"npu", info.npu != 0},
                        {"tasks", info.tasks},
                        {"us", double(nanoseconds) * 1e-3},
                        {"reads", tensorsOf(model.model.get(), info.reads, info.reads_count)},
                        {"writes", tensorsOf(model.model.get(), info.writes, info.writes_count)}});
  }
  return launches;
}

/// Sends the launches of an execution; those of the simulated NPU with the times of its clock.
void sendRecords(const Json &line, uint32_t model, Subscription &subscription) {
  const Json none = Json::array();
  const Json &simulated =
      line.contains("npu") && line["npu"].contains("per_launch") ? line["npu"]["per_launch"] : none;
  auto next = simulated.begin();
  double start = line["begin_us"].get<double>();
  for (const Json &launch : line["launches"]) {
    std::string kernel = launch["kernel"].get<std::string>(),
                name = launch["name"].get<std::string>();
    double duration = launch["us"].get<double>();
    const auto sendOne = [&] {
      OpRecord record;
      record.model = model;
      record.thread = uint32_t(line["tid"].get<int64_t>());
      record.start = uint64_t(start * 1e3);
      record.duration = uint64_t(duration * 1e3);
      record.end = record.start + record.duration;
      record.setTexts(kernel, name);
      subscription.send(record);
      start += duration;
    };
    if (!launch["npu"].get<bool>() || next == simulated.end()) {
      sendOne();
      continue;
    }
    // One launch may stand for several kernels.
    do {
      kernel = next->value("program", kernel);
      name = next->value("name", name);
      duration = next->value("us", duration);
      sendOne();
    } while (++next != simulated.end() && next->value("joined", false));
  }
}

/// Appends a line to a file, or leaves the file as it was and returns why.
int appendLine(const std::string &path, const std::string &text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0)
    return errno;
  const off_t before = lseek(fd, 0, SEEK_END);
  size_t done = 0;
  int error = 0;
  while (done < text.size() && !error) {
    const ssize_t written = write(fd, text.data() + done, text.size() - done);
    if (written > 0)
      done += size_t(written);
    else if (written == 0 || errno != EINTR)
      error = written == 0 ? ENOSPC : errno;
  }
  // Half a line would make the next one unreadable, too.
  if (error && ftruncate(fd, before) != 0)
    error = errno;
  close(fd);
  return error;
}

} // namespace

double microsecondsOf(std::chrono::system_clock::time_point time) {
  return std::chrono::duration<double, std::micro>(time.time_since_epoch()).count();
}

void appendToProfiles(const std::vector<std::string> &folders, const Json &line) {
  // One write per line, so that lines of several threads do not mix.
  const std::string text = jsonText(line, /*indent=*/-1);
  static auto &mutex = *new std::mutex;
  static bool isTold = false;
  std::lock_guard lock(mutex);
  for (const std::string &folder : folders) {
    const std::string path = folder + "/" + std::to_string(getpid()) + ".jsonl";
    if (const int error = appendLine(path, text); error && !isTold) {
      isTold = true;
      fprintf(stderr,
              "E13004: cannot write '%s': %s. The profile lacks executions, from this one on.\n",
              path.c_str(), strerror(error));
    }
  }
}

MeasuredExecution::MeasuredExecution(Model &model)
    : model(model), folders(profileFolders()), subscription(subscriptionOf(model.id)),
      begin(std::chrono::system_clock::now()) {
  if (!folders.empty() || subscription)
    om_session_set_profile(model.session.get(), 1);
}

void MeasuredExecution::finish() {
  if (folders.empty() && !subscription)
    return;
  const double end = microsecondsOf(std::chrono::system_clock::now());
  Json line = {
      {"model", model.facts->name},        {"pid", getpid()}, {"tid", syscall(SYS_gettid)},
      {"begin_us", microsecondsOf(begin)}, {"end_us", end},   {"launches", launchesOf(model)}};
  if (model.npu) {
    const char *text = om_npu_text(model.npu.get(), OM_NPU_STATISTICS);
    Json npu = Json::parse(text ? text : "", nullptr, /*allow_exceptions=*/false);
    if (npu.is_object())
      line["npu"] = std::move(npu);
  }
  if (subscription)
    sendRecords(line, model.id, *subscription);
  appendToProfiles(folders, line);
}

} // namespace atc::ascend
