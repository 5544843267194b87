// See Expectations.h.
#include "test/conformance/Expectations.h"

#include <fstream>
#include <sstream>

namespace cleave::conformance {

Result<Expectations> Expectations::read(const std::string &path) {
  std::ifstream file(path);
  if (!file)
    return Status::userError("cannot read ", path);
  Expectations out;
  std::string reason;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#')
      continue;
    if (line[0] == '[' && line.back() == ']') {
      reason = line.substr(1, line.size() - 2);
      continue;
    }
    std::istringstream words(line);
    std::string test, which, rest;
    words >> test >> which >> rest;
    bool isPath = which.empty() || which == kPathNames[0] || which == kPathNames[1];
    if (reason.empty() || !isPath || !rest.empty())
      return Status::userError(path, ": found '", line,
                               "', expected SET/TEST [interpret|compile] below a [reason]");
    if (!out.entries_.emplace(test, Entry{reason, which}).second)
      return Status::userError(path, ": ", test, " is named twice");
  }
  return out;
}

std::optional<std::string> Expectations::reason(const std::string &test, Path path) const {
  auto found = entries_.find(test);
  if (found == entries_.end())
    return std::nullopt;
  const Entry &entry = found->second;
  bool matches = entry.path.empty() || entry.path == kPathNames[static_cast<int>(path)];
  return matches ? std::optional(entry.reason) : std::nullopt;
}

std::vector<std::string> Expectations::tests() const {
  std::vector<std::string> out;
  for (const auto &[test, entry] : entries_)
    out.push_back(test);
  return out;
}

} // namespace cleave::conformance
