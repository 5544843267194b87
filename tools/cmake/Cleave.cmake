# The functions that every CMakeLists.txt of Cleave uses.
#
#   cleave_library(compiler/solver SRCS a.cpp … DEPS compiler/cost nlohmann_json …)
#     A static library named by its folder. DEPS are exactly the folders and outside libraries whose
#     headers it includes; test/structure checks that they agree with the #include lines.
#     COLD: no user waits for its code, so that it is optimised little, which compiles a quarter faster.
#   cleave_tool(cleave-run PURPOSE "…" SRCS main.cpp DEPS …)
#     An executable in build/bin. With a PURPOSE, it is a command of `cleave`, which lists it.
#   cleave_unit_test(solver SRCS … DEPS …)              a Catch2 executable, one ctest, label fast
#   cleave_tablegen(graph FILE.td OUTPUT.inc ARGS …)    one generated file; collected per dialect
#   cleave_generates(dialects/graph graph)              the library that they belong to
#   cleave_protobuf(runtime/artifact FILE.proto)        the C++ classes of a .proto file

set(CLEAVE_WARNINGS -Wall -Wextra -Werror -Wno-unused-parameter -Wno-missing-field-initializers)
if(CLEAVE_SANITIZE)
  list(APPEND CLEAVE_WARNINGS -Wno-error)  # GCC warns of the standard library's code where it is instrumented
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  list(APPEND CLEAVE_WARNINGS -Wno-error) # written for GCC, whose warnings they are
endif()

# compiler/solver -> compiler_solver; names without a slash are outside targets and stay as they are.
function(cleave_target_names OUT)
  set(names)
  foreach(dep ${ARGN})
    string(REPLACE "/" "_" name ${dep})
    list(APPEND names ${name})
  endforeach()
  set(${OUT} ${names} PARENT_SCOPE)
endfunction()

function(cleave_configure_target target)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  target_compile_options(${target} PRIVATE ${CLEAVE_WARNINGS})
  set_property(GLOBAL APPEND PROPERTY CLEAVE_TARGETS ${target}) # see PrecompiledHeaders.cmake
endfunction()

function(cleave_library NAME)
  cmake_parse_arguments(ARG "COLD" "" "SRCS;DEPS" ${ARGN})
  cleave_target_names(target ${NAME})
  cleave_target_names(deps ${ARG_DEPS})
  if(ARG_SRCS)
    add_library(${target} STATIC ${ARG_SRCS})
    cleave_configure_target(${target})
    if(ARG_COLD)
      target_compile_options(${target} PRIVATE -O1)
    endif()
    if("openmp" IN_LIST deps) # only these sources need its compiler flag
      list(REMOVE_ITEM deps openmp)
      target_link_libraries(${target} PRIVATE openmp)
    endif()
    target_link_libraries(${target} PUBLIC ${deps})
    foreach(folder ${CLEAVE_COVERAGE})
      if(NAME MATCHES "^${folder}(/|$)")
        target_compile_options(${target} PRIVATE --coverage -O0 -fprofile-update=atomic)
        target_link_options(${target} PUBLIC --coverage)
      endif()
    endforeach()
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    target_link_libraries(${target} INTERFACE ${deps})
  endif()
endfunction()

function(cleave_tool NAME)
  cmake_parse_arguments(ARG "" "PURPOSE" "SRCS;DEPS" ${ARGN})
  cleave_target_names(deps ${ARG_DEPS})
  add_executable(${NAME} ${ARG_SRCS})
  cleave_configure_target(${NAME})
  target_link_libraries(${NAME} PRIVATE ${deps})
  if(ARG_PURPOSE)
    set_property(GLOBAL APPEND PROPERTY CLEAVE_COMMANDS ${NAME})
    set_property(TARGET ${NAME} PROPERTY CLEAVE_PURPOSE ${ARG_PURPOSE})
  endif()
endfunction()

function(cleave_unit_test NAME)
  cmake_parse_arguments(ARG "" "LABEL" "SRCS;DEPS" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL fast)
  endif()
  cleave_tool(unit-${NAME} SRCS ${ARG_SRCS} DEPS ${ARG_DEPS} catch2_main)
  target_compile_options(unit-${NAME} PRIVATE -O1) # as of a COLD library
  set_target_properties(unit-${NAME} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test/unit)
  add_test(NAME unit-${NAME} COMMAND unit-${NAME})
  set_tests_properties(unit-${NAME} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 7200) # for a busy machine
endfunction()

# Runs mlir-tblgen on TD; OUT lands at the sources' place in the build tree. NAME collects the outputs.
function(cleave_tablegen NAME TD OUT)
  set(LLVM_TARGET_DEFINITIONS ${TD})
  mlir_tablegen(${OUT} ${ARGN} EXTRA_INCLUDES ${PROJECT_SOURCE_DIR} ${MLIR_INCLUDE_DIRS})
  set_property(GLOBAL APPEND PROPERTY CLEAVE_TABLEGEN_${NAME} ${CMAKE_CURRENT_BINARY_DIR}/${OUT})
endfunction()

# Library LIB includes what cleave_tablegen collected under NAME; so whoever includes LIB's headers waits for it.
function(cleave_generates LIB NAME)
  cleave_target_names(target ${LIB})
  get_property(outputs GLOBAL PROPERTY CLEAVE_TABLEGEN_${NAME})
  add_custom_target(${target}_generated DEPENDS ${outputs})
  add_dependencies(${target} ${target}_generated)
endfunction()

# A static library with the C++ classes of one .proto file (included as "FOLDER/FILE.pb.h"), named
# FOLDER/FILE without its ending: runtime/artifact/program.
function(cleave_protobuf FOLDER FILE)
  get_filename_component(stem ${FILE} NAME_WE)
  cleave_target_names(target ${FOLDER}/${stem})
  set(outputs ${PROJECT_BINARY_DIR}/${FOLDER}/${stem}.pb.cc ${PROJECT_BINARY_DIR}/${FOLDER}/${stem}.pb.h)
  add_custom_command(OUTPUT ${outputs}
    COMMAND protobuf::protoc --cpp_out=${PROJECT_BINARY_DIR} -I${PROJECT_SOURCE_DIR} ${FOLDER}/${FILE}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    DEPENDS ${PROJECT_SOURCE_DIR}/${FOLDER}/${FILE} VERBATIM)
  add_library(${target} STATIC ${outputs})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  target_link_libraries(${target} PUBLIC protobuf)
endfunction()
