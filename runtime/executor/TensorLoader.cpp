// See TensorLoader.h.
#include "runtime/executor/TensorLoader.h"

#include "runtime/artifact/Mesh.h"
#include "runtime/base/DType.h"
#include "runtime/base/ExternalFile.h"
#include "runtime/base/MappedFile.h"
#include "runtime/base/Sha256.h"
#include "runtime/data/ArrayFile.h"
#include "runtime/executor/RandomValues.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <functional>
#include <sys/stat.h>
#include <vector>

namespace cleave::executor {

namespace {

// A tensor in a file or in the plan: its address, its dtype, and the strides (in elements) of its
// dims.
struct StoredArray {
  const char *data;
  DType dtype;
  std::vector<int64_t> strides;
};

// The strides of the tensor's dims in the stored tensor, whose dim permutation[i] is the tensor's
// dim i.
std::vector<int64_t> stridesInStored(const plan::Tensor &tensor) {
  int rank = tensor.shape_size();
  std::vector<int> place(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i)
    place[size_t(i)] = tensor.source().permutation_size() ? int(tensor.source().permutation(i)) : i;
  std::vector<int64_t> storedShape(place.size()), storedStrides(place.size()),
      strides(place.size());
  for (size_t i = 0; i < place.size(); ++i)
    storedShape[size_t(place[i])] = tensor.shape(int(i));
  int64_t stride = 1;
  for (size_t i = place.size(); i-- > 0; stride *= storedShape[i])
    storedStrides[i] = stride;
  for (size_t i = 0; i < place.size(); ++i)
    strides[i] = storedStrides[size_t(place[i])];
  return strides;
}

// Copies and converts the part of the block that lies inside the tensor. Reads the stored tensor in
// its own order, so that only few pages of a mapped file are resident at a time; calls `afterPiece`
// after every MiB or so.
class BlockCopy {
public:
  BlockCopy(const StoredArray &from, const artifact::RankBlock &block, DType dtype, void *to)
      : data_(from.data), fromType_(from.dtype), toType_(dtype), to_(static_cast<char *>(to)) {
    int64_t stride = 1;
    for (size_t i = block.shape.size(); i-- > 0; stride *= block.shape[i]) {
      dims_.insert(dims_.begin(), {block.extent[i], from.strides[i], stride});
      data_ += block.begin[i] * from.strides[i] * byteSize(fromType_);
    }
    std::stable_sort(dims_.begin(), dims_.end(),
                     [](const CopyDim &a, const CopyDim &b) { return a.source > b.source; });
    if (!dims_.empty()) {
      row_ = dims_.back();
      dims_.pop_back();
    }
    if (row_.source != 1)
      gathered_.resize(size_t(row_.extent * byteSize(fromType_)));
    if (row_.target != 1)
      converted_.resize(size_t(row_.extent * byteSize(toType_)));
  }

  Status run(const std::function<void()> &afterPiece) {
    constexpr int64_t kPiece = 1 << 20, kPage = 4096;
    int64_t rows = row_.extent > 0 ? 1 : 0, since = 0;
    for (const CopyDim &dim : dims_)
      rows *= dim.extent;
    std::vector<int64_t> index(dims_.size());
    int64_t source = 0, target = 0;
    for (int64_t row = 0; row < rows; ++row) {
      CLEAVE_TRY(copyRow(source, target));
      since += row_.extent * byteSize(fromType_) + kPage;
      if (since >= kPiece) {
        afterPiece();
        since = 0;
      }
      for (size_t i = dims_.size(); i-- > 0;) {
        source += dims_[i].source, target += dims_[i].target;
        if (++index[i] < dims_[i].extent)
          break;
        index[i] = 0;
        source -= dims_[i].extent * dims_[i].source, target -= dims_[i].extent * dims_[i].target;
      }
    }
    return Status::ok();
  }

private:
  // A dim of the block and its strides, in elements.
  struct CopyDim {
    int64_t extent, source, target;
  };

  Status copyRow(int64_t source, int64_t target) {
    int64_t fromSize = byteSize(fromType_), toSize = byteSize(toType_);
    const char *row = data_ + source * fromSize;
    if (row_.source != 1) {
      for (int64_t i = 0; i < row_.extent; ++i)
        std::memcpy(gathered_.data() + i * fromSize, row + i * row_.source * fromSize,
                    size_t(fromSize));
      row = gathered_.data();
    }
    char *to = to_ + target * toSize, *dense = row_.target == 1 ? to : converted_.data();
    if (fromType_ == toType_)
      std::memcpy(dense, row, size_t(row_.extent * toSize));
    else
      CLEAVE_TRY(data::convert(row, fromType_, dense, toType_, row_.extent));
    if (row_.target != 1)
      for (int64_t i = 0; i < row_.extent; ++i)
        std::memcpy(to + i * row_.target * toSize, dense + i * toSize, size_t(toSize));
    return Status::ok();
  }

  const char *data_;
  DType fromType_, toType_;
  char *to_;
  std::vector<CopyDim> dims_; // without row_, by decreasing stride in the stored tensor
  CopyDim row_ = {1, 1, 1};   // the dim with the smallest stride
  std::vector<char> gathered_, converted_;
};

} // namespace

TensorLoader::TensorLoader(const plan::Plan &plan, std::string modelPath, uint64_t seed)
    : plan_(plan), modelPath_(modelPath.empty() ? plan.source().path() : std::move(modelPath)),
      seed_(seed) {}

Result<const MappedFile *> TensorLoader::open(const std::string &relativePath) {
  std::string path = modelPath_;
  if (!relativePath.empty()) {
    Result<std::string> found = findExternalFile(modelPath_, relativePath);
    if (!found)
      return Status::userError("the weights file '", relativePath, "' of '", modelPath_, "' ",
                               found.status().message());
    path = std::move(*found);
  }
  auto at = files_.find(path);
  if (at == files_.end()) {
    Result<std::shared_ptr<const MappedFile>> file = MappedFile::open(path);
    if (!file)
      return Status::userError(
          file.status().message(),
          "; the plan's weights are read from there (--model selects another file)");
    at = files_.emplace(path, std::move(*file)).first;
  }
  return at->second.get();
}

Status TensorLoader::checkModel(bool compareHash) const {
  bool readsFiles = std::any_of(plan_.tensors().begin(), plan_.tensors().end(),
                                [](const plan::Tensor &t) { return t.source().has_file(); });
  if (!readsFiles)
    return Status::ok();
  if (modelPath_.ends_with(".safetensors"))
    return Status::userError("--model: found '", modelPath_,
                             "', which holds weights, expected the ",
                             "model file from which the plan was made; --weights takes weights");
  struct stat status;
  if (::stat(modelPath_.c_str(), &status) != 0)
    return Status::userError(
        "cannot read model file '", modelPath_, "': ", std::strerror(errno),
        "; the plan's weights are read from there (--model selects another file)");
  const char *wayOut = "; compile it again, or pass the original with --model";
  if (uint64_t(status.st_size) != plan_.source().bytes())
    return Status::userError("model file '", modelPath_,
                             "' has changed since the plan was made: ", status.st_size,
                             " bytes, were ", plan_.source().bytes(), wayOut);
  if (!compareHash || plan_.source().sha256().empty())
    return Status::ok();
  CLEAVE_TRY_ASSIGN(std::string hash, sha256OfFile(modelPath_));
  if (hash != plan_.source().sha256())
    return Status::userError("model file '", modelPath_,
                             "' has changed since the plan was made: its content differs", wayOut);
  return Status::ok();
}

Status TensorLoader::loadFile(const plan::Tensor &tensor, const artifact::RankBlock &block,
                              void *destination) {
  const plan::FileSlice &slice = tensor.source().file();
  CLEAVE_TRY_ASSIGN(const MappedFile *opened, open(slice.path()));
  const MappedFile &file = *opened;
  uint64_t end = slice.offset() + slice.bytes();
  if (end > file.size() || end < slice.offset())
    return Status::userError("'", slice.path().empty() ? modelPath_ : slice.path(), "' has ",
                             file.size(), " bytes and is too short: expected at least ", end);
  StoredArray stored{reinterpret_cast<const char *>(file.data()) + slice.offset(),
                     static_cast<DType>(slice.dtype()), stridesInStored(tensor)};
  auto afterPiece = [&] { releasePages(stored.data, slice.bytes()); };
  Status status =
      BlockCopy(stored, block, static_cast<DType>(tensor.dtype()), destination).run(afterPiece);
  afterPiece();
  return status;
}

Status TensorLoader::load(const plan::Tensor &tensor, uint32_t rank, void *destination) {
  artifact::RankBlock block = artifact::blockOf(plan_, tensor, rank);
  DType dtype = static_cast<DType>(tensor.dtype());
  std::memset(destination, 0, size_t(block.elements() * byteSize(dtype)));
  std::string context = "tensor '" + tensor.name() + "'";
  const plan::TensorSource &source = tensor.source();
  if (source.has_file())
    return loadFile(tensor, block, destination).withContext(context);
  if (source.has_inline_data()) {
    StoredArray stored{source.inline_data().data(), dtype, stridesInStored(tensor)};
    return BlockCopy(stored, block, dtype, destination).run([] {}).withContext(context);
  }
  if (source.has_random())
    return drawBlock(tensor, seed_, block, destination).withContext(context);
  // One element, repeated by strides of 0.
  double value = source.fill();
  if (value == 0 && !std::signbit(value))
    return Status::ok();
  int64_t whole = int64_t(value);
  bool integer = isInteger(dtype) || dtype == DType::Bool;
  StoredArray stored{
      integer ? reinterpret_cast<const char *>(&whole) : reinterpret_cast<const char *>(&value),
      integer ? DType::I64 : DType::F64, std::vector<int64_t>(size_t(tensor.shape_size()), 0)};
  return BlockCopy(stored, block, dtype, destination).run([] {}).withContext(context);
}

} // namespace cleave::executor
