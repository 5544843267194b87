// Strategy: the name that a split of a step over a mesh has in the field.
//
// Every axis that splits nearly all FLOPs (kNearlyAll) in one way is one of
//
//   data      it splits the batch
//   CP, SP    context, or spatial parallel: sequences, or other positions in a sample
//   TP        tensor parallel: features and vocabularies
//   EP        expert parallel: experts, and elsewhere the batch or positions
//
// and `mixed` otherwise. The data axes are named by what ranks store along data, CP and SP axes:
//
//   DDP       parameters and optimizer states are replicated over all of these axes
//   ZeRO-1    nearly all bytes of the optimizer states are sharded over some of these axes
//   FSDP      nearly all bytes of parameters and optimizer states are sharded over all of them
//   HSDP      parameters are sharded over some and whole along the others; the states are sharded
//             over the former at least
//   DP        nothing of this holds for nearly all bytes, or nothing is trained
#pragma once

#include "compiler/planner/report/AxisUse.h"

#include <string>

namespace cleave::planner {

// A share of FLOPs or bytes from which on it counts as nearly all.
constexpr double kNearlyAll = 0.95;

struct Strategy {
  std::string name; // `TP 8 x FSDP 32`; empty on one rank
  std::string
      text; // `parameters and optimizer states sharded over dp`; empty if there is nothing to say
  // The kind of every axis of more than one rank, in the order of the mesh: `tp=tensor,dp=data`.
  // Kinds are data, context, spatial, tensor and expert; a mixed axis has `mostly` and the kind
  // with the largest share.
  std::string axes;
};

// `uses`: of the axes of the mesh. `trains`: whether parameters are updated.
Strategy strategyOf(const Mesh &mesh, const std::vector<AxisUse> &uses, bool trains);

} // namespace cleave::planner
