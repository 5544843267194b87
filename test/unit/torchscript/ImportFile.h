// The result of importing an archive, as strings.
#pragma once

#include "compiler/frontend/torchscript/Import.h"
#include "dialects/graph/Step.h"
#include "test/unit/torchscript/ArchiveFile.h"

#include "llvm/Support/raw_ostream.h"

#include <catch2/catch.hpp>

namespace cleave::torchscript {

struct Result {
  Status status;
  std::string ir;
  std::vector<std::string> arguments, results; // `role name`
  std::vector<std::string> remarks;

  size_t count(const std::string &op) const {
    size_t found = 0;
    for (size_t at = ir.find(op); at != std::string::npos; at = ir.find(op, at + 1))
      ++found;
    return found;
  }
};

inline Result import(const std::string &path,
                     const std::vector<std::string> &inputs = {"x=float32[4]"},
                     frontend::ImportOptions options = {}) {
  mlir::MLIRContext context;
  for (const std::string &input : inputs)
    options.inputs.push_back(*frontend::parseInput(input));
  auto imported = importTorchScript(context, path, options);
  Result out;
  out.status = imported.status();
  if (!imported)
    return out;
  llvm::raw_string_ostream(out.ir) << **imported->module;
  mlir::func::FuncOp step = graph::stepOf(*imported->module);
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    out.arguments.push_back(
        (llvm::StringRef(name(graph::argRole(step, i))) + " " + graph::argName(step, i)).str());
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    out.results.push_back(
        (llvm::StringRef(name(graph::resultRole(step, i))) + " " + graph::resultName(step, i))
            .str());
  for (const frontend::Remark &remark : imported->remarks)
    out.remarks.push_back(std::string(frontend::kindName(remark.kind)) + " " + remark.name);
  return out;
}

using Names = std::vector<std::string>;

// The message of the failed import of the file.
inline std::string complaint(ArchiveFile &file,
                             const std::vector<std::string> &inputs = {"x=float32[4]"}) {
  return import(file.write(), inputs).status.message();
}

inline bool has(const std::string &text, const std::string &part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

} // namespace cleave::torchscript
