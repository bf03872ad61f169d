//===-- HostForms.h - ONNX nodes as calls of host kernels -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_HOSTFORMS_H
#define OPENATC_FRONTENDS_ONNX_HOSTFORMS_H

#include <functional>
#include <onnx/onnx_pb.h>
#include <string>

#include "frontends/HostCallBuilder.h"

namespace atc::onnx_import {

class GraphImporter;

/// Returns the name of an operator's host kernel; empty where it has none.
std::string hostKernelOf(llvm::StringRef domain, llvm::StringRef op);

/// Imports a node as a call in the newest form of its operator: attributes of an older opset become
/// inputs. Fails with a sentence about the node.
llvm::Error importAsHostCall(GraphImporter &importer, onnx::NodeProto &node, int64_t opset);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_HOSTFORMS_H
