// See Program.h.
#include "compiler/frontend/torchscript/Program.h"

#include "compiler/frontend/emit/Failure.h"

#include <algorithm>

namespace cleave::torchscript {

// Programs are text that people wrote, more or less.
static constexpr uint64_t kMaxSourceBytes = uint64_t(64) << 20;

const SourceFile *Program::file(const std::string &path) {
  auto found = files_.find(path);
  if (found != files_.end())
    return &found->second;
  if (!archive_.find(path))
    return nullptr;
  SourceFile read = parseSource(path, archive_.source(path, kMaxSourceBytes));
  return &files_.emplace(path, std::move(read)).first->second;
}

Definition Program::find(const std::string &qualified) {
  size_t dot = qualified.rfind('.');
  if (dot == std::string::npos)
    return {};
  std::string path = "code/" + qualified.substr(0, dot) + ".py";
  std::replace(path.begin() + 5, path.end() - 3, '.', '/');
  const SourceFile *source = file(path);
  if (!source)
    return {};
  std::string name = qualified.substr(dot + 1);
  Definition out;
  out.file = source;
  if (auto type = source->classes.find(name); type != source->classes.end())
    out.type = &type->second;
  else if (auto function = source->functions.find(name); function != source->functions.end())
    out.function = &function->second;
  return out;
}

Definition Program::findClass(const std::string &qualified) {
  Definition out = find(qualified);
  if (!out.type)
    emit::fail("the archive has an object of class '" + qualified +
               "', but no such class; save the model again");
  return out;
}

} // namespace cleave::torchscript
