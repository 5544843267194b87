// See Json.h.
#include "compiler/frontend/pt2/Json.h"

#include "compiler/frontend/emit/Failure.h"

#include <limits>

namespace cleave::pt2 {

using emit::fail;
using nlohmann::json;

// Remembers where parsing stopped.
namespace {
struct Damage : nlohmann::json_sax<json> {
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool string(string_t &) override { return true; }
  bool binary(binary_t &) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t &) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string &, const json::exception &) override {
    byte = position;
    return false;
  }
  std::size_t byte = 0;
};
} // namespace

json parseJson(std::string_view text, const std::string &what) {
  json out = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!out.is_discarded())
    return out;
  Damage damage;
  json::sax_parse(text, &damage);
  fail(what, " is not valid JSON: error at byte ", damage.byte, "; export the model again");
}

void Field::expect(bool condition, const char *expected) const {
  if (!condition)
    fail(path_, ": found ", json_.type_name(), ", expected ", expected);
}

bool Field::has(const char *key) const {
  if (!json_.is_object())
    return false;
  auto found = json_.find(key);
  return found != json_.end() && !found->is_null();
}

Field Field::at(const char *key) const {
  expect(json_.is_object(), "an object");
  auto found = json_.find(key);
  if (found == json_.end())
    fail(path_, ": the field '", key, "' is missing");
  return Field(*found, path_ + "." + key);
}

std::string Field::alternative() const {
  expect(json_.is_object(), "an object");
  for (const auto &[key, value] : json_.items())
    if (!value.is_null())
      return key;
  fail(path_, ": found no field that is set, expected one");
}

std::string Field::string() const {
  expect(json_.is_string(), "a string");
  return json_.get<std::string>();
}

int64_t Field::integer() const {
  expect(json_.is_number_integer(), "an integer");
  if (json_.is_number_unsigned() &&
      json_.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    fail(path_, ": found ", json_.dump(), ", which does not fit into 64 bits");
  return json_.get<int64_t>();
}

double Field::number() const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (json_.is_string()) {
    const std::string text = json_.get<std::string>();
    if (text == "Infinity" || text == "inf")
      return infinity;
    if (text == "-Infinity" || text == "-inf")
      return -infinity;
    if (text == "NaN" || text == "nan")
      return std::numeric_limits<double>::quiet_NaN();
  }
  expect(json_.is_number(), "a number");
  return json_.get<double>();
}

bool Field::boolean() const {
  expect(json_.is_boolean(), "true or false");
  return json_.get<bool>();
}

} // namespace cleave::pt2
