#pragma once
// DAG_CHECK states an invariant; it is kept in release. A failed check throws Bug: the actor dies, its
// supervisor acts, tests stop. It is never for faults of the outside world (those are a Result).

#include <stdexcept>
#include <string>

namespace dag {

/// A broken invariant. Caught only by an actor's exception handler.
class Bug : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void check_failed(const char* fact, const char* file, int line);

}  // namespace dag

#define DAG_CHECK(fact)                                          \
  do {                                                           \
    if (!(fact)) ::dag::check_failed(#fact, __FILE__, __LINE__); \
  } while (false)
