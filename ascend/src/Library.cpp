//===-- Library.cpp - aclInit and aclFinalize ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Library.h"

#include "ascend/src/Collection.h"
#include "ascend/src/Context.h"
#include "ascend/src/Errors.h"
#include "ascend/src/Integer.h"
#include "ascend/src/observe/TensorDump.h"
#include "support/InputText.h"

#include "ascend/src/Observers.h"

#include "acl/acl.h"

#include <mutex>
#include <nlohmann/json.hpp>
#include <vector>

namespace atc::ascend {
namespace {

enum class State { New, Failed, Started, Ended };

struct Library {
  std::mutex mutex;
  State state = State::New;
  std::vector<std::function<void()>> actions;
};

Library &library() {
  static auto &only = *new Library;
  return only;
}

/// Reads the device of threads that open none: a number, which files write as text.
aclError configureDevice(const nlohmann::json &settings) {
  const nlohmann::json value =
      settings.is_object() ? settings.value("default_device", nlohmann::json()) : settings;
  int64_t device = -1;
  if (value.is_number_integer())
    device = value.get<int64_t>();
  else if (const auto number = value.is_string()
                                   ? integerOf<int64_t>(value.get_ref<const std::string &>())
                                   : std::nullopt)
    device = *number;
  else
    return fail(ACL_ERROR_INVALID_PARAM, "aclInit",
                "defaultDevice must be like {\"default_device\": \"0\"}");
  ACL_TRY(checkDevice("aclInit", device));
  setDefaultDevice(int32_t(device));
  return ACL_SUCCESS;
}

/// Sets the device, and starts the profile and the dump that the file of aclInit asks for.
aclError readConfiguration(const char *path) {
  nlohmann::json value;
  ACL_TRY(readSettings("aclInit", path, value));
  if (value.contains("defaultDevice"))
    ACL_TRY(configureDevice(value["defaultDevice"]));
  if (value.contains("dump"))
    ACL_TRY(configureDump("aclInit", value["dump"]));
  return value.contains("profiler") ? configureCollection(value["profiler"]) : ACL_SUCCESS;
}

} // namespace

aclError readSettings(const char *function, const char *path, nlohmann::json &value) {
  std::string text;
  if (const std::string reason = readInputText(path, text); !reason.empty())
    return fail(ACL_ERROR_INVALID_FILE, function, "%s cannot be read: %s", path, reason.c_str());
  const bool isEmpty = text.find_first_not_of(" \t\r\n") == std::string::npos;
  value = nlohmann::json::parse(isEmpty ? "{}" : text, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object())
    return fail(ACL_ERROR_PARSE_FILE, function, "%s is no JSON object; write {} for no settings",
                path);
  return ACL_SUCCESS;
}

aclError requireStarted(const char *function) {
  std::lock_guard lock(library().mutex);
  if (library().state == State::Started)
    return ACL_SUCCESS;
  return fail(ACL_ERROR_UNINITIALIZE, function, "call aclInit first");
}

void atFinalize(std::function<void()> action) {
  std::lock_guard lock(library().mutex);
  library().actions.push_back(std::move(action));
}

} // namespace atc::ascend

using namespace atc::ascend;

/// Ends what a failed aclInit has started; aclFinalize has nothing left to do then.
static aclError abandon(aclError code) {
  endCollection();
  endDump();
  setDefaultDevice(-1);
  std::lock_guard lock(library().mutex);
  library().state = State::Failed;
  return code;
}

aclError aclInit(const char *configPath) {
  std::string settings;
  aclError code = ACL_SUCCESS;
  {
    std::lock_guard lock(library().mutex);
    if (library().state == State::Started)
      ACL_FAIL(ACL_ERROR_REPEAT_INITIALIZE, "aclInit was called before, without aclFinalize");
    if (configPath && *configPath) {
      code = readConfiguration(configPath);
      atc::readInputText(configPath, settings);
    }
    library().state = State::Started;
  }
  if (code == ACL_SUCCESS)
    code = callInitObservers(settings);
  return code == ACL_SUCCESS ? code : abandon(code);
}

aclError aclFinalize() {
  std::vector<std::function<void()>> actions;
  {
    std::lock_guard lock(library().mutex);
    if (library().state == State::New)
      ACL_FAIL(ACL_ERROR_UNINITIALIZE, "aclInit was not called");
    if (library().state == State::Failed) { // programs end in one way, whatever failed
      library().state = State::New;
      return ACL_SUCCESS;
    }
    if (library().state == State::Ended)
      ACL_FAIL(ACL_ERROR_REPEAT_FINALIZE, "aclFinalize was called before");
    library().state = State::Ended;
    setDefaultDevice(-1);
    actions = library().actions;
  }
  endCollection();
  endDump();
  const aclError code = callFinalizeObservers();
  for (auto &action : actions)
    action();
  return code;
}

aclError aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion, int32_t *patchVersion) {
  ACL_REQUIRE(majorVersion);
  ACL_REQUIRE(minorVersion);
  ACL_REQUIRE(patchVersion);
  *majorVersion = ACL_MAJOR_VERSION;
  *minorVersion = ACL_MINOR_VERSION;
  *patchVersion = ACL_PATCH_VERSION;
  return ACL_SUCCESS;
}
