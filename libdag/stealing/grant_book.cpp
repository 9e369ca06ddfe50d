#include "libdag/stealing/grant_book.hpp"

#include <algorithm>

namespace dag {

std::optional<GrantBook::Answer> GrantBook::on_request(Life thief, std::uint64_t request, std::uint32_t slots,
                                                       ReadyQueue& queue) {
  if (slots == 0) return std::nullopt;
  const auto known = last_.find(thief);
  if (known != last_.end()) {
    if (request < known->second.request) return std::nullopt;
    if (request == known->second.request) {
      Answer again = known->second;
      again.is_repeat = true;
      return again;
    }
  } else if (last_.size() >= thieves_max) {
    return std::nullopt;
  }
  Answer answer{request, queue.give_away(std::min(slots, tasks_per_grant_max)), false};
  last_.insert_or_assign(thief, answer);
  return answer;
}

}  // namespace dag
