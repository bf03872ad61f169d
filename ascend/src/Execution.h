//===-- Execution.h - one run of a model on buffers --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_EXECUTION_H
#define ASCEND_SRC_EXECUTION_H

#include "ascend/src/Dataset.h"
#include "ascend/src/Model.h"
#include "ascend/src/memory/Memory.h"

namespace atc::ascend {

/// Everything that a run needs, checked when it is queued: the program may destroy its
/// datasets and data buffers, and free memory, before the run.
class Execution {
public:
  /// Checks numbers, sizes and shapes of the buffers of both datasets.
  static aclError prepare(const char *function, std::shared_ptr<Model> model,
                          std::shared_ptr<Dataset> input, std::shared_ptr<Dataset> output,
                          Execution &execution);

  /// Runs the model.
  aclError run();

private:
  struct Tensor {
    void *data = nullptr;
    size_t bytes = 0;
    size_t missing = 0;           ///< of an image that is smaller than the largest of the model
    Dims dims;                    ///< -1: known after the run
    std::shared_ptr<Block> block; ///< keeps the memory
  };

  aclError prepareGear();
  aclError prepareInputs();
  aclError prepareOutputs();
  aclError checkImages() const;
  aclError runStatic();
  aclError runOnValues();
  aclError storeOutput(size_t index, const om_value *value);

  const char *function = nullptr;
  std::shared_ptr<Model> model;
  std::shared_ptr<Dataset> input, output;
  std::vector<Tensor> inputs, outputs;
  std::optional<size_t> gear;
};

} // namespace atc::ascend

#endif
