#pragma once
// The fields of an aggregate in their order, for code that treats all of them alike: C++20 has no reflection,
// so fields are counted by how many initialisers the aggregate takes, and reached by a structured binding.
// Not for aggregates with bases, arrays of C or references.

#include <cstddef>
#include <type_traits>
#include <utility>

namespace dag {
namespace detail {

/// Converts to the type of any field. Never called, so not defined.
struct AnyField {
  template <class Field>
  operator Field() const;
};

template <class Aggregate, class... Fields>
consteval std::size_t count_fields() {
  if constexpr (requires { Aggregate{Fields{}..., AnyField{}}; }) {
    return count_fields<Aggregate, Fields..., AnyField>();
  } else {
    return sizeof...(Fields);
  }
}

}  // namespace detail

template <class Aggregate>
inline constexpr std::size_t field_count = detail::count_fields<std::remove_const_t<Aggregate>>();
inline constexpr std::size_t field_count_max = 24;

/// Calls `visit` with all fields at once.
template <class Aggregate, class Visit>
constexpr decltype(auto) with_fields(Aggregate& value, Visit&& visit) {
  constexpr std::size_t count = field_count<Aggregate>;
  static_assert(count <= field_count_max, "add a line below");
  // clang-format off
  if constexpr (count == 0) { static_cast<void>(value); return std::forward<Visit>(visit)(); }
  else if constexpr (count == 1) { auto& [f1] = value; return std::forward<Visit>(visit)(f1); }
  else if constexpr (count == 2) { auto& [f1, f2] = value; return std::forward<Visit>(visit)(f1, f2); }
  else if constexpr (count == 3) { auto& [f1, f2, f3] = value; return std::forward<Visit>(visit)(f1, f2, f3); }
  else if constexpr (count == 4) { auto& [f1, f2, f3, f4] = value; return std::forward<Visit>(visit)(f1, f2, f3, f4); }
  else if constexpr (count == 5) { auto& [f1, f2, f3, f4, f5] = value; return std::forward<Visit>(visit)(f1, f2, f3, f4, f5); }
  else if constexpr (count == 6) { auto& [f1, f2, f3, f4, f5, f6] = value; return std::forward<Visit>(visit)(f1, f2, f3, f4, f5, f6); }
  else if constexpr (count == 7) { auto& [f1, f2, f3, f4, f5, f6, f7] = value; return std::forward<Visit>(visit)(f1, f2, f3, f4, f5, f6, f7); }
  else if constexpr (count == 8) { auto& [f1, f2, f3, f4, f5, f6, f7, f8] = value; return std::forward<Visit>(visit)(f1, f2, f3, f4, f5, f6, f7, f8); }
  else if constexpr (count == 9) { auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9] = value; return std::forward<Visit>(visit)(f1, f2, f3, f4, f5, f6, f7, f8, f9); }
  else if constexpr (count == 10) { auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10] = value; return std::forward<Visit>(visit)(f1, f2, f3, f4, f5, f6, f7, f8, f9, f10); }
  else if constexpr (count == 11) { auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11] = value; return std::forward<Visit>(visit)(f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11); }
  else if constexpr (count == 12) { auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12] = value; return std::forward<Visit>(visit)(f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12); }
  else if constexpr (count == 13) { auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13] = value; return std::forward<Visit>(visit)(f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13); }
  else if constexpr (count == 14) { auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14] = value; return std::forward<Visit>(visit)(f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14); }
  else if constexpr (count == 15) { auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15] = value; return std::forward<Visit>(visit)(f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15); }
  else if constexpr (count == 16) { auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16] = value; return std::forward<Visit>(visit)(f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16); }
  else if constexpr (count == 17) { auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17] = value; return std::forward<Visit>(visit)(f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17); }
  else if constexpr (count == 18) { auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18] = value; return std::forward<Visit>(visit)(f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18); }
  else if constexpr (count == 19) { auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19] = value; return std::forward<Visit>(visit)(f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19); }
  else if constexpr (count == 20) { auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20] = value; return std::forward<Visit>(visit)(f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20); }
  else if constexpr (count == 21) { auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20, f21] = value; return std::forward<Visit>(visit)(f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20, f21); }
  else if constexpr (count == 22) { auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20, f21, f22] = value; return std::forward<Visit>(visit)(f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20, f21, f22); }
  else if constexpr (count == 23) { auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20, f21, f22, f23] = value; return std::forward<Visit>(visit)(f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20, f21, f22, f23); }
  else if constexpr (count == 24) { auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20, f21, f22, f23, f24] = value; return std::forward<Visit>(visit)(f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20, f21, f22, f23, f24); }
  // clang-format on
}

}  // namespace dag
