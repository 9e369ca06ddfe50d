#pragma once
// CAF turns an exception that leaves a handler into a bare runtime_error; supervisors and people want its
// text.

#include <caf/all.hpp>
#include <exception>

namespace dag {

/// For set_exception_handler: the actor ends, and its down message says why.
inline caf::error keep_text(std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    return caf::make_error(caf::sec::runtime_error, std::string(error.what()));
  } catch (...) {
    return caf::make_error(caf::sec::runtime_error, std::string("something that is not a std::exception"));
  }
}

}  // namespace dag
