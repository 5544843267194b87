# Run by `cmake --install`: copies the libraries that the installed tools load into lib/cleave/lib, each under the name by which
# it is loaded, the linker of kernels into lib/cleave/bin, and the licences of both into lib/cleave/licences. LLVM is the folder
# with the linker.
set(root $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX})
set(own ${root}/lib/cleave)
file(GLOB tools ${root}/bin/cleave*)

# A warning names each library found in a given folder: the folders of LLVM alone.
get_filename_component(folders ${LLVM}/../lib ABSOLUTE)

# Left to the system: glibc and the libraries of GCC, which other libraries of a process need in a newer version (CUDA's), and
# libibverbs, whose drivers are the system's.
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${tools} ${LLVM}/lld
  RESOLVED_DEPENDENCIES_VAR libraries UNRESOLVED_DEPENDENCIES_VAR missing
  DIRECTORIES ${folders}
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|stdc\\+\\+|gcc_s|ibverbs)\\.so")
if(missing)
  message(FATAL_ERROR "found no ${missing}, which the tools load: install the packages of tools/build.sh")
endif()

file(REMOVE_RECURSE ${own})
file(MAKE_DIRECTORY ${own}/bin ${own}/lib ${own}/licences)
file(COPY_FILE ${LLVM}/lld ${own}/bin/lld)
# Only an environment makes lld find the libraries that its libraries need.
file(WRITE ${own}/bin/ld.lld [[
#!/bin/sh
own=$(dirname "$0")
LD_LIBRARY_PATH=$own/../lib exec "$own/lld" -flavor gnu "$@"
]])
file(CHMOD ${own}/bin/ld.lld PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(originals ${LLVM}/lld)
foreach(library ${libraries})
  file(REAL_PATH ${library} original)
  cmake_path(GET library FILENAME name)
  file(COPY_FILE ${original} ${own}/lib/${name})
  list(APPEND originals ${original})
endforeach()

# Debian keeps the licence of a package in its documentation.
foreach(file ${originals})
  cmake_path(GET file FILENAME name)
  execute_process(COMMAND dpkg-query --search */${name} OUTPUT_VARIABLE found ERROR_QUIET)
  string(REGEX MATCH "^[^:]+" package "${found}")
  if(EXISTS /usr/share/doc/${package}/copyright)
    file(COPY_FILE /usr/share/doc/${package}/copyright ${own}/licences/${package})
  else()
    message(WARNING "found no licence of ${file} in /usr/share/doc")
  endif()
endforeach()
