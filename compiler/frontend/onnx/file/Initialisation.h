// Tensors without elements: the file only says how they begin. To others such a file is a valid
// model that takes its weights as inputs, with a metadata entry on each.
#pragma once

#include "compiler/frontend/onnx/file/Model.h"

namespace cleave::onnx {

// First values: all equal, or drawn with mean 0. As text `fill(1)`, `normal(0.02)`, `uniform(0.1)`.
struct Initialisation {
  enum class Kind { Fill, Normal, Uniform } kind = Kind::Fill;
  double value = 0; // the element, the standard deviation, or the largest absolute value

  std::string str() const;
  static std::optional<Initialisation> parse(const std::string &text);
};

// The metadata entry of a graph input that is a parameter without elements.
inline constexpr const char *kInitialisationKey = "cleave.init";

// How a tensor without elements begins: such a tensor has the location `cleave.init:TEXT`. None for
// others.
std::optional<Initialisation> initialisationOf(const StoredTensor &tensor);
void setInitialisation(StoredTensor &tensor, const Initialisation &initialisation);

// Makes initializers of the inputs that say how they begin. Fails where they do not say it right.
void takeInitialised(Graph &graph);

} // namespace cleave::onnx
