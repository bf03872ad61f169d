//===-- TdtQueue.h - buffers, queues and their routes ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_TDTQUEUE_H
#define ASCEND_SRC_TDTQUEUE_H

#include "acl/acl_tdt_queue.h"
#include "ascend/src/Handles.h"
#include "ascend/src/memory/Memory.h"

#include <array>
#include <atomic>
#include <string>
#include <vector>

namespace atc::ascend {

/// A handle of data in device memory: handles of the same data share the memory and its valid
/// length, each has user data of its own.
struct TdtBuffer {
  struct Data {
    std::shared_ptr<Block> block; ///< Null where there are no bytes.
    std::atomic<size_t> valid{0}; ///< Bytes; at most those of the block.
  };
  std::shared_ptr<Data> data;
  std::mutex mutex;
  std::array<uint8_t, 96> userData{};
};

/// Leads what enters queue `source` to queue `target`.
struct TdtRoute {
  uint32_t source = 0, target = 0;
  int32_t status = 0; ///< 1 when bound.
};

struct TdtRouteList {
  std::mutex mutex;
  std::vector<TdtRoute> routes;
};

struct TdtRouteQuery {
  acltdtQueueRouteQueryMode mode = ACL_TDT_QUEUE_ROUTE_QUERY_SRC;
  uint32_t source = 0, target = 0;
};

struct TdtQueueAttr {
  std::string name;
  uint32_t depth = 2;
};

/// Return the process-wide tables that own the objects behind handles.
HandleTable<TdtBuffer> &tdtBuffers();
HandleTable<TdtRoute> &tdtRoutes();
HandleTable<TdtRouteList> &tdtRouteLists();
HandleTable<TdtRouteQuery> &tdtRouteQueries();
HandleTable<TdtQueueAttr> &tdtQueueAttrs();

} // namespace atc::ascend

#endif
