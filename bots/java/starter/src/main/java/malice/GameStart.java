package malice;

import com.google.gson.JsonObject;
import java.util.List;

/**
 * The start of a game.
 *
 * @param game counts the games of this process, from 1
 * @param ruleset its name
 * @param rules every parameter of the ruleset by its name
 * @param seat where you sit, from 0
 * @param seats who sits where
 * @param rng a seed for your own random numbers
 * @param commit the digest of the tournament's seed
 * @param clock the time control
 */
public record GameStart(
        int game,
        String ruleset,
        JsonObject rules,
        int seat,
        List<Player> seats,
        int rng,
        String commit,
        Clock clock) {

    /** Who sits at a seat; seats of one team win and lose together. */
    public record Player(String name, int team) {}

    /** Milliseconds; null is no such limit. */
    public record Clock(
            Integer moveMs, Integer bankMs, int incrementMs, int marginMs, String kind, Integer capMs) {}
}
