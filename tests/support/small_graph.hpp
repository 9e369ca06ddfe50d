#pragma once
// Small graphs for tests that care about their shape and not about their kernels.

#include <chrono>
#include <cstdint>
#include <string_view>

#include "dag/detail/builder.hpp"

namespace dag::test {

inline const char code_place = 0;
inline detail::Code some_code() { return {&code_place, nullptr}; }

inline std::uint32_t add(detail::Builder& builder, std::string_view name) {
  return builder.add_task(name, some_code(), true, Effects::pure);
}
inline std::uint32_t add(detail::Builder& builder, std::string_view name, std::chrono::nanoseconds takes) {
  const std::uint32_t task = add(builder, name);
  builder.change_policy(task, [&](Policy& policy) { policy.takes = takes; });
  return task;
}
inline void strong(detail::Builder& builder, std::uint32_t from, std::uint32_t to) {
  builder.add_edge(from, to, detail::EdgeKind::strong);
}
inline std::uint32_t add_actor(detail::Builder& builder, std::string_view name) {
  const std::uint32_t actor = builder.add_actor(name, {}, {}, some_code());
  builder.add_task(name, some_code(), false, Effects::pure);
  builder.set_call(actor, detail::CallKind::create);
  return actor;
}
inline std::uint32_t add_call(detail::Builder& builder, std::uint32_t actor, std::string_view name) {
  const std::uint32_t task = add(builder, name);
  builder.set_call(actor, detail::CallKind::call);
  return task;
}

}  // namespace dag::test
