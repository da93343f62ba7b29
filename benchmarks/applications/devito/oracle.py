"""Are the results of a program what Devito computes? `python oracle.py PROGRAM FOLDER...`, see ../application.py."""

from application import oracle
from operators import Centred, SelfAdjoint


def computed(kind):
    def results(inputs):
        propagator = kind(inputs)
        propagator.run()
        return propagator.results()

    return results


if __name__ == "__main__":
    same = computed(SelfAdjoint)
    oracle({"fused": same, "unfused": same, "unhoisted": same, "dummy": same, "centred": computed(Centred)})
