/* Spectra of fibres from an image of a spectrograph, by a model of the spot that each wavelength of each fibre makes: a sum
 * of Gauss-Hermite functions in x and y, whose coefficients are Legendre polynomials in the wavelength.
 *
 * Draws all spots. With -DPATCH, their images are the columns of a matrix, and the spectra are found that fit an image
 * best; with -DDOTALL, only the normal equations are timed. */
#include "../application.h"

#ifdef DOTALL
#define PATCH
#endif
#ifndef FIBRES
#define FIBRES 7
#endif
#ifndef WAVES
#define WAVES 70
#endif
/* Pixels of the image, which has to hold all spots. */
#define WIDTH (7 * FIBRES + 12)
#define HEIGHT (29 * WAVES / 20 + 13)

#define DEGREE 7   /* Gauss-Hermite functions a dimension: degrees 0 to 6 */
#define LEGENDRE 4 /* coefficients a parameter: degrees 0 to 3 */
#define NX 17      /* pixels of a spot */
#define NY 11
#define HSIZEX 8
#define HSIZEY 5
#define NDIAG 11 /* diagonals of the resolution that are kept */

/* Every parameter of the spots, for all fibres and wavelengths, from its Legendre coefficients. */
static void evaluate(int nspec, int nwave, double wave[nwave], double coefficients[DEGREE][DEGREE][nspec][LEGENDRE],
                     double legendre[LEGENDRE][nwave], double gh[DEGREE][DEGREE][nspec][nwave])
{
    for (int w = 0; w < nwave; w++) {
        legendre[0][w] = 1;
        legendre[1][w] = wave[w];
        for (int j = 2; j < LEGENDRE; j++)
            legendre[j][w] = ((2 * j - 1) * wave[w] * legendre[j - 1][w] - (j - 1) * legendre[j - 2][w]) / j;
    }
    for (int i = 0; i < DEGREE; i++)
        for (int j = 0; j < DEGREE; j++)
            for (int s = 0; s < nspec; s++)
                for (int w = 0; w < nwave; w++) {
                    double sum = 0;
                    for (int k = 0; k < LEGENDRE; k++)
                        sum += coefficients[i][j][s][k] * legendre[k][w];
                    gh[i][j][s][w] = sum;
                }
}

/* Gauss-Hermite functions integrated over the n pixels around `center`, one row a degree. */
static void integrate(int n, double center, double sigma, double out[DEGREE][n])
{
    double d = fmod(center + 0.5, 1.0) - 0.5;
    double edge[NX + 1], density[NX + 1], hermite[DEGREE][NX + 1];
    for (int k = 0; k <= n; k++) {
        edge[k] = (k - n / 2 - 0.5 - d) / sigma;
        density[k] = exp(-0.5 * edge[k] * edge[k]) / sqrt(2 * M_PI);
        hermite[0][k] = 1;
        hermite[1][k] = edge[k];
        for (int q = 2; q < DEGREE; q++)
            hermite[q][k] = edge[k] * hermite[q - 1][k] - (q - 1) * hermite[q - 2][k];
    }
    for (int k = 0; k < n; k++)
        out[0][k] = 0.5 * (erf(edge[k + 1] / sqrt(2.0)) - erf(edge[k] / sqrt(2.0)));
    for (int q = 1; q < DEGREE; q++)
        for (int k = 0; k < n; k++)
            out[q][k] = hermite[q - 1][k] * density[k] - hermite[q - 1][k + 1] * density[k + 1];
}

static void profiles(int nspec, int nwave, double x[nspec][nwave], double y[nspec][nwave], double sigma_x,
                     double sigma_y, double px[nspec][nwave][DEGREE][NX], double py[nspec][nwave][DEGREE][NY])
{
    for (int s = 0; s < nspec; s++)
        for (int w = 0; w < nwave; w++) {
            integrate(NX, x[s][w], sigma_x, px[s][w]);
            integrate(NY, y[s][w], sigma_y, py[s][w]);
        }
}

/* The spots, without what is negative, their sums one; and in which pixels of the image they begin. */
static void draw(int nspec, int nwave, double gh[DEGREE][DEGREE][nspec][nwave], double px[nspec][nwave][DEGREE][NX],
                 double py[nspec][nwave][DEGREE][NY], double x[nspec][nwave], double y[nspec][nwave],
                 double spot[nspec][nwave][NY][NX], int xcorner[nspec][nwave], int ycorner[nspec][nwave])
{
    for (int s = 0; s < nspec; s++)
        for (int w = 0; w < nwave; w++) {
            for (int v = 0; v < NY; v++)
                for (int u = 0; u < NX; u++)
                    spot[s][w][v][u] = 0;
            for (int i = 0; i < DEGREE; i++)
                for (int j = 0; j < DEGREE; j++)
                    for (int v = 0; v < NY; v++)
                        for (int u = 0; u < NX; u++)
                            spot[s][w][v][u] += gh[i][j][s][w] * py[s][w][j][v] * px[s][w][i][u];
            double sum = 0;
            for (int v = 0; v < NY; v++)
                for (int u = 0; u < NX; u++) {
                    if (spot[s][w][v][u] < 0)
                        spot[s][w][v][u] = 0;
                    sum += spot[s][w][v][u];
                }
            for (int v = 0; v < NY; v++)
                for (int u = 0; u < NX; u++)
                    spot[s][w][v][u] /= sum;
            xcorner[s][w] = (int)floor(x[s][w] - HSIZEX + 0.5);
            ycorner[s][w] = (int)floor(y[s][w] - HSIZEY + 0.5);
        }
}

#ifdef PATCH
/* The image of every fibre and wavelength, as columns of one matrix. */
static void project(int nspec, int nwave, int ny, int nx, double spot[nspec][nwave][NY][NX],
                    int xcorner[nspec][nwave], int ycorner[nspec][nwave], double A[ny][nx][nspec][nwave])
{
    memset(A, 0, sizeof(double) * ny * nx * nspec * nwave);
    for (int s = 0; s < nspec; s++)
        for (int w = 0; w < nwave; w++)
            for (int v = 0; v < NY; v++)
                for (int u = 0; u < NX; u++)
                    A[ycorner[s][w] + v][xcorner[s][w] + u][s][w] = spot[s][w][v][u];
}

/* Weighted normal equations. Most of A is zero. */
static void dotall(int npix, int n, double A[npix][n], double pixels[npix], double weights[npix], double icov[n][n],
                   double y[n], double fw[n])
{
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        fw[i] = 0;
        for (int j = 0; j < n; j++)
            icov[i][j] = 0;
    }
    for (int p = 0; p < npix; p++)
        for (int i = 0; i < n; i++) {
            double aw = weights[p] * A[p][i];
            if (aw != 0) {
                for (int j = i; j < n; j++)
                    icov[i][j] += aw * A[p][j];
                y[i] += aw * pixels[p];
                fw[i] += aw;
            }
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            icov[i][j] = icov[j][i];
}

#ifndef DOTALL
/* Pulls what hardly any pixel says something about towards zero. */
static void regularize(int n, double regularization, double fw[n], double icov[n][n])
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, fw[i]);
    for (int i = 0; i < n; i++) {
        double alpha = regularization;
        if (fw[i] < 1e-4 * most)
            alpha = 1e-4 * most - fw[i];
        icov[i][i] += alpha * alpha + 1e-15;
    }
}

/* Solves icov f = y, and inverts icov, by its Cholesky factor L and the inverse of that. */
static void solve(int n, double icov[n][n], double y[n], double L[n][n], double inverse[n][n], double f[n],
                  double cov[n][n])
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = icov[i][j];
            for (int k = 0; k < j; k++)
                sum -= L[i][k] * L[j][k];
            L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            inverse[i][j] = i == j;
        for (int k = 0; k < i; k++)
            for (int j = 0; j <= k; j++)
                inverse[i][j] -= L[i][k] * inverse[k][j];
        for (int j = 0; j <= i; j++)
            inverse[i][j] /= L[i][i];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            cov[i][j] = 0;
            for (int k = i > j ? i : j; k < n; k++)
                cov[i][j] += inverse[k][i] * inverse[k][j];
        }
    for (int i = 0; i < n; i++) {
        f[i] = 0;
        for (int j = 0; j < n; j++)
            f[i] += cov[i][j] * y[j];
    }
}

/* The inverse of a positive definite matrix, in its own place. */
static void invert(int n, double a[n][n])
{
    for (int k = 0; k < n; k++) {
        double pivot = 1 / a[k][k];
        a[k][k] = 1;
        for (int j = 0; j < n; j++)
            a[k][j] *= pivot;
        for (int i = 0; i < n; i++) {
            if (i == k)
                continue;
            double factor = a[i][k];
            a[i][k] = 0;
            for (int j = 0; j < n; j++)
                a[i][j] -= factor * a[k][j];
        }
    }
}

/* Inverse square roots of the diagonal blocks of cov, one a fibre: 40 iterations of Denman and Beavers. */
static void inverse_roots(int nspec, int nwave, double cov[nspec][nwave][nspec][nwave],
                          double root[nspec][nwave][nwave], double Q[nspec][nwave][nwave],
                          double next_root[nspec][nwave][nwave], double next_Q[nspec][nwave][nwave])
{
    for (int s = 0; s < nspec; s++)
        for (int i = 0; i < nwave; i++)
            for (int j = 0; j < nwave; j++) {
                root[s][i][j] = cov[s][i][s][j];
                Q[s][i][j] = i == j;
            }
    for (int s = 0; s < nspec; s++)
        for (int iteration = 0; iteration < 40; iteration++) {
            for (int i = 0; i < nwave; i++)
                for (int j = 0; j < nwave; j++) {
                    next_root[s][i][j] = Q[s][i][j];
                    next_Q[s][i][j] = root[s][i][j];
                }
            invert(nwave, next_root[s]);
            invert(nwave, next_Q[s]);
            for (int i = 0; i < nwave; i++)
                for (int j = 0; j < nwave; j++) {
                    root[s][i][j] = 0.5 * (root[s][i][j] + next_root[s][i][j]);
                    Q[s][i][j] = 0.5 * (Q[s][i][j] + next_Q[s][i][j]);
                }
        }
}

/* Spectra whose errors are independent, their inverse variances, and the resolution, of which diagonals are kept. */
static void decorrelate(int nspec, int nwave, double Q[nspec][nwave][nwave], double f[nspec][nwave],
                        double flux[nspec][nwave], double ivar[nspec][nwave], double R[nspec][nwave][nwave],
                        double diagonals[nspec][NDIAG][nwave])
{
    for (int s = 0; s < nspec; s++)
        for (int i = 0; i < nwave; i++) {
            double sum = 0;
            for (int j = 0; j < nwave; j++)
                sum += Q[s][i][j];
            ivar[s][i] = sum * sum;
            flux[s][i] = 0;
            for (int j = 0; j < nwave; j++) {
                R[s][i][j] = Q[s][i][j] / sum;
                flux[s][i] += R[s][i][j] * f[s][j];
            }
        }
    for (int s = 0; s < nspec; s++)
        for (int d = 0; d < NDIAG; d++)
            for (int w = 0; w < nwave; w++) {
                int v = w + d - NDIAG / 2;
                diagonals[s][d][w] = v >= 0 && v < nwave ? R[s][v][w] : 0;
            }
}

static void chi_square(int npix, int n, double A[npix][n], double f[n], double pixels[npix], double weights[npix],
                       double chi2[npix])
{
    for (int p = 0; p < npix; p++) {
        double model = 0;
        for (int i = 0; i < n; i++)
            model += A[p][i] * f[i];
        chi2[p] = weights[p] * (pixels[p] - model) * (pixels[p] - model);
    }
}
#endif
#endif

int main(int argc, char **argv)
{
    fields_open(argc, argv);
    int nspec = FIBRES, nwave = WAVES;
    size_t n = (size_t)nspec * nwave;
    double *wave = zeros_double(nwave);
    double(*coefficients)[DEGREE][nspec][LEGENDRE] = (void *)zeros_double(DEGREE * DEGREE * LEGENDRE * (size_t)nspec);
    double(*legendre)[nwave] = (void *)zeros_double(LEGENDRE * (size_t)nwave);
    double(*gh)[DEGREE][nspec][nwave] = (void *)zeros_double(DEGREE * DEGREE * n);
    double(*x)[nwave] = (void *)zeros_double(n), (*y)[nwave] = (void *)zeros_double(n);
    double(*px)[nwave][DEGREE][NX] = (void *)zeros_double(n * DEGREE * NX);
    double(*py)[nwave][DEGREE][NY] = (void *)zeros_double(n * DEGREE * NY);
    double(*spot)[nwave][NY][NX] = (void *)zeros_double(n * NY * NX);
    int(*xcorner)[nwave] = zeros(n, sizeof(int)), (*ycorner)[nwave] = zeros(n, sizeof(int));
    unsigned seed = 1;
    for (int w = 0; w < nwave; w++)
        wave[w] = 2.0 * w / (nwave - 1) - 1;
    for (int i = 0; i < DEGREE; i++)
        for (int j = 0; j < DEGREE; j++)
            for (int s = 0; s < nspec; s++)
                for (int k = 0; k < LEGENDRE; k++) {
                    double scale = i + j == 0 ? 0 : 0.03 / ((1 + i * j) * (1 + k));
                    coefficients[i][j][s][k] = scale * (random_number(&seed) - 0.5) + (i + j + k == 0 ? 1 : 0);
                }
    for (int s = 0; s < nspec; s++)
        for (int w = 0; w < nwave; w++) {
            x[s][w] = 8.0117 + 7.2931 * s + 0.2973 * wave[w];
            y[s][w] = 5.4123 + 1.4637 * w + 0.0931 * s;
        }
    double sigma_x = 1.1, sigma_y = 1.0;

#ifndef PATCH
    INPUT_DOUBLE(wave, nwave);
    INPUT_DOUBLE(coefficients, DEGREE, DEGREE, nspec, LEGENDRE);
    INPUT_DOUBLE(x, nspec, nwave);
    INPUT_DOUBLE(y, nspec, nwave);
    INPUT_NUMBER(sigma_x);
    INPUT_NUMBER(sigma_y);
    bench_start();
    evaluate(nspec, nwave, wave, coefficients, legendre, gh);
    profiles(nspec, nwave, x, y, sigma_x, sigma_y, px, py);
    draw(nspec, nwave, gh, px, py, x, y, spot, xcorner, ycorner);
    bench_stop();
    kernel_work((double)n);
#else
    int ny = HEIGHT, nx = WIDTH, npix = ny * nx;
    double(*A)[nx][nspec][nwave] = (void *)zeros_double(npix * n);
    for (size_t k = 0; k < npix * n; k++)
        (&A[0][0][0][0])[k] = -1;
    double *pixels = zeros_double(npix), *weights = zeros_double(npix);
    double(*icov)[n] = (void *)zeros_double(n * n), *right = zeros_double(n), *fw = zeros_double(n);
    for (int p = 0; p < npix; p++) {
        pixels[p] = 100 * random_number(&seed);
        double weight = 0.5 + random_number(&seed);
        weights[p] = random_number(&seed) < 0.02 ? 0 : weight;
    }
    INPUT_DOUBLE(pixels, npix);
    INPUT_DOUBLE(weights, npix);
#ifdef DOTALL
    evaluate(nspec, nwave, wave, coefficients, legendre, gh);
    profiles(nspec, nwave, x, y, sigma_x, sigma_y, px, py);
    draw(nspec, nwave, gh, px, py, x, y, spot, xcorner, ycorner);
    project(nspec, nwave, ny, nx, spot, xcorner, ycorner, A);
    INPUT_DOUBLE(A, npix, (long)n);
    bench_start();
    dotall(npix, (int)n, (double(*)[n])A, pixels, weights, icov, right, fw);
    bench_stop();
    kernel_work((double)npix);
    OUTPUT_DOUBLE(icov, (long)n, (long)n);
    OUTPUT_DOUBLE(right, (long)n);
    OUTPUT_DOUBLE(fw, (long)n);
#else
    double regularization = 1e-3;
    double(*cov)[n] = (void *)zeros_double(n * n), (*L)[n] = (void *)zeros_double(n * n);
    double(*inverse)[n] = (void *)zeros_double(n * n);
    double(*f)[nwave] = (void *)zeros_double(n), (*flux)[nwave] = (void *)zeros_double(n);
    double(*ivar)[nwave] = (void *)zeros_double(n), *chi2 = zeros_double(npix);
    double(*root)[nwave][nwave] = (void *)zeros_double(n * nwave), (*Q)[nwave][nwave] = (void *)zeros_double(n * nwave);
    double(*next_root)[nwave][nwave] = (void *)zeros_double(n * nwave);
    double(*next_Q)[nwave][nwave] = (void *)zeros_double(n * nwave);
    double(*R)[nwave][nwave] = (void *)zeros_double(n * nwave);
    double(*diagonals)[NDIAG][nwave] = (void *)zeros_double(NDIAG * n);
    INPUT_DOUBLE(wave, nwave);
    INPUT_DOUBLE(coefficients, DEGREE, DEGREE, nspec, LEGENDRE);
    INPUT_DOUBLE(x, nspec, nwave);
    INPUT_DOUBLE(y, nspec, nwave);
    INPUT_NUMBER(sigma_x);
    INPUT_NUMBER(sigma_y);
    INPUT_NUMBER(regularization);
    INPUT_NUMBER(ny);
    INPUT_NUMBER(nx);
    bench_start();
    evaluate(nspec, nwave, wave, coefficients, legendre, gh);
    profiles(nspec, nwave, x, y, sigma_x, sigma_y, px, py);
    draw(nspec, nwave, gh, px, py, x, y, spot, xcorner, ycorner);
    project(nspec, nwave, ny, nx, spot, xcorner, ycorner, A);
    dotall(npix, (int)n, (double(*)[n])A, pixels, weights, icov, right, fw);
    regularize((int)n, regularization, fw, icov);
    solve((int)n, icov, right, L, inverse, &f[0][0], cov);
    inverse_roots(nspec, nwave, (double(*)[nwave][nspec][nwave])cov, root, Q, next_root, next_Q);
    decorrelate(nspec, nwave, Q, f, flux, ivar, R, diagonals);
    chi_square(npix, (int)n, (double(*)[n])A, &f[0][0], pixels, weights, chi2);
    bench_stop();
    kernel_work(1);
    OUTPUT_DOUBLE(icov, (long)n, (long)n);
    OUTPUT_DOUBLE(f, nspec, nwave);
    OUTPUT_DOUBLE(flux, nspec, nwave);
    OUTPUT_DOUBLE(ivar, nspec, nwave);
    OUTPUT_DOUBLE(diagonals, nspec, NDIAG, nwave);
    OUTPUT_DOUBLE(chi2, npix);
#endif
#endif
#ifndef DOTALL
    OUTPUT_DOUBLE(gh, DEGREE, DEGREE, nspec, nwave);
    OUTPUT_DOUBLE(spot, nspec, nwave, NY, NX);
    OUTPUT_INT(xcorner, nspec, nwave);
    OUTPUT_INT(ycorner, nspec, nwave);
#endif
    return 0;
}
