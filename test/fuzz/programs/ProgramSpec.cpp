// The text form of a ProgramSpec.
#include "test/fuzz/programs/ProgramCase.h"

#include <map>
#include <sstream>

namespace cleave::fuzz {

namespace {

using Words = std::map<std::string, std::string>;

Words wordsOf(const std::string &line) {
  Words words;
  std::istringstream in(line);
  for (std::string word; in >> word;) {
    size_t equals = word.find('=');
    words[word.substr(0, equals)] = equals == std::string::npos ? "" : word.substr(equals + 1);
  }
  return words;
}

std::string textOf(const Words &words, const std::string &key, const std::string &otherwise) {
  auto found = words.find(key);
  return found == words.end() ? otherwise : found->second;
}

uint64_t numberOf(const Words &words, const std::string &key, uint64_t otherwise) {
  auto found = words.find(key);
  return found == words.end() ? otherwise : std::stoull(found->second);
}

void readCase(const Words &words, ProgramSpec &spec) {
  spec.train = words.contains("train");
  std::istringstream losses(textOf(words, "losses", ""));
  for (std::string loss; std::getline(losses, loss, '+');)
    spec.losses.push_back(loss);
  spec.optimizer = textOf(words, "optimizer", spec.optimizer);
  spec.clip = std::stod(textOf(words, "clip", "0"));
  spec.accumulate = static_cast<int64_t>(numberOf(words, "accumulate", 1));
  spec.seed = numberOf(words, "seed", 1);
  spec.forGpu = words.contains("gpu");
  spec.dtype = textOf(words, "dtype", spec.dtype);
  spec.steps = static_cast<int64_t>(numberOf(words, "steps", 1));
}

} // namespace

std::string textOf(const ProgramSpec &spec) {
  std::ostringstream out;
  out << "// case:" << (spec.train ? " train" : "");
  for (size_t i = 0; i < spec.losses.size(); ++i)
    out << (i == 0 ? " losses=" : "+") << spec.losses[i];
  out << " optimizer=" << spec.optimizer << " clip=" << spec.clip
      << " accumulate=" << spec.accumulate << " seed=" << spec.seed << " steps=" << spec.steps
      << (spec.forGpu ? " gpu" : "") << " dtype=" << spec.dtype << "\n";
  for (const PlanSpec &plan : spec.plans) {
    out << "// plan: mesh=" << plan.mesh;
    if (plan.random)
      out << " random=" << plan.random;
    if (!plan.pin.empty())
      out << " pin=" << plan.pin;
    if (plan.memory)
      out << " memory=" << plan.memory;
    out << "\n";
  }
  return out.str();
}

ProgramSpec specOf(const std::string &text) {
  const std::string caseMark = "// case:", planMark = "// plan:";
  ProgramSpec spec;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(caseMark))
      readCase(wordsOf(line.substr(caseMark.size())), spec);
    if (!line.starts_with(planMark))
      continue;
    Words words = wordsOf(line.substr(planMark.size()));
    spec.plans.push_back({textOf(words, "mesh", "dp=1"), numberOf(words, "random", 0),
                          textOf(words, "pin", ""), numberOf(words, "memory", 0)});
  }
  return spec;
}

} // namespace cleave::fuzz
