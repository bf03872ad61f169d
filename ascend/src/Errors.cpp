//===-- Errors.cpp ------------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Errors.h"
#include "ascend/src/Integer.h"

#include "support/PrintableText.h"

#include "acl/acl.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <utility>

namespace atc::ascend {
namespace {

struct Messages {
  std::string last;
  std::string taken; // what aclGetRecentErrMsg has returned
  aclError code = ACL_SUCCESS;
  bool hasNoMemory = false; // even for a message: one that is always there stands for it
};
constexpr char withoutMemory[] = "[200000] there is no memory";
static_assert(ACL_ERROR_BAD_ALLOC == 200000);

Messages &messages() {
  thread_local Messages result;
  return result;
}

std::string formatted(const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (length < 0)
    return format;
  std::string text(static_cast<size_t>(length) + 1, '\0');
  vsnprintf(text.data(), text.size(), format, arguments);
  text.pop_back();
  return text;
}

} // namespace

aclError fail(aclError code, const char *function, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::string text = formatted(format, arguments);
  va_end(arguments);
  // Names in it may come from files that anybody has written.
  messages().last = "[" + std::to_string(code) + "] " + function + ": " + printable(text);
  messages().hasNoMemory = false;
  messages().code = code;
  return code;
}

aclError failWithoutMemory(const char *function) {
  messages().last.clear();
  messages().code = ACL_ERROR_BAD_ALLOC;
  messages().hasNoMemory = true;
  try {
    fail(ACL_ERROR_BAD_ALLOC, function,
         "there is no memory for what it keeps; free some, or give the process more");
    messages().hasNoMemory = false;
  } catch (const std::bad_alloc &) {
  }
  return ACL_ERROR_BAD_ALLOC;
}

void setMessage(std::string message, aclError code) {
  messages().last = std::move(message);
  messages().code = code;
}

aclError lastCode() { return messages().code; }

aclError takeLastCode() { return std::exchange(messages().code, ACL_SUCCESS); }

const std::string &lastMessage() { return messages().last; }

} // namespace atc::ascend

using namespace atc::ascend;

const char *aclGetRecentErrMsg() {
  Messages &own = messages();
  if (std::exchange(own.hasNoMemory, false))
    return withoutMemory;
  if (own.last.empty())
    return nullptr;
  own.taken = std::exchange(own.last, {});
  return own.taken.c_str();
}

void aclAppLog(aclLogLevel logLevel, const char *func, const char *file, uint32_t line,
               const char *fmt, ...) {
  static const int lowest = environmentInteger("ASCEND_GLOBAL_LOG_LEVEL").value_or(ACL_ERROR);
  if (!fmt || int(logLevel) < lowest)
    return;
  static const char *const names[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
  const char *name = unsigned(logLevel) < 4 ? names[logLevel] : "LOG";
  va_list arguments;
  va_start(arguments, fmt);
  // Its open arguments leave it without an entry (ascend/entry/Entries.h).
  try {
    const std::string text = formatted(fmt, arguments);
    fprintf(stderr, "[%s] %s:%u %s: %s\n", name, file ? file : "", line, func ? func : "",
            text.c_str());
  } catch (const std::bad_alloc &) {
  }
  va_end(arguments);
}
