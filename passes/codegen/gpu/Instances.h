// Instances: one launch that computes a kernel several times, each time on other buffers.
#pragma once

#include <cstdint>
#include <string>

namespace llvm {
class Module;
}

namespace cleave::codegen {

// Replaces the function `symbol(buffer0, buffer1, …, block)` of the module, where `block` is the
// index of a block among the `blocks` of one instance, by a kernel of the same name for `instances`
// times as many blocks. The kernel's only parameter is the array of all addresses, by value, the
// first instance's first. In the memory of a launch's parameters, this array looks like one
// parameter per address.
void launchInstances(llvm::Module &module, const std::string &symbol, int64_t instances,
                     int64_t blocks);

} // namespace cleave::codegen
