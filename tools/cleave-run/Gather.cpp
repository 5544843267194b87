// See Gather.h.
#include "tools/cleave-run/Gather.h"

#include <algorithm>

namespace cleave::run {

Result<std::vector<std::string>> gatherStrings(comm::Communicator &world, const std::string &text) {
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
  for (size_t rank = 0; rank < ranks && world.rank() == 0; ++rank)
    texts.push_back(all.substr(rank * size_t(longest), size_t(lengths[rank])));
  return texts;
}

} // namespace cleave::run
