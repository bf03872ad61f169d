//===-- Algebra.cpp - aclnn functions of sums of letters, QR, formats ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"
#include "ascend/src/Errors.h"

#include "acl/acl_rt.h"
#include "aclnnop/aclnn_ops.h"

#include <cmath>
#include <new>

using namespace atc::ascend;

namespace {

/// A tensor and the letters of its dims.
struct Term {
  std::string letters;
  View view;
};

/// Returns whether one of the letters is the given one.
bool isIn(char letter, std::string_view letters) {
  return letters.find(letter) != std::string_view::npos;
}

/// Returns the term with one dim per letter: the diagonal of those that it has twice.
Term withoutRepeats(const Term &term) {
  Term result{"", term.view};
  result.view.dims.clear();
  result.view.strides.clear();
  for (size_t i = 0; i < term.letters.size(); ++i) {
    if (const size_t at = result.letters.find(term.letters[i]); at != std::string::npos) {
      result.view.strides[at] += term.view.strides[i];
      continue;
    }
    result.letters += term.letters[i];
    result.view.dims.push_back(term.view.dims[i]);
    result.view.strides.push_back(term.view.strides[i]);
  }
  return result;
}

/// Returns sums of nothing, for which there is no operator.
View zerosOf(Plan &plan, aclDataType type, const Dims &dims) {
  return plan.dense(plan.broadcast(plan.constant(0, type), dims), type);
}

/// Adds up the dims whose letters nothing else has.
Term reducedTo(Plan &plan, const Term &term, std::string_view needed) {
  Term result{"", {}};
  Dims axes;
  for (size_t i = 0; i < term.letters.size(); ++i)
    if (isIn(term.letters[i], needed))
      result.letters += term.letters[i];
    else
      axes.push_back(int64_t(i));
  if (axes.empty())
    result.view = term.view;
  else if (countOf(term.view.dims) == 0)
    result.view = zerosOf(plan, term.view.type, reducedDims(term.view.dims, axes, false));
  else
    result.view = reduced(plan, "ReduceSumD", term.view, axes, false, term.view.type);
  return result;
}

/// Returns the term with its dims in the order of letters, which are those of the term.
View ordered(const Term &term, std::string_view letters) {
  Dims order;
  for (char letter : letters)
    order.push_back(int64_t(term.letters.find(letter)));
  return permuted(term.view, order);
}

/// Multiplies two terms, and adds up what only they have of the letters.
Term contracted(Plan &plan, Term left, Term right, std::string_view needed) {
  std::string batch, summed, rows, columns;
  Dims dims;
  auto sizeOf = [](const Term &term, char letter) {
    return term.view.dims[term.letters.find(letter)];
  };
  left = reducedTo(plan, left, std::string(needed) + right.letters);
  right = reducedTo(plan, right, std::string(needed) + left.letters);
  if (!plan.isGood())
    return {};
  for (char letter : left.letters)
    (!isIn(letter, right.letters) ? rows : isIn(letter, needed) ? batch : summed) += letter;
  for (char letter : right.letters)
    if (!isIn(letter, left.letters))
      columns += letter;
  auto countIn = [&](const Term &term, std::string_view letters) {
    int64_t count = 1;
    for (char letter : letters)
      count *= sizeOf(term, letter);
    return count;
  };
  for (char letter : batch)
    dims.push_back(sizeOf(left, letter));
  for (char letter : rows)
    dims.push_back(sizeOf(left, letter));
  for (char letter : columns)
    dims.push_back(sizeOf(right, letter));
  const aclDataType type = promoted(left.view.type, right.view.type);
  const int64_t depth = countIn(left, summed), batches = countIn(left, batch);
  if (depth == 0)
    return {batch + rows + columns, zerosOf(plan, type, dims)};
  const View a = plan.reshaped(plan.dense(ordered(left, batch + rows + summed), type),
                               {batches, countIn(left, rows), depth}),
             b = plan.reshaped(plan.dense(ordered(right, batch + summed + columns), type),
                               {batches, depth, countIn(right, columns)});
  // Without a sum, whole numbers may be multiplied as well.
  View result = summed.empty() ? combined(plan, "Mul", a, b) : product(plan, a, b);
  if (plan.isGood())
    result = plan.reshaped(result, dims);
  return {batch + rows + columns, result};
}

View summedLetters(Plan &plan, std::vector<View> views, const char *equation) {
  std::string text;
  for (const char *c = equation; *c; ++c)
    if (*c != ' ')
      text += *c;
  const size_t arrow = text.find("->");
  std::string inputs = text.substr(0, arrow), output;
  std::vector<Term> terms(1);
  for (char c : inputs) {
    if (c == ',')
      terms.emplace_back();
    else if (isalpha(static_cast<unsigned char>(c)))
      terms.back().letters += c;
    else
      plan.reject("the equation '%s' has '%c'; write a letter per dim, as in bij,bjk->bik",
                  equation, c);
  }
  if (arrow != std::string::npos)
    output = text.substr(arrow + 2);
  else // letters that come once, in their order
    for (int c = 'A'; c <= 'z'; ++c)
      if (isalpha(c) && std::count(inputs.begin(), inputs.end(), char(c)) == 1)
        output += char(c);
  if (plan.isGood() && terms.size() != views.size())
    plan.reject("the equation '%s' is of %zu tensors, %zu were given", equation, terms.size(),
                views.size());
  std::vector<std::pair<char, int64_t>> sizes;
  for (size_t i = 0; plan.isGood() && i < terms.size(); ++i) {
    if (terms[i].letters.size() != views[i].dims.size()) {
      plan.reject("tensor %zu has dims %s, the equation '%s' has '%s'", i,
                  textOf(views[i].dims).c_str(), equation, terms[i].letters.c_str());
      break;
    }
    if (views[i].type == ACL_BOOL)
      plan.reject("tensor %zu is of bool, which has no sums; convert it to a type of numbers", i);
    terms[i].view = views[i];
    for (size_t d = 0; d < views[i].dims.size(); ++d) {
      const char letter = terms[i].letters[d];
      auto known = std::find_if(sizes.begin(), sizes.end(),
                                [&](const auto &each) { return each.first == letter; });
      if (known == sizes.end())
        sizes.emplace_back(letter, views[i].dims[d]);
      else if (known->second != views[i].dims[d])
        plan.reject("'%c' of the equation '%s' is %lld and %lld", letter, equation,
                    (long long)known->second, (long long)views[i].dims[d]);
    }
  }
  for (size_t i = 0; plan.isGood() && i < output.size(); ++i)
    if (!isalpha(static_cast<unsigned char>(output[i])) || !isIn(output[i], inputs) ||
        output.find(output[i], i + 1) != std::string::npos)
      plan.reject("'%c' behind the arrow of '%s' must be a letter of a tensor, and come once",
                  output[i], equation);
  if (!plan.isGood())
    return {};
  Term result = withoutRepeats(terms[0]);
  for (size_t i = 1; plan.isGood() && i < terms.size(); ++i) {
    std::string needed = output;
    for (size_t k = i + 1; k < terms.size(); ++k)
      needed += terms[k].letters;
    result = contracted(plan, result, withoutRepeats(terms[i]), needed);
  }
  if (plan.isGood())
    result = reducedTo(plan, result, output);
  return plan.isGood() ? ordered(result, output) : View();
}

/// Decomposes `count` matrices by reflections: at[0] matrices, at[1] Q with `columns`, at[2] R.
aclError decompose(int64_t count, int64_t rows, int64_t width, int64_t columns,
                   const std::vector<char *> &at) {
  for (int64_t n = 0; n < count; ++n) {
    auto *given = reinterpret_cast<const double *>(at[0]) + n * rows * width;
    auto *q = reinterpret_cast<double *>(at[1]) + n * rows * columns,
         *r = reinterpret_cast<double *>(at[2]) + n * columns * width;
    std::vector<double> a(given, given + rows * width);
    std::vector<std::vector<double>> mirrors;
    for (int64_t k = 0; k < std::min(rows, width); ++k) {
      double norm = 0;
      for (int64_t i = k; i < rows; ++i)
        norm = std::hypot(norm, a[size_t(i * width + k)]);
      std::vector<double> v(size_t(rows), 0.);
      const double head = a[size_t(k * width + k)];
      // A column that is 0 below the diagonal already keeps its sign, as in LAPACK.
      double below = 0;
      for (int64_t i = k + 1; i < rows; ++i)
        below = std::hypot(below, a[size_t(i * width + k)]);
      if (below != 0) {
        for (int64_t i = k; i < rows; ++i)
          v[size_t(i)] = a[size_t(i * width + k)];
        v[size_t(k)] = head + std::copysign(norm, head);
        const double length = std::hypot(v[size_t(k)], below);
        for (double &x : v)
          x /= length;
        for (int64_t j = k; j < width; ++j) {
          double dot = 0;
          for (int64_t i = k; i < rows; ++i)
            dot += v[size_t(i)] * a[size_t(i * width + j)];
          for (int64_t i = k; i < rows; ++i)
            a[size_t(i * width + j)] -= 2 * dot * v[size_t(i)];
        }
      }
      mirrors.push_back(std::move(v));
    }
    for (int64_t i = 0; i < columns; ++i)
      for (int64_t j = 0; j < width; ++j)
        r[i * width + j] = i <= j ? a[size_t(i * width + j)] : 0;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        q[i * columns + j] = i == j;
    for (size_t k = mirrors.size(); k-- > 0;)
      for (int64_t j = 0; j < columns; ++j) {
        double dot = 0;
        for (int64_t i = 0; i < rows; ++i)
          dot += mirrors[k][size_t(i)] * q[i * columns + j];
        for (int64_t i = 0; i < rows; ++i)
          q[i * columns + j] -= 2 * dot * mirrors[k][size_t(i)];
      }
  }
  return ACL_SUCCESS;
}

} // namespace

aclnnStatus aclnnEinsumGetWorkspaceSize(const aclTensorList *tensors, const char *equation,
                                        aclTensor *output, uint64_t *size,
                                        aclOpExecutor **executor) {
  Plan plan(__func__);
  const std::vector<View> views = plan.inputs(tensors, "tensors");
  const View y = plan.output(output, "output");
  if (!equation)
    return fail(aclnnIsNull, __func__, "equation is NULL");
  if (plan.isGood())
    plan.write(summedLetters(plan, views, equation), y);
  return plan.finish(size, executor);
}
ACLNN_RUN(Einsum)

aclnnStatus aclnnLinalgQrGetWorkspaceSize(const aclTensor *self, int64_t mode, aclTensor *Q,
                                          aclTensor *R, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View given = IN(self), q = plan.output(Q, "Q", mode == 2), r = plan.output(R, "R");
  const size_t rank = given.dims.size();
  if (mode < 0 || mode > 2)
    plan.reject("mode is %lld; give 0 (reduced), 1 (complete) or 2 (R)", (long long)mode);
  if (plan.isGood() && (rank < 2 || !isFloat(given.type)))
    plan.reject("self %s must be floats with 2 dims or more", textOf(given.dims).c_str());
  if (!plan.isGood())
    return plan.finish(size, executor);
  const int64_t rows = given.dims[rank - 2], width = given.dims[rank - 1],
                columns = mode == 1 ? rows : std::min(rows, width);
  Dims dimsQ = given.dims, dimsR = given.dims;
  dimsQ[rank - 1] = columns;
  dimsR[rank - 2] = columns;
  const View toQ = plan.make(ACL_DOUBLE, dimsQ), toR = plan.make(ACL_DOUBLE, dimsR);
  if (!plan.isGood())
    return plan.finish(size, executor);
  const int64_t count = countOf(Dims(given.dims.begin(), given.dims.end() - 2));
  plan.onHost({plan.dense(given, ACL_DOUBLE), toQ, toR}, [=](const std::vector<char *> &at) {
    return decompose(count, rows, width, columns, at);
  });
  if (mode != 2)
    plan.write(toQ, q);
  plan.write(toR, r);
  return plan.finish(size, executor);
}
ACLNN_RUN(LinalgQr)

aclnnStatus aclnnNpuFormatCastCalculateSizeAndFormat(const aclTensor *srcTensor,
                                                     const int dstFormat, int additionalDtype,
                                                     int64_t **dstShape, uint64_t *dstShapeSize,
                                                     int *actualFormat) {
  if (!srcTensor || !dstShape || !dstShapeSize || !actualFormat)
    return fail(aclnnIsNull, __func__, "%s is NULL",
                !srcTensor      ? "srcTensor"
                : !dstShape     ? "dstShape"
                : !dstShapeSize ? "dstShapeSize"
                                : "actualFormat");
  const auto tensor = tensors().find(srcTensor);
  if (!tensor)
    return fail(aclnnIsInvalid, __func__, "srcTensor was destroyed, or is no tensor");
  Dims dims = tensor->dims;
  const size_t bits = bitsOf(additionalDtype < 0 ? tensor->type : aclDataType(additionalDtype));
  auto blocks = [](int64_t count, int64_t of) { return (count + of - 1) / of; };
  if (dstFormat == ACL_FORMAT_FRACTAL_NZ && dims.size() >= 2 && bits > 0) {
    // Blocks of 16 rows of 32 bytes, those of a column of blocks one behind the other.
    const int64_t wide = int64_t(256 / bits), width = dims.back(), height = dims[dims.size() - 2];
    dims.resize(dims.size() - 2);
    dims.insert(dims.end(), {blocks(width, wide), blocks(height, 16), 16, wide});
  } else if (dstFormat != ACL_FORMAT_ND && dstFormat != tensor->format) {
    return fail(aclnnIsInvalid, __func__,
                "dstFormat is %d for %s; give FRACTAL_NZ (29) for 2 dims or more, or ND (2)",
                dstFormat, textOf(dims).c_str());
  }
  auto *made = new (std::nothrow) int64_t[dims.size()];
  if (!made)
    return fail(aclnnRuntimeError, __func__, "there is no memory");
  std::copy(dims.begin(), dims.end(), made);
  *dstShape = made;
  *dstShapeSize = dims.size();
  *actualFormat = dstFormat;
  return 0;
}

aclnnStatus aclnnNpuFormatCastGetWorkspaceSize(const aclTensor *srcTensor, aclTensor *dstTensor,
                                               uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View given = IN(srcTensor), y = plan.output(dstTensor, "dstTensor");
  if (plan.isGood() && (given.dims != y.dims || given.type != y.type))
    plan.reject(
        "dstTensor %s must have the dims and the type of srcTensor %s; only its storage has "
        "others",
        textOf(y.dims).c_str(), textOf(given.dims).c_str());
  plan.write(given, y);
  return plan.finish(size, executor);
}
ACLNN_RUN(NpuFormatCast)
