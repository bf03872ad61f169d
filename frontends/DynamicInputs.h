//===-- DynamicInputs.h - the warning about inputs of dynamic shape -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_DYNAMICINPUTS_H
#define OPENATC_FRONTENDS_DYNAMICINPUTS_H

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace atc {

/// An input whose shape has dynamic dims.
struct DynamicInput {
  std::string shape;   ///< 'name' and dims, as a message shows them.
  std::string example; ///< A fixed shape in the form of --input_shape.
};

/// Returns the text of W11001 for `inputs`. A decoder with a cache has a hundred of them: four are
/// named, the others are counted.
std::string describeDynamicInputs(llvm::ArrayRef<DynamicInput> inputs);

} // namespace atc

#endif // OPENATC_FRONTENDS_DYNAMICINPUTS_H
