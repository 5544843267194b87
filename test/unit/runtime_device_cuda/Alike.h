// Comparing own declarations of functions with those of a library.
#pragma once

#include <cstddef>
#include <type_traits>

namespace cleave::test {

// What the calling convention sees of a type: pointers alike, integers and enums by their size.
template <size_t bytes> struct Bytes {};
template <typename T> auto passedAs() {
  if constexpr (std::is_pointer_v<T>)
    return static_cast<void *>(nullptr);
  else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>)
    return Bytes<sizeof(T)>();
  else
    return T();
}
template <typename T> using Passed = decltype(passedAs<T>());
template <typename> struct Shape;
template <typename R, typename... A> struct Shape<R (*)(A...)> {
  static Passed<R> passed(Passed<A>...);
};
// Whether both functions are called in the same way.
template <typename Own, typename Theirs>
constexpr bool kAlike =
    std::is_same_v<decltype(&Shape<Own>::passed), decltype(&Shape<Theirs>::passed)>;

} // namespace cleave::test
