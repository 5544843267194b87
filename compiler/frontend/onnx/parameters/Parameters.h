// Which parameters a model really has. Exporters merge parameters that happen to be equal, fold
// transposes into nameless copies and so untie what was tied; here every place that reads a float
// initializer is told which parameter it means. Decisions are plain data; every repair is a remark.
#pragma once

#include "compiler/frontend/step/Remark.h"
#include "compiler/frontend/onnx/file/Weights.h"

#include <set>

namespace cleave::onnx {

using frontend::Remark;

class Settings;

// A place that reads a float initializer of the main graph: an input of a node, or an output of a subgraph.
struct Slot {
  static constexpr size_t kInSubgraph = SIZE_MAX;

  size_t node = 0; // of the main graph, or kInSubgraph
  size_t input = 0;
  size_t initializer = 0;
  std::string alias; // the last name on the way, where Identity nodes lie between; otherwise empty
  const Node *reader = nullptr; // null: an output of a subgraph

  bool isInSubgraph() const { return node == kInSubgraph; }
};

// What a slot reads.
struct Claim {
  enum class Kind { Parameter, State, Constant } kind = Kind::Parameter;
  std::string name;
  bool transposed = false; // the initializer holds the parameter's transpose
  // The parameter's dims where the initializer has other ones of size 1.
  std::optional<std::vector<int64_t>> dims;
  // What had to be repaired; empty if nothing.
  Remark::Kind repair = Remark::Kind::Split;
  std::string remark;
};

// A parameter, running statistic or constant of the model.
struct Parameter {
  Claim::Kind kind = Claim::Kind::Parameter;
  std::string name;
  size_t initializer = 0;                   // where its first value is
  bool storedTransposed = false;            // and how
  std::optional<std::vector<int64_t>> dims; // as in Claim
  std::optional<int64_t>
      zeros; // the file lacks it: a vector of so many zeros, of the initializer's element type
};

// The parameter's dims, as PyTorch has them.
std::vector<int64_t> shapeOf(const Graph &graph, const Parameter &parameter);

// Slot -> parameter, and whether the slot wants its transpose or other dims of size 1.
struct Use {
  size_t parameter = 0;
  bool transposed = false;
  std::optional<std::vector<int64_t>> dims;
};

struct ParameterPlan {
  std::vector<Parameter> parameters;             // in the order of their first use
  std::map<std::pair<size_t, size_t>, Use> uses; // by node and input
  // What an initializer is to those that read it elsewhere (outputs, subgraphs).
  std::map<size_t, Use> byInitializer;
  std::set<const StoredTensor *> subgraphWeights; // initializers of subgraphs that are parameters
  std::vector<Remark> remarks;
};

struct TieOptions {
  std::vector<std::pair<std::string, std::string>> tie; // the first becomes the second
  std::vector<std::string> untie;                       // one parameter per module that reads it
};

// `order` is the graph's sortedNodes. Fails on a tie or untie of a name that is no parameter.
ParameterPlan planParameters(const Graph &graph, const std::vector<size_t> &order,
                             WeightFiles &files, const TieOptions &options);

// -- the steps
// ------------------------------------------------------------------------------------------- All
// slots of float initializers, in the order of nodes and inputs; then those in subgraphs.
std::vector<Slot> findSlots(const Graph &graph, const std::vector<size_t> &order);

// The float initializers of subgraphs that are parameters: named ones of several elements that are no settings.
std::set<const StoredTensor *>
findSubgraphWeights(const Graph &graph, const std::vector<size_t> &order, const Settings &settings);

// An optional bias that the exporter dropped because it was zero.
struct DroppedBias {
  size_t node = 0;
  size_t input = 0;
  std::string name;
  int64_t size = 0;
  size_t weight = 0; // the initializer beside it, of the same element type
};

// What the metadata of PyTorch's current exporter says.
struct Testimony {
  bool exists = false;                      // the file has such metadata
  std::vector<std::optional<Claim>> claims; // one per slot; none where it says nothing
  std::vector<DroppedBias> dropped;
};
Testimony hearMetadata(const Graph &graph, const std::vector<Slot> &slots);

// What names and the way of use say about each slot.
std::vector<Claim> claimByNames(const Graph &graph, const std::vector<Slot> &slots);

// Ties: of a table and the transposed copy of it that the exporter made, and what the user asks
// for.
void tieParameters(const Graph &graph, WeightFiles &files, const TieOptions &options,
                   const std::vector<Slot> &slots, ParameterPlan &plan);

// Remarks on batch norms that the exporter folded into convolutions.
void warnOfFoldedBatchNorms(const Graph &graph, std::vector<Remark> &remarks);

// The dims without those of size 1, but at least so many; none if that changes nothing.
std::optional<std::vector<int64_t>> withoutUnitDims(const std::vector<int64_t> &dims,
                                                    size_t atLeast);

// Whether the elements are floats that can be trained; those of narrow types are quantized.
bool isFloatTensor(const StoredTensor &tensor);
// Whether the slot is the second operand of a product, as a linear layer's transposed weight is.
bool isLinearWeight(const Graph &graph, const Slot &slot);
// Whether the node's input is a running statistic of a batch norm.
bool isRunningStatistic(const Node &node, size_t input);

} // namespace cleave::onnx
