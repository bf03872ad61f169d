# Writes the entries of a library (Entries.h):
#
#   cmake -Dheaders=FILE [-Dwithout=FILE] -Dentries=FILE -Dnames=FILE -P entries.cmake
#
# `headers` is preprocessed; functions that `without`, preprocessed as well, declares are another
# library's. `entries` gets a line per function, and `names` what gives the functions other names.
function(read_names file result)
  file(READ "${file}" text)
  # A line is a declaration.
  string(REGEX REPLACE "[\n\t]" " " text "${text}")
  string(REPLACE ";" "\n" text "${text}")
  # A function with open arguments cannot be called by another one, and has to catch by itself.
  string(REGEX REPLACE "[^\n]*\\.\\.\\.[^\n]*" "" text "${text}")
  string(REGEX MATCHALL "visibility\\(\"default\"\\)\\)\\)[^\n(){}=]*[ *][a-zA-Z_][a-zA-Z_0-9]* *\\(" found "${text}")
  list(TRANSFORM found REPLACE ".*[ *]([a-zA-Z_][a-zA-Z_0-9]*) *\\($" "\\1")
  list(REMOVE_DUPLICATES found)
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

read_names("${headers}" found)
if(without)
  read_names("${without}" others)
  list(REMOVE_ITEM found ${others})
endif()
list(TRANSFORM found REPLACE "(.+)" "ASCEND_ENTRY(\\1)\n" OUTPUT_VARIABLE lines)
list(TRANSFORM found REPLACE "(.+)" "#pragma redefine_extname \\1 atc_entry_\\1\n" OUTPUT_VARIABLE pragmas)
list(JOIN lines "" lines)
list(JOIN pragmas "" pragmas)
file(CONFIGURE OUTPUT "${entries}" CONTENT "${lines}" @ONLY)
file(CONFIGURE OUTPUT "${names}" CONTENT "${pragmas}" @ONLY)
