"""Devito, tuned as it tunes itself, on the inputs of a program: `python peer.py PROGRAM FOLDER`, see ../application.py."""

from application import peer
from operators import Centred, SelfAdjoint


def tuned(kind):
    def prepare(inputs):
        propagator = kind(inputs, autotune=True)
        return propagator.run, propagator.results

    return prepare


if __name__ == "__main__":
    same = tuned(SelfAdjoint)
    peer({"fused": same, "unfused": same, "unhoisted": same, "dummy": same, "centred": tuned(Centred)})
