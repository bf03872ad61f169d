//===-- Selection.cpp - aclnn functions that choose elements by values -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which elements these functions read or write is known only when the stream comes to them, and so
// are some dims of results. They move elements on this machine.
#include "ascend/aclnn/Steps.h"
#include "ascend/operators/Cast.h"
#include "ascend/src/Errors.h"

#include "aclnnop/aclnn_ops.h"

#include <cstring>

using namespace atc::ascend;

namespace {

/// Calls a function with the position of each element, the last dim first to change.
template <typename Function> void forEachPosition(const Dims &dims, Function function) {
  Dims position(dims.size(), 0);
  for (int64_t i = 0, count = countOf(dims); i < count; ++i) {
    function(position);
    for (size_t dim = dims.size(); dim-- > 0 && ++position[dim] == dims[dim];)
      position[dim] = 0;
  }
}

/// Returns the offset of a position in elements whose dims are broadcast.
int64_t offsetOf(const Dims &position, size_t first, const Dims &dims, size_t rank) {
  int64_t offset = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    const size_t from = first + rank - dims.size() + i;
    offset = offset * dims[i] + (dims[i] == 1 ? 0 : position[from]);
  }
  return offset;
}

//===--- Lists of indices ---------------------------------------------------===//

/// An index of one dim of a tensor; one without values takes all of the dim.
struct DimIndex {
  bool isGiven = false;
  Dims dims, values;
};

/// The part of a tensor that a list of indices selects, as x[i, :, j] does.
class Choice {
public:
  /// Describes the elements; `problem` says what is wrong.
  Choice(const Dims &self, std::vector<DimIndex> given) : self(self), indices(std::move(given)) {
    indices.resize(self.size());
    for (size_t dim = 0; dim < indices.size(); ++dim) {
      if (!indices[dim].isGiven)
        continue;
      // Dims that stay between indices move behind those of the indices.
      isSplit |= isAny && !indices[dim - 1].isGiven;
      first = isAny ? first : dim;
      isAny = true;
      auto wider = broadcastDims(common, indices[dim].dims);
      if (!wider)
        problem = "indices have dims that cannot be combined: " + textOf(common) + " and " +
                  textOf(indices[dim].dims);
      common = wider.value_or(common);
    }
    if (isSplit)
      first = 0;
    for (size_t dim = 0; dim < indices.size(); ++dim)
      if (!indices[dim].isGiven)
        dims.push_back(self[dim]);
    dims.insert(dims.begin() + int64_t(first), common.begin(), common.end());
  }

  /// Returns the offset in the tensor of an element at a position of the result; -1 where an index
  /// is outside of its dim.
  int64_t offsetAt(const Dims &position) const {
    int64_t offset = 0;
    size_t plain = 0;
    for (size_t dim = 0; dim < self.size(); ++dim) {
      int64_t at = 0;
      if (indices[dim].isGiven) {
        const auto &index = indices[dim];
        at = index.values[size_t(offsetOf(position, first, index.dims, common.size()))];
        at += at < 0 ? self[dim] : 0;
        if (at < 0 || at >= self[dim])
          return -1;
      } else {
        at = position[plain < first ? plain : plain + common.size()];
        ++plain;
      }
      offset = offset * self[dim] + at;
    }
    return offset;
  }

  Dims dims; ///< of the result
  std::string problem;

private:
  Dims self;
  std::vector<DimIndex> indices;
  Dims common; ///< those of all indices together
  size_t first = 0;
  bool isAny = false, isSplit = false;
};

bool isMask(aclDataType type) { return type == ACL_BOOL || type == ACL_UINT8; }

/// Returns tensors of indices as dense int64 and bool; an empty one takes all of a dim.
std::vector<View> indexViews(Plan &plan, const aclTensorList *handle, const View &self) {
  std::vector<View> views;
  size_t taken = 0;
  for (const View &view : plan.inputs(handle, "indices")) {
    if (plan.isGood() && !isMask(view.type) && view.type != ACL_INT32 && view.type != ACL_INT64)
      plan.reject("indices must be int32, int64 or bool");
    if (plan.isGood() && isMask(view.type) && view.dims.empty())
      plan.reject("a mask must have dims");
    const bool spans = isMask(view.type) && countOf(view.dims) != 0;
    for (size_t i = 0; plan.isGood() && spans && i < view.dims.size(); ++i)
      if (taken + i >= self.dims.size() || self.dims[taken + i] != view.dims[i])
        plan.reject("a mask %s does not fit self %s", textOf(view.dims).c_str(),
                    textOf(self.dims).c_str());
    taken += spans ? view.dims.size() : 1;
    if (plan.isGood())
      views.push_back(plan.dense(view, isMask(view.type) ? ACL_BOOL : ACL_INT64));
  }
  if (plan.isGood() && taken > self.dims.size())
    plan.reject("there are more indices than dims of self %s", textOf(self.dims).c_str());
  return views;
}

/// Returns what indices choose, with their values, or, without addresses, their dims alone.
Choice choiceOf(const Dims &self, const std::vector<View> &views, char *const *addresses) {
  std::vector<DimIndex> indices;
  for (size_t i = 0; i < views.size(); ++i) {
    const View &view = views[i];
    const int64_t count = countOf(view.dims);
    if (count == 0) {
      indices.emplace_back();
    } else if (view.type == ACL_INT64) {
      DimIndex index{true, view.dims, {}};
      if (addresses) {
        auto *values = reinterpret_cast<const int64_t *>(addresses[i]);
        index.values.assign(values, values + count);
      }
      indices.push_back(std::move(index));
    } else { // a mask is an index for each of its dims
      std::vector<DimIndex> along(view.dims.size(), DimIndex{true, {0}, {}});
      size_t at = 0;
      forEachPosition(view.dims, [&](const Dims &position) {
        if (!addresses || !addresses[i][at++])
          return;
        for (size_t dim = 0; dim < position.size(); ++dim)
          along[dim].values.push_back(position[dim]);
      });
      for (DimIndex &index : along) {
        index.dims = {int64_t(index.values.size())};
        indices.push_back(std::move(index));
      }
    }
  }
  return {self, std::move(indices)};
}

bool hasMask(const std::vector<View> &views) {
  return std::any_of(views.begin(), views.end(),
                     [](const View &view) { return view.type == ACL_BOOL; });
}

aclError outside(const char *function) {
  return fail(ACL_ERROR_INVALID_PARAM, function, "an index is outside of its dim");
}

/// Adds one element to another of the same type.
void addElement(aclDataType type, const char *from, char *to) {
  auto add = [&](auto zero) {
    decltype(zero) left, right;
    memcpy(&left, to, sizeof(left));
    memcpy(&right, from, sizeof(right));
    left = decltype(zero)(left + right);
    memcpy(to, &left, sizeof(left));
  };
  switch (type) {
  case ACL_INT8:
  case ACL_UINT8:
    return add(uint8_t());
  case ACL_INT16:
  case ACL_UINT16:
    return add(uint16_t());
  case ACL_INT32:
  case ACL_UINT32:
    return add(uint32_t());
  case ACL_INT64:
  case ACL_UINT64:
    return add(uint64_t());
  case ACL_FLOAT:
    return add(float());
  case ACL_DOUBLE:
    return add(double());
  case ACL_BOOL:
    *to = *to || *from;
    return;
  default: { // float16 and bfloat16
    double left = 0, right = 0;
    CastPlan{type, ACL_DOUBLE, 1}.run(to, &left);
    CastPlan{type, ACL_DOUBLE, 1}.run(from, &right);
    left += right;
    CastPlan{ACL_DOUBLE, type, 1}.run(&left, to);
  }
  }
}

/// Returns x[indices] with the dims of the output, which are those of the indices.
View indexed(Plan &plan, const View &self, const aclTensorList *list, const View &out) {
  const std::vector<View> indices = indexViews(plan, list, self);
  if (!plan.isGood())
    return {};
  if (!hasMask(indices)) {
    const Choice choice = choiceOf(self.dims, indices, nullptr);
    if (!choice.problem.empty())
      plan.reject("%s", choice.problem.c_str());
    else if (choice.dims != out.dims)
      plan.reject("the output is %s, it must be %s", textOf(out.dims).c_str(),
                  textOf(choice.dims).c_str());
  }
  const View x = plan.dense(self, self.type), result = plan.make(self.type, out.dims);
  std::vector<View> views = {result, x};
  views.insert(views.end(), indices.begin(), indices.end());
  const size_t bytes = bitsOf(self.type) / 8;
  plan.onHost(views, [=, dims = out.dims](const std::vector<char *> &at) -> aclError {
    const Choice choice = choiceOf(x.dims, indices, at.data() + 2);
    if (!choice.problem.empty() || choice.dims != dims)
      return fail(ACL_ERROR_INVALID_PARAM, "aclnnIndex", "%s; the output is %s",
                  choice.problem.empty() ? ("indices choose " + textOf(choice.dims)).c_str()
                                         : choice.problem.c_str(),
                  textOf(dims).c_str());
    char *to = at[0];
    aclError code = ACL_SUCCESS;
    forEachPosition(dims, [&](const Dims &position) {
      const int64_t from = choice.offsetAt(position);
      if (from < 0)
        code = outside("aclnnIndex");
      else
        memcpy(to, at[1] + size_t(from) * bytes, bytes);
      to += bytes;
    });
    return code;
  });
  return result;
}

/// Returns self with values, which are broadcast, at the positions of indices.
View withIndexed(Plan &plan, const View &self, const aclTensorList *list, const View &values,
                 bool accumulate) {
  const std::vector<View> indices = indexViews(plan, list, self);
  if (plan.isGood() && accumulate && self.type == ACL_COMPLEX64)
    plan.reject("complex numbers have no sums here");
  if (!plan.isGood())
    return {};
  auto fits = [](const Choice &choice, const Dims &given) {
    auto wide = broadcastDims(choice.dims, given);
    return choice.problem.empty() && wide && *wide == choice.dims;
  };
  if (!hasMask(indices)) {
    const Choice choice = choiceOf(self.dims, indices, nullptr);
    if (!fits(choice, values.dims))
      plan.reject("%s", choice.problem.empty() ? ("values " + textOf(values.dims) +
                                                  " cannot be broadcast to " + textOf(choice.dims))
                                                     .c_str()
                                               : choice.problem.c_str());
  }
  const View result = plan.make(self.type, self.dims), given = plan.dense(values, self.type);
  plan.copy(self, result);
  std::vector<View> views = {result, given};
  views.insert(views.end(), indices.begin(), indices.end());
  const size_t bytes = bitsOf(self.type) / 8;
  plan.onHost(views, [=](const std::vector<char *> &at) -> aclError {
    const Choice choice = choiceOf(result.dims, indices, at.data() + 2);
    if (!fits(choice, given.dims))
      return fail(ACL_ERROR_INVALID_PARAM, "aclnnIndexPutImpl",
                  "values %s cannot be broadcast to %s", textOf(given.dims).c_str(),
                  textOf(choice.dims).c_str());
    aclError code = ACL_SUCCESS;
    forEachPosition(choice.dims, [&](const Dims &position) {
      const int64_t to = choice.offsetAt(position);
      const char *from = at[1] + size_t(offsetOf(position, 0, given.dims, position.size())) * bytes;
      if (to < 0)
        code = outside("aclnnIndexPutImpl");
      else if (accumulate)
        addElement(result.type, from, at[0] + size_t(to) * bytes);
      else
        memcpy(at[0] + size_t(to) * bytes, from, bytes);
    });
    return code;
  });
  return result;
}

//===--- Elements that are not 0, or that a mask names ----------------------===//

/// Writes the positions of elements that are not 0 to an output of int64, a row or a column for
/// each, and gives it dims of their number.
void writeNonzero(Plan &plan, const View &self, const View &out, bool isColumns) {
  const int64_t rank = int64_t(self.dims.size()), count = countOf(self.dims);
  if (plan.isGood() &&
      (out.type != ACL_INT64 || !out.isDense() || countOf(out.dims) < rank * count))
    plan.reject("out must be dense int64 with %lld elements, for all of self",
                (long long)(rank * count));
  if (!plan.isGood())
    return;
  // A number that is not 0 is true, however small it is.
  const View truth = plan.dense(self, ACL_BOOL);
  plan.onHost({truth, out}, [=](const std::vector<char *> &at) -> aclError {
    Dims positions;
    size_t element = 0;
    forEachPosition(truth.dims, [&](const Dims &position) {
      if (at[0][element++])
        positions.insert(positions.end(), position.begin(), position.end());
    });
    const int64_t found = rank ? int64_t(positions.size()) / rank : at[0][0] != 0;
    auto *to = reinterpret_cast<int64_t *>(at[1]);
    for (int64_t i = 0; i < found; ++i)
      for (int64_t dim = 0; dim < rank; ++dim)
        to[isColumns ? dim * found + i : i * rank + dim] = positions[size_t(i * rank + dim)];
    out.memory->setDims(isColumns ? Dims{rank, found} : Dims{found, rank});
    return ACL_SUCCESS;
  });
}

void writeSelected(Plan &plan, const View &self, const View &mask, const View &out) {
  auto dims = plan.isGood() ? broadcastDims(self.dims, mask.dims) : std::nullopt;
  if (plan.isGood() && !dims)
    plan.reject("self %s and mask %s cannot be combined", textOf(self.dims).c_str(),
                textOf(mask.dims).c_str());
  else if (plan.isGood() && (out.type != self.type || !out.isDense() || out.dims.size() != 1 ||
                             out.dims[0] < countOf(*dims)))
    plan.reject("out must be dense and of the type of self, with 1 dim of %lld elements",
                (long long)countOf(*dims));
  if (!plan.isGood())
    return;
  const View x = plan.dense(plan.broadcast(self, *dims), self.type);
  const View truth = plan.dense(plan.broadcast(mask, *dims), ACL_BOOL);
  const size_t bytes = bitsOf(self.type) / 8, count = size_t(countOf(*dims));
  plan.onHost({x, truth, out}, [=](const std::vector<char *> &at) -> aclError {
    size_t found = 0;
    for (size_t i = 0; i < count; ++i)
      if (at[1][i])
        memcpy(at[2] + bytes * found++, at[0] + bytes * i, bytes);
    out.memory->setDims({int64_t(found)});
    return ACL_SUCCESS;
  });
}

/// Returns self with the elements of source, one after the other, where a mask holds.
View withMasked(Plan &plan, const View &self, const View &mask, const View &source) {
  if (!plan.isGood())
    return {};
  const View truth = plan.dense(plan.broadcast(mask, self.dims), ACL_BOOL);
  const View given = plan.dense(source, self.type), result = plan.make(self.type, self.dims);
  plan.copy(self, result);
  const size_t bytes = bitsOf(self.type) / 8, count = size_t(countOf(self.dims));
  const size_t available = size_t(countOf(source.dims));
  plan.onHost({result, truth, given}, [=](const std::vector<char *> &at) -> aclError {
    size_t used = 0;
    for (size_t i = 0; i < count; ++i) {
      if (!at[1][i])
        continue;
      if (used == available)
        return fail(ACL_ERROR_INVALID_PARAM, "aclnnInplaceMaskedScatter",
                    "source has %zu elements, fewer than the mask", available);
      memcpy(at[0] + bytes * i, at[2] + bytes * used++, bytes);
    }
    return ACL_SUCCESS;
  });
  return result;
}

} // namespace

aclnnStatus aclnnIndexGetWorkspaceSize(const aclTensor *self, const aclTensorList *indices,
                                       aclTensor *out, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View x = plan.input(self, "self"), y = plan.output(out, "out");
  plan.write(indexed(plan, x, indices, y), y);
  return plan.finish(size, executor);
}
ACLNN_RUN(Index)
ACLNN_FUNCTION(IndexPutImpl,
               (aclTensor * selfRef, const aclTensorList *indices, const aclTensor *values,
                const bool accumulate, const bool),
               selfRef, withIndexed(plan, IN(selfRef), indices, IN(values), accumulate))
ACLNN_FUNCTION(InplaceMaskedScatter,
               (aclTensor * selfRef, const aclTensor *mask, const aclTensor *source), selfRef,
               withMasked(plan, IN(selfRef), IN(mask), IN(source)))

#define ACLNN_NONZERO(name, isColumns)                                                             \
  aclnnStatus aclnn##name##GetWorkspaceSize(const aclTensor *self, aclTensor *out, uint64_t *size, \
                                            aclOpExecutor **executor) {                            \
    Plan plan(__func__);                                                                           \
    const View x = plan.input(self, "self"), y = plan.output(out, "out");                          \
    writeNonzero(plan, x, y, isColumns);                                                           \
    return plan.finish(size, executor);                                                            \
  }                                                                                                \
  ACLNN_RUN(name)
ACLNN_NONZERO(Nonzero, false)
ACLNN_NONZERO(NonzeroV2, true)

aclnnStatus aclnnMaskedSelectGetWorkspaceSize(const aclTensor *self, const aclTensor *mask,
                                              aclTensor *out, uint64_t *size,
                                              aclOpExecutor **executor) {
  Plan plan(__func__);
  const View x = plan.input(self, "self"), truth = plan.input(mask, "mask"),
             y = plan.output(out, "out");
  writeSelected(plan, x, truth, y);
  return plan.finish(size, executor);
}
ACLNN_RUN(MaskedSelect)
