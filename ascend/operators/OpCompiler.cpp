//===-- OpCompiler.cpp - operators are compiled by atc ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/operators/OpGraph.h"
#include "ascend/operators/Operator.h"
#include "ascend/src/AtcCall.h"
#include "ascend/src/Errors.h"
#include "ascend/src/TemporaryRun.h"
#include "support/OutputFile.h"

#include "acl/acl_op_compiler.h"

#include <array>
#include <cstring>
#include <mutex>
#include <set>

namespace atc::ascend {
namespace {

constexpr int optionCount = ACL_OP_DEBUG_OPTION + 1;

struct CompileOptions {
  std::mutex mutex;
  std::array<std::string, optionCount> values;
};

CompileOptions &compileOptions() {
  static auto &only = *new CompileOptions;
  return only;
}

/// Returns the options of atc for a call: those that the program has set.
std::vector<std::string> optionsForAtc(const OpCall &call) {
  if (call.keepsFloat32)
    return {"--precision_mode=cube_fp16in_fp32out"};
  static constexpr std::pair<aclCompileOpt, const char *> passed[] = {
      {ACL_OP_SELECT_IMPL_MODE, "--op_select_implmode="},
      {ACL_OPTYPELIST_FOR_IMPLMODE, "--optypelist_for_implmode="},
      {ACL_OP_PRECISION_MODE, "--op_precision_mode="},
      {ACL_CUSTOMIZE_DTYPES, "--customize_dtypes="}};
  std::lock_guard lock(compileOptions().mutex);
  const auto &values = compileOptions().values;
  // `atc` takes one of the two modes, and its own default is that of whole models.
  const std::string &mode = values[ACL_PRECISION_MODE], &newer = values[ACL_PRECISION_MODE_V2];
  std::vector<std::string> options = {
      !newer.empty() ? "--precision_mode_v2=" + newer
                     : "--precision_mode=" + (mode.empty() ? "allow_fp32_to_fp16" : mode)};
  for (auto [option, flag] : passed)
    if (const std::string &value = values[option]; !value.empty())
      options.push_back(flag + value);
  return options;
}

std::string textOfOptions(const OpCall &call) {
  std::string text;
  for (const std::string &option : optionsForAtc(call))
    text += option + "\n";
  return text;
}

/// Runs atc, whose files are in the folder of the run; `refused` says what it did not do.
aclError runAtc(const char *function, TemporaryRun &run, const std::string &atc,
                const std::string &refused) {
  const int code = run.run();
  if (code == 126 || code == 127)
    return fail(ACL_ERROR_OP_NOT_FOUND, function,
                "%s cannot be started; OPENATC_ATC names the compiler", atc.c_str());
  if (code != 0)
    return fail(ACL_ERROR_OP_NOT_FOUND, function, "%s: %s", refused.c_str(),
                errorsOfAtc(textOfFile(run.folder() + "/said")).c_str());
  return ACL_SUCCESS;
}

/// Compiles an operator to the bytes of its file.
aclError compiledBytes(const char *function, const OpCall &call, std::string &bytes) {
  const std::string atc = findAtc();
  std::vector<std::string> command{atc, std::string("--soc_version=") + aclrtGetSocName()};
  for (std::string &option : optionsForAtc(call))
    command.push_back(std::move(option));
  const std::string mark = TemporaryRun::folderMark;
  command.push_back("--singleop=" + mark + "/ops.json");
  command.push_back("--output=" + mark);
  TemporaryRun compilation(command);
  const std::string &folder = compilation.folder();
  if (folder.empty())
    return fail(ACL_ERROR_WRITE_FILE, function, "%s", compilation.problem().c_str());
  // Names of the program's that are not UTF-8 are none that atc knows.
  const std::string text =
      nlohmann::ordered_json::array({call.json()})
          .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  if (std::string error; !writeWholeFile(folder + "/ops.json", text, error))
    return fail(ACL_ERROR_WRITE_FILE, function, "%s", error.c_str());
  ACL_TRY(runAtc(function, compilation, atc, call.text() + " cannot be compiled"));
  // The file is read whole: its folder goes now.
  bytes = textOfFile(folder + "/operator.om");
  return ACL_SUCCESS;
}

} // namespace

aclError compileOperator(const char *function, const OpCall &call) {
  std::string bytes, options = textOfOptions(call);
  ACL_TRY(compiledBytes(function, call, bytes));
  std::shared_ptr<Model> model;
  ACL_TRY(Model::load(function, bytes.data(), bytes.size(), true, model));
  return addOperator(function, std::move(model), OpOrigin::Compiled, call.keepsFloat32,
                     std::move(options));
}

aclError findOrCompileOperator(const char *function, OpCall call, std::shared_ptr<OpModel> &op) {
  call.options = textOfOptions(call);
  if ((op = lookUpOperator(call)))
    return ACL_SUCCESS;
  // Only one compilation runs at a time, so that no operator is compiled twice.
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  if ((op = lookUpOperator(call)))
    return ACL_SUCCESS;
  ACL_TRY(compileOperator(function, call));
  return findOperator(function, call, op);
}

/// Makes constants of the integers whose values readValues has read: axes, shapes, paddings.
/// Returns whether there are any.
static bool makeConstants(OpCall &call) {
  bool hasAny = false;
  for (const auto &desc : call.inputs)
    if (!desc->isConstant && !desc->constant.empty() &&
        (desc->type == ACL_INT32 || desc->type == ACL_INT64))
      hasAny = desc->isConstant = true;
  return hasAny;
}

aclError findForExecution(const char *function, OpCall &call, int numInputs,
                          const aclDataBuffer *const inputs[], aclrtStream stream,
                          std::shared_ptr<OpModel> &op) {
  static std::mutex mutex;
  static auto &needsConstants = *new std::set<std::string>;
  call.options = textOfOptions(call);
  if ((op = lookUpOperator(call)))
    return ACL_SUCCESS;
  const std::string key =
      call.json().dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  auto isKnown = [&] {
    std::lock_guard lock(mutex);
    return needsConstants.contains(key);
  };
  aclError failed = ACL_SUCCESS;
  if (!isKnown()) {
    failed = findOrCompileOperator(function, call, op);
    if (failed != ACL_ERROR_OP_NOT_FOUND)
      return failed;
  }
  ACL_TRY(readValues(function, call, numInputs, inputs, stream));
  if (!makeConstants(call))
    return failed == ACL_SUCCESS ? findOrCompileOperator(function, call, op) : failed;
  ACL_TRY(findOrCompileOperator(function, call, op));
  std::lock_guard lock(mutex);
  needsConstants.insert(key);
  return ACL_SUCCESS;
}

/// Writes the graph of an operator; integers that it needs as constants are read.
static aclError dumpGraph(const char *function, OpCall &call, int numInputs,
                          const aclDataBuffer *const inputs[], const char *path) {
  std::string bytes;
  const aclError failed = compiledBytes(function, call, bytes);
  if (failed == ACL_ERROR_OP_NOT_FOUND && inputs) {
    ACL_TRY(readValues(function, call, numInputs, inputs, nullptr));
    if (!makeConstants(call))
      return failed;
    ACL_TRY(compiledBytes(function, call, bytes));
  } else if (failed != ACL_SUCCESS) {
    return failed;
  }
  if (std::string error; !writeWholeFile(path, graphOf(call.json()).dump(2) + "\n", error))
    return fail(ACL_ERROR_WRITE_FILE, function, "%s", error.c_str());
  return ACL_SUCCESS;
}

} // namespace atc::ascend

using namespace atc::ascend;

namespace {

/// Options of the dump of a graph: there are none yet.
struct GraphDumpOptions {};

HandleTable<GraphDumpOptions> &graphDumpOptions() {
  static auto &table = *new HandleTable<GraphDumpOptions>(HandleKind::GraphDumpOption);
  return table;
}

aclError checkKinds(const char *function, aclopEngineType engine, aclopCompileType flag) {
  if (engine < ACL_ENGINE_SYS || engine > ACL_ENGINE_VECTOR)
    return fail(ACL_ERROR_INVALID_PARAM, function, "engineType is %d; give 0 to 2", int(engine));
  if (flag != ACL_COMPILE_SYS && flag != ACL_COMPILE_UNREGISTERED)
    return fail(ACL_ERROR_INVALID_PARAM, function, "compileFlag is %d; give 0 or 1", int(flag));
  if (flag == ACL_COMPILE_UNREGISTERED)
    return fail(ACL_ERROR_API_NOT_SUPPORT, function,
                "operators with kernels of the program do not run here; give ACL_COMPILE_SYS");
  return ACL_SUCCESS;
}

aclError compileAndExecute(const char *function, const char *opType, int numInputs,
                           const aclTensorDesc *const inputDesc[],
                           const aclDataBuffer *const inputs[], int numOutputs,
                           const aclTensorDesc *const outputDesc[], aclDataBuffer *const outputs[],
                           const aclopAttr *attr, aclopEngineType engineType,
                           aclopCompileType compileFlag, aclrtStream stream) {
  OpCall call;
  ACL_TRY(checkKinds(function, engineType, compileFlag));
  ACL_TRY(readCall(function, opType, numInputs, inputDesc, numOutputs, outputDesc, attr, call));
  std::shared_ptr<OpModel> op;
  ACL_TRY(findForExecution(function, call, numInputs, inputs, stream, op));
  return executeOperator(function, *op, numInputs, inputs, numOutputs, outputs, stream);
}

} // namespace

aclError aclopCompile(const char *opType, int numInputs, const aclTensorDesc *const inputDesc[],
                      int numOutputs, const aclTensorDesc *const outputDesc[],
                      const aclopAttr *attr, aclopEngineType engineType,
                      aclopCompileType compileFlag, const char *) {
  OpCall call;
  ACL_TRY(checkKinds(__func__, engineType, compileFlag));
  ACL_TRY(readCall(__func__, opType, numInputs, inputDesc, numOutputs, outputDesc, attr, call));
  std::shared_ptr<OpModel> op;
  return findOrCompileOperator(__func__, call, op);
}

aclError aclopCompileAndExecute(const char *opType, int numInputs,
                                const aclTensorDesc *const inputDesc[],
                                const aclDataBuffer *const inputs[], int numOutputs,
                                const aclTensorDesc *const outputDesc[],
                                aclDataBuffer *const outputs[], const aclopAttr *attr,
                                aclopEngineType engineType, aclopCompileType compileFlag,
                                const char *, aclrtStream stream) {
  return compileAndExecute(__func__, opType, numInputs, inputDesc, inputs, numOutputs, outputDesc,
                           outputs, attr, engineType, compileFlag, stream);
}

aclError aclopCompileAndExecuteV2(const char *opType, int numInputs, aclTensorDesc *inputDesc[],
                                  aclDataBuffer *inputs[], int numOutputs,
                                  aclTensorDesc *outputDesc[], aclDataBuffer *outputs[],
                                  aclopAttr *attr, aclopEngineType engineType,
                                  aclopCompileType compileFlag, const char *, aclrtStream stream) {
  return compileAndExecute(__func__, opType, numInputs, inputDesc, inputs, numOutputs, outputDesc,
                           outputs, attr, engineType, compileFlag, stream);
}

static aclError checkOption(const char *function, aclCompileOpt opt) {
  if (int(opt) >= 0 && int(opt) < optionCount)
    return ACL_SUCCESS;
  return fail(ACL_ERROR_INVALID_PARAM, function, "opt is %d; give 0 to %d", int(opt),
              optionCount - 1);
}

aclError aclSetCompileopt(aclCompileOpt opt, const char *value) {
  ACL_REQUIRE(value);
  ACL_TRY(checkOption(__func__, opt));
  std::lock_guard lock(compileOptions().mutex);
  compileOptions().values[opt] = value;
  return ACL_SUCCESS;
}

size_t aclGetCompileoptSize(aclCompileOpt opt) {
  if (checkOption(__func__, opt) != ACL_SUCCESS)
    return 0;
  std::lock_guard lock(compileOptions().mutex);
  return compileOptions().values[opt].size() + 1;
}

aclError aclGetCompileopt(aclCompileOpt opt, char *value, size_t length) {
  ACL_REQUIRE(value);
  ACL_TRY(checkOption(__func__, opt));
  std::lock_guard lock(compileOptions().mutex);
  const std::string &text = compileOptions().values[opt];
  if (length < text.size() + 1)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "length is %zu, the option has %zu bytes", length,
             text.size() + 1);
  memcpy(value, text.c_str(), text.size() + 1);
  return ACL_SUCCESS;
}

aclError aclopSetCompileFlag(aclOpCompileFlag flag) {
  if (flag != ACL_OP_COMPILE_DEFAULT && flag != ACL_OP_COMPILE_FUZZ)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "flag is %d; give 0 or 1", int(flag));
  return ACL_SUCCESS;
}

aclError aclGenGraphAndDumpForOp(const char *opType, int numInputs,
                                 const aclTensorDesc *const inputDesc[],
                                 const aclDataBuffer *const inputs[], int numOutputs,
                                 const aclTensorDesc *const outputDesc[], aclDataBuffer *const[],
                                 const aclopAttr *attr, aclopEngineType engineType,
                                 const char *graphDumpPath,
                                 const aclGraphDumpOption *graphDumpOpt) {
  ACL_REQUIRE(graphDumpPath);
  if (graphDumpOpt)
    ACL_FIND(found, graphDumpOptions(), graphDumpOpt);
  OpCall call;
  ACL_TRY(checkKinds(__func__, engineType, ACL_COMPILE_SYS));
  ACL_TRY(readCall(__func__, opType, numInputs, inputDesc, numOutputs, outputDesc, attr, call));
  return dumpGraph(__func__, call, numInputs, inputs, graphDumpPath);
}

aclGraphDumpOption *aclCreateGraphDumpOpt() {
  return static_cast<aclGraphDumpOption *>(
      graphDumpOptions().add(std::make_shared<GraphDumpOptions>()));
}

aclError aclDestroyGraphDumpOpt(const aclGraphDumpOption *graphDumpOpt) {
  ACL_FIND(found, graphDumpOptions(), graphDumpOpt);
  graphDumpOptions().remove(graphDumpOpt);
  return ACL_SUCCESS;
}
