"""Are the results of a program right? `python oracle.py PROGRAM FOLDER...`, see ../application.py."""

import reference
from application import oracle

if __name__ == "__main__":
    dotall = lambda inputs: reference.dotall(inputs["A"], inputs["pixels"], inputs["weights"])
    oracle({"spots": reference.spots, "dotall": dotall, "patch": reference.patch})
