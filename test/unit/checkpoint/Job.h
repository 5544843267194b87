// Saves and loads tensors on several ranks (threads) under any mesh and sharding. Every element of
// a tensor is a function of its position, so that misplaced elements are detected.
#pragma once

#include "runtime/base/MeshCoordinates.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/comm/local/LocalWorld.h"
#include "runtime/data/Block.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <numeric>
#include <thread>

namespace cleave::checkpoint {

class Folder {
public:
  Folder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "cleave-checkpoint-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string &name) const { return (path / name).string(); }

private:
  std::filesystem::path path;
};

// A tensor and the mesh axes that shard each dim, with blocks of ceil(size / parts) as in plans.
struct Sharded {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<std::vector<int>> axes; // per dim
};

// Whether `rank` writes its slice of a tensor that is sharded on `axes` of the mesh: of the ranks
// with equal slices, the one whose coordinates on all other axes are 0.
inline bool ownsSlice(const std::vector<int64_t> &mesh, const std::vector<int> &axes, int rank) {
  std::vector<int64_t> position = meshCoordinates(mesh, rank);
  for (size_t axis = 0; axis < mesh.size(); ++axis)
    if (position[axis] != 0 && std::ranges::find(axes, static_cast<int>(axis)) == axes.end())
      return false;
  return true;
}

inline float valueAt(const std::string &name, const std::vector<int64_t> &element, int64_t step) {
  int64_t value = static_cast<int64_t>(name.size()) * 1000 + step;
  for (int64_t at : element)
    value = (value * 31 + at) % 8'000'009;
  return static_cast<float>(value);
}

inline data::Block blockOf(const Sharded &tensor, const std::vector<int64_t> &mesh, int rank) {
  std::vector<int64_t> position = meshCoordinates(mesh, rank);
  data::Block block;
  for (size_t dim = 0; dim < tensor.shape.size(); ++dim) {
    int64_t ranks = 1, index = 0;
    for (int axis : tensor.axes[dim]) {
      ranks *= mesh[axis];
      index = index * mesh[axis] + position[axis];
    }
    int64_t size = (tensor.shape[dim] + ranks - 1) / ranks;
    block.offset.push_back(index * size);
    block.shape.push_back(size);
  }
  return block;
}

// The expected values of a block: values inside the tensor, zeros beyond it.
inline std::vector<float> valuesOf(const Sharded &tensor, const data::Block &block, int64_t step) {
  std::vector<float> values(data::elements(block.shape));
  for (size_t i = 0; i < values.size(); ++i) {
    std::vector<int64_t> element(block.shape.size());
    int64_t rest = i;
    bool inside = true;
    for (size_t dim = block.shape.size(); dim-- > 0; rest /= block.shape[dim]) {
      element[dim] = block.offset[dim] + rest % block.shape[dim];
      inside &= element[dim] < tensor.shape[dim];
    }
    values[i] = inside ? valueAt(tensor.name, element, step) : 0;
  }
  return values;
}

// The collective that save() needs: a failure of any rank is one of all.
inline Status agree(comm::Communicator &group, const Status &own) {
  std::vector<int64_t> failed(size_t(group.size()));
  int64_t mine = own ? 0 : 1;
  CLEAVE_TRY(group.allGather(&mine, failed.data(), 1, DType::I64));
  for (size_t rank = 0; rank < failed.size(); ++rank)
    if (failed[rank])
      return rank == size_t(group.rank()) ? own : Status::userError("rank ", rank, " failed");
  return Status::ok();
}

// Saves on all ranks of a mesh. Returns the first failure.
inline Status saveAll(const std::string &directory, const std::vector<int64_t> &mesh,
                      const std::vector<Sharded> &tensors, int64_t step, int keep = 1) {
  int size =
      static_cast<int>(std::accumulate(mesh.begin(), mesh.end(), int64_t(1), std::multiplies<>()));
  std::vector<std::unique_ptr<comm::World>> worlds = comm::makeLocalWorlds(size);
  std::vector<Status> statuses(size);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      std::vector<int> everyone(size);
      std::iota(everyone.begin(), everyone.end(), 0);
      auto group = worlds[rank]->connect(everyone);
      std::vector<std::vector<float>> memory;
      std::vector<Slice> slices;
      for (const Sharded &tensor : tensors) {
        data::Block block = blockOf(tensor, mesh, rank);
        memory.push_back(valuesOf(tensor, block, step));
        std::vector<int> axes;
        for (const std::vector<int> &dim : tensor.axes)
          axes.insert(axes.end(), dim.begin(), dim.end());
        slices.push_back({.name = tensor.name,
                          .dtype = DType::F32,
                          .globalShape = tensor.shape,
                          .offset = block.offset,
                          .blockShape = block.shape,
                          .data = memory.back().data(),
                          .owned = ownsSlice(mesh, axes, rank)});
      }
      SaveOptions options{.directory = directory,
                          .rank = rank,
                          .size = size,
                          .agree = [&](const Status &own) { return agree(**group, own); },
                          .keep = keep};
      statuses[rank] = save(options, slices, {step, {{"samples", std::to_string(step * 8)}}});
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const Status &status : statuses)
    CLEAVE_TRY(status);
  return Status::ok();
}

// Loads every rank's block under a mesh and compares it. Returns the first error; empty if there is
// none.
inline std::string loadAll(const std::string &directory, const std::vector<int64_t> &mesh,
                           const std::vector<Sharded> &tensors, int64_t step) {
  auto checkpoint = Checkpoint::open(directory);
  if (!checkpoint)
    return checkpoint.status().message();
  if ((*checkpoint)->progress().step != step)
    return "step " + std::to_string((*checkpoint)->progress().step);
  int size =
      static_cast<int>(std::accumulate(mesh.begin(), mesh.end(), int64_t(1), std::multiplies<>()));
  for (int rank = 0; rank < size; ++rank)
    for (const Sharded &tensor : tensors) {
      data::Block block = blockOf(tensor, mesh, rank);
      std::vector<float> found(data::elements(block.shape), -1);
      Status status = (*checkpoint)
                          ->read(tensor.name, DType::F32, tensor.shape, block.offset, block.shape,
                                 found.data());
      if (!status)
        return status.message();
      if (found != valuesOf(tensor, block, step))
        return "wrong values of " + tensor.name + " on rank " + std::to_string(rank);
    }
  return "";
}

} // namespace cleave::checkpoint
