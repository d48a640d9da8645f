"""Plans: settings by name that many subscribers have. A subscriber of a plan has what the plan says and nothing of its own beside it, so
one change of the plan is one change of all of them."""

from penstock.designs.access_edge.control.problems import Problem, invalid, missing
from penstock.v1 import plans_pb2, subscribers_pb2

FIELDS = ("rate_bps", "burst_bytes", "weight", "guarantee_bps", "queues")  # that a plan and a subscriber have alike
Plan = plans_pb2.Plan
Subscriber = subscribers_pb2.Subscriber


class Plans:
    """The plans that there are, and who has them."""

    def __init__(self) -> None:
        self.by_name: dict[str, Plan] = {}
        self.places: dict[str, int] = {}  # of the store, by name
        self.of: dict[int, str] = {}  # by place of a subscriber

    def load(self, found: list[tuple[int, Plan]]) -> None:
        """Take these for all that there are."""
        self.by_name = {plan.name: plan for _, plan in found}
        self.places = {plan.name: place for place, plan in found}

    def subscribers(self, name: str) -> list[int]:
        """Return the places of those who have a plan."""
        return [place for place, of in self.of.items() if of == name]

    def shown(self, plan: Plan) -> Plan:
        """Return a plan with how many have it."""
        made = Plan()
        made.CopyFrom(plan)
        made.subscribers = len(self.subscribers(plan.name))
        return made

    def find(self, name: str, path: str = "name") -> Plan:
        """Return a plan. Raises Problem."""
        if name not in self.by_name:
            raise missing(f"there is no plan {name[:128]!r}", path)
        return self.by_name[name]

    def filled(self, wanted: Subscriber) -> Subscriber:
        """Return a subscriber with what its plan says; one without a plan as it is. Raises Problem where it has something else itself."""
        if not wanted.plan:
            return wanted
        plan = self.find(wanted.plan, "plan")
        made = Subscriber()
        made.CopyFrom(wanted)
        fill(made, plan)
        for name in FIELDS:
            given = len(wanted.queues) > 0 if name == "queues" else wanted.HasField(name)
            if given and getattr(wanted, name) != getattr(made, name):
                raise _not_its_own(plan.name, name)
        return made

    def free_place(self) -> int:
        """Return a place of the store that no plan has."""
        taken = set(self.places.values())
        return next(place for place in range(len(taken) + 1) if place not in taken)


def _not_its_own(plan: str, field: str) -> Problem:
    return invalid(f"comes from plan {plan!r}: change the plan, or take the subscriber out of it", field)


def fill(subscriber: Subscriber, plan: Plan) -> None:
    """Give a subscriber what a plan says, in place of what it had."""
    for name in FIELDS:
        subscriber.ClearField(name)
        if name == "queues":
            subscriber.queues.extend(plan.queues)
        elif plan.HasField(name):
            setattr(subscriber, name, getattr(plan, name))
