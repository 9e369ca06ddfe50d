#pragma once
// From a typed kernel to code that works on blobs: the thunks. A thunk knows, as types, what each parameter
// is made from; it decodes, calls, encodes. sound.hpp has checked before that kernel and arguments fit.

#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "dag/codec.hpp"
#include "dag/detail/builder.hpp"
#include "dag/detail/fragment.hpp"
#include "dag/ref.hpp"

namespace dag {

template <class T>
class Output;
template <class T>
class Family;
template <class T>
class Actor;
class UndeclaredEffects;

namespace detail {

[[noreturn]] void throw_foreign_handle();
[[noreturn]] void throw_outside_of(Range range, std::uint32_t row, std::uint32_t column);
[[noreturn]] void throw_other_range(std::string_view name, Range wanted, Range given);
[[noreturn]] void throw_actor_in_family(std::string_view name);

template <class T>
struct Maybe {
  Output<T> output;
};
template <class T>
struct Quorum {
  std::uint32_t at_least;
  std::vector<Output<T>> outputs;
};

// ---- What a parameter is made from
struct FromLiteral {};
template <class T>
struct FromInput {};
template <class T>
struct FromMaybe {};
template <class T>
struct FromGather {};
template <class T>
struct FromQuorum {};

template <class A>
struct source_of {
  using type = FromLiteral;
};
template <class T>
struct source_of<Output<T>> {
  using type = FromInput<T>;
};
template <class T>
struct source_of<Family<T>> {
  using type = FromGather<T>;
};
template <class T>
struct source_of<Maybe<T>> {
  using type = FromMaybe<T>;
};
template <class T>
struct source_of<std::vector<Output<T>>> {
  using type = FromGather<T>;
};
template <class T>
struct source_of<Quorum<T>> {
  using type = FromQuorum<T>;
};

template <class A>
using source_t = typename source_of<std::remove_cvref_t<A>>::type;

/// Names tasks that all must have finished (or ended).
template <class A>
inline constexpr bool is_handle = false;
template <class T>
inline constexpr bool is_handle<Output<T>> = true;
template <class T>
inline constexpr bool is_handle<Family<T>> = true;
template <class T>
inline constexpr bool is_handle<std::vector<Output<T>>> = true;

// ---- Signatures
template <class... Ps>
struct Parameters {};

template <class F>
struct signature : signature<decltype(&F::operator())> {};
template <class R, class... Ps>
struct signature<R (*)(Ps...)> {
  using result = R;
  using parameters = Parameters<Ps...>;
};
template <class R, class... Ps>
struct signature<R (*)(Ps...) noexcept> : signature<R (*)(Ps...)> {};
template <class C, class R, class... Ps>
struct signature<R (C::*)(Ps...) const> : signature<R (*)(Ps...)> {
  using self = const C;
};
template <class C, class R, class... Ps>
struct signature<R (C::*)(Ps...)> : signature<R (*)(Ps...)> {
  using self = C;
};
template <class C, class R, class... Ps>
struct signature<R (C::*)(Ps...) noexcept> : signature<R (C::*)(Ps...)> {};
template <class C, class R, class... Ps>
struct signature<R (C::*)(Ps...) const noexcept> : signature<R (C::*)(Ps...) const> {};

template <class F>
concept HasOneSignature = std::is_pointer_v<F> || std::is_member_function_pointer_v<F> || requires {
  &F::operator();
};

/// The parameters without a leading Context&.
template <class Ps>
struct without_context {
  static constexpr bool had = false;
  using type = Ps;
};
template <class... Ps>
struct without_context<Parameters<Context&, Ps...>> {
  static constexpr bool had = true;
  using type = Parameters<Ps...>;
};

template <class R>
struct output_of {
  using type = std::remove_cvref_t<R>;
  static constexpr bool becomes = false;
};
template <class T>
struct output_of<Output<T>> {
  using type = T;
  static constexpr bool becomes = true;
};

// ---- One parameter
template <class Wanted, class Given>
constexpr bool reads_as() {
  if constexpr (is_ref<Wanted>::value) return std::same_as<typename is_ref<Wanted>::value_type, Given>;
  if constexpr (std::same_as<Wanted, Given>) return true;
  if constexpr (std::is_arithmetic_v<Wanted> && std::is_arithmetic_v<Given>) return true;
  if constexpr (std::same_as<Wanted, std::string_view> && std::same_as<Given, std::string>) return true;
  if constexpr (is_span<Wanted>::value && is_vector<Given>::value) {
    return std::same_as<std::remove_cv_t<typename Wanted::element_type>, typename Given::value_type> &&
           BulkCopied<typename Given::value_type>;
  }
  return false;
}

template <class Wanted, class Given>
Wanted read_as(const Blob& blob) {
  if constexpr (is_ref<Wanted>::value) {
    return Wanted(blob);
  } else if constexpr (std::is_arithmetic_v<Wanted> && !std::same_as<Wanted, Given>) {
    return static_cast<Wanted>(from_blob<Given>(blob));
  } else {
    return from_blob<Wanted>(blob);
  }
}

template <class P, class Source>
struct Parameter;

template <class P>
struct Parameter<P, FromLiteral> {
  using type = std::remove_cvref_t<P>;
  static type get(const ArgumentView& view) {
    if constexpr (is_ref<type>::value) {
      return type(view.values[0]);
    } else {
      return from_blob<type>(view.values[0]);
    }
  }
};
template <class P, class T>
struct Parameter<P, FromInput<T>> {
  using type = std::remove_cvref_t<P>;
  static type get(const ArgumentView& view) { return read_as<type, T>(view.values[0]); }
};
template <class P, class T>
struct Parameter<P, FromMaybe<T>> {
  using type = std::remove_cvref_t<P>;
  static type get(const ArgumentView& view) {
    if (!view.values[0]) return std::nullopt;
    return read_as<typename type::value_type, T>(view.values[0]);
  }
};
template <class P, class T>
struct Parameter<P, FromGather<T>> {
  using type = std::remove_cvref_t<P>;
  static type get(const ArgumentView& view) {
    type values;
    values.reserve(view.count);
    for (std::uint32_t i = 0; i < view.count; ++i) {
      values.push_back(read_as<typename type::value_type, T>(view.values[i]));
    }
    return values;
  }
};
template <class P, class T>
struct Parameter<P, FromQuorum<T>> {
  using type = std::remove_cvref_t<P>;
  static type get(const ArgumentView& view) {
    type values;
    values.reserve(view.count);
    for (std::uint32_t i = 0; i < view.count; ++i) {
      if (view.values[i]) {
        values.push_back(read_as<typename type::value_type::value_type, T>(view.values[i]));
      } else {
        values.push_back(std::nullopt);
      }
    }
    return values;
  }
};

// ---- The call itself
template <class R, class Invoke, class... Ps, class... Sources, std::size_t... i>
void invoke(Call& call, Invoke&& target, Parameters<Ps...>, Parameters<Sources...>,
            std::index_sequence<i...>) {
  std::tuple<typename Parameter<Ps, Sources>::type...> values{
      Parameter<Ps, Sources>::get(call.arguments[i])...};
  if constexpr (std::is_void_v<R>) {
    target(static_cast<Ps&&>(std::get<i>(values))...);
  } else if constexpr (output_of<R>::becomes) {
    call.becomes = target(static_cast<Ps&&>(std::get<i>(values))...).index();
  } else {
    call.result = to_blob<std::remove_cvref_t<R>>(target(static_cast<Ps&&>(std::get<i>(values))...));
  }
}

/// Runs a kernel of type F: a function pointer (taken from call.function) or a lambda without captures.
template <class F, class... Sources>
struct KernelThunk {
  using Sig = signature<F>;
  using Stripped = without_context<typename Sig::parameters>;
  static void run(Call& call) { go(call, typename Stripped::type{}); }
  template <class... Ps>
  static void go(Call& call, Parameters<Ps...> parameters) {
    const auto target = [&call](auto&&... values) -> typename Sig::result {
      F kernel = make(call);
      if constexpr (Stripped::had) {
        return kernel(*call.context, std::forward<decltype(values)>(values)...);
      } else {
        return kernel(std::forward<decltype(values)>(values)...);
      }
    };
    invoke<typename Sig::result>(call, target, parameters, Parameters<Sources...>{},
                                 std::index_sequence_for<Ps...>{});
  }
  static F make(Call& call) {
    if constexpr (std::is_pointer_v<F>) {
      return reinterpret_cast<F>(const_cast<void*>(call.function));
    } else {
      return F{};
    }
  }
};

/// A job actor's object, and arguments that it was made from: views of them that it keeps stay good.
template <class T>
struct ActorObject {
  std::shared_ptr<const void> made_from;  ///< outlives the object
  T object;

  static ActorObject& at(void* self) { return *static_cast<ActorObject*>(self); }
};

/// Runs a method of a job actor of class T.
template <class T, auto method, class... Sources>
struct MethodThunk {
  using Sig = signature<decltype(method)>;
  using Stripped = without_context<typename Sig::parameters>;
  static void run(Call& call) { go(call, typename Stripped::type{}); }
  template <class... Ps>
  static void go(Call& call, Parameters<Ps...> parameters) {
    const auto target = [&call](auto&&... values) -> typename Sig::result {
      typename Sig::self& self = ActorObject<T>::at(call.self).object;
      if constexpr (Stripped::had) {
        return (self.*method)(*call.context, std::forward<decltype(values)>(values)...);
      } else {
        return (self.*method)(std::forward<decltype(values)>(values)...);
      }
    };
    invoke<typename Sig::result>(call, target, parameters, Parameters<Sources...>{},
                                 std::index_sequence_for<Ps...>{});
  }
};

template <class F>
const void* function_address(F kernel) {
  if constexpr (std::is_pointer_v<F>) {
    return reinterpret_cast<const void*>(kernel);
  } else {
    static_cast<void>(kernel);
    return nullptr;
  }
}

}  // namespace detail
}  // namespace dag
