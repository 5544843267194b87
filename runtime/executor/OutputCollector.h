// Collects the ranks' blocks of inference results on rank 0, step by step, and writes them to a
// file. Results are concatenated along their first dim in the order of steps and micro-batches.
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

  // Adds one step's outputs. All ranks must call it. Status::lost if a rank is lost.
  Status add(const std::vector<StoredOutput> &outputs);

  // On rank 0: the elements of an output (index into Plan.tensors), of all steps and micro-batches
  // so far.
  const std::vector<char> &joined(int tensor) const { return joined_[size_t(tensor)]; }
  // On rank 0: writes all outputs as arrays with their names in the plan, in the format of the
  // file's ending (.npz, .safetensors). If `samples` is not negative, at most `samples` rows are
  // written of outputs whose first dim is `batch`, the number of samples of a micro-batch. A user
  // error if the file cannot be written.
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
