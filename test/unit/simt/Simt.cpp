// Threads, and what they wait for.
#include "Simt.h"

#include "Scalars.h"
#include "Warp.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

#include <cmath>
#include <cstring>
#include <memory>

namespace cleave::test {

namespace {

constexpr int64_t kMostSteps = 200'000'000; // of all threads; more is an endless loop

// A pointer has the number of its array in the upper bits and the offset, from the middle, below.
constexpr int kOffsetBits = 40;
constexpr uint64_t kMiddle = uint64_t(1) << (kOffsetBits - 1);

uint64_t pointerTo(size_t array) { return (uint64_t(array) << kOffsetBits) + kMiddle; }

enum class State { Running, Warp, Barrier, Done }; // Warp: waits for the threads of its warp

struct Thread {
  Access who;
  State state = State::Running;
  const llvm::BasicBlock *from = nullptr;
  const llvm::Instruction *at = nullptr; // the next instruction
  std::vector<Scalars> values;           // by number
};

std::string textOf(const llvm::Value &value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

class Machine {
public:
  Machine(const llvm::Function &kernel, int64_t blocks, int threads,
          std::vector<CheckedMemory> &buffers)
      : kernel_(kernel), layout_(kernel.getParent()->getDataLayout()), blocks_(blocks),
        threads_(threads), buffers_(buffers) {
    for (const llvm::Argument &argument : kernel.args())
      numbers_[&argument] = numbers_.size();
    for (const llvm::BasicBlock &block : kernel)
      for (const llvm::Instruction &instruction : block)
        numbers_[&instruction] = numbers_.size();
  }

  void run() {
    for (int64_t block = 0; block < blocks_; ++block)
      runBlock(block);
  }

private:
  // -- scheduling ---------------------------------------------------------------------------------

  void runBlock(int64_t block) {
    shared_.clear();
    for (const llvm::GlobalVariable &global : kernel_.getParent()->globals()) {
      int64_t size = static_cast<int64_t>(layout_.getTypeAllocSize(global.getValueType()));
      arrays_[&global] = buffers_.size() + shared_.size();
      shared_.emplace_back("shared memory " + global.getName().str(), std::vector<char>(size),
                           /*defined=*/false);
    }
    std::vector<Thread> threads(threads_);
    for (int i = 0; i < threads_; ++i)
      start(threads[i], block, i);
    while (true) {
      for (int first = 0; first < threads_; first += kWarp)
        runWarp(llvm::MutableArrayRef(threads).slice(first, std::min(kWarp, threads_ - first)));
      if (llvm::all_of(threads, [](const Thread &t) { return t.state == State::Done; }))
        return;
      release(threads, "a barrier", [](const Thread &) {});
      for (Thread &thread : threads)
        ++thread.who.epoch;
    }
  }

  void start(Thread &thread, int64_t block, int number) {
    thread.who = {block, 0, number};
    thread.values.resize(numbers_.size());
    thread.at = &kernel_.getEntryBlock().front();
    for (auto [i, argument] : llvm::enumerate(kernel_.args()))
      thread.values[numbers_.lookup(&argument)] = {
          pointerTo(argument.hasByValAttr() ? buffers_.size() - 1 : i)};
  }

  void runWarp(llvm::MutableArrayRef<Thread> warp) {
    while (true) {
      for (Thread &thread : warp)
        while (thread.state == State::Running)
          step(thread);
      const Thread *waiting =
          llvm::find_if(warp, [](const Thread &t) { return t.state == State::Warp; });
      if (waiting == warp.end())
        return;
      const llvm::Instruction &op = *waiting->at;
      checkTogether(warp, togetherWith(op));
      Lanes results = executeTogether(warp, llvm::cast<llvm::CallInst>(op));
      release(warp, togetherWith(op), [&](Thread &thread) {
        set(thread, op, std::move(results[thread.who.thread % kWarp]));
      });
    }
  }

  Lanes executeTogether(llvm::MutableArrayRef<Thread> warp, const llvm::CallInst &call) {
    std::vector<Lanes> arguments;
    for (Thread &thread : warp) {
      arguments.emplace_back();
      for (const llvm::Use &argument : call.args())
        arguments.back().push_back(valueOf(thread, argument));
    }
    if (call.getIntrinsicID() == llvm::Intrinsic::nvvm_shfl_sync_bfly_i32) {
      std::vector<uint64_t> words, masks;
      for (const Lanes &lane : arguments)
        words.push_back(lane[1][0]), masks.push_back(lane[2][0]);
      return shuffle(words, masks);
    }
    if (warp.size() != kWarp)
      throw Fault("a warp with lanes missing computes on matrices");
    if (call.arg_size() > 1)
      return multiplyMatrices(call, arguments);
    std::vector<std::array<uint16_t, 8>> rows(kWarp);
    for (auto [lane, thread] : llvm::enumerate(warp)) {
      const uint64_t pointer = arguments[lane][0][0];
      arrayOf(pointer).load(thread.who, offsetOf(pointer), sizeof rows[lane], sizeof rows[lane],
                            reinterpret_cast<char *>(rows[lane].data()));
    }
    return loadMatrices(rows, call.getIntrinsicID() ==
                                  llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16);
  }

  // Threads that do something together all wait at one instruction.
  template <typename Threads> void checkTogether(Threads &&threads, const std::string &what) {
    for (Thread &thread : threads)
      if (thread.state != threads.front().state || thread.at != threads.front().at)
        throw Fault("thread " + std::to_string(thread.who.thread) + " of block " +
                    std::to_string(thread.who.block) + " does not take part in " + what);
  }

  // Lets threads go on that all wait at one instruction, after `body` for each of them.
  template <typename Threads, typename Body>
  void release(Threads &&threads, const std::string &what, Body body) {
    checkTogether(threads, what);
    for (Thread &thread : threads) {
      body(thread);
      thread.state = State::Running;
      thread.at = thread.at->getNextNode();
    }
  }

  // -- instructions -------------------------------------------------------------------------------

  void step(Thread &thread) {
    if (++steps_ > kMostSteps)
      throw Fault("the kernel does not end");
    const llvm::Instruction &op = *thread.at;
    if (auto *call = llvm::dyn_cast<llvm::CallInst>(&op))
      return callIntrinsic(thread, *call);
    if (op.isTerminator())
      return branch(thread, op);
    if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&op))
      set(thread, op, loadFrom(thread, *load));
    else if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&op))
      storeTo(thread, *store);
    else
      set(thread, op, compute(thread, op));
    thread.at = op.getNextNode();
  }

  void set(Thread &thread, const llvm::Instruction &op, Scalars value) {
    thread.values[numbers_.lookup(&op)] = std::move(value);
  }

  void callIntrinsic(Thread &thread, const llvm::CallInst &call) {
    Scalars result;
    if (togetherWith(call)) {
      thread.state = State::Warp;
      return;
    }
    switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all:
      thread.state = State::Barrier;
      return;
    case llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x:
      result = {static_cast<uint64_t>(thread.who.thread)};
      break;
    case llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
      result = {static_cast<uint64_t>(thread.who.block)};
      break;
    case llvm::Intrinsic::nvvm_ff2bf16x2_rn: // its first argument is the upper half
      for (const llvm::Use &from : llvm::reverse(call.args()))
        result.push_back(fromDouble(call.getType()->getScalarType(),
                                    toDouble(from->getType(), valueOf(thread, from)[0])));
      break;
    case llvm::Intrinsic::vector_reduce_fadd:
      result = sumOf(thread, call);
      break;
    case llvm::Intrinsic::vector_reduce_fmaximum:
    case llvm::Intrinsic::vector_reduce_fminimum:
      result = {extremeOf(call, valueOf(thread, call.getArgOperand(0)))};
      break;
    case llvm::Intrinsic::assume:
    case llvm::Intrinsic::experimental_noalias_scope_decl:
      break;
    default:
      result = elementwise(thread, call, call.arg_size(),
                           [&](llvm::ArrayRef<uint64_t> x) { return evaluateIntrinsic(call, x); });
    }
    set(thread, call, std::move(result));
    thread.at = call.getNextNode();
  }

  void branch(Thread &thread, const llvm::Instruction &op) {
    const llvm::BasicBlock *next = nullptr;
    if (llvm::isa<llvm::ReturnInst>(op)) {
      thread.state = State::Done;
      return;
    }
    if (auto *choice = llvm::dyn_cast<llvm::SwitchInst>(&op)) {
      uint64_t value = valueOf(thread, choice->getCondition())[0];
      next = choice->getDefaultDest();
      for (auto &option : choice->cases())
        if (option.getCaseValue()->getZExtValue() == value)
          next = option.getCaseSuccessor();
    } else if (op.getNumSuccessors() == 1) {
      next = op.getSuccessor(0);
    } else if (op.getNumSuccessors() == 2) {
      next = op.getSuccessor(valueOf(thread, op.getOperand(0))[0] ? 0 : 1);
    } else {
      throw Fault("thread " + std::to_string(thread.who.thread) + " reaches " + textOf(op));
    }
    enter(thread, op.getParent(), next);
  }

  // Phis take their values all at once.
  void enter(Thread &thread, const llvm::BasicBlock *from, const llvm::BasicBlock *to) {
    std::vector<Scalars> incoming;
    for (const llvm::PHINode &phi : to->phis())
      incoming.push_back(valueOf(thread, phi.getIncomingValueForBlock(from)));
    size_t i = 0;
    for (const llvm::PHINode &phi : to->phis())
      set(thread, phi, incoming[i++]);
    thread.at = &*to->getFirstNonPHIIt();
  }

  template <typename Body>
  Scalars elementwise(Thread &thread, const llvm::User &op, unsigned operands, Body body) {
    llvm::SmallVector<Scalars> values;
    for (unsigned i = 0; i < operands; ++i)
      values.push_back(valueOf(thread, op.getOperand(i)));
    Scalars result;
    for (size_t lane = 0; lane < values[0].size(); ++lane) {
      llvm::SmallVector<uint64_t> x;
      for (const Scalars &value : values)
        x.push_back(value[value.size() == 1 ? 0 : lane]);
      result.push_back(body(x));
    }
    return result;
  }

  // The lanes of the second argument, added to the first in their order.
  // The largest lane, or the smallest; NaN if any is NaN.
  static uint64_t extremeOf(const llvm::CallInst &call, const Scalars &lanes) {
    const bool isLargest = call.getIntrinsicID() == llvm::Intrinsic::vector_reduce_fmaximum;
    auto number = [&](uint64_t lane) { return toDouble(call.getType(), lane); };
    uint64_t extreme = lanes[0];
    for (uint64_t lane : lanes) {
      const double x = number(lane), y = number(extreme);
      const bool isBeyond = x == y ? std::signbit(y) == isLargest : isLargest ? x > y : x < y;
      if (!std::isnan(y) && (std::isnan(x) || isBeyond))
        extreme = lane;
    }
    return extreme;
  }

  Scalars sumOf(Thread &thread, const llvm::CallInst &call) {
    Scalars sum = valueOf(thread, call.getArgOperand(0));
    for (uint64_t lane : valueOf(thread, call.getArgOperand(1))) {
      double total = toDouble(call.getType(), sum[0]) + toDouble(call.getType(), lane);
      sum[0] = fromDouble(call.getType(), total);
    }
    return sum;
  }

  Scalars compute(Thread &thread, const llvm::Instruction &op) {
    if (auto *binary = llvm::dyn_cast<llvm::BinaryOperator>(&op))
      return elementwise(thread, op, 2, [&](llvm::ArrayRef<uint64_t> x) {
        return evaluateBinary(*binary, x[0], x[1]);
      });
    if (auto *compare = llvm::dyn_cast<llvm::CmpInst>(&op))
      return elementwise(thread, op, 2, [&](llvm::ArrayRef<uint64_t> x) -> uint64_t {
        return evaluateCompare(*compare, x[0], x[1]);
      });
    if (auto *cast = llvm::dyn_cast<llvm::BitCastInst>(&op))
      return regrouped(valueOf(thread, op.getOperand(0)), *cast);
    if (auto *cast = llvm::dyn_cast<llvm::CastInst>(&op))
      return elementwise(thread, op, 1,
                         [&](llvm::ArrayRef<uint64_t> x) { return evaluateCast(*cast, x[0]); });
    if (op.getOpcode() == llvm::Instruction::FNeg) {
      uint64_t sign = uint64_t(1) << (op.getType()->getScalarSizeInBits() - 1);
      return elementwise(thread, op, 1, [&](llvm::ArrayRef<uint64_t> x) { return x[0] ^ sign; });
    }
    if (llvm::isa<llvm::FreezeInst>(op))
      return valueOf(thread, op.getOperand(0));
    if (llvm::isa<llvm::SelectInst>(op))
      return select(thread, op);
    if (llvm::isa<llvm::GetElementPtrInst>(op))
      return {addressOf(thread, llvm::cast<llvm::GEPOperator>(op))};
    return moveElements(thread, op);
  }

  // The same bits as elements of another size.
  static Scalars regrouped(const Scalars &from, const llvm::BitCastInst &cast) {
    const unsigned before = cast.getSrcTy()->getScalarSizeInBits(),
                   after = cast.getDestTy()->getScalarSizeInBits();
    if (before == after)
      return from;
    Scalars to(from.size() * before / after);
    for (size_t bit = 0; bit < from.size() * before; ++bit)
      to[bit / after] |= (from[bit / before] >> (bit % before) & 1) << (bit % after);
    return to;
  }

  Scalars select(Thread &thread, const llvm::Instruction &op) {
    Scalars condition = valueOf(thread, op.getOperand(0));
    Scalars a = valueOf(thread, op.getOperand(1)), b = valueOf(thread, op.getOperand(2));
    for (size_t lane = 0; lane < a.size(); ++lane)
      if (!condition[condition.size() == 1 ? 0 : lane])
        a[lane] = b[lane];
    return a;
  }

  Scalars moveElements(Thread &thread, const llvm::Instruction &op) {
    if (auto *shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&op)) {
      Scalars both = valueOf(thread, op.getOperand(0));
      both.append(valueOf(thread, op.getOperand(1)));
      Scalars result;
      for (int from : shuffle->getShuffleMask())
        result.push_back(from < 0 ? 0 : both[from]);
      return result;
    }
    Scalars vector = valueOf(thread, op.getOperand(0));
    if (auto *extract = llvm::dyn_cast<llvm::ExtractValueInst>(&op)) // of a flat record
      return {vector[extract->getIndices().front()]};
    if (llvm::isa<llvm::ExtractElementInst>(op))
      return {vector[valueOf(thread, op.getOperand(1))[0]]};
    if (!llvm::isa<llvm::InsertElementInst>(op))
      throw Fault("the interpreter does not know" + textOf(op));
    vector[valueOf(thread, op.getOperand(2))[0]] = valueOf(thread, op.getOperand(1))[0];
    return vector;
  }

  // -- memory -------------------------------------------------------------------------------------

  uint64_t addressOf(Thread &thread, const llvm::GEPOperator &op) {
    uint64_t address = valueOf(thread, op.getPointerOperand())[0];
    for (auto at = llvm::gep_type_begin(op), end = llvm::gep_type_end(op); at != end; ++at) {
      uint64_t index = valueOf(thread, at.getOperand())[0];
      unsigned width = at.getOperand()->getType()->getIntegerBitWidth();
      address += static_cast<uint64_t>(signExtended(index, width)) *
                 at.getSequentialElementStride(layout_).getFixedValue();
    }
    return address;
  }

  CheckedMemory &arrayOf(uint64_t pointer) {
    uint64_t array = pointer >> kOffsetBits;
    if (array >= buffers_.size() + shared_.size())
      throw Fault("an address is in no array");
    return array < buffers_.size() ? buffers_[array] : shared_[array - buffers_.size()];
  }

  static int64_t offsetOf(uint64_t pointer) {
    return static_cast<int64_t>(pointer & ((kMiddle << 1) - 1)) - static_cast<int64_t>(kMiddle);
  }

  Scalars loadFrom(Thread &thread, const llvm::LoadInst &op) {
    uint64_t pointer = valueOf(thread, op.getPointerOperand())[0];
    int64_t size = layout_.getTypeStoreSize(op.getType()->getScalarType());
    int64_t count = layout_.getTypeStoreSize(op.getType()) / size;
    std::vector<char> bytes(size * count);
    arrayOf(pointer).load(thread.who, offsetOf(pointer), size * count, op.getAlign().value(),
                          bytes.data());
    Scalars result(count);
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(&result[i], bytes.data() + i * size, size);
    return result;
  }

  void storeTo(Thread &thread, const llvm::StoreInst &op) {
    uint64_t pointer = valueOf(thread, op.getPointerOperand())[0];
    Scalars value = valueOf(thread, op.getValueOperand());
    int64_t size = layout_.getTypeStoreSize(op.getValueOperand()->getType()->getScalarType());
    std::vector<char> bytes(size * value.size());
    for (size_t i = 0; i < value.size(); ++i)
      std::memcpy(bytes.data() + i * size, &value[i], size);
    arrayOf(pointer).store(thread.who, offsetOf(pointer), static_cast<int64_t>(bytes.size()),
                           op.getAlign().value(), bytes.data());
  }

  // -- values -------------------------------------------------------------------------------------

  Scalars valueOf(Thread &thread, const llvm::Value *value) {
    auto *constant = llvm::dyn_cast<llvm::Constant>(value);
    return constant ? constantOf(thread, *constant) : thread.values[numbers_.lookup(value)];
  }

  Scalars constantOf(Thread &thread, const llvm::Constant &constant) {
    if (auto *number = llvm::dyn_cast<llvm::ConstantInt>(&constant);
        number && !number->getType()->isVectorTy())
      return {number->getValue().getZExtValue()};
    if (auto *number = llvm::dyn_cast<llvm::ConstantFP>(&constant);
        number && !number->getType()->isVectorTy())
      return {number->getValueAPF().bitcastToAPInt().getZExtValue()};
    if (auto *global = llvm::dyn_cast<llvm::GlobalVariable>(&constant))
      return {pointerTo(arrays_.lookup(global))};
    if (auto *address = llvm::dyn_cast<llvm::GEPOperator>(&constant))
      return {addressOf(thread, *address)};
    if (auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(constant.getType())) {
      Scalars result;
      for (unsigned i = 0; i < vector->getNumElements(); ++i)
        result.push_back(constantOf(thread, *constant.getAggregateElement(i))[0]);
      return result;
    }
    if (constant.isNullValue() || llvm::isa<llvm::UndefValue>(constant))
      return {0};
    throw Fault("the interpreter does not know " + textOf(constant));
  }

  const llvm::Function &kernel_;
  const llvm::DataLayout &layout_;
  int64_t blocks_, steps_ = 0;
  int threads_;
  std::vector<CheckedMemory> &buffers_;
  std::vector<CheckedMemory> shared_;                           // of the current block
  llvm::DenseMap<const llvm::GlobalVariable *, size_t> arrays_; // numbers of shared arrays
  llvm::DenseMap<const llvm::Value *, size_t> numbers_;         // of arguments and instructions
};

} // namespace

static std::string runMachine(const llvm::Function &kernel, int64_t blocks, int threads,
                              std::vector<CheckedMemory> &buffers) {
  try {
    Machine(kernel, blocks, threads, buffers).run();
    return "";
  } catch (const Fault &fault) {
    return fault.what();
  }
}

std::string runSimt(const llvm::Function &kernel, int64_t blocks, int threads,
                    std::vector<CheckedMemory> &buffers) {
  if (kernel.arg_size() != 1 || !kernel.getArg(0)->hasByValAttr())
    return runMachine(kernel, blocks, threads, buffers);
  std::vector<char> pointers(buffers.size() * sizeof(uint64_t));
  for (size_t i = 0; i < buffers.size(); ++i) {
    const uint64_t pointer = pointerTo(i);
    std::memcpy(&pointers[i * sizeof pointer], &pointer, sizeof pointer);
  }
  buffers.emplace_back("the array of pointers", std::move(pointers), /*defined=*/true);
  std::string fault = runMachine(kernel, blocks, threads, buffers);
  buffers.pop_back();
  return fault;
}

} // namespace cleave::test
