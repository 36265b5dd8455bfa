// The protocol of malice, version 1: requests as types, and the loop that answers them.
//
// A bot is a class derived from malice::Bot; malice::play<MyBot>() lets it play until the referee says
// bye. Print to std::cerr only: std::cout belongs to the answers.

#pragma once

#include <concepts>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "table.hpp"

namespace malice {

// What is left of our bank, and what our last action took, in milliseconds; none: there is none.
struct Clock {
    std::optional<double> bank_ms, last_ms, last_cpu_ms;
};

// We are asked for one action.
struct Turn {
    View view;
    std::vector<Event> events; // since we were last asked, our own action included
    std::vector<Action> legal;
    Clock clock;
};

struct SeatName {
    std::string name;
    int team; // seats of one team win and lose together
};

// Time control of a game in milliseconds; none: no such limit.
struct ClockRules {
    std::optional<double> move_ms, bank_ms;
    double increment_ms, margin_ms;
    std::string kind;             // which time counts: "wall" or "cpu"
    std::optional<double> cap_ms; // by "cpu", the most time on the wall for an action
};

struct GameStart {
    int game; // counts the games of this process, from 1
    std::string ruleset;
    json rules; // every parameter of the ruleset: rules.at("wild_kings")
    int seat;   // ours, from 0
    std::vector<SeatName> seats;
    std::uint32_t rng;  // a seed for our own random numbers, so that a game can be repeated
    std::string commit; // the digest of the seed that all cards come from
    ClockRules clock;
};

struct GameEnd {
    int place; // ours: 1 is best, equal places are tied
    std::vector<int> places;
    std::vector<std::int64_t> scores;
    std::string reason; // such as payoff_empty
    std::string key;    // the key of the game, for `malice replay`
};

// The action to play, and perhaps a remark for the replay, of which 500 characters are kept.
struct Choice {
    Choice(const Action& action, std::string note = "") : move(action.text), note(std::move(note)) {}

    std::string move, note;
};

// Plays one game. Each game gets a new bot, so that nothing of the last game remains.
class Bot {
public:
    virtual ~Bot() = default;

    // A game begins. Prepare here: it does not count on the clock.
    virtual void start(const GameStart&) {}

    // Choose one of turn.legal.
    virtual Choice choose(const Turn& turn) = 0;

    // The game is over.
    virtual void end(const GameEnd&) {}
};

// From JSON to types. Unknown members are skipped.

inline void from_json(const json& from, Clock& to)
{
    to = {maybe<double>(from.at("bank_ms")), maybe<double>(from.at("last_ms")),
          maybe<double>(from.at("last_cpu_ms"))};
}

inline void from_json(const json& from, ClockRules& to)
{
    to = {maybe<double>(from.at("move_ms")), maybe<double>(from.at("bank_ms")),
          from.at("increment_ms"), from.at("margin_ms"), from.at("kind"), maybe<double>(from.at("cap_ms"))};
}

inline void from_json(const json& from, SeatName& to) { to = {from.at("name"), from.at("team")}; }

inline Turn turn_from(const json& from)
{
    Turn turn{from.at("view"), {}, {}, from.at("clock")};
    for (const json& event : from.at("events"))
        if (auto known = event_from(event))
            turn.events.push_back(std::move(*known));
    for (const json& text : from.at("legal"))
        turn.legal.push_back(action_named(text, turn.view));
    return turn;
}

inline GameStart game_start_from(const json& from)
{
    return {from.at("game"),  from.at("ruleset"), from.at("rules"),  from.at("seat"),
            from.at("seats"), from.at("rng"),     from.at("commit"), from.at("clock")};
}

inline GameEnd game_end_from(const json& from)
{
    return {from.at("place"), from.at("places"), from.at("scores"), from.at("reason"), from.at("key")};
}

// Answer the referee's requests with what bots of class B choose, until it says bye or closes the input.
// An empty name or version means that of bot.toml. A line that is not a request raises an exception.
template <std::derived_from<Bot> B>
void play(const std::string& name = "", const std::string& version = "")
{
    std::optional<B> bot(std::in_place);
    for (std::string line; std::getline(std::cin, line);) {
        const json request = json::parse(line);
        const std::string& type = request.at("type").get_ref<const std::string&>();
        if (type == "bye")
            break;
        json answer = {{"id", request.at("id")}};
        if (type == "hello") {
            answer["protocol"] = 1;
            if (!name.empty())
                answer["name"] = name;
            if (!version.empty())
                answer["version"] = version;
        } else if (type == "game_start") {
            bot.emplace().start(game_start_from(request));
        } else if (type == "move") {
            const Choice choice = bot->choose(turn_from(request));
            answer["move"] = choice.move;
            if (!choice.note.empty())
                answer["note"] = choice.note;
        } else if (type == "game_end") {
            bot->end(game_end_from(request));
        }
        std::cout << answer.dump() << std::endl;
    }
}

} // namespace malice
