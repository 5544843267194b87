// Fills the template of the pages.
#include "tools/page/Page.h"

#include "tools/page/Texts.h"

#include <string_view>

namespace cleave::page {

// The text with every `<` as its escape in strings of JSON, so that no name of a model ends the
// element that holds it.
static std::string embedded(const std::string &json) {
  std::string result;
  for (char c : json)
    result += c == '<' ? "\\u003c" : std::string(1, c);
  return result;
}

// For an element's text; an `@` is escaped, so that no mark is in it.
static std::string escaped(const std::string &text) {
  std::string result;
  for (char c : text)
    result += c == '<' ? "&lt;" : c == '&' ? "&amp;" : c == '@' ? "&#64;" : std::string(1, c);
  return result;
}

// Replaces @NAME@, which the text has.
static std::string filled(std::string text, const std::string &name, const std::string &value) {
  const std::string mark = "@" + name + "@";
  return text.replace(text.find(mark), mark.size(), value);
}

std::string page(Kind kind, const std::string &title, const std::string &json) {
  const std::string script = baseScript() + (kind == Kind::Plan ? planScript() : runScript());
  std::string text = filled(filled(templateText(), "STYLE", styleText()), "SCRIPT", script);
  text = filled(std::move(text), "TITLE", escaped(title));
  // The data come last: they may look like a mark.
  return filled(std::move(text), "DATA", embedded(json));
}

// No `<` is in the data: the element that holds them ends at the next one.
std::optional<std::string> dataOf(const std::string &page) {
  constexpr std::string_view kBegin = R"(<script id="data" type="application/json">)";
  const size_t found = page.starts_with("<!doctype html>") ? page.find(kBegin) : page.npos;
  if (found == page.npos)
    return std::nullopt;
  const size_t begin = found + kBegin.size();
  return page.substr(begin, page.find('<', begin) - begin);
}

} // namespace cleave::page
