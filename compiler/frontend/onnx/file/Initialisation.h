// Tensors without elements: the file gives only the distribution of their first values. Other
// readers see a valid model that takes its weights as inputs, with a metadata entry on each.
#pragma once

#include "compiler/frontend/onnx/file/Model.h"

namespace cleave::onnx {

// First values: all equal, or drawn from a distribution with mean 0. As text `fill(1)`,
// `normal(0.02)`, `uniform(0.1)`.
struct Initialisation {
  enum class Kind { Fill, Normal, Uniform } kind = Kind::Fill;
  double value = 0; // the element, the standard deviation, or the largest absolute value

  // Conversion to and from text; none for text of another form.
  std::string str() const;
  static std::optional<Initialisation> parse(const std::string &text);
};

// The metadata entry of a graph input that is a parameter without elements.
inline constexpr const char *kInitialisationKey = "cleave.init";

// The first values of a tensor without elements, which has the location `cleave.init:TEXT`; none
// for others.
std::optional<Initialisation> initialisationOf(const StoredTensor &tensor);
void setInitialisation(StoredTensor &tensor, const Initialisation &initialisation);

// Turns inputs with a kInitialisationKey entry into initializers. Fails where the entry or the
// input's type or shape is not usable.
void takeInitialised(Graph &graph);

} // namespace cleave::onnx
