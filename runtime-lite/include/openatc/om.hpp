//===-- openatc/om.hpp - run .om files: the C++ wrapper -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Header-only, over om.h, which documents units and errors. Nothing throws: a function that can
// fail returns an empty object and fills an om::Error. Strings and vectors are copies.

#ifndef OPENATC_OM_HPP
#define OPENATC_OM_HPP

#if __cplusplus < 201703L
#error "openatc/om.hpp needs C++17 (-std=c++17)"
#endif

#include "openatc/om.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace om {

/// An error of the library; converts to true where a call failed.
struct Error {
  om_error c = {OM_OK, ""};
  explicit operator bool() const { return c.code != OM_OK; }
  om_status code() const { return c.code; }
  const char *message() const { return c.message; }
};

/// Zeroed, 64-byte aligned memory for inputs and outputs of om_session_run. Converts to false where
/// memory could not be allocated.
class Buffer {
public:
  Buffer() = default;
  explicit Buffer(size_t bytes) : count(bytes) {
    size_t rounded = (bytes + OM_ALIGNMENT - 1) / OM_ALIGNMENT * OM_ALIGNMENT;
    memory.reset(std::aligned_alloc(OM_ALIGNMENT, rounded ? rounded : OM_ALIGNMENT));
    if (memory)
      std::memset(memory.get(), 0, bytes);
  }
  explicit operator bool() const { return memory != nullptr; }
  template <typename T = void> T *data() const { return static_cast<T *>(memory.get()); }
  size_t size() const { return count; }

private:
  struct Free {
    void operator()(void *pointer) const { std::free(pointer); }
  };
  std::unique_ptr<void, Free> memory;
  size_t count = 0;
};

/// A copy of om_tensor_info.
struct Tensor {
  std::string name;
  om_dtype dtype;
  std::vector<int64_t> dims;
  uint64_t elements, bytes;
  om_space space;
  uint32_t block;
  om_kind kind = OM_KIND_TENSOR;
  bool ranked = true, optional = false;
  /// The model's name per dim of an input or output, "" for a static one or one without a name;
  /// empty where no dim has a name.
  std::vector<std::string> dimNames = {};
  /// Returns whether om_session_run can be used with it: it is a tensor of known size.
  bool fixed() const {
    bool all = kind == OM_KIND_TENSOR && ranked && !optional && om_dtype_bits(dtype) != 0;
    for (int64_t dim : dims)
      all = all && dim >= 0;
    return all;
  }
};

/// Describes a gear of a model; see "gears" in om.h.
struct Gear {
  std::vector<int64_t> values;
  uint32_t firstLaunch = 0, launches = 0;
  uint64_t arenaBytes = 0;
};

/// The gears of a model; none where `all` is empty.
struct Gears {
  om_gear_kind kind = OM_GEARS_NONE;
  uint32_t shapeInput = OM_NO_INPUT;
  std::vector<Gear> all;
  std::vector<om_gear_axis> axes;
};

/// A copy of om_launch_info.
struct Launch {
  std::string name, kernel;
  uint64_t cost, tasks;
  std::vector<uint32_t> reads, writes;
  bool npu = false;
  uint64_t macs = 0;
  bool host = false;
  std::string tensor; ///< the name of output 0 of a host kernel's call; empty for launches
};

/// A tensor of any shape, a sequence, a map, or none; copies share it. An empty object (false)
/// stands for an optional input without a value.
class Value {
public:
  Value() = default;
  /// Takes over the reference.
  explicit Value(const om_value *value) : handle(value) {}
  Value(const Value &other) : handle(other.handle) { retain(); }
  Value(Value &&other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  Value &operator=(Value other) {
    std::swap(handle, other.handle);
    return *this;
  }
  ~Value() { om_value_release(handle); }

  /// Returns a tensor with a copy of the elements; a null `data` stands for zeros.
  static Value tensor(om_dtype dtype, const std::vector<int64_t> &dims, const void *data,
                      Error &error) {
    return made([&](om_value **value) {
      return om_value_create_tensor(dtype, static_cast<uint32_t>(dims.size()), dims.data(), data,
                                    value, &error.c);
    });
  }
  /// Returns a tensor that uses the elements at `data`, 64-byte aligned, which must outlive it.
  static Value borrow(om_dtype dtype, const std::vector<int64_t> &dims, const void *data,
                      Error &error) {
    return made([&](om_value **value) {
      return om_value_borrow_tensor(dtype, static_cast<uint32_t>(dims.size()), dims.data(), data,
                                    value, &error.c);
    });
  }
  /// Returns a tensor of strings with copies of `texts`, in row-major order.
  static Value strings(const std::vector<int64_t> &dims, const std::vector<std::string> &texts,
                       Error &error) {
    std::vector<const char *> pointers;
    std::vector<size_t> sizes;
    for (const std::string &text : texts) {
      pointers.push_back(text.data());
      sizes.push_back(text.size());
    }
    return made([&](om_value **value) {
      return om_value_create_strings(static_cast<uint32_t>(dims.size()), dims.data(),
                                     pointers.data(), sizes.data(), value, &error.c);
    });
  }
  /// Returns a sequence that shares its items.
  static Value sequence(om_dtype dtype, const std::vector<Value> &items, Error &error) {
    std::vector<const om_value *> pointers;
    for (const Value &item : items)
      pointers.push_back(item.get());
    return made([&](om_value **value) {
      return om_value_create_sequence(dtype, pointers.size(), pointers.data(), value, &error.c);
    });
  }
  /// Returns a map that shares two tensors of rank 1 and equal length.
  static Value map(const Value &keys, const Value &values, Error &error) {
    return made([&](om_value **value) {
      return om_value_create_map(keys.get(), values.get(), value, &error.c);
    });
  }

  explicit operator bool() const { return handle != nullptr; }
  const om_value *get() const { return handle; }
  /// Returns the kind; OM_KIND_NONE where there is no value.
  om_kind kind() const { return om_value_kind(handle); }
  /// Returns the number of elements of a tensor or of items of a sequence; 0 where there is no
  /// value.
  uint64_t size() const { return handle ? om_value_size(handle) : 0; }
  /// Returns the element type of a tensor; OM_UNDEFINED for any other kind.
  om_dtype dtype() const {
    om_dtype answer = OM_UNDEFINED;
    om_value_get_tensor(handle, &answer, nullptr, nullptr, nullptr);
    return answer;
  }
  /// Returns the dims of a tensor; empty for any other kind.
  std::vector<int64_t> dims() const {
    uint32_t rank = 0;
    const int64_t *dims = nullptr;
    om_value_get_tensor(handle, nullptr, &rank, &dims, nullptr);
    return {dims, dims + rank};
  }
  /// Returns the elements of a tensor, which live as long as the value; null for any other kind.
  template <typename T = void> const T *data() const {
    const void *answer = nullptr;
    om_value_get_tensor(handle, nullptr, nullptr, nullptr, &answer);
    return static_cast<const T *>(answer);
  }
  /// Returns an element of a tensor of strings; empty where there is none.
  std::string string(uint64_t index) const {
    const char *text = nullptr;
    size_t bytes = 0;
    om_value_get_string(handle, index, &text, &bytes);
    return std::string(text, bytes);
  }
  /// Returns an item of a sequence or map; empty where there is none.
  Value item(uint64_t index) const {
    Value answer(om_value_item(handle, index));
    answer.retain();
    return answer;
  }

private:
  template <typename Make> static Value made(Make make) {
    om_value *value = nullptr;
    return make(&value) == OM_OK ? Value(value) : Value();
  }
  void retain() {
    if (handle)
      om_value_retain(handle);
  }

  const om_value *handle = nullptr;
};

/// A loaded model; copies share it.
class Model {
public:
  /// Maps and verifies the file at `path`.
  static Model loadFile(const std::string &path, Error &error,
                        om_load_options options = OM_LOAD_OPTIONS_INIT) {
    om_model *model = nullptr;
    om_model_load_file(path.c_str(), &options, &model, &error.c);
    return Model(model);
  }
  /// Verifies a model in memory, which must outlive the Model.
  static Model loadMemory(const void *data, size_t bytes, Error &error,
                          om_load_options options = OM_LOAD_OPTIONS_INIT) {
    om_model *model = nullptr;
    om_model_load_memory(data, bytes, &options, &model, &error.c);
    return Model(model);
  }

  Model() = default;
  explicit operator bool() const { return handle != nullptr; }
  const om_model *get() const { return handle.get(); }

  /// Returns the facts about the model, which must exist.
  om_model_info info() const {
    om_model_info answer = OM_MODEL_INFO_INIT;
    om_model_get_info(get(), &answer);
    return answer;
  }
  /// Return the description of an input, output or tensor; empty where `index` is out of range.
  Tensor input(uint32_t index) const {
    return withDimNames(tensorFrom(om_model_get_input, index), OM_INPUT, index);
  }
  Tensor output(uint32_t index) const {
    return withDimNames(tensorFrom(om_model_get_output, index), OM_OUTPUT, index);
  }
  Tensor tensor(uint32_t index) const { return tensorFrom(om_model_get_tensor, index); }
  std::vector<Tensor> inputs() const { return all(&Model::input, info().inputs); }
  std::vector<Tensor> outputs() const { return all(&Model::output, info().outputs); }

  /// Return the index of the input or output with this name, OM_NO_INDEX where there is none.
  uint32_t findInput(const std::string &name) const {
    return om_model_find_input(get(), name.c_str());
  }
  uint32_t findOutput(const std::string &name) const {
    return om_model_find_output(get(), name.c_str());
  }
  /// Returns the facts that the model's author has stated about it, in the order of their keys.
  std::vector<std::pair<std::string, std::string>> metadata() const {
    std::vector<std::pair<std::string, std::string>> facts;
    const char *key = nullptr, *value = nullptr;
    for (uint32_t i = 0; om_model_get_metadata(get(), i, &key, &value) == OM_OK; ++i)
      facts.emplace_back(key, value);
    return facts;
  }

  /// Returns the gears of the model.
  Gears gears() const {
    om_gears_info from = OM_GEARS_INFO_INIT;
    om_model_get_gears(get(), &from);
    Gears result{from.kind, from.shape_input, {}, {}};
    for (uint32_t i = 0; i < from.gears; ++i) {
      om_gear_info gear = OM_GEAR_INFO_INIT;
      om_model_get_gear(get(), i, &gear);
      result.all.push_back({{gear.values, gear.values + from.values},
                            gear.first_launch,
                            gear.launches,
                            gear.arena_bytes});
    }
    for (uint32_t i = 0; i < from.axes; ++i) {
      result.axes.push_back(OM_GEAR_AXIS_INIT);
      om_model_get_gear_axis(get(), i, &result.axes.back());
    }
    return result;
  }
  /// Returns the states of the model; the names belong to it.
  std::vector<om_state_info> states() const {
    std::vector<om_state_info> list(om_model_states(get()), OM_STATE_INFO_INIT);
    for (uint32_t i = 0; i < list.size(); ++i)
      om_model_get_state(get(), i, &list[i]);
    return list;
  }
  /// Returns the description of an input or output in a gear.
  Tensor gearInput(uint32_t gear, uint32_t index) const {
    return tensorFrom([gear](auto... arguments) { return getGearInput(gear, arguments...); },
                      index);
  }
  Tensor gearOutput(uint32_t gear, uint32_t index) const {
    return tensorFrom([gear](auto... arguments) { return getGearOutput(gear, arguments...); },
                      index);
  }

  /// Returns the description of a launch; empty where `index` is out of range.
  Launch launch(uint32_t index) const {
    om_launch_info from = OM_LAUNCH_INFO_INIT;
    if (om_model_get_launch(get(), index, &from) != OM_OK)
      return {};
    return {from.name,
            from.kernel,
            from.cost,
            from.tasks,
            {from.reads, from.reads + from.reads_count},
            {from.writes, from.writes + from.writes_count},
            from.npu != 0,
            from.macs,
            from.host != 0,
            from.tensor ? from.tensor : ""};
  }

private:
  explicit Model(om_model *model) : handle(model, om_model_free) {}

  static om_status getGearInput(uint32_t gear, const om_model *model, uint32_t index,
                                om_tensor_info *info) {
    return om_model_get_gear_input(model, gear, index, info);
  }
  static om_status getGearOutput(uint32_t gear, const om_model *model, uint32_t index,
                                 om_tensor_info *info) {
    return om_model_get_gear_output(model, gear, index, info);
  }

  template <typename Get> Tensor tensorFrom(Get getInfo, uint32_t index) const {
    om_tensor_info from = OM_TENSOR_INFO_INIT;
    if (getInfo(get(), index, &from) != OM_OK)
      return {};
    return {from.name,          from.dtype, {from.dims, from.dims + from.rank},
            from.elements,      from.bytes, from.space,
            from.block,         from.kind,  from.ranked != 0,
            from.optional != 0, {}};
  }
  Tensor withDimNames(Tensor tensor, om_space space, uint32_t index) const {
    bool isNamed = false;
    for (uint32_t i = 0; i < tensor.dims.size(); ++i) {
      tensor.dimNames.emplace_back(om_model_dim_name(get(), space, index, i));
      isNamed |= !tensor.dimNames.back().empty();
    }
    if (!isNamed)
      tensor.dimNames.clear();
    return tensor;
  }
  std::vector<Tensor> all(Tensor (Model::*one)(uint32_t) const, uint32_t count) const {
    std::vector<Tensor> list;
    for (uint32_t i = 0; i < count; ++i)
      list.push_back((this->*one)(i));
    return list;
  }

  std::shared_ptr<om_model> handle;
};

/// Runs one inference at a time; keeps its model alive.
class Session {
public:
  Session() = default;
  /// Allocates the memory and starts the threads of a session.
  Session(const Model &model, Error &error, om_session_options options = OM_SESSION_OPTIONS_INIT)
      : owner(model) {
    om_session *session = nullptr;
    om_session_create(model.get(), &options, &session, &error.c);
    handle.reset(session);
  }
  explicit operator bool() const { return handle != nullptr; }
  om_session *get() const { return handle.get(); }

  /// Selects the gear of all following runs; without values each run selects its own. Returns
  /// whether it succeeded.
  bool setGear(const std::vector<int64_t> &values, Error &error) {
    return om_session_set_gear(get(), values.data(), static_cast<uint32_t>(values.size()),
                               &error.c) == OM_OK;
  }
  /// Returns the gear that was set or used last, or OM_NO_GEAR.
  uint32_t gear() const { return om_session_gear(get()); }

  /// Runs the model on dense 64-byte aligned tensors; see om_session_run. Returns whether it
  /// succeeded.
  bool run(const void *const *inputs, void *const *outputs, Error &error) {
    return om_session_run(get(), inputs, outputs, &error.c) == OM_OK;
  }
  /// Runs the model and calls `observer(launch)` after each launch.
  template <typename Observer>
  bool run(const void *const *inputs, void *const *outputs, Observer &&observer, Error &error) {
    using Type = std::remove_reference_t<Observer>;
    auto callback = [](void *user, uint32_t launch) -> int {
      (*static_cast<Type *>(user))(launch);
      return 0;
    };
    return om_session_run_observed(get(), inputs, outputs, callback, &observer, &error.c) == OM_OK;
  }
  /// Runs any model on values of any shape. Returns no outputs on failure.
  std::vector<Value> run(const std::vector<Value> &inputs, Error &error) {
    return runValues(inputs, nullptr, nullptr, error);
  }
  /// Runs any model on values and calls `observer(launch)` after each launch and each call of a
  /// host kernel. Returns no outputs on failure.
  template <typename Observer>
  std::vector<Value> run(const std::vector<Value> &inputs, Observer &&observer, Error &error) {
    using Type = std::remove_reference_t<Observer>;
    auto callback = [](void *user, uint32_t launch) -> int {
      (*static_cast<Type *>(user))(launch);
      return 0;
    };
    return runValues(inputs, callback, &observer, error);
  }
  /// Returns an output of the call of a host kernel that an observer is called for; see
  /// om_session_result. It must not be kept longer.
  Value result(uint32_t launch, uint32_t output) const {
    const om_value *value = om_session_result(get(), launch, output);
    if (value)
      om_value_retain(value);
    return Value(value);
  }

  /// Makes the session keep its state from run to run, or not; see om_session_keep_state. Returns
  /// whether it succeeded. The outputs that become states are empty values then, and their inputs
  /// may be.
  bool keepState(bool on, Error &error) {
    return om_session_keep_state(get(), on, &error.c) == OM_OK;
  }
  /// Forgets the state: the next run starts from the beginning.
  void resetState() { om_session_reset_state(get()); }
  /// Returns a dense copy of state `index`; empty where no run has made one, or on failure.
  Value readState(uint32_t index, Error &error) {
    om_value *value = nullptr;
    om_session_read_state(get(), index, &value, &error.c);
    return Value(static_cast<const om_value *>(value));
  }
  /// Sets state `index`, which shares the value; an empty one resets it. Returns whether it
  /// succeeded.
  bool writeState(uint32_t index, const Value &value, Error &error) {
    return om_session_write_state(get(), index, value.get(), &error.c) == OM_OK;
  }

  /// Ends the run in progress, or else the next one. May be called by any thread and in a signal
  /// handler.
  void cancel() const { om_session_cancel(handle.get()); }

private:
  std::vector<Value> runValues(const std::vector<Value> &inputs, om_launch_callback callback,
                               void *user, Error &error) {
    std::vector<const om_value *> given(owner.info().inputs, nullptr);
    for (size_t i = 0; i < given.size() && i < inputs.size(); ++i)
      given[i] = inputs[i].get();
    std::vector<om_value *> made(owner.info().outputs, nullptr);
    error = {};
    if (om_session_run_values_observed(get(), given.data(), made.data(), callback, user,
                                       &error.c) != OM_OK)
      return {};
    std::vector<Value> outputs;
    for (om_value *value : made)
      outputs.emplace_back(static_cast<const om_value *>(value));
    return outputs;
  }

  struct Free {
    void operator()(om_session *session) const { om_session_free(session); }
  };
  Model owner;
  std::unique_ptr<om_session, Free> handle;
};

} // namespace om

#endif
