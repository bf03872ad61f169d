# Several sources compiled as one: most of what a source costs are the templates of MLIR and of the standard
# library that its neighbours use as well. Names inside namespace { } are therefore unique in a library.

option(OPENATC_UNITY "Compile several sources of a library as one, in less than half the time; OFF: each alone" ON)

# openatc_join_sources(<target>): the sources that the target was made with, six as one. Those with `using
# namespace llvm;` are joined with each other only: beside the namespace mlir of another source their
# names, such as Value and Type, are ambiguous. So that a change of a family of graph ops compiles little that
# does not use it, sources that include the same families become neighbours, those that include none are not
# joined with those that do, and those that define ops or register all passes stay alone. Where ops of the
# dialect `kernel` are in use, which have names of graph ops, the order is the given one.
function(openatc_join_sources name)
  set_target_properties(${name} PROPERTIES UNITY_BUILD "${OPENATC_UNITY}" UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${name} SOURCES)
  set(keyed)
  set(order_given FALSE)
  foreach(source IN LISTS sources)
    if(source MATCHES "\\.cpp$" AND EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${source}")
      file(STRINGS "${source}" lines REGEX "^(using namespace llvm;|#define GET_OP_CLASSES|#include \"dialects/|#include \".*/Passes.h\")")
      string(REGEX MATCHALL "/Passes.h" passes "${lines}")
      list(LENGTH passes passes)
      if(lines MATCHES "GET_OP_CLASSES" OR passes GREATER 3)
        continue()
      endif()
      if(lines MATCHES "\"dialects/kernel/")
        set(order_given TRUE)
      endif()
      set(kind plain)
      if(lines MATCHES "using namespace")
        set(kind llvm)
      endif()
      string(REGEX MATCHALL "dialects/graph/(Graph|ops/[A-Za-z]+)\\.h" families "${lines}")
      list(JOIN families "" families)
      list(APPEND keyed "${kind}|${families}|${source}")
    endif()
  endforeach()
  if(NOT order_given)
    list(SORT keyed)
  endif()
  foreach(kind plain plain_ops llvm llvm_ops)
    set(count_${kind} 0)
  endforeach()
  foreach(each IN LISTS keyed)
    string(REGEX MATCH "^([a-z]+)\\|(.*)\\|(.*)$" matched "${each}")
    set(kind ${CMAKE_MATCH_1})
    set(source ${CMAKE_MATCH_3})
    if(CMAKE_MATCH_2 AND NOT order_given)
      string(APPEND kind _ops)
    endif()
    math(EXPR group "${count_${kind}} / 6")
    math(EXPR count_${kind} "${count_${kind}} + 1")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${kind}_${group}")
  endforeach()
endfunction()
