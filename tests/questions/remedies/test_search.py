"""How much is asked: less about pods that are larger than any that people write."""

from __future__ import annotations

from kubespread.kube.api.core import Container, Pod, PodSpec
from kubespread.questions.remedies.change import Answer, Change, Goal
from kubespread.questions.remedies.search import Trials, extra_effort


class Idle(Goal):
    """Answers at no cost of its own."""

    def ask(self, change: Change) -> Answer:
        return Answer(0)


def asked(containers: int) -> int:
    """How many changes are asked about, of a thousand, for a pod of so many containers."""
    pod = Pod(spec=PodSpec(containers=[Container(name=f"c{at}", image="x") for at in range(containers)]))
    trials = Trials(Idle(), extra=extra_effort(pod))
    for number in range(1_000):
        if trials.is_over:
            break
        trials.ask(Change("cpu", f"cpu={number}", 0, settings=(f"cpu={number}",)))
    return trials.count


def test_of_a_pod_of_ten_thousand_containers_a_few_changes_are_tried() -> None:
    assert asked(containers=20) == 1_000
    assert 1 <= asked(containers=10_000) <= 20
