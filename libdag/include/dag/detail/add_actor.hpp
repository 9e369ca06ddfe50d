#pragma once
// The typed halves of adding a job actor and calls of it; included by graph.hpp, shared with Context.

#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "dag/detail/add_task.hpp"

namespace dag::detail {

template <class T>
concept CanSave = requires(const T& actor, Writer& w, Reader& r) {
  actor.save(w);
  { T::restore(r) } -> std::convertible_to<T>;
};

template <class A>
inline constexpr bool is_text = std::is_convertible_v<A, std::string_view>;
template <class A>
using literal_t = std::conditional_t<is_text<A>, std::string, std::remove_cvref_t<A>>;

/// An argument of a job actor's constructor.
template <class A>
struct MadeFrom {
  /// The object may keep a view of the argument.
  static constexpr bool is_kept = std::same_as<A, std::string> || refusal<A, Use::result>() == Refusal::view;
  using Passed = std::conditional_t<is_kept, const A&, A&&>;

  explicit MadeFrom(const Blob& given)
      : blob(is_kept ? given : Blob()), value(from_blob<A>(is_kept ? blob : given)) {}
  MadeFrom(const MadeFrom&) = delete;
  MadeFrom& operator=(const MadeFrom&) = delete;
  Passed pass() { return static_cast<Passed>(value); }

  Blob blob;
  A value;
};

/// Makes the object of an actor. `call.self` points to where its address goes; the runtime owns it from then
/// on and ends it by the destroy thunk.
template <class T, class... As>
struct CreateThunk {
  static void run(Call& call) { go(call, std::index_sequence_for<As...>{}); }
  template <std::size_t... i>
  static void go([[maybe_unused]] Call& call, std::index_sequence<i...>) {
    const auto from = std::make_shared<std::tuple<MadeFrom<As>...>>(call.arguments[i].values[0]...);
    constexpr bool kept = (MadeFrom<As>::is_kept || ...);
    *static_cast<void**>(call.self) = new ActorObject<T>{kept ? std::shared_ptr<const void>(from) : nullptr,
                                                         T{std::get<i>(*from).pass()...}};
  }
};
/// `call.self` is the object; the result is its saved state, a value of type std::vector<std::byte>.
template <class T>
void save_thunk(Call& call) {
  const T& object = ActorObject<T>::at(call.self).object;
  Writer writer;
  object.save(writer);
  call.result = to_blob<std::span<const std::byte>>(writer.bytes());
}
/// The first argument is what save_thunk made; `call.self` as for CreateThunk.
template <class T>
void restore_thunk(Call& call) {
  Reader reader(from_blob<std::span<const std::byte>>(call.arguments[0].values[0]));
  *static_cast<void**>(call.self) = new ActorObject<T>{nullptr, T::restore(reader)};
}
template <class T>
void destroy_thunk(Call& call) {
  delete &ActorObject<T>::at(call.self);
}

inline Code code_of(Thunk thunk) { return {reinterpret_cast<const void*>(thunk), nullptr}; }

template <class T, class... Args>
constexpr bool actor_is_sound() {
  constexpr bool values = (std::same_as<source_t<Args>, FromLiteral> && ...);
  static_assert(values,
                "dag: a job actor is made from values; what a task leaves reaches it by a call: "
                "actor.call<&T::method>(output)");
  if constexpr (values && (true && ... && must_travel<literal_t<Args>>())) {
    constexpr bool made = requires { T{std::declval<typename MadeFrom<literal_t<Args>>::Passed>()...}; };
    static_assert(
        made,
        "dag: the job actor cannot be made from these arguments, in braces: numbers must have the type that "
        "its class wants, and text comes as a std::string");
    return made;
  }
  return false;
}

template <class T, class... Args>
Actor<T> add_actor(Builder& builder, std::string_view name, Args&&... args) {
  if constexpr (actor_is_sound<T, Args...>()) {
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
  return {};
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

template <class T, class Sig>
constexpr bool method_is_sound() {
  constexpr bool is_method = requires {
    requires std::is_base_of_v<std::remove_cv_t<typename Sig::self>, T>;
  };
  static_assert(is_method,
                "dag: a call of a job actor names a method of its class: actor.call<&T::method>(...)");
  return is_method;
}

template <class T, auto method, class... Args>
auto add_call(Builder& builder, std::uint32_t actor, Args&&... args) {
  using Sig = signature<decltype(method)>;
  constexpr bool arguments = call_is_sound<Sig, Args...>();
  if constexpr (method_is_sound<T, Sig>() && arguments) {
    using Value = typename output_of<typename Sig::result>::type;
    using Parameters = typename without_context<typename Sig::parameters>::type;
    const Thunk thunk = &MethodThunk<T, method, source_t<Args>...>::run;
    const std::uint32_t task =
        builder.add_task(method_name<method>(), {reinterpret_cast<const void*>(thunk), nullptr},
                         !std::is_void_v<Value>, Effects::pure);
    add_arguments(builder, Parameters{}, std::forward<Args>(args)...);
    builder.set_call(actor, CallKind::call);
    return Output<Value>(builder, task);
  } else {
    return refused<Sig>(builder);
  }
}

/// Adds a call that writes the actor's state: a rollback point of its save group once the save is settled.
/// With `when_due` the home leaves the save out when the last one is recent.
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
