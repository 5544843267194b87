#include "passes/driver/IrFile.h"

#include "passes/driver/BreakLines.h"
#include "passes/driver/Diagnostics.h"
#include "passes/driver/PlanFile.h"
#include "passes/driver/Record.h"
#include "runtime/base/FileWriter.h"
#include "runtime/base/RegularFile.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <fstream>

using namespace mlir;

namespace cleave::driver {

bool isIrFile(const std::string &path) {
  if (Result<RegularFile> file = RegularFile::open(path); !file)
    return false;
  std::string head(1 << 16, '\0'); // comments are shorter
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(file.gcount()));
  StringRef text(head);
  while (true) {
    text = text.ltrim();
    if (!text.starts_with("//"))
      break;
    text = text.drop_front(std::min(text.find('\n'), text.size()));
  }
  for (StringRef begin : {"module", "builtin.module", "\"builtin.module\"", "func.func", "#loc"})
    if (text.starts_with(begin))
      return true;
  return false;
}

// A copy of the step's module that holds the modules of the other units, named like these.
static OwningOpRef<ModuleOp> withNestedUnits(const Compilation &c) {
  OwningOpRef<ModuleOp> whole = c.module().clone();
  for (const Unit &unit : ArrayRef(c.units).drop_front()) {
    ModuleOp nested = ModuleOp(unit.module.get()).clone();
    nested.setSymName(unit.name());
    whole->push_back(nested);
  }
  return whole;
}

// Moves the modules inside the step's module to units.
static void takeNestedUnits(Compilation &c) {
  Unit evaluation{plan::Program::EVALUATION, nullptr};
  for (ModuleOp nested : llvm::make_early_inc_range(c.module().getOps<ModuleOp>()))
    if (nested.getSymName() == evaluation.name()) {
      nested->remove();
      nested->removeAttr(SymbolTable::getSymbolAttrName());
      evaluation.module = nested;
    }
  if (evaluation.module)
    c.units.push_back(std::move(evaluation));
}

Status readIr(Compilation &c) {
  if (c.options.model != "-") { // standard input
    CLEAVE_TRY_ASSIGN(RegularFile file, RegularFile::open(c.options.model));
  }
  DiagnosticText diagnostics(*c.context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(c.options.model, c.context.get());
  if (!module)
    return Status::userError(diagnostics.text());
  c.setModule(std::move(module));
  takeNestedUnits(c);
  c.remarks = recordedRemarks(c.module());
  return Status::ok();
}

Status writeIr(Compilation &c, const std::string &path) {
  constexpr size_t kColumns = 120;
  CLEAVE_TRY(recordHash(c.module()));
  OwningOpRef<ModuleOp> whole = c.units.size() > 1 ? withNestedUnits(c) : OwningOpRef<ModuleOp>();
  ModuleOp module = whole ? *whole : c.module();
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out, OpPrintingFlags().enableDebugInfo(/*enable=*/true, /*prettyForm=*/false));
  out << "\n";
  return writeFile(path, brokenLines(text, kColumns));
}

} // namespace cleave::driver
