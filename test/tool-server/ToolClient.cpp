//===-- ToolClient.cpp - runs a tool in its server ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stands for a tool of the same name: has its server run it (ToolServer.cpp), and ends as it did.
// Where there is no server, or this process differs from it, it becomes the tool.
//
//   OPENATC_TOOL_SOCKETS   the folder of the servers' sockets, each with the name of its tool
//   OPENATC_TOOLS          the folder of the tools
//
//===----------------------------------------------------------------------===//

#include "test/tool-server/Request.h"

#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <sys/stat.h>
#include <sys/wait.h>

using namespace atc::test;

namespace {

/// Returns whether a server would run the tool as this process: as its user, and without libraries
/// that are loaded in front of its own.
bool isAlike(const std::string &socket) {
  struct stat status;
  return !getenv("LD_PRELOAD") && stat(socket.c_str(), &status) == 0 && status.st_uid == geteuid();
}

/// Returns whether a server ran the tool, and how that ended.
bool served(const std::string &socket, int argc, char **argv, int &status) {
  const int connection = isAlike(socket) ? connectTo(socket.c_str()) : -1;
  char folder[PATH_MAX];
  if (connection < 0 || !getcwd(folder, sizeof folder))
    return false;
  Request request;
  request.arguments = argc;
  request.mask = umask(0);
  umask(request.mask);
  for (int kind = 0; kind < RLIM_NLIMITS; ++kind)
    getrlimit(static_cast<__rlimit_resource>(kind), &request.limits[kind]);
  request.add(folder);
  for (int i = 0; i < argc; ++i)
    request.add(argv[i]);
  for (char **variable = environ; *variable; ++variable)
    request.add(*variable);
  const bool run = send(connection, request) &&
                   recv(connection, &status, sizeof status, MSG_WAITALL) == sizeof status;
  close(connection);
  return run;
}

} // namespace

int main(int argc, char **argv) {
  const std::string called = argv[0];
  const std::string name = called.substr(called.rfind('/') + 1);
  const char *sockets = getenv("OPENATC_TOOL_SOCKETS");
  int status = 0;
  if (!sockets || !served(std::string(sockets) + "/" + name, argc, argv, status)) {
    const char *tools = getenv("OPENATC_TOOLS");
    const std::string path = std::string(tools ? tools : ".") + "/" + name;
    execv(path.c_str(), argv);
    perror(path.c_str());
    return 127;
  }
  if (WIFSIGNALED(status)) {
    // The core of the tool is enough.
    const rlimit none = {};
    setrlimit(RLIMIT_CORE, &none);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
  }
  return WEXITSTATUS(status);
}
