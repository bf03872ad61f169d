//===-- Model.h - a loaded model and what it says of itself ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_MODEL_H
#define ASCEND_SRC_MODEL_H

#include "ascend/src/Buffers.h"

#include "acl/acl_mdl.h"
#include "openatc/npu.h"
#include "openatc/om.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atc::ascend {

using Dims = std::vector<int64_t>;

/// An input or output of a model.
struct Port {
  std::string name;
  om_dtype element = OM_UNDEFINED;
  aclDataType type = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_ND;
  om_kind kind = OM_KIND_TENSOR;
  bool ranked = true;
  Dims dims;                ///< -1: any size, or set by the gear
  size_t bytes = 0;         ///< of the largest gear; 0: known only when the model runs
  std::vector<Dims> ofGear; ///< the dims in each gear; none where there are no gears
};

/// Returns the bytes of a dense tensor; 0 where a dim is not known.
size_t denseBytes(om_dtype type, const Dims &dims);

/// Describes a model; constant, and shared by its descriptions.
struct ModelFacts {
  std::vector<Port> inputs, outputs;
  om_gear_kind gears = OM_GEARS_NONE;
  std::vector<Dims> gearValues; ///< of each gear
  struct Axis {
    uint32_t input, dim, value;
    int64_t min, max;
  };
  std::vector<Axis> gearAxes; ///< the dims of inputs that are values of a gear
  std::optional<size_t> shapeInput, aippInput;
  std::vector<std::string> aipp; ///< How each input is preprocessed, as JSON; "": it is not.
  /// Per input: the index of the input with the parameters of its images, where those are bytes of
  /// dynamic AIPP.
  std::vector<std::optional<size_t>> imageParameters;
  size_t workBytes = 0, weightBytes = 0;
  std::string name, operatorText; ///< the operator, of a file that atc --singleop made

  /// Returns whether inputs or outputs have a size that only a run knows.
  bool needsShapes() const;
  /// Returns whether an input holds parameters of dynamic AIPP.
  bool isAippInput(size_t input) const {
    return std::string_view(inputs[input].name).starts_with(ACL_DYNAMIC_AIPP_NAME);
  }
  /// Returns the gear with these values.
  std::optional<size_t> gearOf(const Dims &values) const;
  /// Returns all gears as text, for messages.
  std::string listOfGears() const;
};

struct ModelDeleter {
  void operator()(om_model *model) const { om_model_free(model); }
};
struct SessionDeleter {
  void operator()(om_session *session) const { om_session_free(session); }
};
struct NpuDeleter {
  void operator()(om_npu *npu) const { om_npu_free(npu); }
};

/// A model that can be executed, by one thread at a time (`mutex`). Those that use one
/// share it: it ends with the last of them, whenever it is unloaded.
class Model {
public:
  /// Loads a file, or bytes, which are copied. With `run` it can be executed.
  static aclError load(const char *function, const char *path, bool run,
                       std::shared_ptr<Model> &model);
  static aclError load(const char *function, const void *data, size_t bytes, bool run,
                       std::shared_ptr<Model> &model);

  /// Makes the session that executes the model, in place of one that there is; with `timed` the
  /// simulator keeps time. The caller holds the mutex.
  aclError makeSession(const char *function, bool timed);

  std::shared_ptr<const ModelFacts> facts;
  std::mutex mutex;              ///< of the session, and what follows
  std::unique_ptr<char[]> bytes; ///< the file, of a model in memory
  std::unique_ptr<om_model, ModelDeleter> model;
  std::unique_ptr<om_npu, NpuDeleter> npu;
  std::unique_ptr<om_session, SessionDeleter> session;

  std::string fileName; ///< without its folder and suffix; empty of a model in memory

  uint32_t id = 0;    ///< that addModel gave it
  uint64_t steps = 0; ///< executions that have begun
  /// The settings of the dump of which missing layers were said. They are kept, so that those of a
  /// later dump are never taken for them.
  std::shared_ptr<const void> dumpReported;

  std::mutex dimsMutex;          ///< of the next one
  std::vector<Dims> currentDims; ///< of outputs: of the gear set last, or the last run

private:
  aclError prepare(const char *function, bool run);
};

/// Stores a model; returns its id, which is never used again.
uint32_t addModel(std::shared_ptr<Model> model);

/// Writes the model of an id; ACL_ERROR_GE_EXEC_MODEL_ID_INVALID.
aclError findModel(const char *function, uint32_t id, std::shared_ptr<Model> &model);

/// Returns whether a model with an id is loaded; unlike findModel, it is no error where none is.
bool isLoaded(uint32_t id);

/// Returns the code that stands for a status of the runtime.
aclError codeOf(om_status status);

/// Returns the bytes of the images that parameters of dynamic AIPP state, as many as they have room
/// for; 0 where they state no image.
size_t bytesOfImages(const void *parameters, size_t bytes);

/// Returns the element type of AscendCL; ACL_DT_UNDEFINED where it has none.
aclDataType typeOf(om_dtype type);

} // namespace atc::ascend

#endif
