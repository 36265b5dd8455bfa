# A bot to start from: pay-off cards first, then cards to the centre, then a discard onto a short stack.
# Improve `choose`; PROTOCOL.md describes the view.

use v5.20;
use warnings;
use feature 'signatures';
no warnings 'experimental::signatures';

use JSON::PP ();
use List::Util 'first';

# Returns the action to play: one of the legal ones, unchanged. $request is the whole message:
# besides view and legal it has clock, and events since the last choice. $game is the
# message game_start: the rules, the seat, a random seed.
sub choose ($request, $game) {
    my @legal = @{ $request->{legal} };
    return pay_off(@legal) // to_centre(@legal) // discard($request->{view}, @legal) // $legal[0];
}

sub pay_off (@legal) {
    return first {/^p-/} @legal;
}

sub to_centre (@legal) {
    return first {/-c/} @legal;
}

# A discard onto the shortest side stack; the last of equal ones.
sub discard ($view, @legal) {
    my $side = $view->{seats}[$view->{seat}]{side};
    my ($best, $fewest);
    for my $action (@legal) {
        my ($slot) = $action =~ /^h..-s(\d+)$/ or next;
        my $cards = @{ $side->[$slot] };
        ($best, $fewest) = ($action, $cards) if !defined $best || $cards <= $fewest;
    }
    return $best;
}

$| = 1;    # flushes every line
my $json = JSON::PP->new->utf8->max_depth(4096);
my $game;

while (my $line = <STDIN>) {
    my $request = $json->decode($line);
    my $type    = $request->{type};
    last if $type eq 'bye';
    # The whole answer to an unknown type. An id that arrives as 7.0 goes back as 7: a float would lose long digits.
    my $answer = { id => 0 + sprintf('%.0f', $request->{id}) };
    $game = $request if $type eq 'game_start';
    $answer->{move} = choose($request, $game) if $type eq 'move';
    print $json->encode($answer), "\n";
}
