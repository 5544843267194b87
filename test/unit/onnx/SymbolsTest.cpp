// Symbols that are kept while importing: binding them afterwards gives the same module as importing
// with their values.
#include "dialects/graph/Symbols.h"
#include "compiler/frontend/onnx/Import.h"

#include "mlir/IR/MLIRContext.h"

#include <catch2/catch.hpp>

#include <filesystem>

namespace cleave::onnx {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> symbolicModels() {
  std::vector<fs::path> out;
  for (const char *folder : {"/test/models", "/test/models/symbolic"})
    for (const fs::directory_entry &entry :
         fs::directory_iterator(std::string(CLEAVE_SOURCE) + folder))
      if (entry.path().extension() == ".onnx")
        out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

std::string textOf(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

// The first line in which two modules differ, for the test's report.
std::string firstDifference(const std::string &a, const std::string &b) {
  auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (x == a.end() && y == b.end())
    return "";
  size_t begin = a.rfind('\n', x - a.begin()) + 1;
  auto line = [&](const std::string &text) {
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  return line(a) + "\nversus\n" + line(b);
}

} // namespace

TEST_CASE("binding the symbols of an import is importing with their values") {
  REQUIRE(symbolicModels().size() > 20);
  for (const fs::path &model : symbolicModels()) {
    INFO(model.filename().string());
    mlir::MLIRContext context;
    ImportOptions keep;
    keep.keepSymbols = true;
    Result<Imported> symbolic = importOnnx(context, model.string(), keep);
    REQUIRE(symbolic.status().message() == "");
    std::vector<std::string> symbols = graph::symbolsOf(*symbolic->module);
    for (int64_t size : {12, 23, 40}) {
      ImportOptions options;
      for (size_t i = 0; i < symbols.size(); ++i)
        options.symbols[symbols[i]] = size + static_cast<int64_t>(i);
      Result<Imported> direct = importOnnx(context, model.string(), options);
      REQUIRE(direct.status().message() == "");
      mlir::OwningOpRef<mlir::ModuleOp> bound = symbolic->module->clone();
      REQUIRE(graph::bindSymbols(*bound, options.symbols).message() == "");
      CHECK(firstDifference(textOf(*bound), textOf(*direct->module)) == "");
    }
  }
}

TEST_CASE("assumptions of the import about symbols are checked when they get values") {
  mlir::MLIRContext context;
  ImportOptions keep;
  keep.keepSymbols = true;
  Result<Imported> symbolic = importOnnx(
      context, std::string(CLEAVE_SOURCE) + "/test/models/symbolic/language.dynamo.onnx", keep);
  REQUIRE(symbolic.status().message() == "");
  std::vector<Polynomial> assumed = graph::assumptionsOf(*symbolic->module);
  REQUIRE(assumed.size() == 1); // as many positions as the table has
  CHECK(graph::asInequality(assumed[0]) == "s27 <= 64");
  CHECK(graph::bindSymbols(*symbolic->module, {{"s27", 65}}).message() ==
        "the model was imported for s27 <= 64, which does not hold for the given sizes; "
        "import it with them");
  CHECK(graph::bindSymbols(*symbolic->module, {{"s27", 64}}).message() == "");
}

TEST_CASE("sizes may be expressions of symbols, and names need not be identifiers") {
  mlir::MLIRContext context;
  std::string model = std::string(CLEAVE_SOURCE) + "/test/models/symbolic/expression.onnx";
  ImportOptions keep;
  keep.keepSymbols = true;
  Result<Imported> symbolic = importOnnx(context, model, keep);
  REQUIRE(symbolic.status().message() == "");
  CHECK(graph::symbolsOf(*symbolic->module) == std::vector<std::string>{"batch_size", "past"});
  CHECK_THAT(textOf(*symbolic->module),
             Catch::Contains(R"(#graph.dims<["batch_size", "2*past + 1"]>)"));
  ImportOptions options;
  options.symbols = {{"batch-size", 3}, {"past", 4}};
  Result<Imported> direct = importOnnx(context, model, options);
  REQUIRE(direct.status().message() == "");
  CHECK_THAT(textOf(*direct->module), Catch::Contains("-> tensor<3x9xf32>"));
}

TEST_CASE("all symbols without a size are reported together") {
  mlir::MLIRContext context;
  std::string model = std::string(CLEAVE_SOURCE) + "/test/models/symbolic/language.ts17.onnx";
  std::string message = importOnnx(context, model, {}).status().message();
  CHECK_THAT(message, Catch::Contains("have no values: give --set batch=8 --set seq=8, say"));
}

} // namespace cleave::onnx
