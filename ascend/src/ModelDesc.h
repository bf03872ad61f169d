//===-- ModelDesc.h - descriptions of models ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_MODELDESC_H
#define ASCEND_SRC_MODELDESC_H

#include "ascend/src/Handles.h"
#include "ascend/src/Model.h"

namespace atc::ascend {

/// Holds the description that aclmdlGetDesc fills. The facts stay valid when the model is unloaded.
struct ModelDesc {
  std::shared_ptr<const ModelFacts> facts;
  std::weak_ptr<Model> model; ///< for the dims of its last run
};

/// Returns the process-wide table that owns the descriptions behind handles.
HandleTable<ModelDesc> &modelDescs();

/// Writes a description that was filled; ACL_ERROR_INVALID_PARAM where it is empty.
aclError findFacts(const char *function, const aclmdlDesc *handle,
                   std::shared_ptr<ModelDesc> &desc);

/// Writes name and dims as AscendCL has them; a longer name is cut to 127 characters.
void writeDims(const std::string &name, const Dims &dims, aclmdlIODims &result);

} // namespace atc::ascend

#endif
