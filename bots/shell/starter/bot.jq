# A bot to start from: pay-off cards first, then cards to the centre, then a discard onto a short stack.
# Improve `choose`, whose input is a request as PROTOCOL.md describes it.

def pay_off: first(.legal[] | select(startswith("p-")));

def to_centre: first(.legal[] | select(contains("-c")));

# A discard onto the shortest side stack; the last of equal ones.
def discard:
    .view.seats[.view.seat].side as $side
    | [.legal[] | select(test("^h..-s[0-9]+$"))]
    | reverse
    | min_by($side[.[5:] | tonumber] | length)
    | select(. != null);

# The action to play: one of .legal, unchanged.
def choose: first(pay_off, to_centre, discard, .legal[0]);

# The loop: a line in, a line out, until bye or the end of input.
label $bye
| inputs
| if .type == "bye" then break $bye
  elif .type == "move" then {id, move: choose}
  else {id} # the answer to any other type, known or not
  end
