#pragma once
// Exceptions and errors of libdag: Failure is thrown, a Result carries an Error.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace dag {

/// The catalogue: dag/errors.def is its source, `name(code)` and `number` its stable forms.
enum class ErrorCode : std::uint16_t {
#define ERROR(name, number, meaning) name = number,
#include "dag/errors.def"
#undef ERROR
};

std::string_view name(ErrorCode code);
std::string_view meaning(ErrorCode code);

/// A refusal or failure: a code that programs act on, what failed and where, and a hint what to do about it.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string what;
  std::string hint = {};
  /// The chain of causes, nearest first, one per line; empty when this is the root.
  std::string cause = {};

  /// A paragraph for a person: `job_has_cycle (201): ...`, the causes, and the hint.
  std::string message() const;
  bool operator==(const Error&) const = default;
};

/// How an Error leaves the library: `what()` is `error().message()`.
class Failure : public std::runtime_error {
 public:
  explicit Failure(Error error);
  const Error& error() const { return error_; }

 private:
  Error error_;
};

}  // namespace dag
