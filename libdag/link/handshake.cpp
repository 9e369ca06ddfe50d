#include "libdag/link/handshake.hpp"

#include <algorithm>

namespace dag::link {
namespace {

std::string text(VersionRange range) {
  if (range.min == range.max) return "version " + std::to_string(range.min);
  return "versions " + std::to_string(range.min) + " to " + std::to_string(range.max);
}

std::string hex(std::uint64_t value) {
  std::string digits;
  for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[value >> shift & 15];
  return digits;
}

}  // namespace

Result<Welcome> answer(const Hello& self, const Hello& caller) {
  const std::uint16_t version = std::min(self.versions.max, caller.versions.max);
  // Versions first: of a stranger's other fields we may misread any.
  if (version < self.versions.min || version < caller.versions.min) {
    return Error{ErrorCode::peer_version,
                 to_string(caller.from) + " speaks " + text(caller.versions) + " of the protocol, " +
                     to_string(self.from) + " speaks " + text(self.versions),
                 "install the same release of libdag on both; neighbouring releases work together"};
  }
  if (caller.cluster != ClusterId{} && caller.cluster != self.cluster) {
    return Error{ErrorCode::configuration_invalid,
                 to_string(caller.from) + " belongs to cluster " + hex(caller.cluster.value) + ", " +
                     to_string(self.from) + " at this address to cluster " + hex(self.cluster.value),
                 "another cluster listens on this port now; take the address `dag up` has printed"};
  }
  if (!caller.build.empty() && !self.build.empty() && caller.build != self.build) {
    return Error{ErrorCode::binary_mismatch,
                 to_string(caller.from) + " runs build " + caller.build + ", " + to_string(self.from) +
                     " runs build " + self.build,
                 "start every process of the job from one and the same file"};
  }
  return Welcome{self.cluster, version, self.from, self.build, self.control_address, self.bulk_address};
}

HelloRefused refused(Life from, const Error& error) {
  return {from, static_cast<std::uint16_t>(error.code), error.what, error.hint};
}

Error error_of(const HelloRefused& refusal) {
  return {static_cast<ErrorCode>(refusal.code), refusal.what, refusal.hint};
}

}  // namespace dag::link
