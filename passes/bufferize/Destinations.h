// Destinations: the places to which results are written directly because their only reader would
// copy them there. Examples are the dense result of a transpose, a part of a concat, and an
// argument that is replaced. PlanDestinations.h chooses them.
#pragma once

#include "passes/bufferize/View.h"

#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace cleave::bufferize {

class Destinations {
public:
  // The destination of a value; null if it has none.
  const View *find(mlir::Value value) const {
    auto it = views_.find(value);
    return it == views_.end() ? nullptr : &it->second;
  }
  bool contains(mlir::Value value) const { return views_.contains(value); }
  void set(mlir::Value value, View view) { views_[value] = std::move(view); }

  // Sets the value with which the buffer is filled before the first op that writes to it.
  void setPadding(mlir::Value buffer, double value) { padding_[buffer] = value; }
  // Returns that value once per buffer; none at later calls, and for buffers without padding.
  std::optional<double> takePadding(mlir::Value buffer) {
    auto it = padding_.find(buffer);
    if (it == padding_.end())
      return std::nullopt;
    const double value = it->second;
    padding_.erase(it);
    return value;
  }

private:
  llvm::DenseMap<mlir::Value, View> views_; // per value
  llvm::DenseMap<mlir::Value, double> padding_;
};

} // namespace cleave::bufferize
