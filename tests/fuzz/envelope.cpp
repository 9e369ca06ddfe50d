// libFuzzer's way into decode: any bytes give a value or an Error, and what was understood can be said again
// and means the same. The mutation loop of tests/unit/wire is the small, repeatable brother of this; its
// samples are the corpus.
#include <cstdlib>

#include "tests/support/samples.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace dag::wire;
  constexpr std::size_t limit = dag::limits::control_frame_bytes_max;
  const CodeMap& codes = samples::codes();
  const auto first = decode(std::as_bytes(std::span(data, size)), limit, codes);
  if (!first) return 0;
  for (const Operation& operation : first->operations) {
    if (std::holds_alternative<Unknown>(operation)) return 0;
  }
  const auto frame = encode(*first, limit, codes);
  if (!frame) return 0;  // Larger written out than it arrived: lists may overlap in what arrives.
  const auto second = decode(frame->bytes(), limit, codes);
  // The second may be refused for its charge: written out, it may weigh more.
  if (second && !encode(*second, limit, codes)->same_bytes(*frame)) std::abort();
  return 0;
}
