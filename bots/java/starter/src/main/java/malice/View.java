package malice;

import java.util.List;

/**
 * The table as one seat sees it; seats and stacks count from 0, and piles run from bottom to top.
 *
 * <p>A card is its rank, one of {@code A23456789TJQKW}, and its suit, one of {@code CDHSX}; {@code ??} is a card that
 * may not be seen.
 *
 * @param turn counts the turns of the game, from 1
 * @param seat yours
 * @param hand your cards
 * @param stock how many cards the stock holds
 * @param aside how many cards of completed stacks were set aside
 * @param centre by slot; an empty one keeps its index
 * @param seats by seat, your own too
 */
public record View(
        int turn, int seat, List<String> hand, int stock, int aside, List<CentreStack> centre, List<Seat> seats) {

    /**
     * One centre stack.
     *
     * @param cards wild cards as themselves
     * @param height the value reached, 0 for an empty slot; it can exceed the number of cards
     * @param needs the rank that fits next
     */
    public record CentreStack(List<String> cards, int height, String needs) {}

    /**
     * The public part of a seat.
     *
     * @param payoff its pay-off pile
     * @param hand how many cards it holds
     * @param side its side stacks
     * @param team as in {@link GameStart}
     * @param out whether it has left the game
     */
    public record Seat(Payoff payoff, int hand, List<List<String>> side, int team, boolean out) {}

    /**
     * A pay-off pile.
     *
     * @param top the card that is turned up; null: the pile is empty
     * @param left how many cards there are; null: hidden, ask by {@code count}
     */
    public record Payoff(String top, Integer left) {}
}
