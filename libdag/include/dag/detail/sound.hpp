#pragma once
// Checks that a kernel and its arguments fit. The compiler says in one sentence what does not fit and what to
// do, before it comes to the templates that do the work. Each function is true where all is well.

#include <concepts>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "dag/detail/kernel.hpp"

namespace dag::detail {

template <class F>
constexpr bool kernel_is_sound() {
  static_assert(
      HasOneSignature<F>,
      "dag: a kernel is a function or a lambda whose parameters have types (no `auto`, no overloads)");
  static_assert(
      std::is_pointer_v<F> || std::is_empty_v<F>,
      "dag: a task's lambda may not capture: what it uses must be passed as arguments, so that the task can "
      "run in another process");
  static_assert(std::is_pointer_v<F> || std::is_default_constructible_v<F>,
                "dag: a kernel object must be a function or a lambda without captures");
  return HasOneSignature<F> &&
         (std::is_pointer_v<F> || (std::is_empty_v<F> && std::is_default_constructible_v<F>));
}

template <class P>
inline constexpr bool is_context =
    std::same_as<std::remove_cv_t<std::remove_pointer_t<std::remove_cvref_t<P>>>, Context>;

/// Takes the parameters without a leading Context&.
template <class... Ps>
constexpr bool contexts_are_sound(Parameters<Ps...>) {
  static_assert(
      !(is_context<Ps> || ...),
      "dag: a kernel takes dag::Context by reference, as its first parameter: dag::Context& context");
  return !(is_context<Ps> || ...);
}

/// The value type of a parameter that may be a Ref, an optional or a vector.
template <class P>
struct carried {
  using type = P;
};
template <class T>
struct carried<Ref<T>> : carried<T> {};
template <class T>
struct carried<std::vector<T>> : carried<T> {};
template <class T>
struct carried<std::optional<T>> : carried<T> {};

/// A parameter the runtime can supply: a value, or a reference that cannot write to shared bytes.
template <class P>
inline constexpr bool is_parameter =
    !std::is_lvalue_reference_v<P> || std::is_const_v<std::remove_reference_t<P>>;

template <class Wanted, class Given>
constexpr bool output_is_sound() {
  static_assert(!std::is_void_v<Given>,
                "dag: this task returns nothing that could be an argument; use .after(it)");
  if constexpr (std::is_void_v<Given>) {
    return false;
  } else {
    static_assert(reads_as<Wanted, Given>(),
                  "dag: type mismatch: the task's parameter has another type than the output passed for it");
    return reads_as<Wanted, Given>();
  }
}

template <class Wanted, class A>
constexpr bool source_is_sound(FromLiteral) {
  using Given = std::remove_cvref_t<A>;
  if constexpr (is_ref<Given>::value) {
    constexpr bool same =
        std::same_as<Given, Wanted> || std::same_as<typename is_ref<Given>::value_type, Wanted>;
    static_assert(same, "dag: type mismatch: the argument refers to another type than the task's parameter");
    return same;
  } else {
    static_assert(std::is_convertible_v<A&&, Wanted>,
                  "dag: type mismatch: the argument cannot be converted to the task's parameter");
    return std::is_convertible_v<A&&, Wanted>;
  }
}
template <class Wanted, class A, class T>
constexpr bool source_is_sound(FromInput<T>) {
  return output_is_sound<Wanted, T>();
}
template <class Wanted, class A, class T>
constexpr bool source_is_sound(FromMaybe<T>) {
  static_assert(is_optional<Wanted>::value, "dag: the parameter for dag::maybe(x) must be a std::optional");
  if constexpr (is_optional<Wanted>::value) return output_is_sound<typename Wanted::value_type, T>();
  return false;
}
template <class Wanted, class A, class T>
constexpr bool source_is_sound(FromGather<T>) {
  static_assert(is_vector<Wanted>::value,
                "dag: the parameter for a vector of handles, or for a Family, must be a std::vector");
  if constexpr (is_vector<Wanted>::value) return output_is_sound<typename Wanted::value_type, T>();
  return false;
}
template <class Wanted, class A, class T>
constexpr bool source_is_sound(FromQuorum<T>) {
  constexpr bool fits = [] {
    if constexpr (is_vector<Wanted>::value) return is_optional<typename Wanted::value_type>::value;
    return false;
  }();
  static_assert(fits, "dag: the parameter for dag::quorum must be a std::vector<std::optional<T>>");
  if constexpr (fits) return output_is_sound<typename Wanted::value_type::value_type, T>();
  return false;
}

template <class P, class A, class Source = source_t<A>>
constexpr bool argument_is_sound() {
  using Wanted = std::remove_cvref_t<P>;
  constexpr bool declared = !std::same_as<std::remove_cvref_t<A>, UndeclaredEffects>;
  static_assert(declared,
                "dag: a task that returns nothing must declare its effects: .effects(dag::idempotent)");
  static_assert(is_parameter<P>,
                "dag: a kernel takes its inputs by value or by const reference: they are immutable");
  if constexpr (declared && is_parameter<P>) {
    if constexpr (must_travel<typename carried<Wanted>::type>()) return source_is_sound<Wanted, A>(Source{});
  }
  return false;
}

template <class... Ps, class... Args>
constexpr bool arguments_are_sound(Parameters<Ps...>, Parameters<Args...>) {
  static_assert(
      sizeof...(Args) >= sizeof...(Ps),
      "dag: too few arguments: each parameter of the kernel (but a leading dag::Context&) needs a value or a "
      "handle");
  static_assert(
      sizeof...(Args) <= sizeof...(Ps),
      "dag: too many arguments: the kernel has fewer parameters; to wait for a task without reading what it "
      "leaves, say .after(it)");
  if constexpr (sizeof...(Args) == sizeof...(Ps)) return (argument_is_sound<Ps, Args>() && ...);
  return false;
}

template <class R>
constexpr bool result_is_sound() {
  using Value = std::remove_cvref_t<R>;
  constexpr bool declared = !std::same_as<Value, UndeclaredEffects>;
  static_assert(declared,
                "dag: a task that returns nothing must declare its effects: .effects(dag::idempotent)");
  if constexpr (std::is_void_v<R> || output_of<R>::becomes || !declared) {
    return declared;
  } else if constexpr (!std::same_as<source_t<R>, FromLiteral>) {
    static_assert(
        output_of<R>::becomes,
        "dag: a kernel may return the handle of one task that it spawned: gather several by a task");
    return false;
  } else {
    return must_travel<Value, Use::result>();
  }
}

template <class Sig, class... Args>
constexpr bool call_is_sound() {
  using Read = typename without_context<typename Sig::parameters>::type;
  if constexpr (contexts_are_sound(Read{})) {
    constexpr bool arguments = arguments_are_sound(Read{}, Parameters<Args...>{});
    return result_is_sound<typename Sig::result>() && arguments;
  }
  return false;
}

/// Checks a condition on an output of type T.
template <class T, class F>
constexpr bool predicate_is_sound() {
  constexpr bool fits = [] {
    if constexpr (std::is_void_v<T>)
      return std::is_invocable_r_v<bool, F>;
    else
      return std::is_invocable_r_v<bool, F, T>;
  }();
  static_assert(
      fits, "dag: the condition of .only_if takes the output of the task it looks at, and returns a bool");
  return fits;
}

}  // namespace dag::detail
