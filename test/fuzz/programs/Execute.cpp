#include "test/fuzz/programs/Execute.h"

#include "runtime/artifact/Mesh.h"
#include "runtime/base/DType.h"
#include "runtime/comm/local/LocalWorld.h"
#include "runtime/executor/Executor.h"
#include "test/unit/graph_text/Elements.h"

#include <algorithm>
#include <mutex>
#include <thread>

namespace cleave::fuzz {

namespace {

// Calls visit(position in the whole tensor, position in the block) for the part of a block that
// lies inside the tensor.
template <typename Visit>
void forEachInside(const std::vector<int64_t> &whole, const std::vector<int64_t> &offset,
                   const std::vector<int64_t> &block, Visit visit) {
  std::vector<int64_t> strides = Tensor(ElementType::F64, whole).strides();
  int64_t inBlock = 0;
  forEachIndex(block, [&](const std::vector<int64_t> &index) {
    int64_t position = 0;
    bool inside = true;
    for (size_t d = 0; d < index.size(); ++d) {
      inside &= offset[d] + index[d] < whole[d];
      position += (offset[d] + index[d]) * strides[d];
    }
    if (inside)
      visit(position, inBlock);
    ++inBlock;
  });
}

class GeneratedData : public data::DataSource {
public:
  GeneratedData(const ProgramData &data, std::vector<data::InputDescription> inputs)
      : data_(data), inputs_(std::move(inputs)) {}
  int64_t samples() const override { return 0; }
  int64_t samplesPerMicroBatch() const override { return 0; }
  Status fill(size_t input, int64_t step, int64_t slot, const std::vector<int64_t> &offset,
              const std::vector<int64_t> &shape, void *destination) const override {
    const data::InputDescription &what = inputs_[input];
    Tensor whole = data_.tensor(what.name, step, slot);
    int64_t size = byteSize(whole.type);
    auto *to = static_cast<char *>(destination);
    std::fill(to, to + Tensor(whole.type, shape).size() * size, 0);
    forEachInside(whole.shape, offset, shape, [&](int64_t from, int64_t at) {
      test::storeElement(whole.type, to + at * size, whole.values[from]);
    });
    return Status::ok();
  }

private:
  const ProgramData &data_;
  std::vector<data::InputDescription> inputs_;
};

// One rank's run. Keeps its first error.
class Rank {
public:
  Rank(const plan::Plan &plan, const MakeDevice &makeDevice, const ProgramData &data,
       const std::vector<StepResults> &expected)
      : plan_(plan), makeDevice_(makeDevice), data_(data, executor::inputsOf(plan)),
        expected_(expected) {}

  void run(comm::World &world) {
    rank_ = world.rank();
    executor::ExecutorOptions options;
    options.keepOutputs = true;
    options.checked = true;
    auto executor = executor::Executor::create(plan_, world, makeDevice_(), &data_, options);
    if (!executor)
      return note(executor.status().message());
    for (size_t step = 0; step < expected_.size(); ++step) {
      if (Status status = (*executor)->step(static_cast<int64_t>(step)); !status)
        return note("step " + std::to_string(step) + ": " + status.message());
      for (const executor::MetricValue &metric : (*executor)->metrics())
        checkMetric(metric, expected_[step]);
    }
    for (const checkpoint::Slice &slice : (*executor)->slices())
      checkBlock(slice.name, slice.globalShape, slice.offset, slice.blockShape, slice.dtype,
                 static_cast<const char *>(slice.data));
    for (const executor::StoredOutput &output : (*executor)->storedOutputs()) {
      const plan::Tensor &tensor = plan_.tensors(output.tensor);
      artifact::RankBlock block =
          artifact::blockOf(plan_, tensor, static_cast<uint32_t>(world.rank()));
      checkBlock(tensor.name(), {tensor.shape().begin(), tensor.shape().end()}, block.begin,
                 block.shape, static_cast<DType>(tensor.dtype()), output.block.data());
    }
  }

  const std::string &wrong() const { return wrong_; }
  int64_t compared = 0, undecided = 0;

private:
  void note(const std::string &text) {
    if (wrong_.empty())
      wrong_ = "rank " + std::to_string(rank_) + ": " + text;
  }

  void judge(const std::string &name, const Ensemble &expected, const Tensor &found) {
    Comparison result = compare(expected, found);
    compared += result.compared;
    undecided += result.undecided;
    if (result.wrong > 0)
      note("'" + name + "', " + std::to_string(result.wrong) + " of " +
           std::to_string(found.size()) + " elements, " + result.first);
  }

  void checkMetric(const executor::MetricValue &metric, const StepResults &expected) {
    auto known = expected.find(metric.name);
    if (known == expected.end())
      return note("reports '" + metric.name + "', which the step does not compute");
    Tensor found = known->second[0];
    found.values = {metric.value};
    judge(metric.name, known->second, found);
  }

  // Compares a rank's block with the expected values of the whole tensor.
  void checkBlock(const std::string &name, const std::vector<int64_t> &whole,
                  const std::vector<int64_t> &offset, const std::vector<int64_t> &block,
                  ElementType type, const char *bytes) {
    auto known = expected_.back().find(name);
    if (known == expected_.back().end())
      return; // a constant of this step
    Tensor found = known->second[0];
    forEachInside(whole, offset, block, [&](int64_t at, int64_t from) {
      found.values[at] = test::loadElement(type, bytes + from * byteSize(type));
    });
    judge(name, known->second, found);
  }

  const plan::Plan &plan_;
  const MakeDevice &makeDevice_;
  GeneratedData data_;
  const std::vector<StepResults> &expected_;
  int rank_ = 0;
  std::string wrong_;
};

} // namespace

std::string runPlan(const plan::Plan &plan, const MakeDevice &makeDevice, const ProgramData &data,
                    const std::vector<StepResults> &expected, int64_t *count) {
  auto worlds = comm::makeLocalWorlds(static_cast<int>(artifact::rankCount(plan)));
  std::vector<std::unique_ptr<Rank>> ranks;
  std::vector<std::thread> threads;
  for (auto &world : worlds) {
    ranks.push_back(std::make_unique<Rank>(plan, makeDevice, data, expected));
    threads.emplace_back([&world, rank = ranks.back().get()] {
      rank->run(*world);
      if (!rank->wrong().empty())
        world.reset(); // so that other ranks do not wait for it
    });
  }
  for (std::thread &thread : threads)
    thread.join();
  std::string wrong;
  for (const auto &rank : ranks) {
    count[static_cast<int>(Counted::Compared)] += rank->compared;
    count[static_cast<int>(Counted::Undecided)] += rank->undecided;
    if (wrong.empty())
      wrong = rank->wrong();
  }
  return wrong;
}

} // namespace cleave::fuzz
