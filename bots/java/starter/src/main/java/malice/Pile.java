package malice;

/** A pile of the table; seats and indices count from 0. */
public sealed interface Pile {
    record Payoff(int seat) implements Pile {}

    record Hand(int seat) implements Pile {}

    record Side(int seat, int index) implements Pile {}

    record Centre(int index) implements Pile {}

    record Stock() implements Pile {}

    record Aside() implements Pile {}

    /** Reads the name of a pile: {@code 0p}, {@code 1h}, {@code 0s2}, {@code c1}, {@code stock}, {@code aside}. */
    static Pile parse(String name) {
        return parse(name, -1);
    }

    /** Reads the name of a pile, which belongs to seat {@code own} if it has no number. */
    static Pile parse(String name, int own) {
        if (name.equals("stock")) {
            return new Stock();
        }
        if (name.equals("aside")) {
            return new Aside();
        }
        int letter = 0;
        while (Character.isDigit(name.charAt(letter))) {
            letter++;
        }
        int seat = letter == 0 ? own : Integer.parseInt(name.substring(0, letter));
        String index = name.substring(letter + 1);
        return switch (name.charAt(letter)) {
            case 'p' -> new Payoff(seat);
            case 'h' -> new Hand(seat);
            case 's' -> new Side(seat, Integer.parseInt(index));
            case 'c' -> new Centre(Integer.parseInt(index));
            default -> throw new IllegalArgumentException("expected a pile, got: " + name);
        };
    }
}
