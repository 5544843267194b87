// The text forms of a policy.
#include "passes/precision/Policy.h"

#include "runtime/base/Json.h"
#include "runtime/base/Nearest.h"
#include "runtime/base/RegularFile.h"

#include <algorithm>
#include <filesystem>
#include <optional>

namespace cleave::precision {

bool Policy::usesF16() const {
  return low == DType::F16 || std::any_of(rules.begin(), rules.end(),
                                          [](const Rule &rule) { return rule.type == DType::F16; });
}

static std::optional<DType> typeNamed(const std::string &text) {
  for (DType type : {DType::F32, DType::BF16, DType::F16})
    if (text == name(type))
      return type;
  return std::nullopt;
}

// The policy that a type stands for; none for other texts.
static std::optional<Policy> policyNamed(const std::string &text) {
  Policy policy;
  policy.tf32 = text == "tf32";
  std::optional<DType> type = typeNamed(policy.tf32 ? "f32" : text);
  if (!type)
    return std::nullopt;
  policy.low = *type;
  return policy;
}

static Result<Rule> ruleFromJson(const Json &entry) {
  Rule rule;
  bool isRule = entry.is_object() && entry.size() == 2 && entry.contains("dtype") &&
                entry["dtype"].is_string() && entry.contains("name") + entry.contains("op") == 1;
  const char *key = isRule && entry.contains("op") ? "op" : "name";
  std::optional<DType> type;
  if (isRule && entry[key].is_string())
    type = typeNamed(entry["dtype"].get<std::string>());
  if (!type)
    return Status::userError("found ", entry.dump(),
                             ", expected {\"name\" or \"op\": \"GLOB\", \"dtype\": \"f32\", "
                             "\"bf16\" or \"f16\"}");
  (entry.contains("op") ? rule.op : rule.name) = entry[key].get<std::string>();
  rule.type = *type;
  return rule;
}

Result<Policy> policyFromJson(const std::string &text) {
  Json root = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  std::optional<Policy> policy;
  if (root.is_object() && root.contains("dtype") && root["dtype"].is_string())
    policy = policyNamed(root["dtype"].get<std::string>());
  if (!policy || (root.contains("rules") && !root["rules"].is_array()) ||
      root.size() != (root.contains("rules") ? 2u : 1u))
    return Status::userError("not a file of types: expected {\"dtype\": \"f32\", \"tf32\", "
                             "\"bf16\" or \"f16\", \"rules\": [{\"name\": …, \"dtype\": …}]}");
  if (root.contains("rules"))
    for (const Json &entry : root["rules"]) {
      CLEAVE_TRY_ASSIGN(Rule rule,
                        ruleFromJson(entry).withContext(concat("rule ", policy->rules.size() + 1)));
      policy->rules.push_back(rule);
    }
  return *policy;
}

Result<Policy> parsePolicy(const std::string &text) {
  if (std::optional<Policy> policy = policyNamed(text))
    return *policy;
  if (std::error_code error; !std::filesystem::exists(text, error))
    return Status::userError("unknown type '", text, "'",
                             suggestion(text, {"f32", "tf32", "bf16", "f16"}, "a JSON file"));
  CLEAVE_TRY_ASSIGN(std::string content, readRegularFile(text));
  return policyFromJson(content).withContext(text);
}

} // namespace cleave::precision
