// The source of a model's inputs and labels: the files of the --data options, as samples along the
// first dim. Epochs.h says which samples a step takes. With a shuffle seed, each epoch takes them
// in another order, over all files, which is equal on all ranks. Each rank reads only its block.
#pragma once

#include "runtime/base/DType.h"
#include "runtime/base/Status.h"
#include "runtime/data/Epochs.h"
#include "runtime/image/Transform.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cleave::data {

// A graph input or label that the data fill.
struct InputDescription {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape; // of the whole micro-batch; the first dim counts samples
  // If known, integers lie in [lowest, vocabulary) or equal `ignored`.
  std::optional<int64_t> vocabulary;
  // A target of the loss: from token files it gets the next token. Inputs whose name ends in
  // `.label` are labels, too.
  bool label = false;
  int64_t lowest = 0;             // below 0 where indices may count from the end
  std::optional<int64_t> ignored; // the class that every loss on it ignores
};

// Options of DataSource::open().
struct DataOptions {
  // Either one or more of FILE.npz and FILE.safetensors (one array per input, by name) and
  // NAME=FILE.npy; or, for a model with one integer input and at most one integer label, token
  // files: a one-dimensional integer .npy, a .u16 or .u32 file (raw little-endian numbers), a .bin
  // file of llm.c, or any other file, whose bytes are the tokens. A token file is divided into
  // windows of the length of one sample; the label is the next token. FILE may be a pattern
  // (DataSpec.h). The samples of several files for one input follow each other. Or, for a model
  // with one input of images and at most one of labels, a folder with a subfolder of images per
  // class, or .tar files with images and their labels (ImageFiles.h).
  std::vector<std::string> specs;
  std::optional<uint64_t> shuffleSeed;
  int64_t slots = 1; // micro-batches per step
  // If neither of two token inputs is marked as a label, the second is one. True for plans that
  // train.
  bool mayHaveLabels = true;
  LastBatch lastBatch = LastBatch::Wrap;
  // Why batches may not be completed by samples with ignored labels (LastBatch::Pad); empty: they
  // may.
  std::string noPadding;
  // The data of an evaluation: whatever the loss, it does not count labels that are kFiller, or NaN
  // if they are floats.
  bool isEvaluation = false;
  // Of images: the transform, the seed of its random choices, and the threads that decode.
  image::TransformOptions images;
  uint64_t seed = 0;
  int threads = 1;
};

class DataSource {
public:
  virtual ~DataSource() = default;

  // Opens the files and checks that they have every input with the expected shape and a convertible
  // type. The message of a user error lists what was found. Without inputs no file is opened.
  static Result<std::unique_ptr<DataSource>> open(const DataOptions &options,
                                                  const std::vector<InputDescription> &inputs);

  // The number of samples in one pass over the data, and in one micro-batch; 0 if the data do not
  // consist of samples.
  virtual int64_t samples() const = 0;
  virtual int64_t samplesPerMicroBatch() const = 0;
  // The tokens of one sample; 0 if it is unknown whether samples consist of tokens.
  virtual int64_t tokensPerSample() const { return 0; }
  // Which samples each step takes, to be moved to where a run resumes; null if the data do not
  // consist of samples.
  virtual Epochs *epochs() { return nullptr; }
  // What was found, for people: `40 samples in 2 files`.
  virtual std::string description() const { return ""; }
  // A digest of the names of all samples, if they are files of their own; else empty.
  virtual std::string contents() const { return ""; }
  // The names of the classes, in the order of labels, if they have names.
  virtual std::vector<std::string> classes() const { return {}; }

  // Writes one block of an input (index into `inputs`), dense and row-major, to `destination`: the
  // part of the micro-batch at `offset` with `shape`, both in elements per dim. Elements outside
  // the micro-batch (padding of uneven shards) become 0. A user error if a value does not fit.
  // Thread-safe.
  virtual Status fill(size_t input, int64_t step, int64_t slot, const std::vector<int64_t> &offset,
                      const std::vector<int64_t> &shape, void *destination) const = 0;
};

} // namespace cleave::data
