# Man pages and completions of the tools, made from the options that the tools print themselves. A
# tool for another processor cannot be asked: a build for one has none.

find_program(OPENATC_PAGES_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(CMAKE_CROSSCOMPILING OR NOT OPENATC_PAGES_PYTHON)
  return()
endif()

# openatc_pages(<component> <tools>...): pages of the tools that are built.
function(openatc_pages component)
  foreach(tool IN LISTS ARGN)
    if(NOT TARGET ${tool})
      continue()
    endif()
    set(folder "${PROJECT_BINARY_DIR}/pages")
    set(pages "${folder}/man1/${tool}.1" "${folder}/bash/${tool}" "${folder}/zsh/_${tool}")
    add_custom_command(OUTPUT ${pages}
      COMMAND "${OPENATC_PAGES_PYTHON}" "${PROJECT_SOURCE_DIR}/scripts/make_man.py" "${folder}"
              "$<TARGET_FILE:${tool}>"
      DEPENDS ${tool} "${PROJECT_SOURCE_DIR}/scripts/make_man.py"
      COMMENT "Man page and completions of ${tool}" VERBATIM)
    add_custom_target(${tool}-pages ALL DEPENDS ${pages})
    list(GET pages 0 man)
    list(GET pages 1 bash)
    list(GET pages 2 zsh)
    install(FILES "${man}" DESTINATION "${CMAKE_INSTALL_DATADIR}/man/man1" COMPONENT ${component})
    install(FILES "${bash}" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions"
            COMPONENT ${component})
    install(FILES "${zsh}" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions"
            COMPONENT ${component})
  endforeach()
endfunction()

openatc_pages(tools om-run om-dump om-sign npu-cluster)
openatc_pages(compiler atc amct aoe atc-translate npu-sim)
