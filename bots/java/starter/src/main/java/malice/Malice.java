package malice;

import com.google.gson.FieldNamingPolicy;
import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonDeserializer;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.stream.JsonReader;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Speaks the malice protocol, version 1: reads requests, asks the bot, writes answers. */
public final class Malice {
    private static final Gson GSON = new GsonBuilder()
            .setFieldNamingPolicy(FieldNamingPolicy.LOWER_CASE_WITH_UNDERSCORES)
            .registerTypeAdapter(
                    Pile.class, (JsonDeserializer<Pile>) (json, type, context) -> Pile.parse(json.getAsString()))
            .create();

    private static final Map<String, Class<? extends Event>> EVENTS = Map.of(
            "deal", Event.Deal.class,
            "flip", Event.Flip.class,
            "turn", Event.Turn.class,
            "draw", Event.Draw.class,
            "move", Event.Moved.class,
            "shuffle", Event.Shuffle.class,
            "count", Event.Count.class,
            "pass", Event.Pass.class,
            "out", Event.Out.class);

    private final Function<GameStart, Bot> bots;
    private final JsonObject about = new JsonObject();
    private Bot bot;

    private Malice(Function<GameStart, Bot> bots) {
        this.bots = bots;
        about.addProperty("protocol", 1);
    }

    /**
     * Plays until the referee says {@code bye} or closes our input, under the name in bot.toml.
     *
     * <p>Output to {@code System.out} goes to standard error, since standard output belongs to the referee.
     *
     * @param bots creates a bot for each game, so that nothing of the last game remains
     */
    public static void play(Function<GameStart, Bot> bots) {
        new Malice(bots).answerAll();
    }

    /** Plays under the given name and version. */
    public static void play(Function<GameStart, Bot> bots, String name, String version) {
        Malice malice = new Malice(bots);
        malice.about.addProperty("name", name);
        malice.about.addProperty("version", version);
        malice.answerAll();
    }

    private void answerAll() {
        System.setOut(System.err);
        PrintStream output = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try {
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                JsonObject request = readObject(line);
                if (request.get("type").getAsString().equals("bye")) {
                    break;
                }
                output.println(answer(request));
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private JsonObject answer(JsonObject request) {
        JsonObject answer = new JsonObject();
        answer.add("id", request.get("id"));
        switch (request.get("type").getAsString()) {
            case "hello" -> about.entrySet().forEach(field -> answer.add(field.getKey(), field.getValue()));
            case "game_start" -> bot = bots.apply(GSON.fromJson(request, GameStart.class));
            case "move" -> {
                Action action = bot.choose(readMove(request));
                answer.addProperty("move", action.text());
                if (action.note() != null) {
                    answer.addProperty("note", action.note());
                }
            }
            case "game_end" -> bot.gameEnd(GSON.fromJson(request, GameEnd.class));
            default -> {} // of a later referee: the bare id is the answer
        }
        return answer;
    }

    /** Reads an object of any depth: unknown fields may hold anything. */
    private static JsonObject readObject(String line) {
        JsonReader reader = new JsonReader(new StringReader(line));
        reader.setNestingLimit(Integer.MAX_VALUE);
        return JsonParser.parseReader(reader).getAsJsonObject();
    }

    private static Move readMove(JsonObject request) {
        View view = GSON.fromJson(request.get("view"), View.class);
        List<Event> events = new ArrayList<>();
        for (JsonElement event : request.getAsJsonArray("events")) {
            Class<? extends Event> type = EVENTS.get(event.getAsJsonObject().get("type").getAsString());
            if (type != null) {
                events.add(GSON.fromJson(event, type));
            }
        }
        List<Action> legal = new ArrayList<>();
        for (JsonElement text : request.getAsJsonArray("legal")) {
            legal.add(Action.parse(text.getAsString(), view));
        }
        return new Move(view, events, legal, GSON.fromJson(request.get("clock"), Move.Clock.class));
    }
}
