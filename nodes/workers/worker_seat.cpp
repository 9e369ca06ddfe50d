#include "nodes/workers/worker_seat.hpp"

#include <cstdlib>
#include <sstream>

namespace dag {

std::string to_text(const WorkerSeat& seat) {
  std::ostringstream out;
  out << seat.self.process.value << ' ' << seat.self.incarnation.value << ' ' << seat.job.value << ' '
      << seat.cell.process.value << ' ' << seat.cell.incarnation.value << ' ' << seat.node_address << ' '
      << seat.cluster.value << ' ' << seat.share.rank << ' ' << seat.share.size << ' ' << seat.lanes << ' '
      << seat.page << ' ' << seat.records << ' ' << seat.niceness << ' ' << seat.spawn_credit.tasks << ' '
      << seat.spawn_credit.bytes << ' ' << seat.door;
  return out.str();
}

std::optional<WorkerSeat> seat_of(const std::string& text) {
  WorkerSeat seat;
  std::istringstream in(text);
  in >> seat.self.process.value >> seat.self.incarnation.value >> seat.job.value >> seat.cell.process.value >>
      seat.cell.incarnation.value >> seat.node_address >> seat.cluster.value >> seat.share.rank >>
      seat.share.size >> seat.lanes >> seat.page >> seat.records >> seat.niceness >>
      seat.spawn_credit.tasks >> seat.spawn_credit.bytes >> seat.door;
  if (!in || seat.share.size == 0 || seat.share.rank >= seat.share.size) return std::nullopt;
  return seat;
}

Result<std::optional<WorkerSeat>> seat_from_environment() {
  const char* text = std::getenv(worker_seat_variable);
  if (text == nullptr || *text == '\0') return std::optional<WorkerSeat>{};
  auto seat = seat_of(text);
  if (seat) return seat;
  return Error{ErrorCode::configuration_invalid,
               std::string(worker_seat_variable) + " is set, but not as a node sets it",
               "unset it: only dagd sets it, for the processes it starts"};
}

}  // namespace dag
