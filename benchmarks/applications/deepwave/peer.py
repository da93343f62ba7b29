"""Deepwave's own code on the inputs of a program: `python peer.py cpml FOLDER`, see ../application.py."""

import os

from application import peer
from wheel import Forward


def cpml(inputs):
    forward = Forward(inputs, threads=int(os.environ.get("OMP_NUM_THREADS", "2")))
    return forward.run, forward.results


if __name__ == "__main__":
    peer({"cpml": cpml})
