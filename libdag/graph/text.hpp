#pragma once
// Text for people and programs: numbers, and names that may hold any bytes.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dag {

/// The whole text as one finite number, as XML and most programs write it: a sign, spaces around and an
/// exponent are allowed; the point is a point in every locale.
std::optional<double> number_in(std::string_view text);

/// True: the number is a character's.
bool is_unicode(std::uint32_t code);
/// `code` must be a character's.
void append_utf8(std::string& text, std::uint32_t code);

/// `text` as valid UTF-8: other bytes replaced by U+FFFD, control characters except newlines by spaces.
std::string printable(const std::string& text);

/// printable(), as the text of an element or a value of an attribute of XML or HTML.
std::string xml_text(const std::string& text);

/// A JSON string with its quotes; valid UTF-8 if `text` is.
std::string json_string(std::string_view text);

}  // namespace dag
