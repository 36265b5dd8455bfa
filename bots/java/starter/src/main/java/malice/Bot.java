package malice;

/** What plays one game. */
@FunctionalInterface
public interface Bot {
    /** Returns one of {@link Move#legal}. */
    Action choose(Move move);

    /** Hears how the game went. */
    default void gameEnd(GameEnd end) {}
}
