// Field: a value of a JSON text and its path. Each access checks the kind of the value and fails
// with path and kind.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace cleave::pt2 {

// Parses the text; fails with the position (byte) of the first error. `what` names the text.
nlohmann::json parseJson(std::string_view text, const std::string &what);

class Field {
public:
  Field(const nlohmann::json &json, std::string path) : json_(json), path_(std::move(path)) {}

  // -- objects
  // Whether the named field exists and is not null; the field.
  bool has(const char *key) const;
  Field at(const char *key) const;
  // The name of the first field that is not null: the alternative of a union.
  std::string alternative() const;

  // -- scalars
  std::string string() const;
  int64_t integer() const;
  double number() const; // also NaN and infinities, which the format writes as strings
  bool boolean() const;

  // Calls visit(Field) for every item of a list, visit(key, Field) for every field of an object.
  template <typename Visit> void forEach(Visit visit) const {
    expect(json_.is_array(), "a list");
    size_t i = 0;
    for (const nlohmann::json &item : json_)
      visit(Field(item, path_ + "[" + std::to_string(i++) + "]"));
  }
  template <typename Visit> void forEachField(Visit visit) const {
    expect(json_.is_object(), "an object");
    for (const auto &[key, value] : json_.items())
      visit(key, Field(value, path_ + "." + key));
  }

  // `model.json.graph_module.graph`, for messages.
  const std::string &path() const { return path_; }

private:
  void expect(bool condition, const char *expected) const;

  const nlohmann::json &json_;
  std::string path_;
};

} // namespace cleave::pt2
