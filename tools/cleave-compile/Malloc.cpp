// The process's memory is mimalloc's: planning makes and frees very many small tables, maps and
// strings, on which malloc of the C library takes a quarter of the time (decision 0050). Operators
// new and delete are those of the C++ library, on top of it.
//
// malloc does not return null: MLIR makes operations in memory from malloc without looking at it.
// Where memory is at its end, the handler of operator new ends the process with a message. What was
// freed is not given back to the system: it is used again soon, and that would cost page faults.
#include <cstddef>
#include <new>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <mimalloc.h>

[[maybe_unused]] static const bool kKeepsFreed =
    (mi_option_disable(mi_option_allow_decommit), true);

extern "C" void *malloc(std::size_t bytes) {
  void *memory = mi_malloc(bytes);
  if (std::new_handler handler = memory ? nullptr : std::get_new_handler())
    handler();
  return memory;
}

#endif
