package malice;

import java.util.List;

/**
 * The end of a game.
 *
 * @param place yours; 1 is best, equal places are tied
 * @param places by seat
 * @param scores by seat: points for a series of games
 * @param reason why the game ended, such as {@code payoff_empty}
 * @param key the key of the game, for {@code malice replay}
 */
public record GameEnd(int place, List<Integer> places, List<Integer> scores, String reason, String key) {}
