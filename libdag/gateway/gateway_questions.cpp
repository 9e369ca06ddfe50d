// Questions that this node does not answer by itself: the processes of a job know of its tasks and of what
// their lanes run, and the journal is on a disk.

#include "libdag/gateway/gateway.hpp"

namespace dag {

void GatewayMachine::ask(Life from, const client::AskExplain& ask, Instant now) {
  KeptJob* const job = known(from, ask.number, ask.job, now);
  if (job == nullptr) return;
  std::vector<Life> asked;
  for (const Worker& worker : job->workers) {
    if (worker.phase == Worker::Phase::up && !job->is_closed()) asked.push_back(worker.life);
  }
  const std::uint64_t question = explaining_.ask(from, ask.number, asked, now);
  for (const Life life : asked)
    effects_.emplace_back(SendToKeeper{life, keeper::Explain{ask.job, question, ask.what}});
  answer_explained(now);
}

void GatewayMachine::answer_explained(Instant now) {
  for (auto& [client, answered] : explaining_.take_over(now)) answer(client, std::move(answered));
}

// ---- Last words

/// A client that is told of the end may go. So first the kernels that were told to stop log their last words,
/// which a process sends before its answer.
void GatewayMachine::tell_end(JobId id, KeptJob& job, Instant now) {
  KeptJob::Over& over = job.must_have_ended();
  const bool may_speak = over.how == JobPhase::cancelled && (job.client || !job.attached.empty());
  for (const Worker& worker : job.workers) {
    if (may_speak && worker.phase == Worker::Phase::up) over.speaking.insert(worker.life);
  }
  over.told_at = now + last_words_within;
  if (!over.speaking.empty()) return ask_speaking(id, job, now);
  send_to_followers(job, client::JobEnded{id, job.error, job.counts});
}

void GatewayMachine::ask_speaking(JobId id, KeptJob& job, Instant now) {
  KeptJob::Over& over = job.must_have_ended();
  if (now >= over.told_at) {
    over.speaking.clear();
    return send_to_followers(job, client::JobEnded{id, job.error, job.counts});
  }
  // Any selector will do: the answer has all running kernels. Numbers of clients' questions begin with 1.
  for (const Life life : over.speaking)
    effects_.emplace_back(SendToKeeper{life, keeper::Explain{id, 0, {"", {TaskId{}}}}});
  over.ask_speaking_at = now + last_words_pause;
}

void GatewayMachine::on_silent(JobId id, KeptJob& job, Life process) {
  KeptJob::Over* const over = job.ended();
  if (over != nullptr && over->speaking.erase(process) > 0 && over->speaking.empty())
    send_to_followers(job, client::JobEnded{id, job.error, job.counts});
}

void GatewayMachine::ask(Life from, const client::AskJournal& ask, Instant) {
  effects_.emplace_back(ReadJournal{from, ask});
}

}  // namespace dag
