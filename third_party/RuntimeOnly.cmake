# The outside libraries of a build with CLEAVE_RUNTIME_ONLY, all static, so that its executables need glibc alone.
# oneDNN and Gloo are left out: runtime/device/cpu/WithoutDnnl.cpp, runtime/comm/gloo/WithoutGloo.cpp.

set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)

set(Protobuf_USE_STATIC_LIBS ON)
find_package(Protobuf REQUIRED)
add_library(protobuf ALIAS protobuf::libprotobuf)

find_package(nlohmann_json 3 REQUIRED)
if(NOT TARGET nlohmann_json)
  add_library(nlohmann_json ALIAS nlohmann_json::nlohmann_json)
endif()

find_package(CLI11 2 REQUIRED)
add_library(cli11 ALIAS CLI11::CLI11)

set(ZLIB_USE_STATIC_LIBS ON)
find_package(ZLIB REQUIRED)
add_library(zlib ALIAS ZLIB::ZLIB)

find_package(JPEG REQUIRED)
add_library(jpeg ALIAS JPEG::JPEG)
find_package(PNG REQUIRED)
add_library(png ALIAS PNG::PNG)

find_library(CLEAVE_SODIUM sodium REQUIRED)
add_library(sodium INTERFACE)
target_link_libraries(sodium INTERFACE ${CLEAVE_SODIUM})

find_package(Threads REQUIRED)
add_library(threads ALIAS Threads::Threads)

# The linker option -fopenmp would choose libgomp.so.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libgomp.a OUTPUT_VARIABLE gomp
                OUTPUT_STRIP_TRAILING_WHITESPACE)
add_library(openmp INTERFACE)
target_compile_options(openmp INTERFACE -fopenmp)
target_link_libraries(openmp INTERFACE ${gomp} threads)

add_library(dnnl_lib INTERFACE)
add_library(gloo_lib INTERFACE)
target_link_libraries(gloo_lib INTERFACE threads)
