"""Small programs, and a cache and a recipe database of the tests' own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

CC = ["gcc", "-O2", "-lm"]

# The sums go down the columns of large arrays, whose rows are a power of two long: in the other order they take a tenth
# of the time.
SUM = """
#include <stdio.h>
#define N 1024
static double a[N][N], b[N][N];
int main(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = i * 0.5 + j;
    for (int t = 0; t < 12; t++)
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++)
                b[i][j] += a[i][j] * t;
    double s = 0;
    for (int i = 0; i < N; i++)
        s += b[i][i];
    printf("%.10g\\n", s);
}
"""

# Nothing to wait for.
SHORT = """
#include <stdio.h>
static double a[300], s;
int main(void) {
    for (int t = 0; t < 200; t++)
        for (int i = 0; i < 300; i++)
            a[i] += i * 0.5 + t;
    for (int i = 0; i < 300; i++)
        s += a[i];
    printf("%.10g\\n", s);
}
"""

# No program calls it.
SCALE = """
void scale(int n, int m, double x[n][m], const double w[m]) {
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++)
            x[i][j] *= w[j];
}
void prefix(int n, double x[n]) {
    for (int i = 1; i < n; i++)
        x[i] += x[i - 1];
}
"""


@pytest.fixture(scope="session", autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory):
    """What the tests learn and measure stays among them, unless the caller has a cache for them."""
    folder = tmp_path_factory.mktemp("oxeye")
    os.environ.setdefault("OXEYE_CACHE", str(folder / "cache"))
    os.environ["XDG_DATA_HOME"] = str(folder / "data")
    os.environ.pop("OXEYE_DATABASE", None)


@pytest.fixture(scope="session")
def sum_c(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sum") / "sum.c"
    path.write_text(SUM)
    return path


@pytest.fixture(scope="session")
def short_c(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("short") / "short.c"
    path.write_text(SHORT)
    return path


@pytest.fixture(scope="session")
def scale_c(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scale") / "scale.c"
    path.write_text(SCALE)
    return path


@pytest.fixture(scope="session")
def tuned(sum_c: Path):
    """A file that was tuned, and what was heard of that."""
    import oxeye

    heard: list[oxeye.Progress] = []
    report = oxeye.tune(sum_c, cc=CC, budget=30, quick=True, threads=1, learn=True, progress=heard.append)
    return report, heard
