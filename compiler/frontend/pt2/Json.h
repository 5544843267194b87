// Field: one value of a JSON text while it is read. It remembers the path to itself, so that a
// complaint can name the place; every access checks the kind and fails with what was found.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace cleave::pt2 {

// Parses the text; fails with the byte where it stops being JSON. `what` names the text.
nlohmann::json parseJson(std::string_view text, const std::string &what);

class Field {
public:
  Field(const nlohmann::json &json, std::string path) : json_(json), path_(std::move(path)) {}

  // -- objects: the named field; has() is false for null, too
  bool has(const char *key) const;
  Field at(const char *key) const;
  // The name of the first field that is not null: which alternative of a union it is.
  std::string alternative() const;

  // -- values
  std::string text() const;
  int64_t integer() const;
  double number() const; // also NaN and the infinities, which the format writes as strings
  bool truth() const;

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

  const std::string &path() const { return path_; }

private:
  void expect(bool condition, const char *expected) const;

  const nlohmann::json &json_;
  std::string path_;
};

} // namespace cleave::pt2
