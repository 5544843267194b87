// See Agreement.h.
#include "tools/cleave-run/Agreement.h"

#include "tools/cleave-run/Gather.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace cleave::run {
namespace {

constexpr size_t kListedRanks = 8; // of one value, in a message

Status statusOf(int kind, const std::string &message) {
  switch (static_cast<StatusKind>(kind)) {
  case StatusKind::Ok:
    return Status::ok();
  case StatusKind::UserError:
    return Status::userError(message);
  case StatusKind::Lost:
    return Status::lost(message);
  default:
    return Status::defect(message);
  }
}

// `rank 1`, `ranks 0, 2, 3`
std::string listed(const std::vector<size_t> &ranks) {
  std::string text = ranks.size() > 1 ? "ranks" : "rank";
  for (size_t i = 0; i < std::min(ranks.size(), kListedRanks); ++i)
    text += concat(i ? ", " : " ", ranks[i]);
  if (ranks.size() > kListedRanks)
    text += concat(" and ", ranks.size() - kListedRanks, " more");
  return text;
}

// The ranks of every value of a fact.
using RanksOfValue = std::map<std::string, std::vector<size_t>>;

RanksOfValue valuesOf(const std::string &name, const std::vector<Intent> &intents) {
  RanksOfValue ranks;
  for (size_t rank = 0; rank < intents.size(); ++rank) {
    auto &facts = intents[rank].facts;
    auto found = std::find_if(facts.begin(), facts.end(),
                              [&](const Fact &fact) { return fact.name == name; });
    ranks[found == facts.end() ? "nothing" : found->value].push_back(rank);
  }
  return ranks;
}

// `60 on ranks 0, 2, 3, 40 on rank 1`: the value of the first rank first.
std::string described(const RanksOfValue &values) {
  std::vector<std::pair<size_t, std::string>> parts;
  for (const auto &[value, ranks] : values)
    parts.push_back({ranks[0], concat(value, " on ", listed(ranks))});
  std::sort(parts.begin(), parts.end());
  std::string text;
  for (const auto &[first, part] : parts)
    text += (text.empty() ? "" : ", ") + part;
  return text;
}

// The failure of the first rank that has one.
Status firstFailure(const std::vector<Intent> &intents) {
  auto isLike = [&](const Status &status) {
    return std::all_of(intents.begin(), intents.end(), [&](const Intent &intent) {
      return intent.status.message() == status.message();
    });
  };
  for (size_t rank = 0; rank < intents.size(); ++rank)
    if (const Status &status = intents[rank].status; !status)
      return isLike(status) ? status : status.withContext(concat("rank ", rank));
  return Status::ok();
}

// The names of all facts, in the order of the first rank that has them.
std::vector<std::string> namesOf(const std::vector<Intent> &intents) {
  std::vector<std::string> names;
  for (const Intent &intent : intents)
    for (const Fact &fact : intent.facts)
      if (std::find(names.begin(), names.end(), fact.name) == names.end())
        names.push_back(fact.name);
  return names;
}

} // namespace

std::string toText(const Intent &intent) {
  nlohmann::json facts = nlohmann::json::array();
  for (const Fact &fact : intent.facts)
    facts.push_back({fact.name, fact.value});
  nlohmann::json all{intent.status.exitCode(), intent.status.message(), facts};
  return all.dump(-1, ' ', false,
                  nlohmann::json::error_handler_t::replace); // paths may not be UTF-8
}

Intent intentFrom(const std::string &text) {
  nlohmann::json all = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  Intent intent{Status::defect("a rank's description of its run is damaged"), {}};
  if (!all.is_array() || all.size() != 3 || !all[0].is_number_integer() || !all[1].is_string() ||
      !all[2].is_array())
    return intent;
  for (const nlohmann::json &fact : all[2]) {
    if (!fact.is_array() || fact.size() != 2 || !fact[0].is_string() || !fact[1].is_string())
      return intent;
    intent.facts.push_back({fact[0].get<std::string>(), fact[1].get<std::string>()});
  }
  intent.status = statusOf(all[0].get<int>(), all[1].get<std::string>());
  return intent;
}

Status compareIntents(const std::vector<Intent> &intents) {
  CLEAVE_TRY(firstFailure(intents));
  std::string difference, others;
  for (const std::string &name : namesOf(intents)) {
    RanksOfValue values = valuesOf(name, intents);
    if (values.size() < 2)
      continue;
    if (difference.empty())
      difference = concat(name, ": ", described(values));
    else
      others += (others.empty() ? "" : ", ") + name;
  }
  if (difference.empty())
    return Status::ok();
  if (!others.empty())
    difference += concat(" (and in ", others, ")");
  return Status::userError("the ranks differ in ", difference,
                           "; start all ranks with the same plan, options and files");
}

Status agreeOnRun(comm::Communicator &world, const Intent &own) {
  CLEAVE_TRY_ASSIGN(auto texts, gatherOnAll(world, toText(own)));
  std::vector<Intent> intents;
  for (const std::string &text : texts)
    intents.push_back(intentFrom(text));
  return compareIntents(intents);
}

} // namespace cleave::run
