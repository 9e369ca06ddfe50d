// Keeps accounts in a job actor, which is saved between its calls; a task that was given the actor moves
// money, too.
#include <dag/dag.hpp>
#include <iostream>
#include <map>
#include <string>

struct Transfer {
  std::string from, to;
  std::int64_t cents = 0;
};

class Bank {
 public:
  explicit Bank(std::map<std::string, std::int64_t> opening) : balances_(std::move(opening)) {}

  bool transfer(const Transfer& wanted) {
    const bool covered = balances_[wanted.from] >= wanted.cents;
    if (covered) {
      balances_[wanted.from] -= wanted.cents;
      balances_[wanted.to] += wanted.cents;
    }
    ++(covered ? done_ : refused_);
    return covered;
  }
  std::map<std::string, std::int64_t> balances() const { return balances_; }
  std::pair<std::uint32_t, std::uint32_t> transfers() const { return {done_, refused_}; }

  void save(dag::Writer& writer) const {
    dag::encode(writer, balances_);
    dag::encode(writer, done_);
    dag::encode(writer, refused_);
  }
  static Bank restore(dag::Reader& reader) {
    Bank bank(dag::decode<std::map<std::string, std::int64_t>>(reader));
    bank.done_ = dag::decode<std::uint32_t>(reader);
    bank.refused_ = dag::decode<std::uint32_t>(reader);
    return bank;
  }

 private:
  std::map<std::string, std::int64_t> balances_;
  std::uint32_t done_ = 0, refused_ = 0;
};

// prints: alice 70, bob 55, carol 25; 4 transfers, 1 refused
int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  dag::Graph g("bank");
  const auto bank = g.actor<Bank>("bank", std::map<std::string, std::int64_t>{{"alice", 100}, {"bob", 50}});
  const auto first = bank.call<&Bank::transfer>(Transfer{"alice", "bob", 20});
  static_cast<void>(bank.call<&Bank::transfer>(Transfer{"bob", "alice", 1000}));
  bank.save_when_due();
  const auto more = g.task(
      "more",
      [](dag::Context& context, dag::Actor<Bank> given, bool covered) {
        context.log(covered ? "the first was covered" : "the first was refused");
        context.call<&Bank::transfer>(given, Transfer{"alice", "carol", 10});
        context.call<&Bank::transfer>(given, Transfer{"bob", "carol", 15});
        return context.call<&Bank::transfer>(given, Transfer{"carol", "carol", 5});
      },
      bank, first);
  const auto report = g.task(
      "report",
      [](dag::Context& context, dag::Actor<Bank> given, bool) {
        return context.spawn(
            "text",
            [](const std::map<std::string, std::int64_t>& balances,
               std::pair<std::uint32_t, std::uint32_t> counts) {
              std::string text;
              for (const auto& [name, cents] : balances) {
                text += (text.empty() ? "" : ", ") + name + ' ' + std::to_string(cents);
              }
              return text + "; " + std::to_string(counts.first) + " transfers, " +
                     std::to_string(counts.second) + " refused";
            },
            context.call<&Bank::balances>(given), context.call<&Bank::transfers>(given));
      },
      bank, more);
  session.on_event([](const dag::JobEvent&) {});
  std::cout << session.submit(g).get(report) << '\n';
}
