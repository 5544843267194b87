// Checkpoints: sharded, atomic and independent of the plan that wrote them.
//
// DIR/step-00000200/ holds rank-00003.safetensors per rank (the slices it wrote) and index.json
// (every tensor's type and shape, and the offset, shape and file of each slice). It is written
// under another name and renamed when complete; older ones are removed only then. Reading assembles
// any block from the slices that overlap it.
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
  std::vector<int64_t> offset;     // of the block in the tensor
  std::vector<int64_t> blockShape; // of the buffer, which may stick out of the tensor (padding)
  const void *data = nullptr;      // dense, row-major, of blockShape
  bool owned = true; // of equal slices on several ranks one is owned: that one is written
};

// Where the training stands.
struct Progress {
  int64_t step = 0;                         // the next step to do
  std::map<std::string, std::string> extra; // anything else to resume with (data position, seed, …)
};

// Whether `rank` is the one of the ranks with equal slices that writes, for a tensor sharded on
// `axes` of the mesh: the one whose coordinates on all other axes are 0.
bool ownsSlice(const std::vector<int64_t> &meshSizes, const std::vector<int> &axes, int rank);

struct SaveOptions {
  std::string directory;
  int rank = 0;
  int size = 1;
  std::function<Status()> barrier; // of all ranks; may be empty if size is 1
  int keep = 1;                    // complete checkpoints that stay, this one included
};

class Checkpoint;

// Ok if saving into `directory` loses nothing of another run: it holds no complete checkpoint, or the
// newest is the one at `resumed` (empty: none) that this run goes on from. Makes the folder, so that one
// that cannot be written shows before the run.
Status checkSaveFolder(const std::string &directory, const std::string &resumed);

// Whether the checkpoint is one of those that were saved into `directory`.
bool isIn(const Checkpoint &checkpoint, const std::string &directory);

// Called by every rank with its slices. When it returns, the checkpoint is complete and on disk.
Status save(const SaveOptions &options, const std::vector<Slice> &slices, const Progress &progress);

// A complete checkpoint, opened for reading. Thread-safe.
class Checkpoint {
public:
  struct TensorInfo {
    DType dtype = DType::F32;
    std::vector<int64_t> shape;
  };

  virtual ~Checkpoint() = default;

  // `path` is one step's folder or the folder of several (the newest complete one is taken). Checks
  // that every file is there, is whole, and that the slices cover every tensor.
  static Result<std::unique_ptr<Checkpoint>> open(const std::string &path);

  virtual const std::string &path() const = 0;
  virtual const Progress &progress() const = 0;
  virtual const std::map<std::string, TensorInfo> &tensors() const = 0;

  // Assembles a block of a tensor, dense and row-major, of blockShape; what lies beyond the tensor
  // becomes 0. The type is converted if it differs. Fails if the tensor is missing or has another
  // shape.
  virtual Status read(const std::string &name, DType dtype, const std::vector<int64_t> &globalShape,
                      const std::vector<int64_t> &offset, const std::vector<int64_t> &blockShape,
                      void *destination) const = 0;

  // Writes whole tensors to one safetensors file; all, or those for which `wanted` is true.
  virtual Status
  exportSafetensors(const std::string &path,
                    const std::function<bool(const std::string &)> &wanted = {}) const = 0;
};

} // namespace cleave::checkpoint
