#include "tools/cleave-dump/InstructionOwners.h"

#include "runtime/artifact/Access.h"
#include "tools/cleave-dump/InstructionParts.h"
#include "tools/cleave-dump/PlanText.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace cleave::dump {

namespace {

class OwnerFinder {
public:
  OwnerFinder(const plan::Plan &plan, const plan::Program &program) {
    for (const plan::Segment &segment : program.segments())
      for (const plan::Instruction &instruction : segment.instructions()) {
        const std::vector<std::vector<artifact::Access>> parts = partsOf(program, instruction);
        counts_.push_back(parts.size());
        for (const std::vector<artifact::Access> &part : parts)
          parts_.push_back(withReads(part, instruction.has_launch()));
      }
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
      if (isParameter)
        copies_.insert(uint32_t(b));
      else if (program.buffers(b).role() == plan::COORDINATES)
        places_.insert(uint32_t(b));
    }
  }

  std::vector<std::vector<Owners>> find() {
    findCopies();
    std::vector<Owners> owners(parts_.size());
    std::map<uint32_t, size_t> readers; // by buffer: the next part with owners that reads it
    for (size_t p = parts_.size(); p-- > 0;) {
      owners[p] = ownersIn(parts_[p], [](const artifact::Access &) { return true; });
      size_t reader = parts_.size();
      for (const artifact::Access &access : parts_[p])
        if (const auto next = readers.find(access.buffer); access.writes && next != readers.end())
          reader = std::min(reader, next->second);
      if (owners[p].empty() && reader < parts_.size())
        owners[p] = owners[reader];
      for (const artifact::Access &access : parts_[p])
        if (access.reads && !owners[p].empty())
          readers[access.buffer] = p;
    }
    std::vector<std::vector<Owners>> result;
    auto next = owners.begin();
    for (size_t count : counts_) {
      result.emplace_back(next, next + ptrdiff_t(count));
      next += ptrdiff_t(count);
    }
    return result;
  }

private:
  // A launch that writes a buffer with content also reads it, such as a sum in place.
  std::vector<artifact::Access> withReads(std::vector<artifact::Access> part, bool isLaunch) {
    for (artifact::Access &access : part)
      access.reads |= isLaunch && access.writes && written_.contains(access.buffer);
    for (const artifact::Access &access : part)
      if (access.writes)
        written_.insert(access.buffer);
    return part;
  }

  template <typename Wanted>
  Owners ownersIn(const std::vector<artifact::Access> &part, Wanted isWanted) const {
    std::set<int> owners;
    for (const artifact::Access &access : part)
      if (const auto found = ofBuffer_.find(access.buffer);
          isWanted(access) && found != ofBuffer_.end())
        owners.insert(found->second.begin(), found->second.end());
    return {owners.begin(), owners.end()};
  }

  // A value that is computed from parameters alone, such as a gathered parameter, stands for them;
  // coordinates may be in it, such as for the padding of a block.
  void findCopies() {
    std::set<uint32_t> written;
    for (const std::vector<artifact::Access> &part : parts_) {
      bool readsCopy = false, readsPlace = false, isOther = false;
      for (const artifact::Access &access : part) {
        const bool isCopy = copies_.contains(access.buffer);
        readsCopy |= access.reads && isCopy;
        readsPlace |= access.reads && places_.contains(access.buffer);
        isOther |= access.reads ? !isCopy && !places_.contains(access.buffer)
                                : isCopy || written.contains(access.buffer);
        if (access.writes)
          written.insert(access.buffer);
      }
      if (isOther || (!readsCopy && !readsPlace))
        continue;
      const Owners owners = ownersIn(part, [](const artifact::Access &a) { return a.reads; });
      for (const artifact::Access &access : part)
        if (access.writes && readsCopy) {
          ofBuffer_[access.buffer] = owners;
          copies_.insert(access.buffer);
        } else if (access.writes) {
          places_.insert(access.buffer);
        }
    }
  }

  std::vector<std::vector<artifact::Access>> parts_; // of all instructions, in order
  std::vector<size_t> counts_;                       // of parts, by position
  std::map<uint32_t, Owners> ofBuffer_;
  std::set<uint32_t> copies_;  // buffers: parameters, and values of them alone
  std::set<uint32_t> places_;  // buffers: coordinates, and values of them alone
  std::set<uint32_t> written_; // buffers
};

} // namespace

std::vector<std::vector<Owners>> partOwners(const plan::Plan &plan, const plan::Program &program) {
  return OwnerFinder(plan, program).find();
}

std::vector<Owners> instructionOwners(const plan::Plan &plan, const plan::Program &program) {
  std::vector<Owners> result;
  for (const std::vector<Owners> &parts : partOwners(plan, program)) {
    std::set<int> owners;
    for (const Owners &part : parts)
      owners.insert(part.begin(), part.end());
    result.emplace_back(owners.begin(), owners.end());
  }
  return result;
}

} // namespace cleave::dump
