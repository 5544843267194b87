// Checkpoints: sharded, written atomically, and independent of the plan that wrote them.
//
// DIR/step-00000200/ has one rank-00003.safetensors per rank (the slices that it wrote) and
// index.json (the type and shape of every tensor, the offset, shape and file of every slice, and a
// checksum of all this). It is written under a temporary name and renamed when complete; older
// checkpoints are removed afterwards. Reading assembles any block from the slices that overlap it.
// One job at a time saves into DIR: see FolderLock.h.
#pragma once

#include "runtime/base/DType.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cleave::checkpoint {

// One rank's block of a tensor.
struct Slice {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> globalShape;
  std::vector<int64_t> offset;     // of the block in the tensor, in elements
  std::vector<int64_t> blockShape; // of the buffer; may extend beyond the tensor (padding)
  const void *data = nullptr;      // dense, row-major, of blockShape
  // Copies the block into memory of this process; empty if `data` lies there.
  std::function<Status(void *to)> read = {};
  // Of equal slices on several ranks, the one that is written.
  bool owned = true;
};

// The progress of the training.
struct Progress {
  int64_t step = 0; // number of the next step
  // Other values to resume with (the optimizer, the plan, …).
  std::map<std::string, std::string> extra;
  // False if a metric of the step before or a value of the checkpoint is infinite or not a number.
  bool isFinite = true;
};

// Options of save().
struct SaveOptions {
  std::string directory;
  int rank = 0;
  int size = 1;
  // Waits until all ranks have called it with their own status. Returns the same status on every
  // rank: ok, or the failure of one rank, which it names. May be empty if size is 1.
  std::function<Status(const Status &own)> agree;
  // Number of complete checkpoints to keep, this one included. If none of them is finite, the
  // newest finite one is kept in addition.
  int keep = 1;
  // Values that are infinite or not a number are a user error; otherwise the checkpoint is marked
  // (Progress.isFinite).
  bool refusesNotFinite = false;
};

class Checkpoint;

// Ok if saving into `directory` does not destroy another run's checkpoints: it contains no complete
// checkpoint, or the newest that is finite is the one at `resumed` (empty: none), which this run
// continues. Creates the folder, so that a folder that cannot be written is detected before the
// run.
Status checkSaveFolder(const std::string &directory, const std::string &resumed);

// The folder of a step's checkpoint in `directory`.
std::string pathOf(const std::string &directory, int64_t step);

// Whether the checkpoint was saved into `directory`.
bool isIn(const Checkpoint &checkpoint, const std::string &directory);

// Saves a checkpoint. Every rank calls it with its slices. On return, the checkpoint is complete
// and on disk. Checkpoints of later steps, which this run has abandoned, are removed. User errors,
// the same on all ranks: a file cannot be written; the folder is as before, and saving may be tried
// again.
Status save(const SaveOptions &options, const std::vector<Slice> &slices, const Progress &progress);

// Named tensors in files, of which any block can be read. Thread-safe.
class TensorStore {
public:
  // Type and shape of a stored tensor.
  struct TensorInfo {
    DType dtype = DType::F32;
    std::vector<int64_t> shape;
  };

  virtual ~TensorStore() = default;

  // Where the tensors are: the folder of a checkpoint's step, or a file.
  virtual const std::string &path() const = 0;
  // All stored tensors by name.
  virtual const std::map<std::string, TensorInfo> &tensors() const = 0;

  // Assembles a block of a tensor, dense and row-major, with blockShape; elements beyond the tensor
  // become 0. Converts the type if it differs. A user error if the tensor is missing or has another
  // shape.
  virtual Status read(const std::string &name, DType dtype, const std::vector<int64_t> &globalShape,
                      const std::vector<int64_t> &offset, const std::vector<int64_t> &blockShape,
                      void *destination) const = 0;
};

// A complete checkpoint that is open for reading.
class Checkpoint : public TensorStore {
public:
  // `path` is the folder of one step, or a folder of several, of which the newest complete and
  // finite checkpoint is opened. Checks that every file exists and is complete, and that the slices
  // cover every tensor.
  static Result<std::unique_ptr<Checkpoint>> open(const std::string &path);

  // The progress with which it was saved.
  virtual const Progress &progress() const = 0;
};

} // namespace cleave::checkpoint
