// Program: the functions and classes of an archive by their qualified names
// (`__torch__.torch.nn.functional.relu`). A source file is read when a name in it is first looked
// up. Archives of PyTorch 1.0 to 1.3 have a file of methods per module, and classes in another
// folder.
#pragma once

#include "compiler/frontend/torch/Archive.h"
#include "compiler/frontend/torchscript/Source.h"

namespace cleave::torchscript {

// The meaning of a qualified name; all null: none.
struct Definition {
  const SourceFile *file = nullptr;
  const Class *type = nullptr;
  const Function *function = nullptr;
};

class Program {
public:
  // The program of an archive, which must outlive the object.
  explicit Program(const torch::Archive &archive);

  // The paths of all source files.
  std::vector<std::string> paths() const;
  // Adds a class with this qualified name, whose methods are the functions of the file at `path`
  // (empty: no methods). Fails where the class exists already, or the file is missing or contains
  // classes.
  void addModule(const std::string &qualified, Class type, const std::string &path);

  // The definition of a name. Fails where the file that should contain it is damaged.
  Definition find(const std::string &qualified);
  // The class of an object; fails if the archive has none of this name.
  Definition findClass(const std::string &qualified);
  // The file at a path of the archive; null if there is none.
  const SourceFile *file(const std::string &path);

private:
  SourceFile *fileAt(const std::string &path);

  const torch::Archive &archive_;
  std::string folder_; // of classes and functions
  std::map<std::string, SourceFile> files_;
  std::map<std::string, Definition> modules_; // of addModule
};

} // namespace cleave::torchscript
