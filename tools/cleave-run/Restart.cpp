// See Restart.h.
#include "tools/cleave-run/Restart.h"

#include "runtime/artifact/Mesh.h"
#include "runtime/checkpoint/Checkpoint.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <vector>

namespace cleave::run {

Status checkRanks(const plan::Plan &plan, int found, const std::string &from) {
  int expected = int(artifact::rankCount(plan));
  if (found == expected)
    return Status::ok();
  return Status::userError("the plan is for ", expected, " ranks, but ", from, " gives ", found,
                           "; start ", expected, ", compile with --ranks ", found,
                           ", or name a plan for ", found, " ranks in --plans");
}

Options optionsOfRestart(const Options &given, int number, const std::string &reason) {
  Options options = given;
  options.restart = number;
  options.restartReason = reason;
  if (given.save.empty())
    return options;
  if (auto newest = checkpoint::Checkpoint::open(given.save)) {
    options.resume = (*newest)->path();
    options.weights.clear();
    options.restartOptimizer = false; // its states are this run's own
  }
  return options;
}

std::string originText(const Options &options) {
  return options.resume.empty() ? "the beginning" : concat("'", options.resume, "'");
}

// The word as a shell reads it.
static std::string quoted(const std::string &word) {
  constexpr std::string_view kPlain = "@%+=:,./_-";
  const bool isPlain = !word.empty() && std::ranges::all_of(word, [&](const char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || kPlain.find(c) != kPlain.npos;
  });
  if (isPlain)
    return word;
  std::string text = "'";
  for (const char c : word)
    text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

// The words of the command line without the options that say where a run begins.
static std::vector<std::string> withoutOrigin(const std::vector<std::string> &words) {
  const std::set<std::string> flags = {"--best", "--ema", "--restart-optimizer"};
  const std::set<std::string> withValue = {"--resume", "--weights"};
  std::vector<std::string> kept;
  for (size_t i = 0; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    const std::string name = words[i].substr(0, equals);
    if (withValue.contains(name))
      i += equals == std::string::npos;
    else if (!flags.contains(name))
      kept.push_back(words[i]);
  }
  return kept;
}

std::string resumeText(const Options &given) {
  const bool hasSaved = !given.save.empty() && checkpoint::Checkpoint::open(given.save).isOk();
  const std::string &from = hasSaved ? given.save : given.resume;
  if (from.empty())
    return "";
  std::vector<std::string> words = withoutOrigin(given.words);
  if (!given.steps && !given.epochs && given.resume.empty())
    words.insert(words.end(), {"--epochs", "1"}); // without --resume the default
  words.insert(words.end(), {"--resume", from});
  std::string text = "; resume with:";
  for (const std::string &word : words)
    text += " " + quoted(word);
  return text;
}

} // namespace cleave::run
