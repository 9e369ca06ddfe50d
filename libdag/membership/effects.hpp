#pragma once
// Effects of a MembershipMachine: requests and news for its process, carried out in
// order.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "libdag/membership/messages.hpp"

namespace dag {

enum class DownWhy : std::uint8_t {
  silent,        ///< it was not heard for too long
  process_died,  ///< its link broke and did not come back: the process is gone, its host answers
  told,          ///< another process found it dead
  superseded,    ///< a newer incarnation of it has appeared
  left,          ///< it said goodbye
};
std::string_view name(DownWhy why);

/// Best effort; may be lost. Empty `to`: any process that listens there.
struct SendMembership {
  std::string address;
  std::optional<Life> to;
  MembershipMessage message;
  bool operator==(const SendMembership&) const = default;
};
/// Exactly one per life, before any other news of it, and exactly one MemberDown after it.
struct MemberUp {
  Life life;
  Endpoint endpoint;
  bool operator==(const MemberUp&) const = default;
};
struct MemberDown {
  Life life;
  DownWhy why = DownWhy::silent;
  bool operator==(const MemberDown&) const = default;
};
/// The process was not heard of; give it nothing new for the moment.
struct MemberSuspected {
  Life life;
  bool operator==(const MemberSuspected&) const = default;
};
struct MemberTrusted {
  Life life;
  bool operator==(const MemberTrusted&) const = default;
};
/// We slept through more than two heartbeats: terms, epochs and leases may have changed without us. Send
/// nothing that relies on them until ViewFresh.
struct ViewStale {
  bool operator==(const ViewStale&) const = default;
};
struct ViewFresh {
  bool operator==(const ViewFresh&) const = default;
};
/// Other processes hold this life to be over: end its attempts, then begin again with a new machine and this
/// incarnation. The machine does nothing more.
struct ComeBackAs {
  Incarnation incarnation;
  /// True: others know a newer life of this process, or one at our incarnation that is over: we began with
  /// too low an incarnation.
  bool began_too_low = false;
  bool operator==(const ComeBackAs&) const = default;
};

using MembershipEffect = std::variant<SendMembership, MemberUp, MemberDown, MemberSuspected, MemberTrusted,
                                      ViewStale, ViewFresh, ComeBackAs>;
using MembershipEffects = std::vector<MembershipEffect>;

}  // namespace dag
