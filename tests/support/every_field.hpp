#pragma once
// Treats values by their fields (libdag/base/fields.hpp): whether two are equal, which fields of which type a
// set of samples gives a value, and values for the others. So a field that is added to a message is in a
// sample, and a codec that forgets the field fails its test, without a line for the field in any test.

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <typeindex>
#include <utility>
#include <variant>
#include <vector>

#include "libdag/base/fields.hpp"
#include "libdag/wire/operation.hpp"

namespace dag::test {

/// The number of leading fields that travel; the others stay in the process.
template <class T>
inline constexpr std::size_t fields_that_travel = field_count<T>;
template <>
inline constexpr std::size_t fields_that_travel<client::AskSubmit> =
    10;  // A gateway's own retry has the others.
template <>
inline constexpr std::size_t fields_that_travel<detail::Fragment> =
    18;  // Each process makes its own program.
template <>
inline constexpr std::size_t fields_that_travel<TaskNeeds> = 3;  // Explained without the device kind.

template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = true;
template <class T, std::size_t count>
inline constexpr bool is_list<std::array<T, count>> = true;
template <class T>
inline constexpr bool is_pointer = false;  ///< to a value that may be absent
template <class T>
inline constexpr bool is_pointer<std::optional<T>> = true;
template <class T>
inline constexpr bool is_pointer<std::shared_ptr<const T>> = true;
template <class T>
inline constexpr bool is_variant = false;
template <class... T>
inline constexpr bool is_variant<std::variant<T...>> = true;
/// Two numbers that are written together.
template <class T>
inline constexpr bool is_pair = std::is_same_v<T, Range> || std::is_same_v<T, Offset>;
template <class T>
concept HasFields = std::is_aggregate_v<T> && !is_list<T> && !is_pair<T>;

template <class T>
bool same(const T& a, const T& b) {
  if constexpr (is_list<T>) {
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) { return same(x, y); });
  } else if constexpr (is_pointer<T>) {
    return a && b ? same(*a, *b) : !a == !b;
  } else if constexpr (is_variant<T>) {
    return a.index() == b.index() &&
           std::visit([&]<class One>(const One& one) { return same(one, std::get<One>(b)); }, a);
  } else if constexpr (std::is_same_v<T, Blob>) {
    return !a == !b && a.same_bytes(b);
  } else if constexpr (HasFields<T>) {
    return with_fields(a, [&b](const auto&... of_a) {
      return with_fields(b, [&](const auto&... of_b) {
        [[maybe_unused]] std::size_t at = 0;
        return ((at++ >= fields_that_travel<T> || same(of_a, of_b)) && ...);
      });
    });
  } else {
    return a == b;
  }
}

class SaidFields {
 public:
  /// Notes which fields differ from their default, in the value and in all that lie in it.
  template <class T>
  void look(const T& value) {
    if constexpr (is_list<T>) {
      if constexpr (!std::is_same_v<T, std::vector<bool>>) {
        for (const auto& one : value) look(one);
      }
    } else if constexpr (is_pointer<T>) {
      if (value) look(*value);
    } else if constexpr (is_variant<T>) {
      std::visit([this](const auto& one) { look(one); }, value);
    } else if constexpr (HasFields<T>) {
      look_at_fields(value);
    }
  }

  /// Gives the first value of each type the fields that no value had. Fields behind a pointer to const are
  /// left alone: `left` has them.
  template <class T>
  void fill(T& value) {
    if constexpr (is_list<T>) {
      if constexpr (!std::is_same_v<T, std::vector<bool>>) {
        for (auto& one : value) fill(one);
      }
    } else if constexpr (is_variant<T>) {
      std::visit([this](auto& one) { fill(one); }, value);
    } else if constexpr (is_pointer<T>) {
      if constexpr (!std::is_const_v<std::remove_reference_t<decltype(*value)>>) {
        if (value) fill(*value);
      }
    } else if constexpr (HasFields<T>) {
      fill_fields(value);
    }
  }

  /// Fields that still have no value, such as "dag::message::Return: field 8".
  std::vector<std::string> left() const {
    std::vector<std::string> left;
    for (const auto& [type, fields] : seen_) {
      for (std::size_t i = 0; i < fields.said.size(); ++i) {
        if (!fields.said[i]) left.push_back(fields.name + ": field " + std::to_string(i + 1));
      }
    }
    return left;
  }

 private:
  struct Fields {
    std::string name;
    std::vector<bool> said;
  };

  template <class T>
  static std::string name_of() {
    const std::string text = __PRETTY_FUNCTION__;  // "... [with T = dag::Life; ..." or "... [T = dag::Life]"
    const std::size_t begin = text.find("T = ") + 4;
    return text.substr(begin, text.find_first_of(";]", begin) - begin);
  }
  template <class T>
  std::vector<bool>& said() {
    Fields& fields = seen_[typeid(T)];
    if (fields.name.empty()) fields = {name_of<T>(), std::vector<bool>(fields_that_travel<T>)};
    return fields.said;
  }

  template <class T>
  void look_at_fields(const T& value) {
    [[maybe_unused]] std::vector<bool>& said = this->said<T>();
    [[maybe_unused]] const T plain{};
    with_fields(value, [&](const auto&... of_value) {
      with_fields(plain, [&](const auto&... of_plain) {
        [[maybe_unused]] std::size_t at = 0;
        ((at < said.size() ? note(said, at, !same(of_value, of_plain)) : void(), ++at), ...);
      });
      (look(of_value), ...);
    });
  }
  static void note(std::vector<bool>& said, std::size_t at, bool differs) {
    if (differs) said[at] = true;
  }

  template <class T>
  void fill_fields(T& value) {
    with_fields(value, [&](auto&... fields) {
      [[maybe_unused]] std::size_t at = 0;
      (fill_field<T>(fields, at++), ...);
    });
  }
  template <class T, class Field>
  void fill_field(Field& field, std::size_t at) {
    std::vector<bool>& said = this->said<T>();
    if (at < said.size() && !said[at]) said[at] = set(field);
    fill(field);
  }

  /// False: the type's default is all that we can say.
  template <class Field>
  static bool set(Field& field) {
    if constexpr (std::is_same_v<Field, std::string>) {
      field = "said";
    } else if constexpr (std::is_same_v<Field, Blob>) {
      field = Blob(std::as_bytes(std::span("said", 4)));
    } else if constexpr (is_pointer<Field>) {
      if constexpr (std::is_const_v<std::remove_reference_t<decltype(*field)>>) {
        return false;
      } else {
        set(field.emplace());
      }
    } else if constexpr (is_list<Field>) {
      if constexpr (requires { field.resize(1); }) field.resize(1);
      if constexpr (std::is_same_v<Field, std::vector<bool>>) {
        field[0] = true;
      } else {
        set(field[0]);
      }
    } else if constexpr (HasFields<Field>) {
      bool all = true;
      with_fields(field, [&all](auto&... fields) { ((all = set(fields) && all), ...); });
      return all;
    } else if constexpr (std::is_enum_v<Field> || std::is_arithmetic_v<Field>) {
      field = static_cast<Field>(1);
    } else if constexpr (requires { Field(1); }) {  // A duration.
      field = Field(1);
    } else {
      return false;
    }
    return true;
  }

  std::map<std::type_index, Fields> seen_;
};

}  // namespace dag::test
