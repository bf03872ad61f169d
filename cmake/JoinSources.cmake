# Several sources compiled as one: most of what a source costs are the templates of MLIR and of the standard
# library that its neighbours use as well. Names inside namespace { } are therefore unique in a library.

option(OPENATC_UNITY "Compile several sources of a library as one, in less than half the time; OFF: each alone" ON)

# openatc_join_sources(<target>): the sources that the target was made with, six as one. Those with `using
# namespace llvm;` are joined with each other only: beside the namespace mlir of another source their
# names, such as Value and Type, are ambiguous.
function(openatc_join_sources name)
  set_target_properties(${name} PROPERTIES UNITY_BUILD "${OPENATC_UNITY}" UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${name} SOURCES)
  set(count_plain 0)
  set(count_llvm 0)
  foreach(source IN LISTS sources)
    if(source MATCHES "\\.cpp$" AND EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${source}")
      file(STRINGS "${source}" opened REGEX "^using namespace llvm;" LIMIT_COUNT 1)
      set(kind plain)
      if(opened)
        set(kind llvm)
      endif()
      math(EXPR group "${count_${kind}} / 6")
      math(EXPR count_${kind} "${count_${kind}} + 1")
      set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${kind}_${group}")
    endif()
  endforeach()
endfunction()
