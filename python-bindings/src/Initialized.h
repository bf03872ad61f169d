//===-- Initialized.h - objects that __init__ has made --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Model.__new__(Model) makes an object with nothing in it, for which pybind11 passes memory that
// nobody has written. OPENATC_INITIALIZED stands behind the declaration of a class that Python
// sees, so that every function refuses such an object.

#ifndef OPENATC_PYTHON_INITIALIZED_H
#define OPENATC_PYTHON_INITIALIZED_H

#include <pybind11/pybind11.h>

#include <memory>
#include <string>

namespace atc::python {

/// `Base` is the caster of pybind11 for T, or for the holder of T.
template <typename T, typename Base> struct InitializedCaster : Base {
  using Base::Base;
  /// Raises TypeError for an object of T that has no value.
  bool load(pybind11::handle source, bool convert) {
    namespace detail = pybind11::detail;
    if (pybind11::isinstance<T>(source)) {
      auto *object = reinterpret_cast<detail::instance *>(source.ptr());
      if (!object->get_value_and_holder(detail::get_type_info(typeid(T))).value_ptr())
        throw pybind11::type_error("this " + std::string(Py_TYPE(source.ptr())->tp_name) +
                                   " was not initialized: its __init__ was never called");
    }
    return Base::load(source, convert);
  }
};

} // namespace atc::python

/// Refuses objects of a class that were not initialized. Outside of all namespaces, once per class.
#define OPENATC_INITIALIZED(Class)                                                                 \
  template <>                                                                                      \
  class pybind11::detail::type_caster<Class>                                                       \
      : public atc::python::InitializedCaster<Class, type_caster_base<Class>> {};                  \
  template <>                                                                                      \
  class pybind11::detail::type_caster<std::shared_ptr<Class>>                                      \
      : public atc::python::InitializedCaster<                                                     \
            Class, copyable_holder_caster<Class, std::shared_ptr<Class>>> {};

#endif // OPENATC_PYTHON_INITIALIZED_H
