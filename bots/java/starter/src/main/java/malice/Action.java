package malice;

import java.util.List;

/**
 * An action that your seat may take. {@code pass} and {@code count} move no card: they have neither piles nor card.
 *
 * @param text as the protocol writes it
 * @param source the pile that loses the card, or null
 * @param card the card that moves, or null
 * @param target the pile that gets it, or null
 * @param note a remark that the replay shows beside it, or null
 */
public record Action(String text, Pile source, String card, Pile target, String note) {
    /** Reads an action of the seat that sees {@code view}. */
    public static Action parse(String text, View view) {
        int dash = text.indexOf('-');
        if (dash < 0) {
            return new Action(text, null, null, null, null);
        }
        Pile target = Pile.parse(text.substring(dash + 1), view.seat());
        if (text.startsWith("h")) {
            return new Action(text, new Pile.Hand(view.seat()), text.substring(1, dash), target, null);
        }
        Pile source = Pile.parse(text.substring(0, dash), view.seat());
        return new Action(text, source, topCard(source, view), target, null);
    }

    /** Returns this action with a remark for the replay. */
    public Action withNote(String remark) {
        return new Action(text, source, card, target, remark);
    }

    @Override
    public String toString() {
        return text;
    }

    private static String topCard(Pile pile, View view) {
        if (pile instanceof Pile.Payoff from) {
            return view.seats().get(from.seat()).payoff().top();
        }
        if (pile instanceof Pile.Side from) {
            List<String> cards = view.seats().get(from.seat()).side().get(from.index());
            return cards.get(cards.size() - 1);
        }
        return null;
    }
}
