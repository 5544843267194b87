// See OutputCollector.h.
#include "runtime/executor/OutputCollector.h"

#include "runtime/artifact/Access.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/data/ArrayFile.h"

#include <algorithm>
#include <cstring>

namespace cleave::executor {

OutputCollector::OutputCollector(const plan::Plan &plan, comm::Communicator &world)
    : plan_(plan), world_(world), slots_(slotsOf(plan)), joined_(size_t(plan.tensors_size())) {}

Status OutputCollector::add(const std::vector<StoredOutput> &outputs) {
  for (uint32_t slot = 0; slot < uint32_t(slots_); ++slot)
    for (int tensor = 0; tensor < plan_.tensors_size(); ++tensor) {
      if (plan_.tensors(tensor).role() != plan::OUTPUT)
        continue;
      auto at = std::find_if(outputs.begin(), outputs.end(), [&](const StoredOutput &output) {
        return output.tensor == tensor && output.slot == slot;
      });
      CLEAVE_TRY(addTensor(tensor, at == outputs.end() ? nullptr : &*at));
    }
  return Status::ok();
}

// Gathers the blocks, each with a flag for whether the rank has one, and joins them on rank 0.
Status OutputCollector::addTensor(int tensor, const StoredOutput *mine) {
  const plan::Tensor &what = plan_.tensors(tensor);
  artifact::RankBlock block = artifact::blockOf(plan_, what, 0);
  size_t blockBytes = size_t(block.elements()) * artifact::byteSize(what.dtype());
  std::vector<char> send(blockBytes + 1);
  if (mine) {
    std::copy(mine->block.begin(), mine->block.end(), send.begin());
    send.back() = 1;
  }
  std::vector<char> received(send.size() * size_t(world_.size()));
  CLEAVE_TRY(world_.allGather(send.data(), received.data(), int64_t(send.size()), DType::U8));
  if (world_.rank() != 0)
    return Status::ok();
  size_t wholeBytes =
      size_t(artifact::elementCount(what.shape())) * artifact::byteSize(what.dtype());
  std::vector<char> &joined = joined_[size_t(tensor)];
  joined.resize(joined.size() + wholeBytes);
  for (uint32_t rank = 0; rank < uint32_t(world_.size()); ++rank)
    if (const char *from = received.data() + rank * send.size(); from[blockBytes])
      place(tensor, rank, from, joined.data() + joined.size() - wholeBytes);
  return Status::ok();
}

// Copies a rank's block, without its padding, into the whole tensor.
void OutputCollector::place(int tensor, uint32_t rank, const char *from, char *whole) const {
  const plan::Tensor &what = plan_.tensors(tensor);
  artifact::RankBlock block = artifact::blockOf(plan_, what, rank);
  size_t dims = block.shape.size(), size = artifact::byteSize(what.dtype());
  int64_t rows = 1, length = dims ? block.extent[dims - 1] : 1;
  for (size_t dim = 0; dim + 1 < dims; ++dim)
    rows *= block.extent[dim];
  for (int64_t row = 0; row < rows && length > 0; ++row) {
    int64_t rest = row, inBlock = 0, inWhole = dims ? block.begin[dims - 1] : 0;
    int64_t blockStride = dims ? block.shape[dims - 1] : 1;
    int64_t wholeStride = dims ? what.shape(int(dims) - 1) : 1;
    for (size_t dim = dims ? dims - 1 : 0; dim-- > 0;) {
      int64_t index = rest % block.extent[dim];
      rest /= block.extent[dim];
      inBlock += index * blockStride;
      inWhole += (block.begin[dim] + index) * wholeStride;
      blockStride *= block.shape[dim];
      wholeStride *= what.shape(int(dim));
    }
    std::memcpy(whole + size_t(inWhole) * size, from + size_t(inBlock) * size,
                size_t(length) * size);
  }
}

Status OutputCollector::write(const std::string &path, int64_t samples, int64_t batch) const {
  std::vector<data::ArrayView> arrays;
  for (int tensor = 0; tensor < plan_.tensors_size(); ++tensor) {
    const plan::Tensor &what = plan_.tensors(tensor);
    if (what.role() != plan::OUTPUT)
      continue;
    std::vector<int64_t> shape(what.shape().begin(), what.shape().end());
    int64_t one = artifact::elementCount(what.shape()) * int64_t(artifact::byteSize(what.dtype()));
    int64_t times = one ? int64_t(joined_[size_t(tensor)].size()) / one : 0;
    if (shape.empty())
      shape.push_back(1); // a scalar per micro-batch becomes a vector
    else if (samples >= 0 && shape[0] * times > samples && shape[0] == batch)
      shape[0] = samples, times = 1;
    shape[0] *= times;
    arrays.push_back({.name = what.name(),
                      .dtype = static_cast<DType>(what.dtype()),
                      .shape = shape,
                      .data = joined_[size_t(tensor)].data()});
  }
  if (path.ends_with(".safetensors"))
    return data::writeSafetensors(path, arrays);
  if (path.ends_with(".npz"))
    return data::writeNpz(path, arrays);
  return Status::userError("cannot tell the format of '", path,
                           "', expected the ending .npz or .safetensors");
}

} // namespace cleave::executor
