// A bot to start from: it plays pay-off cards first.
//
// The protocol is in malice.hpp, the play is in Starter::choose. The members of Starter hold what
// a bot wants to remember; every game gets a new one.

#include <algorithm>
#include <ranges>

#include "malice.hpp"

using malice::Action;
using malice::Pile;
using malice::View;
using Kind = malice::Pile::Kind;

class Starter : public malice::Bot {
public:
    // The pay-off card if it can be played, else a card to the centre, else a discard onto a short stack.
    malice::Choice choose(const malice::Turn& turn) override
    {
        const auto& legal = turn.legal;
        const Pile payoff{Kind::payoff, turn.view.seat};
        for (const Action& action : legal)
            if (action.play && action.play->source == payoff)
                return action;
        for (const Action& action : legal)
            if (action.play && action.play->target.kind == Kind::centre)
                return action;
        return shortest_discard(turn.view, legal);
    }

private:
    // The discard onto the shortest side stack, the last of equal ones; the first action if there is none.
    static const Action& shortest_discard(const View& view, const std::vector<Action>& legal)
    {
        const Action* best = nullptr;
        std::size_t shortest = 0;
        for (const Action& action : legal) {
            if (!action.play || action.play->source.kind != Kind::hand || action.play->target.kind != Kind::side)
                continue;
            const std::size_t size = view.own().side.at(action.play->target.index).size();
            if (!best || size <= shortest) {
                best = &action;
                shortest = size;
            }
        }
        return best ? *best : legal.at(0);
    }
};

int main()
{
    malice::play<Starter>();
}
