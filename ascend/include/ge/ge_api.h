/*===-- ge/ge_api.h - runs graphs -----------------------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_GE_GE_API_H
#define OPENATC_GE_GE_API_H

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ge/ge_api_error_codes.h"
#include "graph/graph.h"

namespace ge {

/** Keeps options for all sessions. Device 0, or that of "ge.exec.deviceId", becomes the thread's.
 */
Status GEInitialize(const std::map<AscendString, AscendString> &options);
inline Status GEInitialize(const std::map<std::string, std::string> &options) {
  return GEInitialize(detail::ascendOf(options));
}
Status GEFinalize();

/** Returns what the last call of this thread that failed said. */
AscendString GEGetErrorMsgV2();
AscendString GEGetWarningMsgV2();
inline std::string GEGetErrorMsg() { return detail::textOf(GEGetErrorMsgV2()); }
inline std::string GEGetWarningMsg() { return detail::textOf(GEGetWarningMsgV2()); }

/** Gets the code of an execution, and its outputs where it is SUCCESS. */
using RunAsyncCallback = std::function<void(Status, std::vector<Tensor> &)>;

/** Compiles graphs when they first run, and keeps them. One thread at a time uses a session. */
class Session {
public:
  explicit Session(const std::map<AscendString, AscendString> &options);
  explicit Session(const std::map<std::string, std::string> &options)
      : Session(detail::ascendOf(options)) {}
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  Status AddGraph(uint32_t graphId, const Graph &graph);
  Status AddGraph(uint32_t graphId, const Graph &graph,
                  const std::map<std::string, std::string> &options) {
    return AddGraph(graphId, graph, detail::ascendOf(options));
  }
  Status AddGraph(uint32_t graphId, const Graph &graph,
                  const std::map<AscendString, AscendString> &options);
  /** Add a graph as it is now, which they compile: what changes it later is not seen. */
  Status AddGraphWithCopy(uint32_t graphId, const Graph &graph);
  Status AddGraphWithCopy(uint32_t graphId, const Graph &graph,
                          const std::map<AscendString, AscendString> &options);
  Status RemoveGraph(uint32_t graphId);
  /** Compile a graph now: for the shapes of `inputs`, where it has dims of any size. Without them
   * such a graph is compiled when it runs, once for each shape of its inputs. */
  Status CompileGraph(uint32_t graphId);
  Status BuildGraph(uint32_t graphId, const std::vector<Tensor> &inputs);
  /** Runs a graph on host memory: a tensor per input of SetInputs, in its order. */
  Status RunGraph(uint32_t graphId, const std::vector<Tensor> &inputs,
                  std::vector<Tensor> &outputs);
  /** Runs a graph at once and calls `callback` with the result, before it returns. */
  Status RunGraphAsync(uint32_t graphId, const std::vector<Tensor> &inputs,
                       RunAsyncCallback callback);
  bool IsGraphNeedRebuild(uint32_t graphId);
  /** Returns a number that no other session of the process has. */
  uint64_t GetSessionId() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace ge

#endif
