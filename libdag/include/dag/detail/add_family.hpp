#pragma once
// The typed half of adding a family; included by graph.hpp.

#include <string_view>
#include <utility>
#include <vector>

#include "dag/detail/add_task.hpp"

namespace dag::detail {

/// A task of a family that is given another Family takes the output of the task at its own point.
template <class A>
struct family_source : source_of<A> {};
template <class T>
struct family_source<Family<T>> {
  using type = FromInput<T>;
};
template <class A>
using family_source_t = typename family_source<std::remove_cvref_t<A>>::type;

template <class Source>
inline constexpr bool is_for_family = false;
template <>
inline constexpr bool is_for_family<FromLiteral> = true;
template <class T>
inline constexpr bool is_for_family<FromInput<T>> = true;

/// Makes the family's parameter of type P: a literal, the output of a task, or a family's outputs one by one.
template <class P, class A>
FamilySpec::Parameter family_parameter(Builder& builder, std::string_view name, Range range, A&& argument) {
  FamilySpec::Parameter parameter;
  if constexpr (requires { argument.first_in(builder); }) {
    if (argument.range() != range) throw_other_range(name, range, argument.range());
    parameter.task = argument.first_in(builder);
    parameter.each = true;
  } else if constexpr (requires { argument.index_in(builder); }) {
    parameter.task = argument.index_in(builder);
  } else {
    take_literal<P>(std::forward<A>(argument), [&](auto&& literal) {
      if constexpr (requires { literal.actors(); }) {
        if (!literal.actors().empty()) throw_actor_in_family(name);
        parameter.value = Blob(literal.bytes());
      } else {
        parameter.value = std::forward<decltype(literal)>(literal);
      }
    });
  }
  return parameter;
}

template <class... Ps>
constexpr std::size_t count_of(Parameters<Ps...>) {
  return sizeof...(Ps);
}
template <class P, class... Ps>
constexpr Parameters<Ps...> without_first(Parameters<P, Ps...>) {
  return {};
}
template <class... Ps>
constexpr bool begins_with_point(Parameters<Ps...>) {
  return false;
}
template <class P, class... Ps>
constexpr bool begins_with_point(Parameters<P, Ps...>) {
  return std::same_as<std::remove_cvref_t<P>, Point>;
}

/// The first parameter behind the point must accept the outputs of the tasks at the offsets.
template <class Value, class P, class... Ps>
constexpr bool before_is_sound(Parameters<P, Ps...>) {
  return source_is_sound<std::remove_cvref_t<P>, void>(FromGather<Value>{});
}

/// The remaining parameters must accept the family's arguments.
template <class... Ps, class... Args>
constexpr bool family_arguments_are_sound(Parameters<Ps...>, Parameters<Args...>) {
  constexpr bool fit = (is_for_family<family_source_t<Args>> && ...);
  static_assert(
      fit, "dag: a family takes values, outputs and families; gather several outputs by a task before it");
  if constexpr (fit) return (argument_is_sound<Ps, Args, family_source_t<Args>>() && ...);
  return false;
}

template <class Sig, class... Args>
constexpr bool family_is_sound() {
  constexpr typename without_context<typename Sig::parameters>::type parameters;
  if constexpr (contexts_are_sound(parameters)) {
    constexpr std::size_t count = count_of(parameters);
    constexpr bool reads = count == sizeof...(Args) + 2, fits = reads || count == sizeof...(Args) + 1;
    static_assert(begins_with_point(parameters),
                  "dag: the first parameter of a family's kernel (behind dag::Context&) is a dag::Point");
    static_assert(
        fits,
        "dag: a family's kernel takes a dag::Point, a std::vector of what those before it left (or not), "
        "and the arguments");
    static_assert(!reads || !std::is_void_v<typename Sig::result>,
                  "dag: these tasks return nothing that those behind them could take as a vector");
    if constexpr (begins_with_point(parameters) && reads && !std::is_void_v<typename Sig::result>) {
      using Value = typename output_of<typename Sig::result>::type;
      constexpr auto behind = without_first(parameters);
      constexpr bool arguments = family_arguments_are_sound(without_first(behind), Parameters<Args...>{});
      return result_is_sound<typename Sig::result>() && before_is_sound<Value>(behind) && arguments;
    } else if constexpr (begins_with_point(parameters) && fits && !reads) {
      constexpr bool arguments = family_arguments_are_sound(without_first(parameters), Parameters<Args...>{});
      return result_is_sound<typename Sig::result>() && arguments;
    }
  }
  return false;
}

template <class F, class... Args>
auto add_family(Builder& builder, std::string_view name, Range range, F kernel, std::vector<Offset> before,
                Args&&... args) {
  if constexpr (kernel_is_sound<F>()) {
    using Sig = signature<F>;
    using Value = typename output_of<typename Sig::result>::type;
    if constexpr (family_is_sound<Sig, Args...>()) {
      constexpr typename without_context<typename Sig::parameters>::type parameters;
      constexpr bool reads = count_of(parameters) == sizeof...(Args) + 2;
      FamilySpec spec;
      spec.name = name;
      spec.returns = !std::is_void_v<Value>;
      spec.effects = std::is_void_v<typename Sig::result> ? Effects::undeclared : Effects::pure;
      spec.range = range;
      spec.before = std::move(before);
      spec.reads_before = reads;
      const auto add = [&]<class... Ps>(Parameters<Ps...>) {
        (spec.parameters.push_back(family_parameter<Ps>(builder, name, range, std::forward<Args>(args))),
         ...);
      };
      Thunk thunk = nullptr;
      if constexpr (reads) {
        thunk = &KernelThunk<F, FromLiteral, FromGather<Value>, family_source_t<Args>...>::run;
        add(without_first(without_first(parameters)));
      } else {
        thunk = &KernelThunk<F, FromLiteral, family_source_t<Args>...>::run;
        add(without_first(parameters));
      }
      spec.code = {reinterpret_cast<const void*>(thunk), function_address(kernel)};
      return Family<Value>(builder, builder.add_family(std::move(spec)), range);
    } else {
      return Family<Value>(builder, none, range);
    }
  }
}

}  // namespace dag::detail
