# Precompiled headers. Parsing the headers of MLIR, the standard library and Catch2 takes longer than compiling
# Cleave's own code; targets with the same outside libraries therefore share one precompiled set.
#
#   cleave_precompile_headers()   applies it to all libraries, tools and tests; called once, at the end
#
# Only headers from outside Cleave belong here: a change of one recompiles everything. Sources still include what
# they use; -DCLEAVE_PRECOMPILED_HEADERS=OFF checks that. With other compilers than GCC, and with flags for fuzzing
# or coverage, nothing is precompiled.

option(CLEAVE_PRECOMPILED_HEADERS "Precompile the headers of outside libraries; GCC only" ON)

set(CLEAVE_HEADERS <algorithm> <chrono> <fstream> <functional> <map> <memory> <numeric> <optional> <set> <sstream>
  <string> <unordered_map> <variant> <vector>)
set(CLEAVE_HEADERS_mlir <mlir/Dialect/Func/IR/FuncOps.h> <mlir/IR/Builders.h> <mlir/IR/BuiltinOps.h>
  <mlir/IR/IRMapping.h> <mlir/IR/OpImplementation.h> <mlir/IR/PatternMatch.h> <mlir/IR/TypeUtilities.h>
  <mlir/Interfaces/ControlFlowInterfaces.h> <mlir/Interfaces/InferTypeOpInterface.h>
  <mlir/Interfaces/SideEffectInterfaces.h> <llvm/ADT/TypeSwitch.h>)
set(CLEAVE_HEADERS_catch2_main <catch2/catch.hpp>)

# ccache requires -fpch-preprocess. GCC 12 does not recognise precompiled standard headers as system headers and reports
# its false positives in std::string: these warnings are off.
set(CLEAVE_PRECOMPILED_OPTIONS -fpch-preprocess -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
  -Wno-stringop-overread)

# Sets OUT to the libraries of CLEAVE_HEADERS_… that TARGET links, directly or through Cleave's libraries.
function(cleave_header_libraries OUT TARGET)
  get_property(known GLOBAL PROPERTY CLEAVE_HEADER_LIBRARIES_${TARGET} SET)
  if(NOT known)
    get_target_property(type ${TARGET} TYPE)
    set(property LINK_LIBRARIES)
    if(type STREQUAL INTERFACE_LIBRARY)
      set(property INTERFACE_LINK_LIBRARIES)
    endif()
    get_target_property(linked ${TARGET} ${property})
    set(found)
    foreach(library ${linked})
      if(DEFINED CLEAVE_HEADERS_${library})
        list(APPEND found ${library})
      elseif(library MATCHES "^(runtime|dialects|compiler|passes|tools|test)_" AND TARGET ${library})
        cleave_header_libraries(through ${library})
        list(APPEND found ${through})
      endif()
    endforeach()
    list(REMOVE_DUPLICATES found)
    list(SORT found)
    set_property(GLOBAL PROPERTY CLEAVE_HEADER_LIBRARIES_${TARGET} "${found}")
  endif()
  get_property(found GLOBAL PROPERTY CLEAVE_HEADER_LIBRARIES_${TARGET})
  set(${OUT} ${found} PARENT_SCOPE)
endfunction()

# Sets OUT to the target that compiles the headers for these libraries; makes it when first asked.
function(cleave_header_target OUT)
  list(JOIN ARGN "-" name)
  string(PREPEND name "precompiled-headers-")
  string(REGEX REPLACE "-$" "" name ${name})
  set(${OUT} ${name} PARENT_SCOPE)
  if(NOT TARGET ${name})
    set(headers ${CLEAVE_HEADERS})
    foreach(library ${ARGN})
      list(APPEND headers ${CLEAVE_HEADERS_${library}})
    endforeach()
    set(source ${PROJECT_BINARY_DIR}/tools/cmake/${name}.cpp)
    file(GENERATE OUTPUT ${source} CONTENT "")
    add_library(${name} OBJECT EXCLUDE_FROM_ALL ${source})
    target_link_libraries(${name} PRIVATE ${ARGN})
    target_compile_options(${name} PRIVATE ${CLEAVE_WARNINGS})
    target_precompile_headers(${name} PRIVATE ${headers})
  endif()
endfunction()

function(cleave_precompile_headers)
  if(NOT CLEAVE_PRECOMPILED_HEADERS OR CLEAVE_FUZZ OR CLEAVE_COVERAGE OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  get_property(targets GLOBAL PROPERTY CLEAVE_TARGETS)
  foreach(target ${targets})
    get_target_property(sources ${target} SOURCES)
    get_target_property(linked ${target} LINK_LIBRARIES)
    # Other languages and other flags than those of the headers.
    if(NOT sources MATCHES "[.](c|cu)(;|$)" AND NOT "openmp" IN_LIST linked)
      cleave_header_libraries(libraries ${target})
      cleave_header_target(headers ${libraries})
      target_precompile_headers(${target} REUSE_FROM ${headers})
      target_compile_options(${target} PRIVATE ${CLEAVE_PRECOMPILED_OPTIONS})
    endif()
  endforeach()
endfunction()
