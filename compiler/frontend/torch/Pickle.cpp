// See Pickle.h. The machine is Python's: a stack of values, marks on it, a memo. Opcodes are those
// of protocols 2 to 4, by the names in Python's documentation (pickletools).
#include "compiler/frontend/torch/Pickle.h"

#include "compiler/frontend/emit/Failure.h"
#include "compiler/frontend/torch/Constructors.h"

#include <cstring>
#include <map>

namespace cleave::torch {

using emit::fail;

namespace {

enum Opcode : uint8_t {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kPopMark = '1',
  kDup = '2',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kLong1 = 0x8a,
  kNone = 'N',
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kBinFloat = 'G',
  kBinUnicode = 'X',
  kShortUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kBinString = 'T',
  kShortString = 'U',
  kBinBytes = 'B',
  kShortBytes = 'C',
  kEmptyList = ']',
  kEmptyTuple = ')',
  kEmptyDict = '}',
  kList = 'l',
  kTuple = 't',
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kDict = 'd',
  kAppend = 'a',
  kAppends = 'e',
  kSetItem = 's',
  kSetItems = 'u',
  kGlobal = 'c',
  kStackGlobal = 0x93,
  kReduce = 'R',
  kBuild = 'b',
  kNewObject = 0x81,
  kPersistentId = 'Q',
  kPut = 'q',
  kLongPut = 'r',
  kMemoize = 0x94,
  kGet = 'h',
  kLongGet = 'j',
  kProtocol = 0x80,
  kFrame = 0x95,
};

// Each may make a value, of much more memory than the opcode takes in a compressed file.
constexpr int64_t kMaxSteps = int64_t(1) << 21;

class PickleReader {
public:
  PickleReader(std::string_view bytes, const std::string &name, const std::string &folder,
               std::vector<StridedTensor> table)
      : bytes_(bytes), name_(name), pickle_{.nodes = {}, .tensors = std::move(table)},
        builder_(pickle_, name, folder, bytes.size()) {}

  Pickle read() {
    uint8_t opcode = byte();
    if (opcode != kProtocol)
      wrong("does not begin like a pickle of protocol 2 to 4");
    if (uint8_t version = byte(); version < 2 || version > 4)
      wrong("has protocol " + std::to_string(version) + ", expected 2 to 4");
    for (int64_t steps = 0; (opcode = byte()) != kStop; step(opcode))
      if (++steps > kMaxSteps)
        wrong("has more than " + std::to_string(kMaxSteps) + " opcodes");
    if (stack_.size() != 1 || !marks_.empty())
      wrong("ends with " + std::to_string(stack_.size()) + " values, expected 1");
    pickle_.root = stack_[0];
    checkNesting();
    return std::move(pickle_);
  }

private:
  [[noreturn]] void wrong(const std::string &what) const {
    fail("the pickle '" + name_ + "' " + what + " (at byte " + std::to_string(at_) +
         "); save the model again");
  }

  // -- bytes
  std::string_view take(uint64_t size) {
    if (size > bytes_.size() - at_)
      wrong("is cut off");
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  uint8_t byte() { return static_cast<uint8_t>(take(1)[0]); }
  template <typename T> T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string_view line() {
    size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos)
      wrong("is cut off");
    std::string_view out = take(end - at_);
    ++at_;
    return out;
  }
  // A little-endian signed integer of so many bytes.
  int64_t longInteger(uint8_t size) {
    std::string_view digits = take(size);
    if (size > 8)
      wrong("has an integer of more than 64 bits");
    uint64_t value = size > 0 && (digits[size - 1] & 0x80) ? ~uint64_t(0) : 0;
    for (size_t i = size; i-- > 0;)
      value = value << 8 | static_cast<uint8_t>(digits[i]);
    return static_cast<int64_t>(value);
  }
  double bigEndianDouble() {
    uint64_t bits = 0;
    for (char c : take(8))
      bits = bits << 8 | static_cast<uint8_t>(c);
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }

  // -- stack
  NodeId add(Node node) { return builder_.add(std::move(node)); }
  void push(NodeId id) { stack_.push_back(id); }
  void pushNew(Node node) { push(add(std::move(node))); }
  void pushText(std::string_view text) {
    pushNew({.kind = Node::Kind::String, .text = std::string(text)});
  }
  void pushInteger(int64_t value) { pushNew({.kind = Node::Kind::Int, .integer = value}); }
  size_t bottom() const { return marks_.empty() ? 0 : marks_.back(); }
  NodeId pop() {
    if (stack_.size() <= bottom())
      wrong("takes a value that is not there");
    NodeId id = stack_.back();
    stack_.pop_back();
    return id;
  }
  NodeId top() {
    NodeId id = pop();
    push(id);
    return id;
  }
  // What lies above the last mark, which is taken away.
  std::vector<NodeId> popToMark() {
    if (marks_.empty())
      wrong("takes a mark that is not there");
    std::vector<NodeId> out(stack_.begin() + marks_.back(), stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return out;
  }
  std::vector<NodeId> popSome(size_t count) {
    std::vector<NodeId> out(count);
    for (size_t i = count; i-- > 0;)
      out[i] = pop();
    return out;
  }
  void pushItems(Node::Kind kind, std::vector<NodeId> items) {
    if (kind == Node::Kind::Dict && items.size() % 2)
      wrong("has a dictionary key without a value");
    pushNew({.kind = kind, .items = std::move(items)});
  }
  void append(std::vector<NodeId> items, Node::Kind kind) {
    Node &target = pickle_.nodes[top()];
    if (target.kind != kind || (kind == Node::Kind::Dict && items.size() % 2))
      wrong("adds items to something that cannot hold them");
    target.items.insert(target.items.end(), items.begin(), items.end());
  }

  // -- memo
  void put(uint32_t index) { memo_[index] = top(); }
  void get(uint32_t index) {
    auto found = memo_.find(index);
    if (found == memo_.end())
      wrong("recalls value " + std::to_string(index) + ", which was never kept");
    push(found->second);
  }

  // -- opcodes
  void step(uint8_t opcode) {
    if (!literal(opcode) && !container(opcode) && !construct(opcode) && !housekeeping(opcode))
      wrong("has the opcode " + std::to_string(opcode) + ", which models do not need");
  }

  bool literal(uint8_t opcode) {
    switch (opcode) {
    case kNone:
      pushNew({});
      return true;
    case kNewTrue:
    case kNewFalse:
      pushNew({.kind = Node::Kind::Bool, .integer = opcode == kNewTrue});
      return true;
    case kBinInt:
      pushInteger(number<int32_t>());
      return true;
    case kBinInt1:
      pushInteger(byte());
      return true;
    case kBinInt2:
      pushInteger(number<uint16_t>());
      return true;
    case kLong1:
      pushInteger(longInteger(byte()));
      return true;
    case kBinFloat:
      pushNew({.kind = Node::Kind::Float, .number = bigEndianDouble()});
      return true;
    case kShortUnicode:
    case kShortString:
    case kShortBytes:
      pushText(take(byte()));
      return true;
    case kBinUnicode:
    case kBinString:
    case kBinBytes:
      pushText(take(number<uint32_t>()));
      return true;
    case kBinUnicode8:
      pushText(take(number<uint64_t>()));
      return true;
    }
    return false;
  }

  bool container(uint8_t opcode) {
    switch (opcode) {
    case kEmptyList:
      pushItems(Node::Kind::List, {});
      return true;
    case kEmptyTuple:
      pushItems(Node::Kind::Tuple, {});
      return true;
    case kEmptyDict:
      pushItems(Node::Kind::Dict, {});
      return true;
    case kList:
      pushItems(Node::Kind::List, popToMark());
      return true;
    case kTuple:
      pushItems(Node::Kind::Tuple, popToMark());
      return true;
    case kDict:
      pushItems(Node::Kind::Dict, popToMark());
      return true;
    case kTuple1:
    case kTuple2:
    case kTuple3:
      pushItems(Node::Kind::Tuple, popSome(opcode - kTuple1 + 1));
      return true;
    case kAppend:
      append(popSome(1), Node::Kind::List);
      return true;
    case kAppends:
      append(popToMark(), Node::Kind::List);
      return true;
    case kSetItem:
      append(popSome(2), Node::Kind::Dict);
      return true;
    case kSetItems:
      append(popToMark(), Node::Kind::Dict);
      return true;
    }
    return false;
  }

  bool construct(uint8_t opcode) {
    switch (opcode) {
    case kGlobal: {
      std::string module(line());
      push(builder_.global(module + "." + std::string(line())));
      return true;
    }
    case kStackGlobal: {
      std::vector<NodeId> parts = popSome(2);
      push(builder_.global(pickle_[parts[0]].text + "." + pickle_[parts[1]].text));
      return true;
    }
    case kReduce:
    case kNewObject: {
      std::vector<NodeId> parts = popSome(2);
      push(builder_.construct(parts[0], parts[1]));
      return true;
    }
    case kBuild: {
      NodeId state = pop();
      builder_.setState(top(), state);
      return true;
    }
    case kPersistentId:
      push(builder_.storage(pop()));
      return true;
    }
    return false;
  }

  bool housekeeping(uint8_t opcode) {
    switch (opcode) {
    case kMark:
      marks_.push_back(stack_.size());
      return true;
    case kPop:
      pop();
      return true;
    case kPopMark:
      popToMark();
      return true;
    case kDup:
      push(top());
      return true;
    case kPut:
      put(byte());
      return true;
    case kLongPut:
      put(number<uint32_t>());
      return true;
    case kMemoize:
      put(static_cast<uint32_t>(memo_.size()));
      return true;
    case kGet:
      get(byte());
      return true;
    case kLongGet:
      get(number<uint32_t>());
      return true;
    case kFrame:
      take(8);
      return true;
    }
    return false;
  }

  // No node contains itself, and none lies too deep.
  void checkNesting() const {
    enum : uint8_t { New, Open, Done };
    std::vector<uint8_t> state(pickle_.nodes.size(), New);
    std::vector<int> height(pickle_.nodes.size(), 0);
    std::vector<std::pair<NodeId, size_t>> stack{{pickle_.root, 0}};
    while (!stack.empty()) {
      auto [id, next] = stack.back();
      const std::vector<NodeId> &items = pickle_[id].items;
      state[id] = Open;
      if (next == items.size()) {
        for (NodeId item : items)
          height[id] = std::max(height[id], height[item] + 1);
        if (height[id] > kMaxPickleDepth)
          wrong("is nested more than " + std::to_string(kMaxPickleDepth) + " deep");
        state[id] = Done;
        stack.pop_back();
        continue;
      }
      ++stack.back().second;
      if (state[items[next]] == Open)
        wrong("has an object that contains itself");
      if (state[items[next]] == New)
        stack.push_back({items[next], 0});
    }
  }

  std::string_view bytes_;
  size_t at_ = 0;
  std::string name_;
  Pickle pickle_;
  Constructors builder_;
  std::vector<NodeId> stack_;
  std::vector<size_t> marks_;
  std::map<uint32_t, NodeId> memo_;
};

} // namespace

Pickle readPickle(std::string_view bytes, const std::string &name, const std::string &storageFolder,
                  std::vector<StridedTensor> table) {
  return PickleReader(bytes, name, storageFolder, std::move(table)).read();
}

} // namespace cleave::torch
