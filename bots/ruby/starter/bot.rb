# frozen_string_literal: true

# A bot to start from: pay-off cards first, then cards to the centre, then a discard onto a short stack.
# Improve `choose`; PROTOCOL.md describes the view.

require "json"

# Plays one game. Each game gets a new object, so that nothing of the last game remains.
class Bot
  DISCARD = /\Ah(?<card>..)-s(?<slot>\d+)\z/

  # `game` is the message game_start: the rules, the seat, a random seed.
  def initialize(game)
    @game = game
  end

  # Returns the action to play: one of `legal`, unchanged.
  # `events` are the events since the last choice, `clock` is the time left.
  def choose(view, legal, events:, clock:)
    pay_off(legal) || to_centre(legal) || discard(view, legal) || legal.first
  end

  private

  def pay_off(legal)
    legal.find { |action| action.start_with?("p-") }
  end

  def to_centre(legal)
    legal.find { |action| action.include?("-c") }
  end

  # A discard onto the shortest side stack; the last of equal ones.
  def discard(view, legal)
    stacks = view["seats"][view["seat"]]["side"]
    legal.grep(DISCARD).reverse.min_by { |action| stacks[action[DISCARD, :slot].to_i].size }
  end
end

$stdin.set_encoding(Encoding::UTF_8) # whatever the locale is
$stdout.sync = true # flushes every line

bot = nil
$stdin.each_line do |line|
  request = JSON.parse(line, max_nesting: false)
  answer = { id: request["id"] }
  case request["type"]
  when "bye"
    break
  when "game_start"
    bot = Bot.new(request)
  when "move"
    answer[:move] = bot.choose(request["view"], request["legal"], events: request["events"], clock: request["clock"])
  end
  puts JSON.generate(answer) # an unknown type gets the bare id
end
