#include "actors/digest_actor.hpp"

#include "actors/exceptions.hpp"

namespace dag {
namespace {

/// Bytes read per turn: some tenths of a millisecond.
constexpr std::size_t piece_bytes = std::size_t{1} << 20;

}  // namespace

DigestActor::DigestActor(caf::actor_config& config, caf::actor job, ProcessPort& process)
    : event_based_actor(config), job_(std::move(job)), process_(process) {}

caf::behavior DigestActor::make_behavior() {
  set_exception_handler(keep_text);
  if (process_.has_background_threads()) process_.give_way();
  return {
      [this](mail::TakeDigest& order) {
        outputs_.push_back({order.output.name, DigestInPieces(std::move(order.output.bytes))});
        if (outputs_.size() == 1) send(this, mail::NextPiece{});
      },
      [this](mail::NextPiece) {
        UnderWay& output = outputs_.front();
        if (const std::uint64_t digest = output.digest.read(piece_bytes)) {
          send(job_, mail::Digested{output.name, digest});
          outputs_.pop_front();
        }
        if (!outputs_.empty()) send(this, mail::NextPiece{});
      },
  };
}

void DigestActor::on_exit() { job_ = nullptr; }

}  // namespace dag
