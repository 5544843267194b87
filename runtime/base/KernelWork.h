// KernelWork: what one kernel computes and moves on one device. How long that takes:
// compiler/cost/Roofline.h.
//
// An op states it of its whole tensors (graph::workOf), the planner scales it to the blocks of a
// rank, and an instruction of a plan has that of its buffers (artifact::workOf).
#pragma once

#include "runtime/base/AttentionScratch.h"
#include "runtime/base/GroupedSizes.h"

#include <optional>
#include <string>

namespace cleave {

// The sizes of a matrix product: `batch` times m × k by k × n.
struct MatrixSizes {
  double batch = 1, m = 0, n = 0, k = 0;
  bool isKnown() const { return m > 0 && n > 0 && k > 0; }
};

// An attention, or its gradient, that a library of GPUs computes.
struct LibraryAttention {
  AttentionSizes sizes = {};
  bool isGradient = false;
};

struct KernelWork {
  double flops = 0;                             // 2 per multiply-add
  double bytes = 0;                             // read and written in device memory
  std::string elementType = "f32";              // the type it computes in
  int64_t launches = 1;                         // that share the work equally
  bool isProduct = false;                       // a matrix product, an attention, or a convolution
  bool isAttention = false;                     // or its gradient; also a product
  double countedShare = 1;                      // of attention on CPUs (AttentionScratch.h)
  std::optional<LibraryAttention> library = {}; // of an attention in a library of GPUs
  MatrixSizes sizes = {};                       // of a matrix product
  GroupedSizes grouped = {};                    // of a grouped product; without groups: of others
  double columns = 0;                           // elements to which a convolution is lowered
  double directResults = 0; // of a convolution in a generated kernel: elements of its result
};

} // namespace cleave
