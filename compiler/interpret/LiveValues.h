// LiveValues: the contents of the SSA values of a block that is being interpreted, each from its
// definition to its last use. `T` is a tensor for one rank, or one tensor per rank.
#pragma once

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

#include <iterator>

namespace cleave::interpret {

template <typename T> class LiveValues {
public:
  // Defines a value. A value without uses is not kept.
  void set(mlir::Value value, T held) {
    auto uses = static_cast<unsigned>(std::distance(value.use_begin(), value.use_end()));
    if (uses > 0)
      entries_[value] = {std::move(held), uses};
  }

  // The contents of a value, which must be alive (asserted).
  const T &get(mlir::Value value) const {
    auto entry = entries_.find(value);
    assert(entry != entries_.end() && "read before its definition or after its last use");
    return entry->second.held;
  }
  bool isAlive(mlir::Value value) const { return entries_.contains(value); }

  // Drops the operands whose last use is `op`. To be called once after `op` has run.
  void release(mlir::Operation *op) {
    for (mlir::Value operand : op->getOperands()) {
      auto entry = entries_.find(operand);
      if (entry != entries_.end() && --entry->second.usesLeft == 0)
        entries_.erase(entry);
    }
  }

private:
  struct Entry {
    T held;
    unsigned usesLeft = 0;
  };
  llvm::DenseMap<mlir::Value, Entry> entries_;
};

} // namespace cleave::interpret
