package starter;

import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import malice.Action;
import malice.Bot;
import malice.Malice;
import malice.Move;
import malice.Pile;
import malice.View;

/**
 * A bot to start from: it plays its pay-off card if it can, then to the centre, and discards onto short stacks.
 *
 * <p>Each game gets a new one: its fields hold what it should remember of the game.
 */
public final class Starter implements Bot {
    public static void main(String[] args) {
        Malice.play(start -> new Starter());
    }

    /** Chooses one of the legal actions: improve the play here. */
    @Override
    public Action choose(Move move) {
        View view = move.view();
        List<Action> legal = move.legal();
        return first(legal, action -> action.source() instanceof Pile.Payoff from && from.seat() == view.seat())
                .or(() -> first(legal, action -> action.target() instanceof Pile.Centre))
                .or(() -> shortestDiscard(view, legal))
                .orElse(legal.get(0));
    }

    private static Optional<Action> first(List<Action> legal, Predicate<Action> wanted) {
        return legal.stream().filter(wanted).findFirst();
    }

    /** Finds the discard from the hand onto the shortest side stack; the last of equal ones. */
    private static Optional<Action> shortestDiscard(View view, List<Action> legal) {
        List<List<String>> side = view.seats().get(view.seat()).side();
        int shortest = Integer.MAX_VALUE;
        Action found = null;
        for (Action action : legal) {
            if (action.source() instanceof Pile.Hand && action.target() instanceof Pile.Side to) {
                int size = side.get(to.index()).size();
                if (size <= shortest) {
                    shortest = size;
                    found = action;
                }
            }
        }
        return Optional.ofNullable(found);
    }
}
