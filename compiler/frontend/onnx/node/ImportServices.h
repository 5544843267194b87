// ImportServices: the parts of an import that concern more than one node, as the handlers of nodes
// use them.
#pragma once

#include "compiler/frontend/onnx/file/Model.h"
#include "compiler/frontend/onnx/node/Binding.h"
#include "compiler/frontend/onnx/node/Strings.h"
#include "compiler/frontend/step/Import.h"

namespace cleave::onnx {

using emit::Evaluator;
using frontend::ImportOptions;

// Thrown where the import of a node cannot go on because something that it needs is unsupported and
// has been reported.
struct AlreadyReported {
  // importSpeculatively: the report is about a node inside the subgraph.
  bool isInside = false;
};

// Implemented by the importer of graphs. Subgraphs and values are built at the builder's insertion
// point. Functions that import nodes throw AlreadyReported.
class ImportServices {
public:
  // The evaluator of the step, the user's options, the strings of the model.
  virtual Evaluator &evaluator() = 0;
  virtual const ImportOptions &options() const = 0;
  virtual StringPool &strings() = 0;
  // The model's version of the standard operators.
  virtual int64_t opset() const = 0;

  // Imports a subgraph with these inputs; returns its outputs.
  virtual Bindings importSubgraph(const Graph &graph, const Bindings &inputs) = 0;
  // Imports a subgraph that is computed in any case, but whose outputs are used only where
  // `isActive` (a bool scalar that depends on data) holds. Values from outside receive gradients
  // from it only where it is active. It must not replace states.
  virtual Bindings importSpeculatively(const Graph &graph, Bindings inputs, Value isActive) = 0;
  // Imports the nodes between the names in `given` and `result` of the current graph once more,
  // with the given values in place of those names; returns the new value of `result`.
  virtual Binding importSlice(const std::map<std::string, Binding> &given,
                              const std::string &result) = 0;

  // The elements of a tensor of the file: a constant if it is small, else an argument of the step.
  virtual Value tensorValue(const StoredTensor &tensor) = 0;
  // Whether the value is a running statistic that the step may replace.
  virtual bool isState(Value value) const = 0;
  // Makes `next` the value of the state after the step. Fails if their types differ.
  virtual void replaceState(Value state, Value next) = 0;
  // An int64 scalar that identifies one draw of random numbers and differs from step to step. The
  // next number (key + 1) is free for the caller, too.
  virtual Value randomKey() = 0;

protected:
  ~ImportServices() = default;
};

} // namespace cleave::onnx
