// Plans orders from an inventory: many kinds of structs, conditions, tolerated failures, retries and
// effects.
#include <array>
#include <dag/dag.hpp>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

enum class Unit : std::uint8_t { piece, kilogram };

/// Has a constructor and private members, so it says itself how it travels.
class Money {
 public:
  explicit Money(std::int64_t cents) : cents_(cents) {}
  std::int64_t cents() const { return cents_; }

 private:
  std::int64_t cents_;
};
template <>
struct dag::Codec<Money> {
  static void encode(dag::Writer& writer, const Money& money) { dag::encode(writer, money.cents()); }
  static Money decode(dag::Reader& reader) { return Money(dag::decode<std::int64_t>(reader)); }
};

struct Size {
  std::array<float, 3> metres{};
};
struct Crate {
  std::uint32_t pieces = 0;
};
struct Bulk {
  double kilograms = 0;
};
struct Item {
  std::string name;
  Unit unit = Unit::piece;
  std::variant<Crate, Bulk> packed;
  std::optional<Money> price;
  std::set<std::string> tags;
  Size size;
};
struct Shelf {
  std::string name;
  std::vector<Item> items;
  std::vector<Shelf> inner;  // A tree.
};
struct Order {
  std::map<std::string, std::uint32_t> amounts;
  Money total{0};
  std::tuple<bool, char, std::uint16_t> flags;
};
struct Statistics {
  std::size_t items = 0, shelves = 0, unpriced = 0;
};

Shelf read_inventory(const std::string& name) {
  Item apples{"apples", Unit::kilogram, Bulk{2.5}, Money(300), {"fruit", "fresh"}, {}};
  Item boxes{"boxes", Unit::piece, Crate{4}, Money(450), {}, {{0.4F, 0.3F, 0.2F}}};
  Item ladder{"ladder", Unit::piece, Crate{1}, std::nullopt, {"tool"}, {{3.0F, 0.5F, 0.1F}}};
  return {name, {apples}, {{"back", {boxes, ladder}, {}}}};
}

Statistics survey(const Shelf& shelf) {
  Statistics all{shelf.items.size(), 1, 0};
  for (const Item& item : shelf.items) all.unpriced += item.price ? 0U : 1U;
  for (const Shelf& inner : shelf.inner) {
    const Statistics those = survey(inner);
    all.items += those.items;
    all.shelves += those.shelves;
    all.unpriced += those.unpriced;
  }
  return all;
}

Order plan(dag::Ref<Shelf> shelf, const std::unordered_map<std::string, double>& wanted) {
  Order order;
  std::vector<const Shelf*> open{&*shelf};
  while (!open.empty()) {
    const Shelf& one = *open.back();
    open.pop_back();
    for (const Shelf& inner : one.inner) open.push_back(&inner);
    for (const Item& item : one.items) {
      const auto found = wanted.find(item.name);
      if (found == wanted.end() || !item.price) continue;
      const auto amount = static_cast<std::uint32_t>(found->second);
      order.amounts[item.name] = amount;
      order.total = Money(order.total.cents() + item.price->cents() * amount);
    }
  }
  std::get<2>(order.flags) = static_cast<std::uint16_t>(order.amounts.size());
  return order;
}

std::uint32_t offer(const std::string& supplier, std::uint32_t pieces) {
  if (supplier == "closed") throw std::runtime_error("the supplier is closed");
  return pieces;
}

void send_mail(dag::Context& context, const Order& order) {
  context.log(context.task_key() + ": " + std::to_string(order.total.cents()) + " cents");
}

// prints: 3 items in 2 shelves, 1 without price; order of 12 for 49.5; mail sent twice
int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  using namespace dag::literals;
  dag::Session session(argc, argv);
  session.on_event([](const dag::JobEvent&) {});
  dag::Graph g("inventory");
  const auto shelf =
      g.task("read", read_inventory, "front").needs({.cpus = 1, .memory = 1_MiB}).retry({.attempts = 2});
  const auto statistics = g.task("survey", survey, shelf);
  const auto order =
      g.task("plan", plan, shelf,
             std::unordered_map<std::string, double>{{"apples", 3}, {"boxes", 9}, {"ladder", 1}});
  std::vector<dag::Output<std::uint32_t>> offers;
  for (const char* supplier : {"near", "far", "closed"})
    offers.push_back(g.task("offer", offer, supplier, 6U));
  const auto amount = g.task(
      "amount",
      [](const std::vector<std::optional<std::uint32_t>>& offered, std::optional<std::uint32_t> last) {
        std::uint32_t sum = last.value_or(0);
        for (const auto& one : offered) sum += one.value_or(0);
        return sum;
      },
      dag::quorum(2, offers), dag::maybe(offers.back()));
  const auto cheap = [](const Order& planned) { return planned.total.cents() < 10'000; };
  const auto mail =
      g.task("mail", send_mail, order).timeout(1min).only_if(order, cheap).effects(dag::idempotent);
  const auto again = g.task("mail", send_mail, order).effects(dag::at_most_once).after(mail).deadline(1h);
  const dag::Job job = session.submit(g);
  const Statistics counted = job.get(statistics);
  job.get(again);
  std::cout << counted.items << " items in " << counted.shelves << " shelves, " << counted.unpriced
            << " without price; order of " << job.get(amount) << " for "
            << static_cast<double>(job.get(order).total.cents()) / 100 << "; mail sent "
            << (job.outcome(again) == dag::Outcome::finished ? "twice" : "once") << '\n';
}
