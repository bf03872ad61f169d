//===-- ToolServer.cpp - starts a tool once, and runs it many times -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tests compile thousands of models that take less time than the dynamic loader, which
// relocates libMLIR and libLLVM at each start. This library is preloaded into a tool (LD_PRELOAD)
// and stops it in front of main: from then on the process takes requests from a socket, and a fork
// of it runs main for each, with the arguments, environment, folder, limits and standard streams of
// who asked. The tool itself is the one that users have, and knows nothing of this.
//
//   OPENATC_SERVE_SOCKET   the path of the socket; without it the tool runs as always
//
//===----------------------------------------------------------------------===//

#include "test/tool-server/Request.h"

#include <csignal>
#include <cstdlib>
#include <vector>

#include <dlfcn.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace atc::test {
namespace {

using Main = int (*)(int, char **, char **);

struct Child {
  int connection;
  pid_t process;
  int handle; // readable when the process has ended
};

/// Becomes the process that the request describes, and runs main. `request` outlives it.
[[noreturn]] void runAs(Request &request, const int (&streams)[3], Main main) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int stream = 0; stream < 3; ++stream)
    if (dup2(streams[stream], stream) < 0)
      _exit(kBrokenRequest);
  for (int stream : streams)
    if (stream > 2)
      close(stream);
  umask(request.mask);
  for (int kind = 0; kind < RLIM_NLIMITS; ++kind)
    if (setrlimit(static_cast<__rlimit_resource>(kind), &request.limits[kind]) != 0)
      _exit(kBrokenRequest);
  static std::vector<char *> arguments, variables;
  char *at = request.text.data(), *end = at + request.text.size();
  auto next = [&] { return at += strlen(at) + 1; };
  if (chdir(at) != 0)
    _exit(kBrokenRequest);
  next();
  for (uint32_t i = 0; i < request.arguments && at < end; ++i, next())
    arguments.push_back(at);
  for (; at < end; next())
    variables.push_back(at);
  arguments.push_back(nullptr);
  variables.push_back(nullptr);
  environ = variables.data();
  exit(main(static_cast<int>(arguments.size()) - 1, arguments.data(), environ));
}

/// Serves until the socket is gone. Returns in no process.
[[noreturn]] void serve(const char *path, Main main) {
  const int listener = listenAt(path);
  if (listener < 0)
    _exit(kBrokenRequest);
  signal(SIGPIPE, SIG_IGN);
  // Who started this process ends it by closing its standard input.
  const int owner = STDIN_FILENO;
  std::vector<Child> children;
  for (;;) {
    std::vector<pollfd> waiting = {{listener, POLLIN, 0}, {owner, POLLIN, 0}};
    for (const Child &child : children) {
      waiting.push_back({child.handle, POLLIN, 0});
      waiting.push_back({child.connection, POLLRDHUP, 0});
    }
    if (poll(waiting.data(), waiting.size(), -1) < 0)
      continue;
    if (waiting[1].revents) {
      unlink(path);
      _exit(0);
    }
    for (size_t i = 0; i < children.size(); ++i) {
      Child &child = children[i];
      if (waiting[2 + 2 * i].revents) {
        int status = 0;
        waitpid(child.process, &status, 0);
        // Who asked may have ended.
        (void)!write(child.connection, &status, sizeof status);
        close(child.connection);
        close(child.handle);
        child.process = 0;
      } else if (waiting[3 + 2 * i].revents) {
        kill(child.process, SIGKILL);
      }
    }
    std::erase_if(children, [](const Child &child) { return child.process == 0; });
    if (!waiting[0].revents)
      continue;
    const int connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    Request request;
    int streams[3] = {-1, -1, -1};
    const bool whole = connection >= 0 && receive(connection, request, streams);
    const pid_t process = whole ? fork() : -1;
    if (process == 0) {
      signal(SIGPIPE, SIG_DFL);
      close(listener);
      close(connection);
      for (const Child &child : children) {
        close(child.connection);
        close(child.handle);
      }
      runAs(request, streams, main);
    }
    for (int stream : streams)
      if (stream >= 0)
        close(stream);
    if (process < 0)
      close(connection);
    else
      children.push_back(
          {connection, process, static_cast<int>(syscall(SYS_pidfd_open, process, 0))});
  }
}

Main realMain = nullptr;

int mainOrServer(int argc, char **argv, char **variables) {
  if (const char *path = getenv("OPENATC_SERVE_SOCKET"))
    serve(path, realMain);
  return realMain(argc, argv, variables);
}

} // namespace
} // namespace atc::test

extern "C" int __libc_start_main(atc::test::Main main, int argc, char **argv, void (*init)(),
                                 void (*fini)(), void (*loaderFini)(), void *stackEnd) {
  auto *start =
      reinterpret_cast<decltype(&__libc_start_main)>(dlsym(RTLD_NEXT, "__libc_start_main"));
  atc::test::realMain = main;
  return start(atc::test::mainOrServer, argc, argv, init, fini, loaderFini, stackEnd);
}
