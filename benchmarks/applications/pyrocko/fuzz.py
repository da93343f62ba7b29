"""Random small problems, as in pyrocko's own test of its implementations: `python fuzz.py PROGRAM BINARY [N]`.

BINARY is the compiled program, tuned or not. A stack is of 1 to 5 recordings of 5 to 9 samples, moved by at most 5.
Exits with 1 at the first difference.
"""

import random
import subprocess
import sys
import tempfile

import oracle
from application import fields, judge


def sizes(program):
    if program == "minmax":
        return [random.randint(1, 9), random.randint(1, 40)]
    return [random.randint(1, 5), random.randint(2, 10), 5]


def main():
    program, binary = sys.argv[1:3]
    n = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    random.seed(1)
    for seed in range(n):
        words = [*sizes(program), seed]
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([binary, folder, *map(str, words)], check=True, capture_output=True)
            wrong, _ = judge(oracle.PROGRAMS[program](fields(folder, "in_")), fields(folder, "out_"))
        if wrong:
            sys.exit(f"{program} {words}: {'; '.join(wrong)}")
    print(f"{program}: {n} problems as in pyrocko")


if __name__ == "__main__":
    main()
