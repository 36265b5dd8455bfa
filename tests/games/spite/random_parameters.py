"""Values to try for every parameter, among them some that contradict each other."""

from itertools import product
from typing import Any

from malice.referee.games.spite.parameters import Compulsory

RANK_SETS = ["", "A", "2", "A2", "A7", "Q", "K"]
VALUES: dict[str, list[Any]] = {
    "teams": ["none", "2x2", "3x2"],
    "decks": [1, 2, 3, "players"],
    "jokers": [0, 1, 6],
    "deck_kind": ["french", "skipbo"],
    "payoff_source": ["mixed", "separate_pack"],
    "payoff_size": [1, 3, 8, 13, 20, 26, 0.2, 0.425],
    "hand_size": [1, 3, 5, 7],
    "refill_at": ["turn_start", "turn_end"],
    "wild_kings": [True, False],
    "wild_ban": RANK_SETS,
    "stack_top": [12, 13, 10],
    "centre_limit": [1, 2, 4, "unlimited", "players+1"],
    "side_count": [1, 2, 4, 5],
    "side_rule": ["any", "equal_or_one_lower"],
    "side_initial": [0, 1, 2],
    "fill_empty_sides": [True, False],
    "discard": ["mandatory", "optional"],
    "compulsory": [Compulsory(*zones) for zones in product(RANK_SETS[:5], repeat=3)],
    "loading": ["none", "suit_adjacent"],
    "recycle": ["shuffle", "bottom", "aside"],
    "last_resort_recycle": [True, False],
    "stock_out_when": ["need", "empty", "none", "play_on"],
    "stock_out_result": ["draw", "fewest"],
    "stalemate": ["end", "must_play", "redeal"],
    "stalemate_result": ["draw", "fewest"],
    "redeals": [0, 1, 4],
    "first_player": ["high_payoff", "low_payoff", "random", "seat"],
    "first_tie": ["reshuffle_own", "redeal_together"],
    "side_visible": ["all", "top"],
    "payoff_count": ["public", "on_request", "on_request_own"],
    "scoring": ["win_only", "five_plus", "remain_only", "skipbo"],
    "match_target": [0, 50],
    "max_turns": [1, 5, 40],
    "no_progress": [1, 5, 40],
    "tie_cap": [0, 1, 5],
}
