// Program: the functions and classes of an archive by their qualified names
// (`__torch__.torch.nn.functional.relu`); a source file is read when something of it is first asked
// for.
#pragma once

#include "compiler/frontend/torch/Archive.h"
#include "compiler/frontend/torchscript/Source.h"

namespace cleave::torchscript {

// What a qualified name stands for; all null: nothing.
struct Definition {
  const SourceFile *file = nullptr;
  const Class *type = nullptr;
  const Function *function = nullptr;
};

class Program {
public:
  explicit Program(const torch::Archive &archive) : archive_(archive) {}

  // Fails where the file that must hold the name is damaged.
  Definition find(const std::string &qualified);
  // The class of an object; fails if the archive has none of this name.
  Definition findClass(const std::string &qualified);
  // The file at a path of the archive; null if there is none.
  const SourceFile *file(const std::string &path);

private:
  const torch::Archive &archive_;
  std::map<std::string, SourceFile> files_;
};

} // namespace cleave::torchscript
