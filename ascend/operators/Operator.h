//===-- Operator.h - single operators and the files that run them -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_OPERATOR_H
#define ASCEND_SRC_OPERATOR_H

#include "ascend/src/Execution.h"

#include "acl/acl_op.h"

#include <nlohmann/json.hpp>

namespace atc::ascend {

/// Attributes of an operator: each a JSON object with name, type and value, by name.
struct OpAttributes {
  std::map<std::string, nlohmann::ordered_json> byName;
};

/// Returns the process-wide table that owns the attributes behind handles.
HandleTable<OpAttributes> &opAttributes();

/// A call of an operator: its type, its tensors, and its attributes.
struct OpCall {
  std::string type;
  std::vector<std::shared_ptr<TensorDesc>> inputs, outputs;
  std::map<std::string, nlohmann::ordered_json> attributes;
  /// Whether float32 stays float32, but for what matrix products read: without it the precision
  /// mode is that of the program (aclSetCompileopt).
  bool keepsFloat32 = false;
  /// The options of atc with which an operator that the program compiled must have been made;
  /// nothing: any.
  std::optional<std::string> options;
  /// Whether the dims of outputs are what is asked for: a file for inputs of any size does not say
  /// them.
  bool infersOutputs = false;

  /// Returns it in the form of the files that `atc --singleop` reads.
  nlohmann::ordered_json json() const;
  /// Returns it as a person reads it: `Add(float16[2,3], ...) -> ...`.
  std::string text() const;
};

/// Reads the arguments that most functions of operators have.
aclError readCall(const char *function, const char *opType, int numInputs,
                  const aclTensorDesc *const inputDesc[], int numOutputs,
                  const aclTensorDesc *const outputDesc[], const aclopAttr *attr, OpCall &call);

/// The origin of the file of an operator: aclopCompile and similar functions, memory, or a folder.
enum class OpOrigin { Compiled, Loaded, Folder };

/// A model that is one operator.
struct OpModel {
  nlohmann::json description; ///< what its file says of the operator
  std::shared_ptr<Model> model;
  bool keepsFloat32 = false; ///< as in its call
  std::string options;       ///< of the atc that the program compiled it with
  OpOrigin origin = OpOrigin::Loaded;
};

/// Returns the file that runs a call; null where none is loaded.
std::shared_ptr<OpModel> lookUpOperator(const OpCall &call);

/// Finds the file that runs a call; ACL_ERROR_OP_NOT_FOUND with a list of what is there.
aclError findOperator(const char *function, const OpCall &call, std::shared_ptr<OpModel> &found);

/// Adds a file; ACL_ERROR_OP_LOAD_FAILED where it is no operator.
aclError addOperator(const char *function, std::shared_ptr<Model> model, OpOrigin origin,
                     bool keepsFloat32 = false, std::string options = "");

/// Calls `atc --singleop` for a call and adds the file that it writes.
aclError compileOperator(const char *function, const OpCall &call);

/// Writes into the descriptions of small inputs (64 KB at most) the values that their buffers have
/// behind the stream's tasks, which it waits for. A file that states these values then runs the
/// call. On a stream that is recorded nothing is read.
aclError readValues(const char *function, OpCall &call, int numInputs,
                    const aclDataBuffer *const inputs[], aclrtStream stream);

/// Finds the file that runs a call, or makes it with compileOperator. A file that the program
/// compiled must have been made with the options that it states now (aclSetCompileopt).
aclError findOrCompileOperator(const char *function, OpCall call, std::shared_ptr<OpModel> &op);

/// Finds or compiles the operator of a call that is executed now. An operator that needs a constant
/// gets the values in memory: the vendor's dynamic operators read them when they run.
aclError findForExecution(const char *function, OpCall &call, int numInputs,
                          const aclDataBuffer *const inputs[], aclrtStream stream,
                          std::shared_ptr<OpModel> &op);

/// Puts an operator behind the stream's tasks.
aclError executeOperator(const char *function, const OpModel &op, int numInputs,
                         const aclDataBuffer *const inputs[], int numOutputs,
                         aclDataBuffer *const outputs[], aclrtStream stream);

} // namespace atc::ascend

#endif
