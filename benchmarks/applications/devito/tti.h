/* What the programs of this folder share: the grid with its halo, staggered differences of eighth order, and the medium. */
#ifndef TTI_H
#define TTI_H

#include "../application.h"

#ifndef N
#define N 96
#endif
#ifndef NX
#define NX N
#endif
#ifndef NY
#define NY N
#endif
#ifndef NZ
#define NZ N
#endif
#ifndef STEPS
#define STEPS 20
#endif

/* Every array has a halo of so many cells, in which it is zero. */
#define HALO 8
#define LX (NX + 2 * HALO)
#define LY (NY + 2 * HALO)
#define LZ (NZ + 2 * HALO)
#define CELLS ((size_t)LX * LY * LZ)

/* Metres, seconds. */
#define SPACING 10.0f
#define DT 0.001f

#define S1 (1225.0f / 1024.0f)
#define S2 (-245.0f / 3072.0f)
#define S3 (49.0f / 5120.0f)
#define S4 (-5.0f / 7168.0f)

/* Differences of f[x][y][z] at half a cell forwards (PLUS) and backwards (MINUS), over the spacing. */
#define PLUS_X(f)                                                                                                      \
    ((S1 * (f[x + 1][y][z] - f[x][y][z]) + S2 * (f[x + 2][y][z] - f[x - 1][y][z]) +                                    \
      S3 * (f[x + 3][y][z] - f[x - 2][y][z]) + S4 * (f[x + 4][y][z] - f[x - 3][y][z])) / SPACING)
#define PLUS_Y(f)                                                                                                      \
    ((S1 * (f[x][y + 1][z] - f[x][y][z]) + S2 * (f[x][y + 2][z] - f[x][y - 1][z]) +                                    \
      S3 * (f[x][y + 3][z] - f[x][y - 2][z]) + S4 * (f[x][y + 4][z] - f[x][y - 3][z])) / SPACING)
#define PLUS_Z(f)                                                                                                      \
    ((S1 * (f[x][y][z + 1] - f[x][y][z]) + S2 * (f[x][y][z + 2] - f[x][y][z - 1]) +                                    \
      S3 * (f[x][y][z + 3] - f[x][y][z - 2]) + S4 * (f[x][y][z + 4] - f[x][y][z - 3])) / SPACING)
#define MINUS_X(f)                                                                                                     \
    ((S1 * (f[x][y][z] - f[x - 1][y][z]) + S2 * (f[x + 1][y][z] - f[x - 2][y][z]) +                                    \
      S3 * (f[x + 2][y][z] - f[x - 3][y][z]) + S4 * (f[x + 3][y][z] - f[x - 4][y][z])) / SPACING)
#define MINUS_Y(f)                                                                                                     \
    ((S1 * (f[x][y][z] - f[x][y - 1][z]) + S2 * (f[x][y + 1][z] - f[x][y - 2][z]) +                                    \
      S3 * (f[x][y + 2][z] - f[x][y - 3][z]) + S4 * (f[x][y + 3][z] - f[x][y - 4][z])) / SPACING)
#define MINUS_Z(f)                                                                                                     \
    ((S1 * (f[x][y][z] - f[x][y][z - 1]) + S2 * (f[x][y][z + 1] - f[x][y][z - 2]) +                                    \
      S3 * (f[x][y][z + 2] - f[x][y][z - 3]) + S4 * (f[x][y][z + 3] - f[x][y][z - 4])) / SPACING)

/* A field is an array of planes. */
typedef float plane[LY][LZ];
typedef plane field[LX];

static inline plane *zero_field(void)
{
    return zeros(CELLS, sizeof(float));
}

/* A smooth number from 0 to 1 for a cell of the domain. */
static inline float smooth(int x, int y, int z, float a, float b, float c)
{
    return 0.5f + 0.5f * sinf(a * (float)x / NX + b) * cosf(c * (float)y / NY - a) * sinf(b + 4.0f * (float)z / NZ);
}

/* How near the edge of the domain a cell is: 0 inside, 1 at the edge. */
static inline float edge(int x, int y, int z)
{
    int width = 8;
    int nearest = x < y ? x : y;
    nearest = z < nearest ? z : nearest;
    nearest = NX - 1 - x < nearest ? NX - 1 - x : nearest;
    nearest = NY - 1 - y < nearest ? NY - 1 - y : nearest;
    nearest = NZ - 1 - z < nearest ? NZ - 1 - z : nearest;
    return nearest < width ? (float)(width - nearest) / (float)width : 0.0f;
}

/* Fills a parameter in the domain: from low to high, smoothly. */
static inline void make_parameter(field to, float low, float high, float a, float b, float c)
{
    for (int x = 0; x < NX; x++)
        for (int y = 0; y < NY; y++)
            for (int z = 0; z < NZ; z++)
                to[x + HALO][y + HALO][z + HALO] = low + (high - low) * smooth(x, y, z, a, b, c);
}

/* Attenuation that grows towards the edges. */
static inline void make_attenuation(field to)
{
    for (int x = 0; x < NX; x++)
        for (int y = 0; y < NY; y++)
            for (int z = 0; z < NZ; z++)
                to[x + HALO][y + HALO][z + HALO] = 0.6f + 60.0f * edge(x, y, z) * edge(x, y, z);
}

/* A pulse in the middle. */
static inline void make_pulse(field to, float height)
{
    for (int x = 0; x < NX; x++)
        for (int y = 0; y < NY; y++)
            for (int z = 0; z < NZ; z++) {
                float r2 = (float)((x - NX / 2) * (x - NX / 2) + (y - NY / 2) * (y - NY / 2) + (z - NZ / 2) * (z - NZ / 2));
                to[x + HALO][y + HALO][z + HALO] = height * expf(-r2 / 72.0f);
            }
}

#endif
