// The hash of the model file that a module was made from.
#include "passes/driver/PlanFile.h"

#include "dialects/graph/Provenance.h"
#include "runtime/base/Sha256.h"
#include "test/unit/driver/TextFile.h"

#include "mlir/IR/Builders.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::driver;
using cleave::test::TextFile;

namespace {

struct Made : Compilation {
  explicit Made(const std::string &path) : Compilation(CompileOptions()) {
    setModule(mlir::ModuleOp::create(mlir::UnknownLoc::get(context.get())));
    if (!path.empty())
      graph::setSourceModel(module(), {path, 5, ""});
  }
};

} // namespace

TEST_CASE("the hash of the model file is added once") {
  TextFile file("model");
  Made c(file.path());
  REQUIRE(recordHash(c.module()));
  const std::string hash = graph::sourceModelOf(c.module())->sha256;
  CHECK(hash == *sha256OfFile(file.path()));
  CHECK(hash.size() == 64);
  // A file that changes afterwards keeps the hash of what was imported.
  std::ofstream(file.path()) << "another model";
  REQUIRE(recordHash(c.module()));
  CHECK(graph::sourceModelOf(c.module())->sha256 == hash);
}

TEST_CASE("a module that was written by hand has no hash, and a file that is gone is an error") {
  Made byHand("");
  CHECK(recordHash(byHand.module()));
  CHECK_FALSE(graph::sourceModelOf(byHand.module()));
  Made gone("no such file");
  CHECK_FALSE(recordHash(gone.module()));
}
