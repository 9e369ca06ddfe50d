#pragma once
// The channel between a node and a worker process by which the process leaves its job, and gets a seat in the
// next one: a pair of sockets, of which the process inherits one end.
//
//   node -> process    leave        its job is over
//   process -> node    free         nothing of that job is left in the process
//   node -> process    a seat       with its page, its records and the file of its output
//
// A kernel can write to the process's end, so the node trusts `free` as little as a stranger's word: it
// listens only when it has said `leave`, and looks at the process itself. When the node closes its end the
// process ends.

#include <optional>

#include "libdag/base/owned_file.hpp"
#include "libdag/base/result.hpp"
#include "nodes/workers/worker_seat.hpp"

namespace dag {

struct SeatDoor {
  OwnedFile of_node, of_process;
};
/// Both are closed by exec. Error: no more files can be opened.
Result<SeatDoor> make_seat_door();

// By the node, on its end; these never block. False: the process is gone.
bool say_leave(int door);
bool hand_seat(int door, const WorkerSeat& seat, int output);
enum class DoorSaid : std::uint8_t { nothing, free, gone };
DoorSaid read_door(int door);

// By the process, on its own end.
/// Waits until there is something to read. False: it is not `leave`, or the node is gone.
bool hear_leave(int door);
void say_free(int door);
/// Waits for a seat. The process's output goes to the seat's file from then on. Nothing: the node wants the
/// process to end.
std::optional<WorkerSeat> take_seat(int door);

}  // namespace dag
