// Puts the blocks of inference results that the ranks hold together on rank 0, step after step, and
// writes them to a file: results are joined along their first dim in the order of steps and
// micro-batches.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"
#include "runtime/comm/Communicator.h"
#include "runtime/executor/Executor.h"

#include <string>
#include <vector>

namespace cleave::executor {

class OutputCollector {
public:
  // `world` is a group of all ranks. Plan and group outlive the collector.
  OutputCollector(const plan::Plan &plan, comm::Communicator &world);

  // Takes one step's outputs; to be called by all ranks. Fails if a rank is lost.
  Status add(const std::vector<StoredOutput> &outputs);

  // On rank 0: writes all outputs as arrays named as in the plan, by the file's ending (.npz,
  // .safetensors). Of outputs whose first dim is `batch`, the samples of a micro-batch, at most
  // `samples` rows are written if that is not negative.
  Status write(const std::string &path, int64_t samples, int64_t batch) const;

private:
  Status addTensor(int tensor, const StoredOutput *mine);
  void place(int tensor, uint32_t rank, const char *block, char *whole) const;

  const plan::Plan &plan_;
  comm::Communicator &world_;
  int64_t slots_;
  std::vector<std::vector<char>> joined_; // by tensor; on rank 0
};

} // namespace cleave::executor
