//===-- Collection.cpp --------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Collection.h"

#include "ascend/src/Errors.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <optional>
#include <unistd.h>

namespace atc::ascend {
namespace {

enum class State { None, Open, Running };

struct Collection {
  std::mutex mutex;
  State state = State::None;
  const void *config = nullptr; ///< that started it
  bool isOfInit = false;        ///< the file of aclInit asked for it
  std::string folder;
};

Collection &collection() {
  static auto &only = *new Collection;
  return only;
}

const std::string &environmentFolder() {
  static const std::string name = [] {
    const char *value = getenv("OPENATC_ACL_PROFILE");
    return std::string(value ? value : "");
  }();
  return name;
}

/// Returns a name as the vendor's tools look for: PROF_000001_20240102030405006_0000ABCD.
std::string folderName() {
  const auto now = std::chrono::system_clock::now();
  const time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  tm parts = {};
  localtime_r(&seconds, &parts);
  char stamp[32], name[96];
  strftime(stamp, sizeof stamp, "%Y%m%d%H%M%S", &parts);
  snprintf(name, sizeof name, "PROF_000001_%s%03d_%08X", stamp, int(milliseconds),
           unsigned(getpid()));
  return name;
}

/// Makes the folder of a collection; nothing where that is not possible.
std::optional<std::string> makeFolder(const std::string &path) {
  std::error_code error;
  const std::filesystem::path folder =
      std::filesystem::path(path) / folderName() / "device_0" / "data";
  std::filesystem::create_directories(folder, error);
  if (error || access(folder.c_str(), W_OK) != 0)
    return std::nullopt;
  return folder.string();
}

bool isSwitch(const nlohmann::json &value) { return value == "on" || value == "off"; }

} // namespace

std::vector<std::string> profileFolders() {
  std::vector<std::string> folders;
  if (!environmentFolder().empty())
    folders.push_back(environmentFolder());
  std::lock_guard lock(collection().mutex);
  if (collection().state == State::Running)
    folders.push_back(collection().folder);
  return folders;
}

bool keepsTime() {
  std::lock_guard lock(collection().mutex);
  return !environmentFolder().empty() || collection().state != State::None;
}

aclError openCollection(const char *function, const std::string &path) {
  Collection &own = collection();
  std::lock_guard lock(own.mutex);
  if (own.state != State::None)
    return fail(ACL_ERROR_PROF_ALREADY_RUN, function, "%s",
                own.isOfInit ? "the file of aclInit has started a profile"
                             : "aclprofInit was called before, without aclprofFinalize");
  auto folder = makeFolder(path);
  if (!folder)
    return fail(ACL_ERROR_INVALID_FILE, function, "a folder for the profile cannot be made in %s",
                path.c_str());
  own.folder = *folder;
  own.state = State::Open;
  own.isOfInit = false;
  return ACL_SUCCESS;
}

aclError startCollection(const char *function, const void *config) {
  Collection &own = collection();
  std::lock_guard lock(own.mutex);
  if (own.state == State::None)
    return fail(ACL_ERROR_PROF_NOT_RUN, function, "call aclprofInit first");
  if (own.state == State::Running)
    return fail(ACL_ERROR_PROF_ALREADY_RUN, function, "a profile is collected already");
  own.state = State::Running;
  own.config = config;
  return ACL_SUCCESS;
}

aclError stopCollection(const char *function, const void *config) {
  Collection &own = collection();
  std::lock_guard lock(own.mutex);
  if (own.state != State::Running || own.isOfInit)
    return fail(ACL_ERROR_PROF_NOT_RUN, function, "call aclprofStart first");
  if (own.config != config)
    return fail(ACL_ERROR_INVALID_PARAM, function, "the settings are not those of aclprofStart");
  own.state = State::Open;
  return ACL_SUCCESS;
}

aclError closeCollection(const char *function) {
  Collection &own = collection();
  std::lock_guard lock(own.mutex);
  if (own.state == State::None || own.isOfInit)
    return fail(ACL_ERROR_PROF_NOT_RUN, function, "call aclprofInit first");
  own.state = State::None;
  return ACL_SUCCESS;
}

aclError configureCollection(const nlohmann::json &profiler) {
  auto bad = [](const char *key, const char *values) {
    return fail(ACL_ERROR_INVALID_PROFILING_CONFIG, "aclInit", "\"%s\" of \"profiler\" must be %s",
                key, values);
  };
  if (!profiler.is_object())
    return fail(ACL_ERROR_INVALID_PROFILING_CONFIG, "aclInit", "\"profiler\" must be an object");
  if (!profiler.contains("switch") || !isSwitch(profiler["switch"]))
    return bad("switch", "\"on\" or \"off\"");
  for (const char *key : {"aicpu", "l2", "hccl", "runtime_api", "ascendcl", "task_time"})
    if (profiler.contains(key) && !isSwitch(profiler[key]) && profiler[key] != "l0" &&
        profiler[key] != "l1")
      return bad(key, "\"on\" or \"off\"");
  const nlohmann::json output = profiler.value("output", nlohmann::json(""));
  if (!output.is_string())
    return bad("output", "the name of a folder");
  if (profiler["switch"] == "off")
    return ACL_SUCCESS;
  const std::string path = output.get<std::string>();
  ACL_TRY(openCollection("aclInit", path.empty() ? "." : path));
  std::lock_guard lock(collection().mutex);
  collection().state = State::Running;
  collection().isOfInit = true;
  return ACL_SUCCESS;
}

void endCollection() {
  std::lock_guard lock(collection().mutex);
  collection().state = State::None;
  collection().isOfInit = false;
}

} // namespace atc::ascend
