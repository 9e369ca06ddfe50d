#pragma once
// The typed halves of adding a task, an actor and a call; included by graph.hpp, shared with Context.

#include <utility>

#include "dag/detail/builder.hpp"
#include "dag/detail/kernel.hpp"
#include "dag/graph.hpp"

namespace dag::detail {

template <class... Ts>
struct as_parameters;

template <class A>
using source_t = typename source_of<std::remove_cvref_t<A>>::type;

/// Calls `take` with a value as the parameter type P wants it: the Blob of a dag::Ref, else the Writer that
/// has encoded it.
template <class P, class A, class Take>
void take_literal(A&& argument, Take&& take) {
  using Given = std::remove_cvref_t<A>;
  using Wanted = std::remove_cvref_t<P>;
  if constexpr (is_ref<Given>::value) {
    static_assert(std::same_as<Given, Wanted> || std::same_as<typename is_ref<Given>::value_type, Wanted>,
                  "dag: type mismatch: the argument refers to another type than the task's parameter");
    take(argument.blob());
  } else if constexpr (is_ref<Wanted>::value) {
    take(Wanted(std::forward<A>(argument)).blob());
  } else {
    static_assert(std::is_convertible_v<A&&, Wanted>,
                  "dag: type mismatch: the argument cannot be converted to the task's parameter");
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
  static_assert(!std::same_as<std::remove_cvref_t<A>, UndeclaredEffects>,
                "dag: a task that returns nothing must declare its effects: .effects(dag::idempotent)");
  if constexpr (std::same_as<source_t<A>, FromLiteral>) {
    take_literal<P>(std::forward<A>(argument),
                    [&](auto&& literal) { builder.add_literal(std::forward<decltype(literal)>(literal)); });
  } else if constexpr (requires { argument.index_in(builder); }) {
    builder.add_input(argument.index_in(builder));
  } else if constexpr (requires { argument.output; }) {
    builder.add_maybe(argument.output.index_in(builder));
  } else {
    std::vector<std::uint32_t> indices;
    if constexpr (requires { argument.at_least; }) {
      for (const auto& output : argument.outputs) indices.push_back(output.index_in(builder));
      builder.add_quorum(indices, argument.at_least);
    } else {
      for (const auto& output : argument) indices.push_back(output.index_in(builder));
      builder.add_gather(indices);
    }
  }
}

template <class... Ps, class... Args>
void add_arguments(Builder& builder, Parameters<Ps...>, Args&&... args) {
  static_assert(sizeof...(Ps) == sizeof...(Args), "dag: the task's kernel takes another number of arguments");
  if constexpr (sizeof...(Ps) == sizeof...(Args)) (add_argument<Ps>(builder, std::forward<Args>(args)), ...);
}

template <class F, class... Args>
auto add_task(Builder& builder, std::string_view name, F kernel, Args&&... args) {
  check_kernel<F>();
  using Sig = signature<F>;
  using Value = typename output_of<typename Sig::result>::type;
  using Parameters = typename without_context<typename Sig::parameters>::type;
  constexpr bool returns = !std::is_void_v<Value>;
  const Thunk thunk = &KernelThunk<F, source_t<Args>...>::run;
  const std::uint32_t task =
      builder.add_task(name, {reinterpret_cast<const void*>(thunk), function_address(kernel)}, returns,
                       std::is_void_v<typename Sig::result> ? Effects::undeclared : Effects::pure);
  add_arguments(builder, Parameters{}, std::forward<Args>(args)...);
  if constexpr (std::is_void_v<typename Sig::result>) {
    return UndeclaredEffects(Output<void>(builder, task));
  } else {
    static_assert(!returns || encodable<Value>(),
                  "dag: the kernel's result cannot travel between tasks. Use arithmetic types, strings, std "
                  "containers, "
                  "aggregates of those, or write a dag::Codec<T> for it.");
    return Output<Value>(builder, task);
  }
}

/// One parameter behind the point and what was before, of type P.
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
    static_assert(
        std::same_as<source_t<A>, FromLiteral>,
        "dag: a family takes values, outputs and families; gather several outputs by a task before it");
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

template <class F, class... Args>
auto add_family(Builder& builder, std::string_view name, Range range, F kernel, std::vector<Offset> before,
                Args&&... args) {
  check_kernel<F>();
  using Sig = signature<F>;
  using Value = typename output_of<typename Sig::result>::type;
  constexpr typename without_context<typename Sig::parameters>::type parameters;
  constexpr bool reads = count_of(parameters) == sizeof...(Args) + 2;
  static_assert(begins_with_point(parameters),
                "dag: the first parameter of a family's kernel (behind dag::Context&) is a dag::Point");
  static_assert(
      reads || count_of(parameters) == sizeof...(Args) + 1,
      "dag: a family's kernel takes a dag::Point, a std::vector of what those before it left (or not), "
      "and the arguments");
  static_assert(!reads || !std::is_void_v<Value>,
                "dag: these tasks return nothing that those behind them could take as a vector");
  FamilySpec spec;
  spec.name = name;
  spec.returns = !std::is_void_v<Value>;
  spec.effects = std::is_void_v<typename Sig::result> ? Effects::undeclared : Effects::pure;
  spec.range = range;
  spec.before = std::move(before);
  spec.reads_before = reads;
  const auto add = [&]<class... Ps>(Parameters<Ps...>) {
    (spec.parameters.push_back(family_parameter<Ps>(builder, name, range, std::forward<Args>(args))), ...);
  };
  Thunk thunk = nullptr;
  if constexpr (reads) {
    thunk = &KernelThunk<F, FromLiteral, FromGather<Value>, source_t<Args>...>::run;
    add(without_first(without_first(parameters)));
  } else {
    thunk = &KernelThunk<F, FromLiteral, source_t<Args>...>::run;
    add(without_first(parameters));
  }
  spec.code = {reinterpret_cast<const void*>(thunk), function_address(kernel)};
  return Family<Value>(builder, builder.add_family(std::move(spec)), range);
}

template <class T>
concept CanSave = requires(const T& actor, Writer& w, Reader& r) {
  actor.save(w);
  { T::restore(r) } -> std::convertible_to<T>;
};

/// Makes the object of an actor. `call.self` points to where its address goes; the runtime owns it from then
/// on and ends it by the destroy thunk.
template <class T, class... As>
struct CreateThunk {
  static void run(Call& call) { go(call, std::index_sequence_for<As...>{}); }
  template <std::size_t... i>
  static void go(Call& call, std::index_sequence<i...>) {
    *static_cast<void**>(call.self) = new T{from_blob<As>(call.arguments[i].values[0])...};
  }
};
/// `call.self` is the object; the result is its saved state, a value of type std::vector<std::byte>.
template <class T>
void save_thunk(Call& call) {
  Writer writer;
  static_cast<const T*>(call.self)->save(writer);
  call.result = to_blob<std::span<const std::byte>>(writer.bytes());
}
/// The first argument is what save_thunk made; `call.self` as for CreateThunk.
template <class T>
void restore_thunk(Call& call) {
  Reader reader(from_blob<std::span<const std::byte>>(call.arguments[0].values[0]));
  *static_cast<void**>(call.self) = new T(T::restore(reader));
}
template <class T>
void destroy_thunk(Call& call) {
  delete static_cast<T*>(call.self);
}

inline Code code_of(Thunk thunk) { return {reinterpret_cast<const void*>(thunk), nullptr}; }

template <class A>
using literal_t =
    std::conditional_t<std::is_convertible_v<A, std::string_view>, std::string, std::remove_cvref_t<A>>;

template <class T, class... Args>
Actor<T> add_actor(Builder& builder, std::string_view name, Args&&... args) {
  static_assert(std::is_constructible_v<T, literal_t<Args>...> || std::is_aggregate_v<T>,
                "dag: the job actor cannot be made from these arguments");
  Code save, restore;
  if constexpr (CanSave<T>) {
    save = code_of(&save_thunk<T>);
    restore = code_of(&restore_thunk<T>);
  }
  const std::uint32_t actor = builder.add_actor(name, save, restore, code_of(&destroy_thunk<T>));
  builder.add_task(name, code_of(&CreateThunk<T, literal_t<Args>...>::run), false, Effects::pure);
  (
      [&] {
        Writer writer;
        encode<literal_t<Args>>(writer, literal_t<Args>(std::forward<Args>(args)));
        builder.add_literal(writer);
      }(),
      ...);
  builder.set_call(actor, CallKind::create);
  return Actor<T>(&builder, actor);
}

/// `Ledger::add` for &Ledger::add: the class of tasks that its calls belong to.
template <auto method>
constexpr std::string_view method_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  const auto begin = text.find("method = ") + 9;
  text = text.substr(begin, text.find_first_of(";]", begin) - begin);
  if (text.starts_with('&')) text.remove_prefix(1);
  return text;
}

template <auto method, class... Args>
auto add_call(Builder& builder, std::uint32_t actor, Args&&... args) {
  using Sig = signature<decltype(method)>;
  using Value = typename output_of<typename Sig::result>::type;
  using Parameters = typename without_context<typename Sig::parameters>::type;
  const Thunk thunk = &MethodThunk<method, source_t<Args>...>::run;
  const std::uint32_t task =
      builder.add_task(method_name<method>(), {reinterpret_cast<const void*>(thunk), nullptr},
                       !std::is_void_v<Value>, Effects::pure);
  add_arguments(builder, Parameters{}, std::forward<Args>(args)...);
  builder.set_call(actor, CallKind::call);
  return Output<Value>(builder, task);
}

/// Adds a call that writes the actor's state; a rollback point of its save group once it is settled. With
/// `when_due` it is left out when the last one is not so long ago.
template <class T>
Output<std::vector<std::byte>> add_save(Builder& builder, std::uint32_t actor,
                                        std::optional<std::chrono::nanoseconds> when_due) {
  static_assert(CanSave<T>,
                "dag: to be saved, a job actor's class needs `void save(dag::Writer&) const` and "
                "`static T restore(dag::Reader&)`");
  const std::uint32_t task = builder.add_task("save", code_of(&save_thunk<T>), true, Effects::pure);
  builder.set_call(actor, CallKind::save);
  if (when_due) builder.change_policy(task, [&](Policy& policy) { policy.checkpoint = when_due; });
  return Output<std::vector<std::byte>>(builder, task);
}

}  // namespace dag::detail
