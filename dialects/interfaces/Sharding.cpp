// The text of shardings, and the block of a tensor on each rank.
#include "dialects/interfaces/Sharding.h"

#include <cassert>

namespace cleave {

bool Sharding::isReplicated() const {
  for (const std::vector<int> &axes : dims)
    if (!axes.empty())
      return false;
  return partial.empty();
}

std::string Sharding::str(const Mesh &mesh) const {
  std::string text = "[";
  for (size_t d = 0; d < dims.size(); ++d)
    text += (d ? ", " : "") + (dims[d].empty() ? "_" : mesh.axesText(dims[d]));
  text += "]";
  if (partial.empty())
    return text;
  static const char *const kinds[] = {"", "max ", "min "};
  return text + " partial(" + kinds[static_cast<int>(reduce)] + mesh.axesText(partial) + ")";
}

static int64_t blockSize(int64_t size, int64_t blocks) { return (size + blocks - 1) / blocks; }

std::vector<int64_t> localShape(const std::vector<int64_t> &shape, const Sharding &sharding,
                                const Mesh &mesh) {
  assert(shape.size() == sharding.dims.size() && "the sharding has another number of dims");
  std::vector<int64_t> result(shape.size());
  for (size_t d = 0; d < shape.size(); ++d)
    result[d] = blockSize(shape[d], mesh.ranksAlong(sharding.dims[d]));
  return result;
}

std::vector<int64_t> localOffset(const std::vector<int64_t> &shape, const Sharding &sharding,
                                 const Mesh &mesh, int64_t rank) {
  std::vector<int64_t> result = localShape(shape, sharding, mesh);
  for (size_t d = 0; d < shape.size(); ++d)
    result[d] *= mesh.indexAlong(rank, sharding.dims[d]);
  return result;
}

} // namespace cleave
