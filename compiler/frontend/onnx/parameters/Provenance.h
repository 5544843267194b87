// Which PyTorch parameter each use of an initializer reads, as far as the file tells: by the
// metadata of PyTorch's current exporter, or by names alone.
#pragma once

#include "compiler/frontend/onnx/parameters/InitializerUses.h"
#include "compiler/frontend/step/Remark.h"

namespace cleave::onnx {

using frontend::Remark;

// State: a buffer that the step replaces, such as running statistics. Constant: not trained.
enum class ParameterKind { Parameter, State, Constant };

// The parameter that one use reads.
struct Provenance {
  ParameterKind kind = ParameterKind::Parameter;
  std::string name;        // in PyTorch
  bool transposed = false; // the initializer holds the parameter's transpose
  // The parameter's dims where the initializer has additional dims of size 1.
  std::optional<std::vector<int64_t>> dims;
  // The repair that this takes, for the user; without a `remark` nothing had to be repaired.
  Remark::Kind repair = Remark::Kind::Split;
  std::string remark;
};

// An optional bias that the exporter dropped because it was zero.
struct DroppedBias {
  size_t node = 0;  // index in the main graph
  size_t input = 0; // at which the node would read it
  std::string name;
  int64_t size = 0;
  size_t weight = 0; // the initializer at the node's input 1, of the same element type
};

// Everything that the metadata of PyTorch's current exporter tells.
struct MetadataProvenance {
  bool exists = false;                          // the file has such metadata
  std::vector<std::optional<Provenance>> byUse; // one per use; none where the metadata is silent
  std::vector<DroppedBias> dropped;
};
MetadataProvenance provenanceFromMetadata(const Graph &graph, const InitializerUses &uses);

// One entry per use, by the names of initializers, nodes and neighbouring biases.
std::vector<Provenance> provenanceFromNames(const Graph &graph, const InitializerUses &uses);

// The dims without those of size 1, but at least `atLeast` of them; none if nothing changes.
std::optional<std::vector<int64_t>> withoutUnitDims(const std::vector<int64_t> &dims,
                                                    size_t atLeast);

} // namespace cleave::onnx
