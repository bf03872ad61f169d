# openatc_add_schema(<target> <file>): the C++ classes of a file format, made by protoc from a .proto
# file of the current folder. They are included by the path of that file in the project.
function(openatc_add_schema target file)
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY "${PROJECT_SOURCE_DIR}"
             OUTPUT_VARIABLE folder)
  cmake_path(GET file STEM stem)
  set(proto "${CMAKE_CURRENT_SOURCE_DIR}/${file}")
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/${stem}.pb.cc" "${CMAKE_CURRENT_BINARY_DIR}/${stem}.pb.h")
  add_custom_command(
    OUTPUT ${generated}
    COMMAND protobuf::protoc "-I${PROJECT_SOURCE_DIR}" "--cpp_out=${PROJECT_BINARY_DIR}" "${proto}"
    DEPENDS "${proto}"
    COMMENT "protoc ${folder}/${file}")
  add_library(${target} STATIC ${generated})
  target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>")
  target_link_libraries(${target} PUBLIC protobuf::libprotobuf)
  target_compile_options(${target} PRIVATE -w)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()
