// The promises between the stages of a pipeline after `partitioned`.
//
//  M1  For every sent result the stage that it names has a received argument of the same name, and
//      vice versa; both name the same time and each other.
//  M2  At both ends a message has the same type, layout and type of the whole tensor.
#include "dialects/graph/Messages.h"
#include "dialects/mesh/MeshDialect.h"
#include "passes/promise/Promise.h"
#include "passes/promise/Rules.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace cleave::promise {

namespace {

// One end of a message.
struct End {
  func::FuncOp step;
  int64_t from = 0, to = 0;
  graph::Passed passed = graph::Passed::Update;
  Type block;
  Attribute whole, layout;

  End(func::FuncOp step, int64_t from, int64_t to, graph::Passed passed, Type block,
      DictionaryAttr attrs)
      : step(step), from(from), to(to), passed(passed), block(block),
        whole(attrs.get(mesh::kGlobal)), layout(attrs.get(mesh::kSharding)) {}
};

class MessageChecker {
public:
  explicit MessageChecker(ArrayRef<func::FuncOp> stages) {
    for (size_t index = 0; index < stages.size(); ++index) {
      func::FuncOp step = stages[index];
      const auto stage = static_cast<int64_t>(index);
      for (unsigned i = 0; i < step.getNumArguments(); ++i)
        if (auto passed = graph::receivedWhen(step, i))
          received_.insert({graph::argName(step, i),
                            End(step, graph::senderOf(step, i), stage, *passed,
                                step.getArgument(i).getType(), step.getArgAttrDict(i))});
      for (unsigned i = 0; i < step.getNumResults(); ++i)
        if (auto passed = graph::sentWhen(step, i))
          sent_.insert({graph::resultName(step, i),
                        End(step, stage, graph::receiverOf(step, i), *passed,
                            step.getFunctionType().getResult(i), step.getResultAttrDict(i))});
    }
  }

  LogicalResult check() {
    for (auto &[name, end] : sent_)
      if (failed(checkPair(name, end, received_)))
        return failure();
    for (auto &[name, end] : received_)
      if (failed(checkPair(name, end, sent_)))
        return failure();
    return success();
  }

private:
  LogicalResult checkPair(StringRef name, End &end, llvm::StringMap<End> &others) {
    auto found = others.find(name);
    if (found == others.end() || found->second.from != end.from || found->second.to != end.to ||
        found->second.passed != end.passed)
      return broken(end.step.getLoc(), "partitioned", "M1")
             << "the message '" << name << "' from stage " << end.from << " to stage " << end.to
             << " has one end only";
    const End &other = found->second;
    if (other.block != end.block || other.whole != end.whole || other.layout != end.layout)
      return broken(end.step.getLoc(), "partitioned", "M2")
             << "the message '" << name << "' is " << end.block << " in " << end.layout
             << " at one end and " << other.block << " in " << other.layout << " at the other";
    return success();
  }

  llvm::StringMap<End> sent_, received_;
};

} // namespace

LogicalResult checkMessages(ArrayRef<func::FuncOp> stages) {
  return MessageChecker(stages).check();
}

} // namespace cleave::promise
