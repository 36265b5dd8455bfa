"""What `malice rules test` does, for the tests of a package of a game.

    SUBJECT = Subject(FAMILY, Parameters(), seats=2)

    @pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
    def test_the_game_keeps_a_promise(claim):
        claim(SUBJECT, seed=0)
"""

from malice.referee.course import Course, Dealer
from malice.referee.sample_games import BrokenClaim, Sample, Subject, play_sample
from malice.referee.testing import CLAIMS, Claim

__all__ = ["CLAIMS", "BrokenClaim", "Claim", "Course", "Dealer", "Sample", "Subject", "play_sample"]
