# Several sources compiled as one: most of what a source costs are the templates of MLIR and of the standard
# library that its neighbours use as well. Names inside namespace { } are therefore unique in a library.

option(OPENATC_UNITY "Compile several sources of a library as one, in less than half the time; OFF: each alone" ON)

# openatc_join_sources(<target>)
function(openatc_join_sources name)
  set_target_properties(${name} PROPERTIES UNITY_BUILD "${OPENATC_UNITY}" UNITY_BUILD_BATCH_SIZE 6)
  get_target_property(sources ${name} SOURCES)
  foreach(source IN LISTS sources)
    # Beside the namespace mlir of another source its names, such as Value and Type, are ambiguous.
    if(source MATCHES "\\.cpp$" AND EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${source}")
      file(STRINGS "${source}" opened REGEX "^using namespace llvm;" LIMIT_COUNT 1)
      if(opened)
        set_source_files_properties("${source}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      endif()
    endif()
  endforeach()
endfunction()
