package malice;

/** Plays one game. */
@FunctionalInterface
public interface Bot {
    /** Returns one of {@link Move#legal}. */
    Action choose(Move move);

    /** Receives the result of the game. */
    default void gameEnd(GameEnd end) {}
}
