#include "libdag/outputs/digest.hpp"

#include <xxhash.h>

#include <algorithm>

namespace dag {
namespace {

std::uint64_t not_zero(std::uint64_t digest) { return digest == 0 ? 1 : digest; }

}  // namespace

std::uint64_t digest_of(const Blob& blob) {
  return not_zero(XXH3_64bits(blob.bytes().data(), blob.bytes().size()));
}

void DigestInPieces::Free::operator()(void* state) const {
  XXH3_freeState(static_cast<XXH3_state_t*>(state));
}

DigestInPieces::DigestInPieces(Blob blob) : blob_(std::move(blob)), state_(XXH3_createState()) {
  XXH3_64bits_reset(static_cast<XXH3_state_t*>(state_.get()));
}

std::uint64_t DigestInPieces::read(std::size_t bytes_max) {
  auto* state = static_cast<XXH3_state_t*>(state_.get());
  const auto rest = blob_.bytes().subspan(read_bytes_);
  const auto piece = rest.first(std::min(rest.size(), bytes_max));
  XXH3_64bits_update(state, piece.data(), piece.size());
  read_bytes_ += piece.size();
  return read_bytes_ < blob_.size_bytes() ? 0 : not_zero(XXH3_64bits_digest(state));
}

}  // namespace dag
