// A launch may move between the last conflict before it and the first one after it. Among the
// launches of one kernel, the interval that ends first sets the end of a shared launch. The shared
// launch takes all others that may run before that end, and runs as soon as the last of them may.
// It makes room for more, for example for sums whose readers have moved, so this is repeated until
// nothing moves.
#include "passes/bufferize/SharedLaunches.h"

#include "dialects/graph/Graph.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

#include <algorithm>
#include <limits>
#include <optional>

using namespace mlir;

namespace cleave::bufferize {

namespace {

using Access = Launchable::Access;

class Sharer {
public:
  Sharer(const std::vector<Launchable> &segment, const LaunchLimits &limits) : limits_(limits) {
    for (auto [i, each] : llvm::enumerate(segment))
      runs_.push_back({{static_cast<int64_t>(i)}, each.kernel, each.bytes, each.accesses});
  }

  std::vector<std::vector<int64_t>> share() {
    llvm::SetVector<int64_t> kernels;
    for (const Run &run : runs_)
      if (run.kernel >= 0)
        kernels.insert(run.kernel);
    for (bool changed = true; changed;) {
      changed = false;
      for (int64_t kernel : kernels)
        while (std::optional<Group> group = findGroup(kernel)) {
          join(*group);
          changed = true;
        }
    }
    std::vector<std::vector<int64_t>> order;
    for (const Run &run : runs_)
      order.push_back(run.members);
    return order;
  }

private:
  // Instructions that run together.
  struct Run {
    std::vector<int64_t> members;
    int64_t kernel, bytes;
    std::vector<Access> accesses;
  };
  // The positions of the last conflict before a run and of the first one after it.
  struct Interval {
    int64_t after = -1, before = std::numeric_limits<int64_t>::max();
  };
  struct Group {
    std::vector<int64_t> runs; // positions, ascending
    int64_t after;             // the position after which they run
  };
  struct Use {
    int64_t position;
    bool isWritten;
  };

  const std::vector<Interval> &intervals() {
    if (!intervals_.empty())
      return intervals_;
    llvm::DenseMap<int64_t, std::vector<Use>> uses; // per buffer, by position
    for (auto [position, run] : llvm::enumerate(runs_))
      for (const Access &access : run.accesses)
        uses[access.buffer].push_back({static_cast<int64_t>(position), access.isWritten});
    intervals_.resize(runs_.size());
    for (auto &[buffer, list] : uses)
      for (const auto &x : list)
        if (runs_[x.position].kernel >= 0)
          narrow(intervals_[x.position], x, list);
    return intervals_;
  }

  static void narrow(Interval &interval, const Use &own, const std::vector<Use> &uses) {
    auto conflicts = [&](const Use &other) { return own.isWritten || other.isWritten; };
    auto here = llvm::find_if(uses, [&](const Use &u) { return u.position == own.position; });
    for (auto at = here; at != uses.begin();)
      if (conflicts(*--at)) {
        interval.after = std::max(interval.after, at->position);
        break;
      }
    for (auto at = here; at != uses.end(); ++at)
      if (at->position > own.position && conflicts(*at)) {
        interval.before = std::min(interval.before, at->position);
        break;
      }
  }

  std::optional<Group> findGroup(int64_t kernel) {
    std::vector<int64_t> positions;
    for (auto [position, run] : llvm::enumerate(runs_))
      if (run.kernel == kernel)
        positions.push_back(static_cast<int64_t>(position));
    if (positions.size() < 2)
      return std::nullopt;
    const std::vector<Interval> &all = intervals();
    llvm::stable_sort(positions,
                      [&](int64_t a, int64_t b) { return all[a].before < all[b].before; });
    for (size_t first = 0; first + 1 < positions.size(); ++first)
      if (Group group = groupFrom(ArrayRef(positions).drop_front(first), all);
          group.runs.size() > 1)
        return group;
    return std::nullopt;
  }

  // The first run, and the others that may run with it.
  Group groupFrom(ArrayRef<int64_t> positions, const std::vector<Interval> &all) const {
    const int64_t end = all[positions.front()].before;
    Group group{{}, -1};
    llvm::DenseMap<int64_t, bool> touched; // buffers of the group, whether written
    int64_t buffers = 0, bytes = 0;
    for (int64_t position : positions) {
      const std::vector<Access> &accesses = runs_[position].accesses;
      const auto count = static_cast<int64_t>(accesses.size());
      const bool conflicts = llvm::any_of(accesses, [&](const Access &access) {
        auto other = touched.find(access.buffer);
        return other != touched.end() && (other->second || access.isWritten);
      });
      if (all[position].after >= end || buffers + count > limits_.buffers ||
          bytes + runs_[position].bytes > limits_.bytes || conflicts)
        continue;
      buffers += count;
      bytes += runs_[position].bytes;
      for (const Access &access : accesses)
        touched[access.buffer] |= access.isWritten;
      group.runs.push_back(position);
      group.after = std::max(group.after, all[position].after);
    }
    llvm::sort(group.runs);
    return group;
  }

  void join(const Group &group) {
    Run joined{{}, runs_[group.runs.front()].kernel, 0, {}};
    for (int64_t position : group.runs) {
      joined.bytes += runs_[position].bytes;
      llvm::append_range(joined.members, runs_[position].members);
      llvm::append_range(joined.accesses, runs_[position].accesses);
    }
    std::vector<Run> order;
    if (group.after < 0)
      order.push_back(joined);
    for (auto [position, run] : llvm::enumerate(runs_)) {
      if (!llvm::is_contained(group.runs, static_cast<int64_t>(position)))
        order.push_back(std::move(run));
      if (static_cast<int64_t>(position) == group.after)
        order.push_back(joined);
    }
    runs_ = std::move(order);
    intervals_.clear();
  }

  LaunchLimits limits_;
  std::vector<Run> runs_;           // in their order
  std::vector<Interval> intervals_; // of these; empty: not known
};

// The kernel with this number of instances; adds it to the module if it is missing.
program::KernelOp kernelWith(program::KernelOp kernel, int64_t instances, SymbolTable &kernels) {
  const std::string name = kernel.getSymName().str() + "_x" + std::to_string(instances);
  if (auto known = kernels.lookup<program::KernelOp>(name))
    return known;
  OpBuilder b(kernel.getContext());
  auto times = [&](std::optional<APFloat> number) {
    return b.getF64FloatAttr(static_cast<double>(instances) *
                             (number ? number->convertToDouble() : 0));
  };
  auto shared = cast<program::KernelOp>(kernel->clone());
  shared.setSymName(name);
  kernels.insert(shared, std::next(kernel->getIterator()));
  shared.setInstances(instances);
  shared.setBuffers(kernel.getBuffers() * instances);
  shared.setFlopsAttr(times(kernel.getFlops()));
  shared.setBytesAttr(times(kernel.getBytes()));
  return shared;
}

class SegmentSharer {
public:
  // `kernels`: the symbols of the segment's module.
  SegmentSharer(program::SegmentOp segment, SymbolTable &kernels)
      : segment_(segment), kernels_(kernels) {}

  void share() {
    Block &block = segment_.getBody().front();
    std::vector<Operation *> instructions;
    std::vector<Launchable> plain;
    for (Operation &instruction : block) {
      instructions.push_back(&instruction);
      plain.push_back(plainOf(instruction));
    }
    OpBuilder b(segment_.getContext());
    for (const std::vector<int64_t> &run : shareLaunches(plain)) {
      SmallVector<Operation *> together;
      for (int64_t i : run)
        together.push_back(instructions[i]);
      if (together.size() == 1)
        together.front()->moveBefore(&block, block.end());
      else
        launchTogether(together);
    }
  }

private:
  Launchable plainOf(Operation &instruction) {
    Launchable plain;
    if (auto launch = dyn_cast<program::LaunchOp>(instruction))
      if (program::KernelOp kernel = kernelOf(launch); isSmall(kernel)) {
        plain.kernel = numbers_.try_emplace(launch.getKernelAttr(), numbers_.size()).first->second;
        plain.bytes = static_cast<int64_t>(kernel.getBytes()->convertToDouble());
      }
    SmallVector<MemoryEffects::EffectInstance> effects;
    cast<MemoryEffectOpInterface>(instruction).getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects)
      if (Value value = effect.getValue()) {
        const auto buffer =
            static_cast<int64_t>(buffers_.try_emplace(value, buffers_.size()).first->second);
        plain.accesses.push_back({buffer, isa<MemoryEffects::Write>(effect.getEffect())});
      }
    return plain;
  }

  program::KernelOp kernelOf(program::LaunchOp launch) {
    return kernels_.lookup<program::KernelOp>(launch.getKernel());
  }

  static bool isSmall(program::KernelOp kernel) {
    return kernel && isa<graph::FusionOp>(kernel.getComputation()) && kernel.getBytes() &&
           kernel.getBytes()->convertToDouble() <= static_cast<double>(kSmallKernel);
  }

  // Adds one launch at the end of the segment in place of several.
  void launchTogether(ArrayRef<Operation *> launches) {
    auto first = cast<program::LaunchOp>(launches.front());
    SmallVector<Value> buffers;
    SmallVector<int64_t> written;
    for (Operation *op : launches) {
      auto launch = cast<program::LaunchOp>(op);
      for (int64_t position : launch.getWritten())
        written.push_back(static_cast<int64_t>(buffers.size()) + position);
      llvm::append_range(buffers, launch.getBuffers());
    }
    OpBuilder b = OpBuilder::atBlockEnd(&segment_.getBody().front());
    program::KernelOp kernel =
        kernelWith(kernelOf(first), static_cast<int64_t>(launches.size()), kernels_);
    auto launch =
        program::LaunchOp::create(b, first.getLoc(), kernel.getSymName(), buffers, written);
    launch->setDiscardableAttrs(first->getDiscardableAttrDictionary());
    for (Operation *op : launches)
      op->erase();
  }

  program::SegmentOp segment_;
  SymbolTable &kernels_;
  llvm::DenseMap<Attribute, int64_t> numbers_; // of kernels
  llvm::DenseMap<Value, size_t> buffers_;      // numbers of buffers
};

} // namespace

std::vector<std::vector<int64_t>> shareLaunches(const std::vector<Launchable> &segment,
                                                const LaunchLimits &limits) {
  return Sharer(segment, limits).share();
}

void shareLaunches(program::ProgramOp program) {
  SymbolTable kernels(program->getParentOfType<ModuleOp>());
  for (auto segment : program.getBody().front().getOps<program::SegmentOp>())
    SegmentSharer(segment, kernels).share();
}

void eraseUnusedKernels(ModuleOp module) {
  llvm::DenseSet<Attribute> launched;
  module.walk([&](program::LaunchOp launch) { launched.insert(launch.getKernelAttr().getAttr()); });
  for (auto kernel : llvm::make_early_inc_range(module.getOps<program::KernelOp>()))
    if (!launched.contains(kernel.getSymNameAttr()))
      kernel.erase();
}

} // namespace cleave::bufferize
