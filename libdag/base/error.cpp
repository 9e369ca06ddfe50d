#include "dag/error.hpp"

namespace dag {

std::string_view name(ErrorCode code) {
  switch (code) {
#define ERROR(name, number, meaning) \
  case ErrorCode::name:              \
    return #name;
#include "dag/errors.def"
#undef ERROR
  }
  return "unknown";
}

std::string_view meaning(ErrorCode code) {
  switch (code) {
#define ERROR(name, number, meaning) \
  case ErrorCode::name:              \
    return meaning;
#include "dag/errors.def"
#undef ERROR
  }
  return "not in this version's catalogue";
}

/// Below its first line.
static std::string indented(std::string text) {
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
    text.insert(at + 1, "           ");
  return text;
}

std::string Error::message() const {
  std::string text(name(code));
  text += " (" + std::to_string(static_cast<unsigned>(code)) + "): " + what;
  if (!cause.empty()) text += "\n  because: " + indented(cause);
  if (!hint.empty()) text += "\n  hint: " + hint;
  return text;
}

Failure::Failure(Error error) : std::runtime_error(error.message()), error_(std::move(error)) {}

}  // namespace dag
