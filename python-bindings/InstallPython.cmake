# The component `python`: what a wheel holds. Libraries that a plain Debian has
# not go along into openatc/lib, where the modules look first; libMLIR and libLLVM
# look in ../lib of their own folder, which is the same one.

set(served ${copies})
list(FILTER copies EXCLUDE REGEX "/serve/")
list(FILTER served INCLUDE REGEX "/serve/")
install(FILES ${copies} DESTINATION openatc COMPONENT python)
install(FILES ${served} DESTINATION openatc/serve COMPONENT python)
install(TARGETS ${modules} LIBRARY DESTINATION openatc COMPONENT python)

if(OPENATC_BUILD_COMPILER AND OPENATC_PYTHON_BUNDLE)
  install(CODE "
    file(GET_RUNTIME_DEPENDENCIES
      RESOLVED_DEPENDENCIES_VAR found
      UNRESOLVED_DEPENDENCIES_VAR missing
      MODULES \"$<TARGET_FILE:_compiler>\"
      PRE_EXCLUDE_REGEXES [[^ld-linux]] [[^lib(c|m|dl|rt|pthread|stdc[+][+]|gcc_s)[.]so]])
    if(missing)
      message(FATAL_ERROR \"Not found: \${missing}\")
    endif()
    # A wheel has no links: each library goes under the name that others load it by.
    set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/openatc/lib\")
    file(MAKE_DIRECTORY \"\${folder}\")
    foreach(library IN LISTS found)
      get_filename_component(name \"\${library}\" NAME)
      file(REAL_PATH \"\${library}\" source)
      file(COPY_FILE \"\${source}\" \"\${folder}/\${name}\" ONLY_IF_DIFFERENT)
    endforeach()"
    COMPONENT python)
endif()
