// Questions that this node does not answer by itself: the processes of a job know of its tasks, and the
// journal is on a disk.

#include "libdag/keeper/gateway.hpp"

namespace dag {

void GatewayMachine::ask(Life from, const client::AskExplain& ask, Instant now) {
  KeptJob* const job = known(from, ask.number, ask.job, now);
  if (job == nullptr) return;
  std::vector<Life> asked;
  for (const Worker& worker : job->workers) {
    if (worker.phase == Worker::Phase::up && !job->closed) asked.push_back(worker.life);
  }
  const std::uint64_t question = explaining_.ask(from, ask.number, asked, now);
  for (const Life life : asked)
    effects_.emplace_back(SendToKeeper{life, keeper::Explain{ask.job, question, ask.what}});
  answer_explained(now);
}

void GatewayMachine::answer_explained(Instant now) {
  for (auto& [client, answered] : explaining_.take_over(now)) answer(client, std::move(answered));
}

void GatewayMachine::ask(Life from, const client::AskJournal& ask, Instant) {
  effects_.emplace_back(ReadJournal{from, ask});
}

}  // namespace dag
