// See Gather.h.
#include "tools/cleave-run/Gather.h"

#include <algorithm>

namespace cleave::run {

Result<std::vector<std::string>> gatherOnAll(comm::Communicator &world, const std::string &text) {
  size_t ranks = size_t(world.size());
  int64_t length = int64_t(text.size());
  std::vector<int64_t> lengths(ranks);
  CLEAVE_TRY(world.allGather(&length, lengths.data(), 1, DType::I64));
  int64_t longest = std::max<int64_t>(1, *std::max_element(lengths.begin(), lengths.end()));
  std::string padded = text;
  padded.resize(size_t(longest));
  std::string all(size_t(longest) * ranks, '\0');
  CLEAVE_TRY(world.allGather(padded.data(), all.data(), longest, DType::U8));
  std::vector<std::string> texts;
  for (size_t rank = 0; rank < ranks; ++rank)
    texts.push_back(all.substr(rank * size_t(longest), size_t(lengths[rank])));
  return texts;
}

Result<std::string> fromFirst(comm::Communicator &world, std::string text) {
  if (world.size() == 1)
    return text;
  if (world.rank() != 0)
    text.clear();
  int64_t bytes = int64_t(text.size());
  CLEAVE_TRY(world.allReduce(&bytes, &bytes, 1, DType::I64, comm::Reduce::Sum));
  // As a sum of numbers to which the other ranks add 0.
  constexpr int64_t kBytes = sizeof(int64_t);
  int64_t numbers = (bytes + kBytes - 1) / kBytes;
  text.resize(size_t(numbers * kBytes));
  if (numbers > 0)
    CLEAVE_TRY(world.allReduce(text.data(), text.data(), numbers, DType::I64, comm::Reduce::Sum));
  text.resize(size_t(bytes));
  return text;
}

Result<std::vector<std::string>> gatherStrings(comm::Communicator &world, const std::string &text) {
  CLEAVE_TRY_ASSIGN(auto texts, gatherOnAll(world, text));
  return world.rank() == 0 ? texts : std::vector<std::string>();
}

Status agree(comm::Communicator &world, const Status &own) {
  std::string text = own ? "" : concat(own.exitCode(), own.message()); // the kind has one digit
  CLEAVE_TRY_ASSIGN(auto texts, gatherOnAll(world, text));
  for (size_t rank = 0; rank < texts.size(); ++rank) {
    if (texts[rank].empty())
      continue;
    std::string message = texts[rank].substr(1);
    if (texts.size() > 1)
      message = concat("rank ", rank, ": ", message);
    bool isUsers = texts[rank][0] == '0' + int(StatusKind::UserError);
    return isUsers ? Status::userError(message) : Status::defect(message);
  }
  return Status::ok();
}

} // namespace cleave::run
