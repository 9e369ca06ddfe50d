#pragma once
// CAF turns an exception that leaves a handler into a bare runtime_error. Supervisors and people want its
// text, and whether memory was exhausted.

#include <caf/all.hpp>
#include <exception>
#include <new>

#include "dag/error.hpp"

namespace dag {

/// Accompanies the text of an actor's end when memory was exhausted.
inline constexpr std::uint16_t out_of_memory = 1;

/// For set_exception_handler: the actor ends, and its down message says why.
inline caf::error keep_text(std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    return caf::make_error(caf::sec::runtime_error, std::string("no memory left"), out_of_memory);
  } catch (const std::exception& error) {
    return caf::make_error(caf::sec::runtime_error, std::string(error.what()));
  } catch (...) {
    return caf::make_error(caf::sec::runtime_error, std::string("something that is not a std::exception"));
  }
}

/// The job's error when one of its actors ends for `reason`.
inline Error error_of(const caf::error& reason, const std::string& whose) {
  const std::string text = "an actor of " + whose + " failed: " + caf::to_string(reason);
  if (reason.context().match_elements<std::string, std::uint16_t>()) {
    return {ErrorCode::memory_exhausted, text,
            "submit fewer tasks at a time, keep fewer outputs, or raise the limit of memory (ulimit -v)"};
  }
  return {ErrorCode::internal, text, "please report it with the log of this node"};
}

}  // namespace dag
