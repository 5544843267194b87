// KeptAttributes: the values in the attributes of a model before and after a run of its program.
// Tensors may change; other values must not, unless the program sets them before it reads them.
#pragma once

#include "compiler/frontend/torchscript/Objects.h"

#include <functional>

namespace cleave::torchscript {

class KeptAttributes {
public:
  // The values before the run. The model must outlive the object.
  explicit KeptAttributes(const Instance &model) : model_(model), before_(leavesOf(model)) {}

  // Visits the tensors after the run by the path of the attribute: `layer1.0.queue`, `caches.2` of
  // an item of a list. Fails where the run changed another value from which the next run would
  // differ.
  void visitTensors(
      const std::function<void(const std::string &path, const aten::TensorRef &)> &visit) const;

private:
  // A value that is not a container, or the number of items in one.
  struct Leaf {
    IValue value;
    bool isRead; // the program read the attribute before it set it
  };
  using Leaves = std::map<std::string, Leaf>;

  static Leaves leavesOf(const Instance &model);

  const Instance &model_;
  Leaves before_;
};

} // namespace cleave::torchscript
