// See Weights.h.
#include "compiler/frontend/onnx/file/Weights.h"

#include "compiler/frontend/onnx/file/Failure.h"
#include "compiler/frontend/onnx/file/Initialisation.h"

namespace cleave::onnx {

WeightFiles::WeightFiles(const std::string &modelPath) : modelPath_(modelPath) {
  model_ = mapFile(modelPath, "the model file");
}

std::string_view WeightFiles::modelBytes() const { return model_->text(); }

std::string_view WeightFiles::externalBytes(const StoredTensor &tensor) {
  std::string of = "the weights file '" + tensor.location + "' of '" + tensor.name + "'";
  auto found = external_.find(tensor.location);
  if (found == external_.end())
    found =
        external_
            .emplace(tensor.location, frontend::mapExternalFile(modelPath_, tensor.location, of))
            .first;
  std::string_view all = found->second->text();
  const ByteRange &range = tensor.range;
  if (range.offset > all.size() || range.size > all.size() - range.offset)
    fail(of, " has ", all.size(), " bytes, but bytes ", range.offset, " to ",
         range.offset + range.size, " are wanted; copy the file again");
  return all;
}

std::string_view WeightFiles::bytesOf(const StoredTensor &tensor) {
  if (!tensor.inFile)
    return tensor.decoded;
  std::string_view all = tensor.location.empty() ? modelBytes() : externalBytes(tensor);
  return all.substr(tensor.range.offset, tensor.range.size);
}

bool WeightFiles::areEqual(const StoredTensor &a, const StoredTensor &b, bool transposed) {
  if (initialisationOf(a) || initialisationOf(b)) // no elements yet
    return &a == &b && !transposed;
  std::string_view x = bytesOf(a), y = bytesOf(b);
  if (a.dataType != b.dataType || x.size() != y.size())
    return false;
  if (!transposed || x.empty()) // an empty tensor may have other than 2 dims
    return x == y;
  int64_t rows = a.dims[0], columns = a.dims[1], size = byteSize(a.element());
  // Block by block, since one of the two is read across its rows.
  constexpr int64_t block = 32;
  for (int64_t i0 = 0; i0 < rows; i0 += block)
    for (int64_t j0 = 0; j0 < columns; j0 += block)
      for (int64_t i = i0; i < std::min(i0 + block, rows); ++i)
        for (int64_t j = j0; j < std::min(j0 + block, columns); ++j)
          if (std::memcmp(x.data() + (i * columns + j) * size, y.data() + (j * rows + i) * size,
                          size))
            return false;
  return true;
}

Tensor WeightFiles::read(const StoredTensor &tensor) {
  std::string_view bytes = bytesOf(tensor);
  Tensor out(tensor.element(), tensor.dims);
  for (int64_t i = 0; i < out.size(); ++i)
    out.values[i] = elementAt(bytes, out.type, i);
  return out;
}

static Tensor transposeOf(const Tensor &x) {
  Tensor out(x.type, {x.shape[1], x.shape[0]});
  for (int64_t i = 0; i < x.size(); ++i)
    out.values[i % x.shape[1] * x.shape[0] + i / x.shape[1]] = x.values[i];
  return out;
}

graph::TensorOrigin WeightFiles::originOf(const StoredTensor &tensor, bool transposed) {
  check(tensor);
  graph::TensorOrigin origin;
  if (!tensor.inFile) {
    origin.kind = graph::TensorOrigin::Kind::Inline;
    origin.data = transposed ? transposeOf(read(tensor)) : read(tensor);
    return origin;
  }
  origin.kind = graph::TensorOrigin::Kind::File;
  origin.path = tensor.location;
  origin.offset = tensor.range.offset;
  origin.bytes = tensor.range.size;
  origin.element = tensor.element();
  if (transposed)
    origin.permutation = {1, 0};
  return origin;
}

} // namespace cleave::onnx
