# Precompiled headers for targets without MLIR: the standard library's headers that they include,
# and those of the libraries that a target names.

option(OPENATC_PCH "Compile with the precompiled headers; OFF shows sources that include too little" ON)

# libstdc++ 12 silences what std::stable_sort calls by a pragma, which a precompiled header loses.
if(OPENATC_PCH AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-Wno-deprecated-declarations>")
endif()

set(OPENATC_STANDARD_HEADERS
  <algorithm> <array> <atomic> <chrono> <cmath> <condition_variable> <cstdint> <cstdio> <cstring> <functional>
  <map> <memory> <mutex> <numeric> <optional> <set> <span> <string> <string_view> <thread> <unordered_map>
  <utility> <vector>)

# openatc_use_standard_headers(<target> [headers...]): compiles the target's C++ with a precompiled
# header of its own. Worth it for ten sources and more.
function(openatc_use_standard_headers name)
  if(OPENATC_PCH)
    target_precompile_headers(${name} PRIVATE ${OPENATC_STANDARD_HEADERS} ${ARGN})
  endif()
endfunction()

# openatc_use_test_headers(<target>): compiles a test without MLIR with Catch2 and the standard library's
# headers precompiled, once for all tests.
function(openatc_use_test_headers name)
  if(OPENATC_PCH)
    target_precompile_headers(${name} REUSE_FROM openatc_test_pch)
  endif()
endfunction()
