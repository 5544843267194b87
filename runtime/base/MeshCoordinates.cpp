// See MeshCoordinates.h.
#include "runtime/base/MeshCoordinates.h"

namespace cleave {

std::vector<int64_t> meshCoordinates(std::span<const int64_t> sizes, int64_t rank) {
  std::vector<int64_t> coordinates(sizes.size());
  for (size_t axis = sizes.size(); axis-- > 0;) {
    coordinates[axis] = rank % sizes[axis];
    rank /= sizes[axis];
  }
  return coordinates;
}

// The inverse of meshCoordinates.
static int64_t rankAt(std::span<const int64_t> sizes, const std::vector<int64_t> &coordinates) {
  int64_t rank = 0;
  for (size_t axis = 0; axis < sizes.size(); ++axis)
    rank = rank * sizes[axis] + coordinates[axis];
  return rank;
}

std::vector<int64_t> meshGroup(std::span<const int64_t> sizes, std::span<const int64_t> axes,
                               int64_t rank) {
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= sizes[size_t(axis)];
  std::vector<int64_t> coordinates = meshCoordinates(sizes, rank),
                       group(static_cast<size_t>(count));
  for (int64_t index = 0; index < count; ++index) {
    int64_t rest = index;
    for (size_t i = axes.size(); i-- > 0;) {
      size_t axis = size_t(axes[i]);
      coordinates[axis] = rest % sizes[axis];
      rest /= sizes[axis];
    }
    group[size_t(index)] = rankAt(sizes, coordinates);
  }
  return group;
}

} // namespace cleave
