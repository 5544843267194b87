#include "passes/driver/Record.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace cleave::driver {

static constexpr llvm::StringLiteral kPhase = "graph.phase", kRemarks = "graph.remarks",
                                     kPlan = "mesh.plan";

void recordProgress(Compilation &c, const char *phase) {
  Builder b(c.context.get());
  SmallVector<Attribute> remarks;
  for (const Remark &remark : c.remarks)
    remarks.push_back(b.getStrArrayAttr({remark.kind, remark.text}));
  c.module()->setAttr(kPhase, b.getStringAttr(phase));
  if (!remarks.empty())
    c.module()->setAttr(kRemarks, b.getArrayAttr(remarks));
}

void dropProgress(ModuleOp module) {
  module->removeAttr(kPhase);
  module->removeAttr(kRemarks);
}

std::string recordedPhase(ModuleOp module) {
  auto phase = module->getAttrOfType<StringAttr>(kPhase);
  return phase ? phase.str() : "";
}

std::vector<Remark> recordedRemarks(ModuleOp module) {
  std::vector<Remark> remarks;
  auto list = module->getAttrOfType<ArrayAttr>(kRemarks);
  for (Attribute entry : list ? list.getValue() : ArrayRef<Attribute>())
    if (auto pair = dyn_cast<ArrayAttr>(entry); pair && pair.size() == 2)
      if (auto kind = dyn_cast<StringAttr>(pair[0]), text = dyn_cast<StringAttr>(pair[1]);
          kind && text)
        remarks.push_back({kind.str(), text.str()});
  return remarks;
}

namespace {

// Builds a dictionary; leaves out what is empty or zero.
class Entries {
public:
  explicit Entries(MLIRContext *context) : b_(context) {}

  Entries &add(StringRef name, const std::string &text) {
    return text.empty() ? *this : add(name, b_.getStringAttr(text));
  }
  Entries &add(StringRef name, double number) {
    return number == 0 ? *this : add(name, b_.getF64FloatAttr(number));
  }
  Entries &add(StringRef name, uint64_t number) {
    return number == 0 ? *this : add(name, b_.getI64IntegerAttr(static_cast<int64_t>(number)));
  }
  Entries &add(StringRef name, ArrayRef<Attribute> list) {
    return list.empty() ? *this : add(name, b_.getArrayAttr(list));
  }
  DictionaryAttr get() { return b_.getDictionaryAttr(entries_); }

private:
  Entries &add(StringRef name, Attribute attribute) {
    entries_.push_back(b_.getNamedAttr(name, attribute));
    return *this;
  }

  Builder b_;
  SmallVector<NamedAttribute> entries_;
};

std::string textIn(DictionaryAttr entries, StringRef name) {
  auto text = entries.getAs<StringAttr>(name);
  return text ? text.str() : "";
}

double numberIn(DictionaryAttr entries, StringRef name) {
  auto number = entries.getAs<FloatAttr>(name);
  return number ? number.getValueAsDouble() : 0;
}

uint64_t countIn(DictionaryAttr entries, StringRef name) {
  auto number = entries.getAs<IntegerAttr>(name);
  return number ? number.getValue().getLimitedValue() : 0;
}

// The dictionaries of a list.
SmallVector<DictionaryAttr> listIn(DictionaryAttr entries, StringRef name) {
  SmallVector<DictionaryAttr> found;
  auto list = entries.getAs<ArrayAttr>(name);
  for (Attribute entry : list ? list.getValue() : ArrayRef<Attribute>())
    if (auto dictionary = dyn_cast<DictionaryAttr>(entry))
      found.push_back(dictionary);
  return found;
}

DictionaryAttr toAttribute(const plan::Decision &decision, MLIRContext *context) {
  SmallVector<Attribute> alternatives;
  for (const plan::Alternative &alternative : decision.alternatives())
    alternatives.push_back(Entries(context)
                               .add("choice", alternative.choice())
                               .add("seconds", alternative.seconds())
                               .get());
  return Entries(context)
      .add("name", decision.name())
      .add("kind", decision.kind())
      .add("choice", decision.choice())
      .add("reason", decision.reason())
      .add("seconds", decision.seconds())
      .add("bytes", decision.bytes())
      .add("place", decision.place())
      .add("of_parameters", uint64_t(decision.is_of_parameters()))
      .add("gathering", uint64_t(decision.gathering()))
      .add("alternatives", alternatives)
      .get();
}

void read(DictionaryAttr entries, plan::Decision &decision) {
  decision.set_name(textIn(entries, "name"));
  decision.set_kind(textIn(entries, "kind"));
  decision.set_choice(textIn(entries, "choice"));
  decision.set_reason(textIn(entries, "reason"));
  decision.set_seconds(numberIn(entries, "seconds"));
  decision.set_bytes(countIn(entries, "bytes"));
  decision.set_place(textIn(entries, "place"));
  decision.set_is_of_parameters(countIn(entries, "of_parameters") > 0);
  decision.set_gathering(static_cast<plan::Gathering>(countIn(entries, "gathering")));
  for (DictionaryAttr other : listIn(entries, "alternatives")) {
    plan::Alternative &alternative = *decision.add_alternatives();
    alternative.set_choice(textIn(other, "choice"));
    alternative.set_seconds(numberIn(other, "seconds"));
  }
}

} // namespace

void recordDecisions(ModuleOp module, const plan::Plan &plan) {
  MLIRContext *context = module.getContext();
  SmallVector<Attribute> decisions;
  for (const plan::Decision &decision : plan.decisions())
    decisions.push_back(toAttribute(decision, context));
  const plan::Prediction &predicted = plan.predicted();
  module->setAttr(kPlan, Entries(context)
                             .add("seconds", predicted.planned_seconds())
                             .add("bound_seconds", predicted.bound_seconds())
                             .add("gap", predicted.gap())
                             .add("peak_bytes", predicted.peak_bytes())
                             .add("model_flops", predicted.model_flops())
                             .add("peak_seconds", predicted.peak_seconds())
                             .add("peak_type", predicted.peak_type())
                             .add("budget_bytes", predicted.budget_bytes())
                             .add("memory_binds", uint64_t(predicted.is_memory_binding()))
                             .add("calibrated", uint64_t(predicted.is_calibrated()))
                             .add("decisions", decisions)
                             .get());
}

void addRecordedDecisions(ModuleOp module, plan::Plan &plan) {
  auto entries = module->getAttrOfType<DictionaryAttr>(kPlan);
  if (!entries)
    return;
  plan::Prediction &predicted = *plan.mutable_predicted();
  predicted.set_planned_seconds(numberIn(entries, "seconds"));
  predicted.set_bound_seconds(numberIn(entries, "bound_seconds"));
  predicted.set_gap(numberIn(entries, "gap"));
  predicted.set_peak_bytes(countIn(entries, "peak_bytes"));
  predicted.set_model_flops(numberIn(entries, "model_flops"));
  predicted.set_peak_seconds(numberIn(entries, "peak_seconds"));
  predicted.set_peak_type(textIn(entries, "peak_type"));
  predicted.set_budget_bytes(countIn(entries, "budget_bytes"));
  predicted.set_is_memory_binding(countIn(entries, "memory_binds") > 0);
  predicted.set_is_calibrated(countIn(entries, "calibrated") > 0);
  for (DictionaryAttr decision : listIn(entries, "decisions"))
    read(decision, *plan.add_decisions());
}

} // namespace cleave::driver
