// See Outputs.h.
#include "compiler/frontend/torchscript/Outputs.h"

#include "compiler/frontend/aten/Complex.h"

namespace cleave::torchscript {

using emit::fail;

namespace {

class OutputWriter {
public:
  OutputWriter(frontend::StepBuilder &step, emit::Emitter &emitter)
      : step_(step), emitter_(emitter) {}

  void add(const IValue &value, const std::string &name) {
    countValue();
    std::string own = name.empty() ? std::to_string(tensors_) : name;
    aten::checkRealOutput(value, own);
    if (value.isTensor()) {
      step_.addOutput(value.tensor()->read(emitter_), own);
      ++tensors_;
    } else if (value.isList()) {
      for (size_t i = 0; i < value.items().size(); ++i)
        add(value.items()[i], name.empty() ? "" : concat(name, ".", i));
    } else if (DictionaryRef dictionary = dictionaryOf(value)) {
      for (const auto &[key, item] : dictionary->items)
        add(item, name.empty() ? stringOf(key) : concat(name, ".", stringOf(key)));
    }
  }

  int64_t tensors() const { return tensors_; }

private:
  // Counts containers without tensors, too, since a shared one may occur very often.
  void countValue() {
    constexpr int64_t most = 4096;
    if (++values_ > most)
      fail("the model returns more than ", most, " values");
  }

  frontend::StepBuilder &step_;
  emit::Emitter &emitter_;
  int64_t tensors_ = 0, values_ = 0; // added, visited
};

} // namespace

void addOutputs(const IValue &value, frontend::StepBuilder &step, emit::Emitter &emitter) {
  OutputWriter writer(step, emitter);
  writer.add(value, "");
  if (writer.tensors() == 0)
    fail("the model returns ", value.kindName(), ", expected at least one tensor");
}

} // namespace cleave::torchscript
