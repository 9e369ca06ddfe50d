#include "libdag/membership/claim.hpp"

#include <tuple>

#include "libdag/base/check.hpp"

namespace dag {

namespace {

// Left is stronger than dead: it is the process's own word that nothing was lost.
int finality(MemberState state) { return is_up(state) ? 0 : static_cast<int>(state); }

}  // namespace

std::string_view name(MemberState state) {
  switch (state) {
    case MemberState::alive:
      return "alive";
    case MemberState::suspect:
      return "suspect";
    case MemberState::dead:
      return "dead";
    case MemberState::left:
      return "left";
  }
  return "unknown";
}

bool operator<(const Claim& a, const Claim& b) {
  const auto key = [](const Claim& claim) {
    return std::make_tuple(claim.life.incarnation, finality(claim.state), claim.beat, claim.state);
  };
  const auto left = key(a), right = key(b);
  if (left != right) return left < right;
  return std::tie(a.endpoint, a.load) < std::tie(b.endpoint, b.load);
}

const Claim& stronger(const Claim& a, const Claim& b) {
  DAG_CHECK(a.life.process == b.life.process);
  return a < b ? b : a;
}

}  // namespace dag
