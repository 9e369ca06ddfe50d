#pragma once
// A node in this process, as a job's program makes it.

#include <catch2/catch.hpp>
#include <dag/dag.hpp>
#include <optional>
#include <vector>

namespace dag::test {

/// A session with `lanes` lanes; `supervised`: every task under a TaskActor.
struct TestSession {
  explicit TestSession(bool supervised, const char* lanes = "2")
      : arguments{"test", "--dag-lanes", lanes,
                  supervised ? "--dag-supervise-all=1" : "--dag-supervise-all=0"} {
    for (const char* argument : arguments) argv.push_back(const_cast<char*>(argument));
    argv.push_back(nullptr);
    session.emplace(argc = static_cast<int>(arguments.size()), argv.data());
  }
  std::vector<const char*> arguments;
  std::vector<char*> argv;
  int argc = 0;
  std::optional<dag::Session> session;
  dag::Session* operator->() { return &*session; }
};

template <class F>
dag::Error error_of(F&& f) {
  try {
    f();
  } catch (const dag::Failure& failure) {
    return failure.error();
  }
  FAIL("nothing was thrown");
  return {};
}

}  // namespace dag::test
