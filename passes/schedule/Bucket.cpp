#include "passes/schedule/Bucket.h"

#include "dialects/graph/Step.h"
#include "dialects/mesh/MeshDialect.h"

#include "mlir/Pass/Pass.h"
#include "llvm/ADT/MapVector.h"

#include <map>
#include <set>

using namespace mlir;

namespace cleave::schedule {

namespace {

// The properties that the members of a bucket share, as text, so that buckets are sorted alike in
// every run.
using Key = std::tuple<std::string, std::string, std::string, bool>;

struct Bucket {
  SmallVector<mesh::AllReduceOp> members; // in program order
  int64_t bytes = 0;
  llvm::DenseSet<Value> dependent; // the members' results and what is computed from them
};

class Bucketing {
public:
  Bucketing(func::FuncOp step, int64_t limit)
      : body_(step.getBody().front()), limit_(limit), repeated_(graph::perMicroBatch(step)) {}

  void run() {
    hoist();
    for (Operation &op : llvm::make_early_inc_range(body_)) {
      follow(&op);
      if (auto reduce = dyn_cast<mesh::AllReduceOp>(op))
        enter(reduce);
    }
    for (auto &[key, bucket] : open_)
      close(bucket);
    delayReaders();
  }

private:
  void hoist() {
    for (Operation &op : llvm::make_early_inc_range(body_))
      if (auto reduce = dyn_cast<mesh::AllReduceOp>(op))
        if (reduce.getOperands().size() == 1)
          moveBehindOperand(reduce);
  }

  // Moves the op behind its operand, and behind other all_reduces there.
  void moveBehindOperand(mesh::AllReduceOp reduce) {
    Operation *producer = reduce.getOperands()[0].getDefiningOp();
    Block::iterator at = producer ? std::next(producer->getIterator()) : body_.begin();
    while (isa<mesh::AllReduceOp>(*at) && &*at != reduce)
      ++at;
    reduce->moveBefore(&body_, at);
  }

  Key keyOf(mesh::AllReduceOp reduce) const {
    std::string axes, element;
    llvm::raw_string_ostream(axes) << reduce.getAxes();
    llvm::raw_string_ostream(element) << graph::elementTypeOf(reduce.getOperands()[0]);
    return {stringifyReduction(reduce.getKind()).str(), axes, element, repeated_.contains(reduce)};
  }

  void enter(mesh::AllReduceOp reduce) {
    Bucket &bucket = open_[keyOf(reduce)];
    int64_t bytes = 0;
    for (Value operand : reduce.getOperands())
      bytes += *graph::byteCount(operand.getType()).constant();
    if (!bucket.members.empty() && bucket.bytes + bytes > limit_)
      close(bucket);
    bucket.members.push_back(reduce);
    bucket.bytes += bytes;
    bucket.dependent.insert(reduce.result_begin(), reduce.result_end());
  }

  // Closes the buckets that an all_reduce depends on, so that buckets never wait for each other,
  // and records the other ops that depend on buckets.
  void follow(Operation *op) {
    for (auto &[key, bucket] : open_) {
      bool depends = llvm::any_of(
          op->getOperands(), [&](Value operand) { return bucket.dependent.contains(operand); });
      if (depends && isa<mesh::AllReduceOp>(op))
        close(bucket);
      else if (depends)
        bucket.dependent.insert(op->result_begin(), op->result_end());
    }
  }

  // Delays readers of early members until the bucket is complete, but no longer: of the ops whose
  // operands are computed, the first one in the old order comes next.
  void delayReaders() {
    std::vector<Operation *> ops, order;
    llvm::DenseMap<Operation *, int> number;
    for (Operation &op : body_.without_terminator()) {
      number[&op] = static_cast<int>(ops.size());
      ops.push_back(&op);
    }
    std::vector<int> waitsFor(ops.size(), 0); // operands that are still to be computed
    std::set<int> ready;
    for (auto [i, op] : llvm::enumerate(ops)) {
      waitsFor[i] = static_cast<int>(llvm::count_if(
          op->getOperands(), [](Value operand) { return operand.getDefiningOp() != nullptr; }));
      if (waitsFor[i] == 0)
        ready.insert(static_cast<int>(i));
    }
    while (!ready.empty()) {
      Operation *op = ops[*ready.begin()];
      ready.erase(ready.begin());
      order.push_back(op);
      for (OpOperand &use : op->getUses()) // an op that reads twice waited twice
        if (auto user = number.find(use.getOwner());
            user != number.end() && --waitsFor[user->second] == 0)
          ready.insert(user->second);
    }
    for (Operation *op : order)
      op->moveBefore(body_.getTerminator());
  }

  // Replaces the members by one op at the place of the last one. An operand of several members is
  // reduced once.
  static void close(Bucket &bucket) {
    if (bucket.members.size() > 1) {
      mesh::AllReduceOp last = bucket.members.back();
      OpBuilder b(last);
      llvm::MapVector<Value, unsigned> numbers; // per operand its place in the joined op
      SmallVector<Location> locations;
      for (mesh::AllReduceOp member : bucket.members) {
        for (Value operand : member.getOperands())
          numbers.insert({operand, static_cast<unsigned>(numbers.size())});
        locations.push_back(member.getLoc());
      }
      SmallVector<Value> operands = llvm::to_vector(llvm::make_first_range(numbers));
      auto joined =
          mesh::AllReduceOp::create(b, b.getFusedLoc(locations), ValueRange(operands).getTypes(),
                                    last.getKind(), operands, last.getAxes());
      joined->setDiscardableAttrs(last->getDiscardableAttrDictionary());
      for (mesh::AllReduceOp member : bucket.members) {
        for (auto [operand, result] : llvm::zip(member.getOperands(), member.getResults()))
          result.replaceAllUsesWith(joined.getResult(numbers.lookup(operand)));
        member.erase();
      }
    }
    bucket = {};
  }

  Block &body_;
  int64_t limit_;
  llvm::DenseSet<Operation *> repeated_;
  std::map<Key, Bucket> open_;
};

} // namespace

void bucketReductions(func::FuncOp step, int64_t bucketBytes) {
  Bucketing(step, bucketBytes).run();
}

#define GEN_PASS_DECL_BUCKETPASS
#define GEN_PASS_DEF_BUCKETPASS
#include "passes/schedule/Passes.h.inc"

namespace {

struct BucketPass : impl::BucketPassBase<BucketPass> {
  using BucketPassBase::BucketPassBase;

  void runOnOperation() override {
    if (func::FuncOp step = graph::stepOf(getOperation()))
      bucketReductions(step, bytes);
  }
};

} // namespace

void registerBucketPass() { PassRegistration<BucketPass>(); }

} // namespace cleave::schedule
