// InputBlock: what a LoadInput reads on this rank, of one micro-batch or of all of a step. Private
// to this folder.
#pragma once

#include "runtime/artifact/Mesh.h"
#include "runtime/data/DataSource.h"

namespace cleave::executor {

class InputBlock {
public:
  // The block of the INPUT `tensor` on the rank. `data`, whose inputs are inputsOf(plan), outlives
  // the block.
  InputBlock(const plan::Plan &plan, const plan::Tensor &tensor, uint32_t rank,
             const data::DataSource &data);

  // Whether it is the same for all micro-batches of a step, since it holds them all.
  bool isOfWholeStep() const { return rows_ > 0; }
  // Writes the block for the micro-batch `slot` of the step. Errors as of DataSource::fill().
  Status fill(int64_t step, int64_t slot, void *to) const;

private:
  Status fillAll(int64_t step, char *to) const;

  const data::DataSource &data_;
  size_t input_ = 0; // index in inputsOf()
  artifact::RankBlock block_;
  int64_t rows_ = 0;      // of whole steps: rows of one micro-batch; else 0
  int64_t slots_ = 1;     // micro-batches of a step
  uint64_t rowBytes_ = 0; // of a row of the block
};

} // namespace cleave::executor
