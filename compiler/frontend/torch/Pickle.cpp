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

// Limit of opcodes: each may create a value that takes far more memory than the opcode.
constexpr int64_t kMaxSteps = int64_t(1) << 21;

// The bytes of a pickle and the place at which it is read.
class PickleBytes {
public:
  PickleBytes(std::string_view bytes, const std::string &name) : bytes_(bytes), name_(name) {}

  template <typename... Parts> [[noreturn]] void wrong(const Parts &...what) const {
    fail("the pickle '", name_, "' ", what..., " (at byte ", at_, "); save the model again");
  }

  // The next `size` bytes.
  std::string_view take(uint64_t size) {
    if (size > bytes_.size() - at_)
      wrong("is cut off");
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  uint8_t byte() { return static_cast<uint8_t>(take(1)[0]); }
  // A little-endian number.
  template <typename T> T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  // The rest of the line, without its end.
  std::string_view line() {
    size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos)
      wrong("is cut off");
    std::string_view out = take(end - at_);
    ++at_;
    return out;
  }
  // A little-endian signed integer of `size` bytes; fails beyond 64 bits.
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

private:
  std::string_view bytes_;
  size_t at_ = 0;
  std::string name_; // of the pickle, for messages
};

class PickleReader {
public:
  PickleReader(std::string_view bytes, const std::string &name, const std::string &folder,
               std::vector<StridedTensor> table)
      : bytes_(bytes, name), pickle_{.nodes = {}, .tensors = std::move(table)},
        constructors_(pickle_, name, folder, bytes.size()) {}

  Pickle read() {
    uint8_t opcode = bytes_.byte();
    if (opcode != kProtocol)
      bytes_.wrong("does not begin like a pickle of protocol 2 to 4");
    if (uint8_t version = bytes_.byte(); version < 2 || version > 4)
      bytes_.wrong("has protocol ", version, ", expected 2 to 4");
    for (int64_t steps = 0; (opcode = bytes_.byte()) != kStop; step(opcode))
      if (++steps > kMaxSteps)
        bytes_.wrong("has more than ", kMaxSteps, " opcodes");
    if (stack_.size() != 1 || !marks_.empty())
      bytes_.wrong("ends with ", stack_.size(), " values, expected 1");
    pickle_.root = stack_[0];
    checkNesting();
    return std::move(pickle_);
  }

private:
  // -- stack
  NodeId add(Node node) { return constructors_.add(std::move(node)); }
  void push(NodeId id) { stack_.push_back(id); }
  void pushNew(Node node) { push(add(std::move(node))); }
  void pushText(std::string_view text) {
    pushNew({.kind = Node::Kind::String, .text = std::string(text)});
  }
  void pushInteger(int64_t value) { pushNew({.kind = Node::Kind::Int, .integer = value}); }
  size_t bottom() const { return marks_.empty() ? 0 : marks_.back(); }
  NodeId pop() {
    if (stack_.size() <= bottom())
      bytes_.wrong("takes a value that is not there");
    NodeId id = stack_.back();
    stack_.pop_back();
    return id;
  }
  NodeId top() {
    NodeId id = pop();
    push(id);
    return id;
  }
  // Pops the items above the last mark, and the mark.
  std::vector<NodeId> popToMark() {
    if (marks_.empty())
      bytes_.wrong("takes a mark that is not there");
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
      bytes_.wrong("has a dictionary key without a value");
    pushNew({.kind = kind, .items = std::move(items)});
  }
  void append(std::vector<NodeId> items, Node::Kind kind) {
    Node &target = pickle_.nodes[top()];
    if (target.kind != kind || (kind == Node::Kind::Dict && items.size() % 2))
      bytes_.wrong("adds items to something that cannot hold them");
    target.items.insert(target.items.end(), items.begin(), items.end());
  }

  // -- memo
  void put(uint32_t index) { memo_[index] = top(); }
  void get(uint32_t index) {
    auto found = memo_.find(index);
    if (found == memo_.end())
      bytes_.wrong("recalls value ", index, ", which was never kept");
    push(found->second);
  }

  // -- opcodes
  void step(uint8_t opcode) {
    if (!literal(opcode) && !container(opcode) && !construct(opcode) && !housekeeping(opcode))
      bytes_.wrong("has the opcode ", opcode, ", which models do not need");
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
      pushInteger(bytes_.number<int32_t>());
      return true;
    case kBinInt1:
      pushInteger(bytes_.byte());
      return true;
    case kBinInt2:
      pushInteger(bytes_.number<uint16_t>());
      return true;
    case kLong1:
      pushInteger(bytes_.longInteger(bytes_.byte()));
      return true;
    case kBinFloat:
      pushNew({.kind = Node::Kind::Float, .number = bytes_.bigEndianDouble()});
      return true;
    case kShortUnicode:
    case kShortString:
    case kShortBytes:
      pushText(bytes_.take(bytes_.byte()));
      return true;
    case kBinUnicode:
    case kBinString:
    case kBinBytes:
      pushText(bytes_.take(bytes_.number<uint32_t>()));
      return true;
    case kBinUnicode8:
      pushText(bytes_.take(bytes_.number<uint64_t>()));
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
      std::string module(bytes_.line());
      push(constructors_.global(module + "." + std::string(bytes_.line())));
      return true;
    }
    case kStackGlobal: {
      std::vector<NodeId> parts = popSome(2);
      push(constructors_.global(pickle_[parts[0]].text + "." + pickle_[parts[1]].text));
      return true;
    }
    case kReduce:
    case kNewObject: {
      std::vector<NodeId> parts = popSome(2);
      push(constructors_.construct(parts[0], parts[1]));
      return true;
    }
    case kBuild: {
      NodeId state = pop();
      constructors_.setState(top(), state);
      return true;
    }
    case kPersistentId:
      push(constructors_.storage(pop()));
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
      put(bytes_.byte());
      return true;
    case kLongPut:
      put(bytes_.number<uint32_t>());
      return true;
    case kMemoize:
      put(static_cast<uint32_t>(memo_.size()));
      return true;
    case kGet:
      get(bytes_.byte());
      return true;
    case kLongGet:
      get(bytes_.number<uint32_t>());
      return true;
    case kFrame:
      bytes_.take(8);
      return true;
    }
    return false;
  }

  // Checks that no node contains itself and that the nesting is bounded.
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
          bytes_.wrong("is nested more than ", kMaxPickleDepth, " deep");
        state[id] = Done;
        stack.pop_back();
        continue;
      }
      ++stack.back().second;
      if (state[items[next]] == Open)
        bytes_.wrong("has an object that contains itself");
      if (state[items[next]] == New)
        stack.push_back({items[next], 0});
    }
  }

  PickleBytes bytes_;
  Pickle pickle_;
  Constructors constructors_;
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
