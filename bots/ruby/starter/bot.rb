# frozen_string_literal: true

# A bot to start from: pay-off cards first, then cards to the centre, then a discard where little lies.
# Make it better in `choose`; PROTOCOL.md tells what is in a view.

require "json"

# Plays one game. Each game gets an object of its own, so that nothing is left of the last one.
class Bot
  DISCARD = /\Ah(?<card>..)-s(?<slot>\d+)\z/

  # `game` is the message game_start: the rules, the seat, a seed for chance.
  def initialize(game)
    @game = game
  end

  # Returns the action to play: one of `legal`, letter for letter.
  # `events` tells what has happened since the last choice, `clock` how much time is left.
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

  # A discard onto a side stack with the fewest cards, of several the last.
  def discard(view, legal)
    stacks = view["seats"][view["seat"]]["side"]
    legal.grep(DISCARD).reverse.min_by { |action| stacks[action[DISCARD, :slot].to_i].size }
  end
end

$stdin.set_encoding(Encoding::UTF_8) # whatever the locale says
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
  puts JSON.generate(answer) # a type that it does not know gets the bare id
end
