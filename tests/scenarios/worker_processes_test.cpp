// Transcripts of a cluster's decisions about worker processes: a gateway, the hosts of two nodes, and a
// client, with everything they say to each other, in order. Read the expected texts; they are the
// documentation.

#include <catch2/catch.hpp>
#include <deque>
#include <sstream>

#include "dag/graph.hpp"
#include "libdag/gateway/gateway.hpp"
#include "tests/scenarios/transcript.hpp"

using namespace dag;
using namespace std::chrono_literals;

namespace {

const Life nodes[2] = {{{0}, {1}}, {{1}, {1}}};
const Life client_life{client_process(1), {1}};
const ProgramId program{1, 2, 3};

/// Two nodes whose messages arrive at once and in order. Node 0 is the gateway; its program is known
/// everywhere.
class Cluster {
 public:
  Cluster() {
    for (const Life life : nodes) {
      Claim& claim = claims_.emplace_back();
      claim.life = life;
      claim.load.devices.push_back({"cpu", 1, 1, 0, 0, Duration{0}});
    }
    gateway_.on_nodes(claims_, now_);
    gateway_.on_program(program, std::nullopt, now_);
    for (HostMachine& host : hosts_) host.on_program(program, std::nullopt, now_);
  }

  JobId submit() {
    Graph graph("answer");
    graph.task("answer", [] { return 42; });
    graph.task("question", [] { return 6 * 7; });  // A job of one task begins in one process.
    gateway_.on_client_message(client_life, client::AskHandle{1}, now_);
    gateway_.take_effects();
    const JobId job = job_of_node({0}, 1);
    line("client submits " + to_string(job));
    gateway_.on_client_message(
        client_life,
        client::AskSubmit{2,
                          job,
                          "answer",
                          std::make_shared<const detail::Fragment>(graph.builder().sealed()),
                          {program, "build", {"job"}, "/"},
                          false},
        now_);
    settle();
    return job;
  }
  void greets(Life process, const std::string& build = "build") {
    line(to_string(process.process) + " says hello, with " + build);
    host_of(process).on_greeted(process, {"x", "y"}, build);
    settle();
  }
  void ends(Life process, ProcessEnd how, const std::string& text) {
    line(to_string(process.process) + " ends: " + text);
    host_of(process).on_ended(process, how, text, {}, {});
    settle();
  }
  void job_ends(JobId job) {
    line("the cell says: " + to_string(job) + " has ended");
    gateway_.on_ended(job, std::nullopt, {0, 1, 0, 0, 0}, now_);
    settle();
  }
  void forgets(JobId job) {
    line("client forgets " + to_string(job));
    gateway_.on_client_message(client_life, client::ForgetJob{job}, now_);
    settle();
  }
  void drains(std::uint32_t node) {
    line(to_string(nodes[node].process) + " is to be drained");
    claims_[node].load.draining = true;
    hosts_[node].drain(true);
    gateway_.on_nodes(claims_, now_);
    settle();
  }
  std::string transcript() const { return text_.str(); }

 private:
  HostMachine& host_of(Life process) { return hosts_[node_of(process.process).value]; }
  void line(const std::string& what) { text_ << what << '\n'; }

  void settle() {
    for (bool again = true; again;) {
      again = false;
      for (GatewayEffect& effect : gateway_.take_effects()) again = carry_out(effect) || again;
      for (std::uint32_t i = 0; i < 2; ++i) {
        for (HostEffect& effect : hosts_[i].take_effects()) again = carry_out(nodes[i], effect) || again;
      }
    }
  }

  bool carry_out(const GatewayEffect& any) {
    if (const auto* sent = std::get_if<SendToKeeper>(&any)) {
      if (const auto* begin = std::get_if<keeper::Begin>(&sent->message)) {
        line("  gateway tells " + to_string(sent->to.process) + " to begin, beside " +
             std::to_string(begin->others.size()));
        return true;
      }
      if (const auto* start = std::get_if<keeper::StartWorker>(&sent->message)) {
        line("  gateway asks " + to_string(sent->to.process) + " for process " +
             std::to_string(start->number));
      } else if (std::holds_alternative<keeper::StopWorkers>(sent->message)) {
        line("  gateway tells " + to_string(sent->to.process) + " to end its processes");
      }
      hosts_[sent->to.process.value].on_message(nodes[0], sent->message, now_);
      return true;
    }
    if (const auto* told = std::get_if<SendToClient>(&any)) {
      if (const auto* answer = std::get_if<client::Answer>(&told->message)) {
        line(answer->error ? "  client is refused: " + answer->error->what : "  client is told: accepted");
      } else if (std::holds_alternative<client::JobEnded>(told->message)) {
        line("  client is told: ended");
      } else if (const auto* lost = std::get_if<client::JobLost>(&told->message)) {
        line("  client is told: lost, " + lost->why.what);
      }
    } else if (const auto* begun = std::get_if<BeginJob>(&any)) {
      line("  the cell begins, with " + std::to_string(begun->lives.size()) + " processes");
    } else if (const auto* up = std::get_if<JobLivesUp>(&any)) {
      line("  the cell hears: " + to_string(up->lives.at(0).process) + " is here");
    } else if (const auto* down = std::get_if<JobLifeDown>(&any)) {
      line("  the cell hears: " + to_string(down->down.life.process) + " is gone, " + down->down.text);
    } else if (std::holds_alternative<CloseJob>(any)) {
      line("  the cell closes the job");
    }
    return true;
  }

  bool carry_out(Life node, const HostEffect& any) {
    if (const auto* sent = std::get_if<SendToKeeper>(&any)) {
      if (const auto* refused = std::get_if<keeper::WorkerRefused>(&sent->message)) {
        line("  " + to_string(node.process) + " cannot: " + refused->why.what);
      } else if (const auto* up = std::get_if<keeper::WorkerUp>(&sent->message)) {
        line("  " + to_string(node.process) + " reports " + to_string(up->life.process) + " up");
      }
      gateway_.on_keeper_message(node, sent->message, now_);
    } else if (const auto* start = std::get_if<StartProcess>(&any)) {
      line("  " + to_string(node.process) + " starts " + to_string(start->life.process));
    } else if (const auto* stop = std::get_if<StopProcess>(&any)) {
      line("  " + to_string(node.process) + " ends " + to_string(stop->life.process));
    }
    return true;
  }

  Instant now_{1s};
  std::vector<Claim> claims_;
  GatewayMachine gateway_{nodes[0], 1, false};
  HostMachine hosts_[2]{HostMachine(nodes[0]), HostMachine(nodes[1])};
  std::ostringstream text_;
};

Life worker(std::uint32_t node, std::uint16_t count) { return {worker_process({node}, count), {1}}; }

}  // namespace

TEST_CASE("a job from its submission to its end, with a crash in the middle") {
  Cluster cluster;
  const JobId job = cluster.submit();
  cluster.greets(worker(0, 1));
  cluster.greets(worker(1, 1));
  cluster.ends(worker(1, 1), ProcessEnd::faulted, "signal 11");
  cluster.greets(worker(1, 2));
  cluster.job_ends(job);
  cluster.forgets(job);
  cluster.ends(worker(0, 1), ProcessEnd::faulted, "signal 15");
  CHECK(cluster.transcript() == R"(client submits job1
  gateway asks n0 for process 1
  gateway asks n1 for process 1
  client is told: accepted
  n0 starts n0/w1
  n1 starts n1/w1
n0/w1 says hello, with build
  n0 reports n0/w1 up
n1/w1 says hello, with build
  n1 reports n1/w1 up
  gateway tells n0/w1 to begin, beside 1
  gateway tells n1/w1 to begin, beside 1
  the cell begins, with 2 processes
n1/w1 ends: signal 11
  the cell hears: n1/w1 is gone, signal 11
  gateway asks n1 for process 2
  n1 starts n1/w2
n1/w2 says hello, with build
  n1 reports n1/w2 up
  gateway tells n1/w2 to begin, beside 1
  the cell hears: n1/w2 is here
the cell says: job1 has ended
  client is told: ended
client forgets job1
  the cell closes the job
  gateway tells n0 to end its processes
  gateway tells n1 to end its processes
  n0 ends n0/w1
  n1 ends n1/w2
n0/w1 ends: signal 15
)");
}

TEST_CASE("a host with another libdag does not keep the job from running elsewhere") {
  Cluster cluster;
  cluster.submit();
  cluster.greets(worker(1, 1), "another build");
  cluster.greets(worker(0, 1));
  CHECK(cluster.transcript() == R"(client submits job1
  gateway asks n0 for process 1
  gateway asks n1 for process 1
  client is told: accepted
  n0 starts n0/w1
  n1 starts n1/w1
n1/w1 says hello, with another build
  n1 cannot: worker process 1 of job1 runs build another build, its client build build
  n1 ends n1/w1
n0/w1 says hello, with build
  n0 reports n0/w1 up
  gateway tells n0/w1 to begin, beside 0
  the cell begins, with 1 processes
)");
}

TEST_CASE("scenario: a node is drained") {
  test::Transcript transcript(
      "A node is drained.\n"
      "n1 is to be stopped, and has a worker process of the job. The gateway lets that process end, since "
      "another\n"
      "node has one, and starts none there in its place; the job goes on with the process of n0.");
  Cluster cluster;
  const JobId job = cluster.submit();
  cluster.greets(worker(0, 1));
  cluster.greets(worker(1, 1));
  cluster.drains(1);
  cluster.ends(worker(1, 1), ProcessEnd::stopped_by_us, "stopped by its node");
  cluster.job_ends(job);
  transcript.line("\n" + cluster.transcript());
  transcript.check("drain");
}
