"""The skew between domains, which every answer computes in one place."""

from __future__ import annotations

import numpy as np
import pytest

from kubespread.reports.parts import minimum, skew_between

COUNTS = {
    "no domain counts": ([], False, 0, 0),
    "one domain": ([3], False, 3, 0),
    "the fullest and the emptiest": ([4, 1, 2], False, 1, 3),
    "fewer domains than minDomains have a minimum of 0": ([4, 1, 2], True, 0, 4),
    "no domain where some are wanted": ([], True, 0, 0),
}


@pytest.mark.parametrize("case", COUNTS)
def test_the_skew_is_between_the_fullest_domain_and_the_minimum(case: str) -> None:
    counts, lacks_domains, least, skew = COUNTS[case]
    for told in (counts, np.array(counts, dtype=np.int64)):
        assert minimum(told, lacks_domains=lacks_domains) == least
        assert skew_between(told, lacks_domains=lacks_domains) == skew
