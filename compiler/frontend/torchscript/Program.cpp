// See Program.h.
#include "compiler/frontend/torchscript/Program.h"

#include "compiler/frontend/emit/Failure.h"
#include "compiler/frontend/torchscript/ModelJson.h"

#include <algorithm>
#include <set>

namespace cleave::torchscript {

// Limit of the size of a source file, in bytes.
static constexpr uint64_t kMaxSourceBytes = uint64_t(64) << 20;

Program::Program(const torch::Archive &archive)
    : archive_(archive), folder_(hasModelJson(archive) ? "libs/" : "code/") {}

std::vector<std::string> Program::paths() const {
  std::vector<std::string> out;
  for (const std::string &folder : std::set<std::string>{"code/", folder_})
    for (std::string &path : archive_.namesWith(folder))
      if (path.ends_with(".py"))
        out.push_back(std::move(path));
  return out;
}

const SourceFile *Program::file(const std::string &path) { return fileAt(path); }

SourceFile *Program::fileAt(const std::string &path) {
  auto found = files_.find(path);
  if (found != files_.end())
    return &found->second;
  if (!archive_.find(path))
    return nullptr;
  SourceFile read = parseSource(path, archive_.source(path, kMaxSourceBytes));
  return &files_.emplace(path, std::move(read)).first->second;
}

void Program::addModule(const std::string &qualified, Class type, const std::string &path) {
  if (modules_.contains(qualified))
    emit::fail("the archive has the module '", qualified, "' twice; save the model again");
  SourceFile *source = path.empty() ? &files_[path] : fileAt(path);
  if (!source)
    emit::fail("the archive has no '", path, "', the code of the module '", type.name,
               "'; save the model again");
  if (!path.empty() && !source->classes.empty())
    emit::fail("'", path, "' has a class, expected the methods of the module '", type.name,
               "' only; save the model again");
  type.methods = std::move(source->functions);
  source->functions.clear();
  modules_[qualified] = {
      .file = source, .type = &source->classes.emplace(qualified, std::move(type)).first->second};
}

Definition Program::find(const std::string &qualified) {
  if (auto module = modules_.find(qualified); module != modules_.end())
    return module->second;
  size_t dot = qualified.rfind('.');
  if (dot == std::string::npos)
    return {};
  std::string path = folder_ + qualified.substr(0, dot) + ".py";
  std::replace(path.begin() + 5, path.end() - 3, '.', '/'); // behind the folder
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
    emit::fail("the archive has an object of class '", qualified,
               "', but no such class; save the model again");
  return out;
}

} // namespace cleave::torchscript
