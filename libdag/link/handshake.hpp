#pragma once
// Decides whether two processes may link at all, and in which version of the protocol. wire/ encodes the two
// messages, and the transport decides which process sends them when.
//
// The two messages: the connecting process says Hello, again and again until it is answered or gives up. The
// called process answers each Hello with Welcome or with HelloRefused, from nothing but the Hello and its
// own, so any of them may be lost or repeated. They travel in loose frames (seq 0), since there is no link
// yet. It ends, since an answer is not answered.

#include <cstdint>
#include <string>

#include "libdag/base/result.hpp"
#include "libdag/link/frame_header.hpp"

namespace dag::link {

/// The versions of the protocol one process speaks, both included.
struct VersionRange {
  std::uint16_t min = 0;
  std::uint16_t max = 0;
  bool operator==(const VersionRange&) const = default;
};

/// The versions of this build. A version is raised when a process of the version before could not go on.
inline constexpr VersionRange versions_spoken{1, 1};

struct Hello {
  /// Zero: "whichever you belong to", from a process that was given an address and nothing else.
  ClusterId cluster;
  VersionRange versions;
  Life from;
  /// Build of the module that holds the job's kernels; empty for a process that runs none (dagd).
  std::string build;
  /// Where the speaker listens, HOST:PORT each: where to link back to.
  std::string control_address;
  std::string bulk_address;
  bool operator==(const Hello&) const = default;
};

struct Welcome {
  ClusterId cluster;
  /// The highest version both speak.
  std::uint16_t version = 0;
  Life from;
  std::string build;
  std::string control_address;
  std::string bulk_address;
  bool operator==(const Welcome&) const = default;
};

struct HelloRefused {
  Life from;
  /// A catalogued code as a number: an older peer may not know it, and still shows the text.
  std::uint16_t code = 0;
  std::string what;
  std::string hint;
  bool operator==(const HelloRefused&) const = default;
};

/// The answer of `self` (as it would say Hello) to `caller`.
Result<Welcome> answer(const Hello& self, const Hello& caller);

/// The refusal as it is sent and shown by the caller.
HelloRefused refused(Life from, const Error& error);
Error error_of(const HelloRefused& refusal);

}  // namespace dag::link
