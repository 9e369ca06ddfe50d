#pragma once
// A small JSON reader (RFC 8259), so that libdag needs no library for its one JSON format of
// workflows. It reads untrusted text: nesting is limited, numbers and strings are checked, errors give
// the place.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "libdag/base/result.hpp"

namespace dag {

class JsonValue {
 public:
  using Array = std::vector<JsonValue>;
  using Object = std::map<std::string, JsonValue>;

  JsonValue() = default;
  template <class T>
  explicit JsonValue(T value) : content_(std::move(value)) {}

  /// The content if it is of this kind, else null.
  template <class T>
  const T* as() const {
    return std::get_if<T>(&content_);
  }
  /// A member of an object; a null value when it is no object or has no such member.
  const JsonValue& operator[](const std::string& name) const;
  bool is_null() const { return content_.index() == 0; }

  // Common queries, with a default for missing values.
  const Array& items() const;
  std::string text_or(std::string otherwise) const;
  double number_or(double otherwise) const;

 private:
  std::variant<std::monostate, bool, double, std::string, Array, Object> content_;
};

/// The whole text is a single value. Of members with the same name the last counts.
Result<JsonValue> read_json(std::string_view text);

}  // namespace dag
