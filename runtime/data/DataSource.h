// Where a model's inputs and labels come from: --data specs, cut into samples along the first dim,
// taken in order and wrapping round. Sample i of slot s of step t is number (t * slots + s) * batch
// + i, modulo the number of samples; with a shuffle seed, each pass over the samples goes through a
// permutation of its own, the same on every rank. Each rank reads only its block.
#pragma once

#include "runtime/base/DType.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cleave::data {

// A graph input or label to be filled.
struct InputDescription {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape; // of the whole micro-batch; the first dim counts samples
  // If known, integers must lie in [0, vocabulary).
  std::optional<int64_t> vocabulary;
  // Compared with the model's output: the next token for token files, and may be -100 (ignored). An
  // input whose name ends in `.label` counts as one anyway.
  bool label = false;
};

struct DataOptions {
  // FILE.npz or FILE.safetensors (one array per input, by name), NAME=FILE.npy, or, for a model
  // with one integer input (and perhaps one integer label), one token file: a one-dimensional
  // integer .npy, .u16 or .u32 (raw little-endian numbers), or any other file, whose bytes are the
  // tokens. It is cut into windows as long as one sample; the label is the next token. Several
  // files with arrays may be given.
  std::vector<std::string> specs;
  std::optional<uint64_t> shuffleSeed;
  int64_t slots = 1; // micro-batches per step
  // Whether the second of two token inputs may be labels where neither is called so: in a plan that trains.
  bool mayHaveLabels = true;
};

class DataSource {
public:
  virtual ~DataSource() = default;

  // Opens the files and checks them against the inputs: every input found, shapes as expected,
  // types convertible. The message of a failure names what is there.
  static Result<std::unique_ptr<DataSource>> open(const DataOptions &options,
                                                  const std::vector<InputDescription> &inputs);

  // Samples in one pass over the data, and in one micro-batch; 0 if the data do not consist of samples.
  virtual int64_t samples() const = 0;
  virtual int64_t samplesPerMicroBatch() const = 0;

  // Writes one block of an input (an index into `inputs`), dense and row-major, to `destination`:
  // the part of the micro-batch that begins at `offset`, of `shape`, both per dim. Elements beyond
  // the micro-batch's own shape (padding of uneven shards) become 0. Thread-safe.
  virtual Status fill(size_t input, int64_t step, int64_t slot, const std::vector<int64_t> &offset,
                      const std::vector<int64_t> &shape, void *destination) const = 0;
};

} // namespace cleave::data
