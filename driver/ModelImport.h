//===-- ModelImport.h - reads models of any framework ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_MODELIMPORT_H
#define OPENATC_DRIVER_MODELIMPORT_H

#include "driver/ContextMessages.h"
#include "driver/ModelBoundary.h"
#include "driver/rules/PlacementRules.h"
#include "driver/targets/Target.h"
#include "frontends/ModelOptions.h"
#include "mlir/IR/OwningOpRef.h"

namespace atc::driver {

/// The formats in which a model can be read.
enum class ModelFormat {
  Onnx,
  TensorFlow, ///< a frozen graph (.pb) or the folder of a SavedModel
  Caffe,      ///< a .prototxt, with its .caffemodel as `weights`
  TfLite,     ///< a .tflite file
  Air,        ///< a graph of MindSpore or the Ascend toolchain
  Mlir        ///< text or bytecode: graph ops, kernel ops on buffers, or a schedule
};

/// The location of a model and the part of it to import.
struct ModelSource {
  /// The file or folder. With `bytes` it only names the model in messages, and its stem is the
  /// model's name.
  std::string path;
  ModelFormat format = ModelFormat::Onnx;
  std::optional<std::string> bytes = std::nullopt; ///< an ONNX model in memory
  InputShapes inputShapes = {};                    ///< --input_shape
  std::vector<std::string> outNodes = {};          ///< --out_nodes; empty: the model's outputs
  std::vector<std::string> inputNodes = {};        ///< --input_nodes; of TensorFlow
  std::string signature = {};                ///< --signature_def; of a SavedModel or .tflite file
  ModelBoundary boundary = {};               ///< types of inputs and outputs
  std::vector<PrecisionRule> precision = {}; ///< how single nodes compute
  std::vector<PlacementRule> placement = {}; ///< which side runs single nodes; of an NPU
  std::string weights = {};                  ///< --weight; the .caffemodel of Caffe
  /// Whether a model of one dynamic dim may become a loop over static tiles, which only the
  /// phases behind Quantize understand.
  bool tileDynamicDim = false;
  /// Whether operators that round their inputs to bytes at run time are imported so; they cannot be
  /// calibrated.
  bool roundsToBytes = true;
  std::vector<std::string> disabledPasses; ///< of those that run on tiles
};

/// Returns the format that a path stands for where nothing else states it: .mlir and
/// .mlirbc are MLIR, .prototxt is Caffe, .tflite TensorFlow Lite, .air an AIR graph, .pb and
/// folders TensorFlow, and the rest ONNX.
ModelFormat guessFormat(llvm::StringRef path);

/// Reads a model into `context`, which has the dialects of makeCompilerContext. Ops that `target`
/// cannot generate code for become calls of host kernels. Returns null after at least one error in
/// the diagnostics behind `messages`.
mlir::OwningOpRef<mlir::ModuleOp> importModel(const ModelSource &source, const Target &target,
                                              mlir::MLIRContext &context, ContextMessages &messages,
                                              Diagnostics &diagnostics);

} // namespace atc::driver

#endif // OPENATC_DRIVER_MODELIMPORT_H
