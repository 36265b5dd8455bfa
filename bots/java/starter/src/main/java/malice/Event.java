package malice;

import java.util.List;

/** Something that happened at the table; cards hidden from you are {@code ??}. */
public sealed interface Event {
    /** The cards were dealt; {@code payoffs} are the sizes of the pay-off piles, {@code sides} the side stacks. */
    record Deal(List<List<String>> hands, List<Integer> payoffs, List<List<List<String>>> sides, int stock)
            implements Event {}

    /** The next pay-off card of {@code seat} was turned up. */
    record Flip(int seat, String card) implements Event {}

    /** A turn of {@code seat} begins. */
    record Turn(int seat) implements Event {}

    /** {@code seat} drew these cards, in this order. */
    record Draw(int seat, List<String> cards) implements Event {}

    /** {@code seat} moved {@code card} from pile to pile. */
    record Moved(int seat, Pile from, Pile to, String card) implements Event {}

    /** {@code count} cards of {@code from} came to {@code to}, which was shuffled. */
    record Shuffle(Pile from, Pile to, int count) implements Event {}

    /** {@code seat} asked for the pay-off counts: by seat, or null if only {@code seat} sees them, in its view. */
    record Count(int seat, List<Integer> left) implements Event {}

    /** {@code seat} ended its turn without a discard. */
    record Pass(int seat) implements Event {}

    /** {@code seat} left the game by the verdict {@code code}. */
    record Out(int seat, String code) implements Event {}
}
