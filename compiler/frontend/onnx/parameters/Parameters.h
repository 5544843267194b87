// The parameters that the user had in PyTorch. Exporters merge parameters with equal elements, fold
// transposes into nameless copies and so break ties; planParameters assigns the right parameter to
// every place that reads a float initializer. The plan is plain data; every repair is a remark.
#pragma once

#include "compiler/frontend/onnx/file/Weights.h"
#include "compiler/frontend/onnx/parameters/Provenance.h"

namespace cleave::onnx {

// A parameter, running statistic or constant of the model.
struct Parameter {
  ParameterKind kind = ParameterKind::Parameter;
  std::string name;
  size_t initializer = 0;                   // holds its first value
  bool storedTransposed = false;            // the initializer holds the transpose
  std::optional<std::vector<int64_t>> dims; // as in Provenance
  // The file has no such initializer: the first value is a vector of this many zeros, in the
  // element type of `initializer`.
  std::optional<int64_t> zeros;
};

// The parameter's dims in PyTorch.
std::vector<int64_t> shapeOf(const Graph &graph, const Parameter &parameter);

// How one use reads a parameter.
struct ParameterRef {
  size_t parameter = 0;                     // index in the plan
  bool transposed = false;                  // reads its transpose
  std::optional<std::vector<int64_t>> dims; // reads it with these dims: additional ones of size 1
};

// The parameters of a model, and what each use of an initializer reads.
struct ParameterPlan {
  std::vector<Parameter> parameters;                      // in the order of their first use
  std::map<std::pair<size_t, size_t>, ParameterRef> uses; // by node and input of the main graph
  std::map<size_t, ParameterRef> byInitializer;           // for outputs and subgraphs
  std::set<const StoredTensor *> subgraphWeights; // initializers of subgraphs that are parameters
  std::vector<Remark> remarks;
  std::map<std::string, std::string> otherNames; // of tied parameters, by these names
};

// The ties that the user asks for (--tie, --untie).
struct TieOptions {
  std::vector<std::pair<std::string, std::string>> tie; // uses of the first read the second
  std::vector<std::string> untie; // each module that reads it gets a parameter of its own
};

// Plans the parameters of the main graph. `order` is as in findInitializerUses. Throws a Failure if
// a tie or untie names no parameter, or parameters of different shapes.
ParameterPlan planParameters(const Graph &graph, const std::vector<size_t> &order,
                             WeightFiles &files, const TieOptions &options);

// -- parts of planParameters

// Ties a table to the transposed copy of it that the exporter made, applies the user's ties, warns
// of parameters that may be buffers or shared, and drops parameters without uses.
void tieParameters(const Graph &graph, WeightFiles &files, const TieOptions &options,
                   const InitializerUses &uses, ParameterPlan &plan);

// Adds a remark if the exporter folded batch norms into convolutions.
void warnOfFoldedBatchNorms(const Graph &graph, std::vector<Remark> &remarks);

// Adds a remark if the exporter lost parameters when it merged equal calls. Otherwise adds one for
// each merged call whose equal one reads a parameter, since the merged one may have read another
// tensor.
void warnOfMergedNodes(const Graph &graph, ParameterPlan &plan);

} // namespace cleave::onnx
