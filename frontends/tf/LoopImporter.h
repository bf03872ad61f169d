//===-- LoopImporter.h - loops of v1 control flow as graph.loop -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_LOOPIMPORTER_H
#define OPENATC_FRONTENDS_TF_LOOPIMPORTER_H

namespace atc::tf_import {

class GraphImporter;
struct LoopFrame;

/// Imports a loop as a graph.loop and defines the outputs of its Exit nodes in the
/// innermost scope; null values after an error.
void importLoop(GraphImporter &importer, LoopFrame &frame);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_LOOPIMPORTER_H
