# A bot to start from: pay-off cards first, then cards to the centre, then a discard where little lies.
# Make it better in `choose`, whose input is a request; PROTOCOL.md tells what is in it.

def pay_off: first(.legal[] | select(startswith("p-")));

def to_centre: first(.legal[] | select(contains("-c")));

# A discard onto a side stack with the fewest cards, of several the last.
def discard:
    .view.seats[.view.seat].side as $side
    | [.legal[] | select(test("^h..-s[0-9]+$"))]
    | reverse
    | min_by($side[.[5:] | tonumber] | length)
    | select(. != null);

# The action to play: one of .legal, letter for letter.
def choose: first(pay_off, to_centre, discard, .legal[0]);

# The loop: a line in, a line out, until bye or the end of input.
label $bye
| inputs
| if .type == "bye" then break $bye
  elif .type == "move" then {id, move: choose}
  else {id} # whatever else there is, known or not
  end
