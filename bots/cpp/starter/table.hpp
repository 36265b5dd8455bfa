// What lies on the table and what happens there: cards, piles, actions, the view, events, and how they
// are read from JSON. Unknown members are skipped.

#pragma once

#include <charconv>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

namespace malice {

using nlohmann::json;

// A card: its rank, one of A23456789TJQKW, and its suit, one of CDHSX; both '?' if it is hidden.
struct Card {
    char rank = '?', suit = '?';

    // 1 for an ace to 13 for a king, 14 for a card that is always wild, 0 if hidden.
    int value() const
    {
        return static_cast<int>(std::string_view("A23456789TJQKW").find(rank) + 1);
    }

    bool operator==(const Card&) const = default;
};

using Cards = std::vector<Card>; // bottom to top

// A pile: centre stacks have an index, side stacks a seat and an index, pay-off piles and hands a seat.
struct Pile {
    enum class Kind { payoff, hand, side, centre, stock, aside };

    Kind kind = Kind::stock;
    int seat = -1, index = -1;

    bool operator==(const Pile&) const = default;
};

struct Payoff {
    std::optional<Card> top; // the card that is turned up; none: the pile is empty
    std::optional<int> left; // none: the count is not public
};

// The public part of a seat.
struct Seat {
    Payoff payoff;
    int hand; // how many cards it has
    std::vector<Cards> side;
    int team;
    bool out; // whether it has left the game
};

struct CentreStack {
    Cards cards; // wild cards as themselves
    int height;  // the value reached; 0 for an empty stack, which keeps its place
    char needs;  // the rank that fits next
};

// The table as we see it; seats and slots count from 0 and never move.
struct View {
    int turn;   // counts the turns of the game, from 1
    int seat;   // ours
    Cards hand; // ours, by rank and suit
    int stock;  // how many cards it has
    int aside;  // how many cards of completed stacks were set aside
    std::vector<CentreStack> centre;
    std::vector<Seat> seats;

    const Seat& own() const { return seats.at(seat); }
};

// A card that goes from pile to pile.
struct Play {
    Pile source;
    Card card;
    Pile target;
};

// A legal action: its text as the referee writes it, and what it moves (nothing: pass and count).
struct Action {
    std::string text;
    std::optional<Play> play;
};

// What has happened, for bots that remember. Cards that we may not see are hidden.

struct Deal {
    std::vector<Cards> hands; // by seat, in the order in which they were dealt
    std::vector<int> payoffs; // by seat: sizes
    std::vector<std::vector<Cards>> sides;
    int stock; // its size
};

struct Flip { // the pay-off card that lies on top now
    int seat;
    Card card;
};

struct Draw {
    int seat;
    Cards cards;
};

struct Moved {
    int seat;
    Pile source, target;
    Card card;
};

struct Shuffled { // so many cards went to target, which may be source
    Pile source, target;
    int count;
};

struct Out { // the seat left the game by the verdict `code`
    int seat;
    std::string code;
};

struct TurnBegins { int seat; };
struct Count { int seat; }; // asked for the pay-off counts
struct Pass { int seat; };  // ended its turn without a discard

using Event = std::variant<Deal, Flip, TurnBegins, Draw, Moved, Shuffled, Count, Pass, Out>;

// From JSON to types.

template <typename T>
std::optional<T> maybe(const json& value)
{
    return value.is_null() ? std::nullopt : std::optional(value.get<T>());
}

inline Card card_named(std::string_view name)
{
    if (name.size() != 2)
        throw std::invalid_argument("expected a card, got: " + std::string(name));
    return {name[0], name[1]};
}

// Read a name as in 0h, 1s2, c0; without a seat it is that of `own`.
inline Pile pile_named(std::string_view name, int own = -1)
{
    using enum Pile::Kind;
    if (name == "stock")
        return {stock};
    if (name == "aside")
        return {aside};
    const char* const end = name.data() + name.size();
    int seat = own, index = -1;
    const char* at = std::from_chars(name.data(), end, seat).ptr;
    const char letter = at < end ? *at++ : '?';
    at = std::from_chars(at, end, index).ptr;
    if (at == end && letter == 'c')
        return {centre, -1, index};
    if (at == end && letter == 's')
        return {side, seat, index};
    if (at == end && (letter == 'p' || letter == 'h'))
        return {letter == 'p' ? payoff : hand, seat};
    throw std::invalid_argument("expected a pile, got: " + std::string(name));
}

inline Action action_named(const std::string& text, const View& view)
{
    const std::size_t dash = text.find('-');
    if (dash == std::string::npos)
        return {text, {}};
    const std::string_view from = std::string_view(text).substr(0, dash);
    const Pile target = pile_named(std::string_view(text).substr(dash + 1), view.seat);
    if (from.starts_with('h')) {
        const Pile hand{Pile::Kind::hand, view.seat};
        return {text, Play{hand, card_named(from.substr(1)), target}};
    }
    const Pile source = pile_named(from, view.seat);
    const Seat& seat = view.seats.at(source.seat);
    const bool payoff = source.kind == Pile::Kind::payoff;
    const Card card = payoff ? seat.payoff.top.value() : seat.side.at(source.index).back();
    return {text, Play{source, card, target}};
}

inline void from_json(const json& from, Card& to) { to = card_named(from.get_ref<const std::string&>()); }

inline void from_json(const json& from, Pile& to) { to = pile_named(from.get_ref<const std::string&>()); }

inline void from_json(const json& from, Seat& to)
{
    const json& payoff = from.at("payoff");
    to.payoff = {maybe<Card>(payoff.at("top")), maybe<int>(payoff.at("left"))};
    to.hand = from.at("hand");
    from.at("side").get_to(to.side);
    to.team = from.at("team");
    to.out = from.at("out");
}

inline void from_json(const json& from, CentreStack& to)
{
    to = {from.at("cards"), from.at("height"), from.at("needs").get<std::string>().at(0)};
}

inline void from_json(const json& from, View& to)
{
    to = {from.at("turn"),  from.at("seat"),   from.at("hand"), from.at("stock"),
          from.at("aside"), from.at("centre"), from.at("seats")};
}

// An event; nothing for an unknown one of a later referee.
inline std::optional<Event> event_from(const json& from)
{
    const std::string& type = from.at("type").get_ref<const std::string&>();
    if (type == "deal")
        return Deal{from.at("hands"), from.at("payoffs"), from.at("sides"), from.at("stock")};
    if (type == "flip")
        return Flip{from.at("seat"), from.at("card")};
    if (type == "turn")
        return TurnBegins{from.at("seat")};
    if (type == "draw")
        return Draw{from.at("seat"), from.at("cards")};
    if (type == "move")
        return Moved{from.at("seat"), from.at("from"), from.at("to"), from.at("card")};
    if (type == "shuffle")
        return Shuffled{from.at("from"), from.at("to"), from.at("count")};
    if (type == "count")
        return Count{from.at("seat")};
    if (type == "pass")
        return Pass{from.at("seat")};
    if (type == "out")
        return Out{from.at("seat"), from.at("code")};
    return std::nullopt;
}

} // namespace malice
