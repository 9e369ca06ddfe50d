// Recursive descent, to a limited depth.

#include "libdag/workflows/json_reader.hpp"

#include <charconv>
#include <cmath>
#include <optional>

#include "libdag/graph/text.hpp"

namespace dag {
namespace {

constexpr int depth_max = 64;

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  Result<JsonValue> read() {
    // Read in place: of a moved-from value's end, g++ 12 warns that members may be uninitialised.
    Result<JsonValue> result(JsonValue{});
    if (!read_value(result.value(), 0) || !at_end()) return error();
    return result;
  }

 private:
  // Each returns whether it succeeded; the first failure stays in what_ and at_.
  bool fail(const char* what) {
    if (what_ == nullptr) what_ = what;
    return false;
  }

  Error error() const {
    std::size_t line = 1;
    std::size_t column = 1;
    for (const char c : text_.substr(0, at_)) {
      column = c == '\n' ? 1 : column + 1;
      line += c == '\n' ? 1 : 0;
    }
    return {ErrorCode::configuration_invalid,
            "line " + std::to_string(line) + ", column " + std::to_string(column) +
                ": this is not JSON: " + what_,
            "the file may have been cut or edited by hand"};
  }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool at_end() {
    skip_space();
    return at_ == text_.size() || fail("something follows the value");
  }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool read_value(JsonValue& value, int depth) {
    if (depth > depth_max) return fail("it is nested too deeply");
    skip_space();
    if (at_ == text_.size()) return fail("it ends where a value should be");
    switch (text_[at_]) {
      case '{':
        return read_object(value, depth);
      case '[':
        return read_array(value, depth);
      case '"': {
        std::string text;
        if (!read_string(text)) return false;
        value = JsonValue(std::move(text));
        return true;
      }
      case 't':
        return read_word("true", JsonValue(true), value);
      case 'f':
        return read_word("false", JsonValue(false), value);
      case 'n':
        return read_word("null", JsonValue(), value);
      default:
        return read_number(value);
    }
  }

  bool read_word(std::string_view word, JsonValue meaning, JsonValue& value) {
    if (text_.substr(at_, word.size()) != word) return fail("unknown word");
    at_ += word.size();
    value = std::move(meaning);
    return true;
  }

  bool read_number(JsonValue& value) {
    const std::size_t start = at_;
    const auto digits = [this] {
      const std::size_t first = at_;
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
      return at_ - first;
    };
    take('-');
    const std::size_t whole = at_;
    const std::size_t count = digits();
    if (count == 0) return fail("expected a value");
    if (count > 1 && text_[whole] == '0') return fail("a number begins with 0");
    if (take('.') && digits() == 0) return fail("a number ends with its point");
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      if (digits() == 0) return fail("a number ends within its exponent");
    }
    double number = 0;
    const auto result = std::from_chars(text_.data() + start, text_.data() + at_, number);
    if (result.ec != std::errc() || !std::isfinite(number)) return fail("a number is too large");
    value = JsonValue(number);
    return true;
  }

  bool read_string(std::string& text) {
    ++at_;  // the quote
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20) return fail("a control character inside a string");
      ++at_;
      if (c != '\\') {
        text += c;
      } else if (!read_escape(text)) {
        return false;
      }
    }
    return fail("a string does not end");
  }

  bool read_escape(std::string& text) {
    constexpr std::string_view letters = "\"\\/bfnrt";
    constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    if (at_ == text_.size()) return fail("a string does not end");
    const char letter = text_[at_++];
    if (const auto known = letters.find(letter); known != std::string_view::npos) {
      text += meanings[known];
      return true;
    }
    if (letter != 'u') return fail("an unknown escape inside a string");
    std::optional<std::uint32_t> code = read_hex();
    if (!code) return fail("\\u needs four hexadecimal digits");
    if (*code >= 0xD800 && *code < 0xDC00 && take('\\') && take('u')) {
      const std::optional<std::uint32_t> low = read_hex();
      if (!low || *low < 0xDC00 || *low >= 0xE000) return fail("half of a surrogate pair");
      code = 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00);
    }
    if (*code >= 0xD800 && *code < 0xE000) return fail("half of a surrogate pair");
    append_utf8(text, *code);
    return true;
  }

  std::optional<std::uint32_t> read_hex() {
    if (text_.size() - at_ < 4) return std::nullopt;
    std::uint32_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [stop, error] = std::from_chars(begin, begin + 4, value, 16);
    if (error != std::errc() || stop != begin + 4) return std::nullopt;
    at_ += 4;
    return value;
  }

  bool read_array(JsonValue& value, int depth) {
    ++at_;
    JsonValue::Array items;
    skip_space();
    if (!take(']')) {
      do {
        if (!read_value(items.emplace_back(), depth + 1)) return false;
        skip_space();
      } while (take(','));
      if (!take(']')) return fail("expected , or ] in an array");
    }
    value = JsonValue(std::move(items));
    return true;
  }

  bool read_object(JsonValue& value, int depth) {
    ++at_;
    JsonValue::Object members;
    skip_space();
    if (!take('}')) {
      do {
        skip_space();
        std::string name;
        if (at_ == text_.size() || text_[at_] != '"') return fail("expected a member's name in quotes");
        if (!read_string(name)) return false;
        skip_space();
        if (!take(':')) return fail("expected : behind a member's name");
        if (!read_value(members[name], depth + 1)) return false;
        skip_space();
      } while (take(','));
      if (!take('}')) return fail("expected , or } in an object");
    }
    value = JsonValue(std::move(members));
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  const char* what_ = nullptr;
};

}  // namespace

const JsonValue& JsonValue::operator[](const std::string& name) const {
  static const JsonValue nothing;
  const auto* members = as<Object>();
  if (members == nullptr) return nothing;
  const auto found = members->find(name);
  return found == members->end() ? nothing : found->second;
}

const JsonValue::Array& JsonValue::items() const {
  static const Array nothing;
  const auto* array = as<Array>();
  return array == nullptr ? nothing : *array;
}

std::string JsonValue::text_or(std::string otherwise) const {
  const auto* text = as<std::string>();
  return text == nullptr ? std::move(otherwise) : *text;
}

double JsonValue::number_or(double otherwise) const {
  const auto* number = as<double>();
  return number == nullptr ? otherwise : *number;
}

Result<JsonValue> read_json(std::string_view text) { return JsonReader(text).read(); }

}  // namespace dag
