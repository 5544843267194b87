// Targets: PyTorch's archives and their entries.
#include "compiler/frontend/emit/Failure.h"
#include "compiler/frontend/pt2/Import.h"
#include "compiler/frontend/torch/Pickle.h"
#include "compiler/frontend/torchscript/Import.h"
#include "test/fuzz/ImportModel.h"
#include "test/fuzz/MakeArchive.h"
#include "test/fuzz/Targets.h"

namespace cleave::fuzz {

void torchscript(std::string_view bytes) {
  std::string path = asFile("x.pt", bytes);
  if (cleave::torchscript::recognises(path))
    importModel(cleave::torchscript::importTorchScript, path, /*hasBatch=*/false);
}

void pt2(std::string_view bytes) {
  std::string path = asFile("x.pt2", bytes);
  if (cleave::pt2::recognises(path))
    importModel(cleave::pt2::importExported, path, /*hasBatch=*/false);
}

void source(std::string_view bytes) { torchscript(makeArchive(bytes, "code/__torch__.py")); }

void program(std::string_view bytes) { pt2(makeArchive(bytes, "models/model.json")); }

void archive(std::string_view bytes) {
  try {
    cleave::torch::Archive archive(bytes, 0);
    for (const std::string &name : archive.namesWith(""))
      (void)archive.contents(name);
  } catch (const emit::Failure &failure) {
    mustBeTheirs(failure.status);
  }
}

void pickle(std::string_view bytes) {
  try {
    (void)cleave::torch::readPickle(bytes, "x.pkl", "x/");
  } catch (const emit::Failure &failure) {
    mustBeTheirs(failure.status);
  }
}

} // namespace cleave::fuzz
