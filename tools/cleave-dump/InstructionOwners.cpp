#include "tools/cleave-dump/InstructionOwners.h"

#include "runtime/artifact/Access.h"
#include "tools/cleave-dump/PlanText.h"

#include <algorithm>
#include <map>
#include <set>

namespace cleave::dump {

namespace {

using Owners = std::set<int>;

class OwnerFinder {
public:
  OwnerFinder(const plan::Plan &plan, const plan::Program &program) {
    for (const plan::Segment &segment : program.segments())
      for (const plan::Instruction &instruction : segment.instructions())
        accesses_.push_back(artifact::accessesOf(program, instruction));
    std::map<std::string, int> parameters;
    for (int t = 0; t < plan.tensors_size(); ++t)
      if (plan.tensors(t).role() == plan::PARAMETER)
        parameters[plan.tensors(t).name()] = t;
    for (int b = 0; b < program.buffers_size(); ++b) {
      const plan::Tensor &tensor = tensorAt(plan, uint64_t(program.buffers(b).tensor()));
      const bool isParameter = tensor.role() == plan::PARAMETER;
      if (const auto found = parameters.find(isParameter ? tensor.name() : tensor.parameter());
          found != parameters.end())
        ofBuffer_[uint32_t(b)] = {found->second};
      isParameter_.push_back(isParameter);
    }
  }

  std::vector<std::vector<int>> find() {
    findCopies();
    std::vector<std::vector<int>> result(accesses_.size());
    std::map<uint32_t, Owners> ofReader; // of the next instruction that reads a buffer
    for (size_t i = accesses_.size(); i-- > 0;) {
      Owners owners =
          ownersIn(ofBuffer_, accesses_[i], [](const artifact::Access &) { return true; });
      if (owners.empty())
        owners =
            ownersIn(ofReader, accesses_[i], [](const artifact::Access &a) { return a.writes; });
      for (const artifact::Access &access : accesses_[i])
        if (access.reads && !owners.empty())
          ofReader[access.buffer] = owners;
      result[i].assign(owners.begin(), owners.end());
    }
    return result;
  }

private:
  template <typename Wanted>
  static Owners ownersIn(const std::map<uint32_t, Owners> &known,
                         const std::vector<artifact::Access> &accesses, Wanted isWanted) {
    Owners owners;
    for (const artifact::Access &access : accesses)
      if (const auto found = known.find(access.buffer); isWanted(access) && found != known.end())
        owners.insert(found->second.begin(), found->second.end());
    return owners;
  }

  // A value that is computed from parameters alone, such as a gathered parameter, stands for them.
  void findCopies() {
    std::set<uint32_t> copies, written;
    auto isCopy = [&](uint32_t buffer) {
      return copies.contains(buffer) || (buffer < isParameter_.size() && isParameter_[buffer]);
    };
    for (const std::vector<artifact::Access> &accesses : accesses_) {
      bool reads = false, isOther = false; // what changes a value may read it
      for (const artifact::Access &access : accesses) {
        reads |= access.reads;
        isOther |= access.reads ? !isCopy(access.buffer)
                                : isCopy(access.buffer) || written.contains(access.buffer);
        if (access.writes)
          written.insert(access.buffer);
      }
      if (!reads || isOther)
        continue;
      const Owners owners = ownersIn(ofBuffer_, accesses,
                                     [](const artifact::Access &access) { return access.reads; });
      for (const artifact::Access &access : accesses)
        if (access.writes) {
          ofBuffer_[access.buffer] = owners;
          copies.insert(access.buffer);
        }
    }
  }

  std::vector<std::vector<artifact::Access>> accesses_; // by position
  std::map<uint32_t, Owners> ofBuffer_;
  std::vector<bool> isParameter_; // by buffer
};

} // namespace

std::vector<std::vector<int>> instructionOwners(const plan::Plan &plan,
                                                const plan::Program &program) {
  return OwnerFinder(plan, program).find();
}

} // namespace cleave::dump
