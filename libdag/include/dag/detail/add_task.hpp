#pragma once
// The typed half of adding a task; included by graph.hpp, shared with Context.

#include <utility>

#include "dag/detail/builder.hpp"
#include "dag/detail/sound.hpp"
#include "dag/graph.hpp"

namespace dag::detail {

/// Encoded it fits into a Blob itself.
template <class T>
inline constexpr bool is_word = Plain<T> && !HasOwnCodec<T> && sizeof(T) <= Blob::inline_bytes_max;

/// Calls `take` with a value as the parameter type P wants it: the Blob of a dag::Ref or of a number, else
/// the Writer that has encoded it.
template <class P, class A, class Take>
void take_literal(A&& argument, Take&& take) {
  using Given = std::remove_cvref_t<A>;
  using Wanted = std::remove_cvref_t<P>;
  if constexpr (is_ref<Given>::value) {
    take(argument.blob());
  } else if constexpr (is_ref<Wanted>::value) {
    take(Wanted(std::forward<A>(argument)).blob());
  } else if constexpr (is_word<Wanted>) {
    take(to_blob<Wanted>(static_cast<Wanted>(std::forward<A>(argument))));
  } else {
    Writer writer;
    if constexpr (std::same_as<Given, Wanted>) {
      encode<Wanted>(writer, argument);
    } else {
      encode<Wanted>(writer, static_cast<Wanted>(std::forward<A>(argument)));
    }
    take(std::as_const(writer));
  }
}

/// Adds one argument as the parameter type P wants it.
template <class P, class A>
void add_argument(Builder& builder, A&& argument) {
  if constexpr (std::same_as<source_t<A>, FromLiteral>) {
    take_literal<P>(std::forward<A>(argument), [&](auto&& literal) {
      if constexpr (is_word<std::remove_cvref_t<P>>) {
        builder.add_word(std::forward<decltype(literal)>(literal));
      } else {
        builder.add_literal(std::forward<decltype(literal)>(literal));
      }
    });
  } else if constexpr (requires { argument.index_in(builder); }) {
    builder.add_input(argument.index_in(builder));
  } else if constexpr (requires { argument.output; }) {
    builder.add_maybe(argument.output.index_in(builder));
  } else {
    std::vector<std::uint32_t> indices;
    const auto add = [&](std::uint32_t index) { indices.push_back(index); };
    if constexpr (requires { argument.at_least; }) {
      each_task(argument.outputs, builder, add);
      builder.add_quorum(indices, argument.at_least);
    } else {
      each_task(argument, builder, add);
      builder.add_gather(indices);
    }
  }
}

template <class... Ps, class... Args>
void add_arguments(Builder& builder, Parameters<Ps...>, Args&&... args) {
  (add_argument<Ps>(builder, std::forward<Args>(args)), ...);
}

/// A handle of a task that was not added because the compiler refused it. It spares the user errors that
/// follow from the first.
template <class Sig>
auto refused(Builder& builder) {
  return Output<typename output_of<typename Sig::result>::type>(builder, none);
}

template <class F, class... Args>
auto add_task(Builder& builder, std::string_view name, F kernel, Args&&... args) {
  if constexpr (kernel_is_sound<F>()) {
    using Sig = signature<F>;
    if constexpr (call_is_sound<Sig, Args...>()) {
      using Value = typename output_of<typename Sig::result>::type;
      using Parameters = typename without_context<typename Sig::parameters>::type;
      constexpr bool silent = std::is_void_v<typename Sig::result>;
      const Thunk thunk = &KernelThunk<F, source_t<Args>...>::run;
      const std::uint32_t task =
          builder.add_task(name, {reinterpret_cast<const void*>(thunk), function_address(kernel)},
                           !std::is_void_v<Value>, silent ? Effects::undeclared : Effects::pure);
      add_arguments(builder, Parameters{}, std::forward<Args>(args)...);
      return std::conditional_t<silent, UndeclaredEffects, Output<Value>>(builder, task);
    } else {
      return refused<Sig>(builder);
    }
  }
}

}  // namespace dag::detail
