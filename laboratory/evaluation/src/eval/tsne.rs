//! A layout of high-dimensional points in two dimensions that keeps neighbours together.

use anyhow::{Result, ensure};

/// Steps of gradient descent, and how many of them pull neighbours together more strongly at first.
const N_STEPS: usize = 1000;
const N_EARLY_STEPS: usize = 250;
const EARLY_EXAGGERATION: f64 = 12.0;
/// Memory and time grow with the square of the number of points.
const MOST_POINTS: usize = 10_000;

/// Exact t-SNE (van der Maaten and Hinton, "Visualizing data using t-SNE", 2008) from the first two principal
/// components, with the learning rate of Belkina et al. (2019). Nothing is random: the same points give the same
/// picture.
///
/// # Errors
/// If there are too many points, or not all have one dimension.
pub(crate) fn layout(points: &[Vec<f32>], perplexity: f64) -> Result<Vec<[f64; 2]>> {
    let n = points.len();
    ensure!(n <= MOST_POINTS, "{n} points are too many for a picture; {MOST_POINTS} are possible");
    ensure!(points.iter().all(|p| p.len() == points[0].len()), "not all embeddings have one length");
    let mut at = principal_components(points);
    if n < 4 {
        return Ok(at);
    }
    // Small compared with the distances after the descent, so that all points start as near neighbours.
    let spread = (at.iter().map(|p| p[0] * p[0]).sum::<f64>() / n as f64).sqrt();
    if spread > 0.0 {
        at.iter_mut().flatten().for_each(|x| *x *= 1e-4 / spread);
    }
    let affinities = affinities(points, perplexity.min((n - 1) as f64 / 3.0));
    let rate = (n as f64 / EARLY_EXAGGERATION / 4.0).max(50.0);
    let mut velocity = vec![[0.0; 2]; n];
    let mut gains = vec![[1.0f64; 2]; n];
    for step in 0..N_STEPS {
        let (exaggeration, momentum) =
            if step < N_EARLY_STEPS { (EARLY_EXAGGERATION, 0.5) } else { (1.0, 0.8) };
        let gradient = gradient(&affinities, &at, exaggeration);
        for i in 0..n {
            for d in 0..2 {
                let (g, v, gain) = (gradient[i][d], &mut velocity[i][d], &mut gains[i][d]);
                *gain = if (g > 0.0) == (*v > 0.0) { (*gain * 0.8).max(0.01) } else { *gain + 0.2 };
                *v = momentum * *v - rate * *gain * g;
                at[i][d] += *v;
            }
        }
    }
    Ok(at)
}

/// The affinity of each pair: symmetric, with sum 1, row by row.
fn affinities(points: &[Vec<f32>], perplexity: f64) -> Vec<f64> {
    let n = points.len();
    let mut p = vec![0.0; n * n];
    for i in 0..n {
        let distances: Vec<f64> = points.iter().map(|other| squared_distance(&points[i], other)).collect();
        for (j, weight) in neighbours(&distances, i, perplexity).into_iter().enumerate() {
            p[i * n + j] += weight / (2.0 * n as f64);
            p[j * n + i] += weight / (2.0 * n as f64);
        }
    }
    p
}

fn squared_distance(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum()
}

/// Gaussian weights of the neighbours of point `own`, with the width that gives the perplexity; their sum is 1.
fn neighbours(squared_distances: &[f64], own: usize, perplexity: f64) -> Vec<f64> {
    let others = || squared_distances.iter().enumerate().filter(|(j, _)| *j != own).map(|(_, d)| *d);
    let nearest = others().fold(f64::MAX, f64::min);
    let mean = others().map(|d| d - nearest).sum::<f64>() / (squared_distances.len() - 1) as f64;
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let mut precision = if mean > 0.0 { 1.0 / mean } else { 1.0 };
    let mut weights = Vec::new();
    for _ in 0..64 {
        weights = squared_distances.iter().map(|d| (-(d - nearest) * precision).exp()).collect::<Vec<f64>>();
        weights[own] = 0.0;
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w /= sum);
        let entropy: f64 = weights.iter().filter(|w| **w > 0.0).map(|w| -w * w.ln()).sum();
        let excess = entropy - perplexity.ln();
        if excess.abs() < 1e-6 {
            break;
        }
        if excess > 0.0 {
            low = precision;
            precision = if high.is_finite() { (low + high) / 2.0 } else { precision * 2.0 };
        } else {
            high = precision;
            precision = (low + high) / 2.0;
        }
    }
    weights
}

/// The gradient of the Kullback-Leibler divergence.
fn gradient(affinities: &[f64], at: &[[f64; 2]], exaggeration: f64) -> Vec<[f64; 2]> {
    let n = at.len();
    let mut attraction = vec![[0.0; 2]; n];
    let mut repulsion = vec![[0.0; 2]; n];
    let mut sum = 0.0;
    for i in 0..n {
        let row = &affinities[i * n..(i + 1) * n];
        for j in 0..i {
            let difference = [at[i][0] - at[j][0], at[i][1] - at[j][1]];
            let q = 1.0 / (1.0 + difference[0] * difference[0] + difference[1] * difference[1]);
            sum += 2.0 * q;
            let (pull, push) = (exaggeration * row[j] * q, q * q);
            for d in 0..2 {
                attraction[i][d] += pull * difference[d];
                attraction[j][d] -= pull * difference[d];
                repulsion[i][d] += push * difference[d];
                repulsion[j][d] -= push * difference[d];
            }
        }
    }
    let total = |i: usize, d: usize| 4.0 * (attraction[i][d] - repulsion[i][d] / sum);
    (0..n).map(|i| [total(i, 0), total(i, 1)]).collect()
}

/// The first two principal components of the points, by power iteration.
fn principal_components(points: &[Vec<f32>]) -> Vec<[f64; 2]> {
    let Some(first) = points.first() else { return Vec::new() };
    let n = points.len() as f64;
    let mean: Vec<f64> =
        (0..first.len()).map(|k| points.iter().map(|p| f64::from(p[k])).sum::<f64>() / n).collect();
    let mut rest: Vec<Vec<f64>> =
        points.iter().map(|p| p.iter().zip(&mean).map(|(x, m)| f64::from(*x) - m).collect()).collect();
    let mut components = vec![[0.0; 2]; points.len()];
    for d in 0..2 {
        let direction = main_direction(&rest);
        for (point, component) in rest.iter_mut().zip(&mut components) {
            let along = dot(point, &direction);
            component[d] = along;
            point.iter_mut().zip(&direction).for_each(|(x, u)| *x -= along * u);
        }
    }
    components
}

/// The unit vector along which centred points vary most; zero, if they do not vary.
fn main_direction(points: &[Vec<f64>]) -> Vec<f64> {
    let longest = points.iter().max_by(|a, b| dot(a, a).total_cmp(&dot(b, b)));
    let mut direction = longest.cloned().unwrap_or_default();
    for _ in 0..100 {
        let length = dot(&direction, &direction).sqrt();
        if length < 1e-12 {
            return vec![0.0; direction.len()];
        }
        direction.iter_mut().for_each(|x| *x /= length);
        let mut next = vec![0.0; direction.len()];
        for point in points {
            let along = dot(point, &direction);
            next.iter_mut().zip(point).for_each(|(sum, x)| *sum += along * x);
        }
        direction = next;
    }
    let length = dot(&direction, &direction).sqrt();
    direction.iter_mut().for_each(|x| *x /= length.max(f64::MIN_POSITIVE));
    direction
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxeye_random::SplitMix64;

    /// Three clouds of 20 points in 8 dimensions, far from each other.
    fn clouds() -> Vec<Vec<f32>> {
        let mut random = SplitMix64::new(3);
        let mut noise = || random.remainder(1000) as f32 / 1000.0;
        (0..60)
            .map(|k| (0..8).map(|d| if d == k / 20 { 10.0 + noise() } else { noise() }).collect())
            .collect()
    }

    fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
        (a[0] - b[0]).hypot(a[1] - b[1])
    }

    #[test]
    fn neighbours_stay_together() {
        let at = layout(&clouds(), 10.0).expect("it is possible");
        for i in 0..60 {
            let mut others: Vec<usize> = (0..60).filter(|j| *j != i).collect();
            others.sort_by(|a, b| distance(at[i], at[*a]).total_cmp(&distance(at[i], at[*b])));
            let strangers = others[..15].iter().filter(|j| **j / 20 != i / 20).count();
            assert_eq!(strangers, 0, "point {i}");
        }
        assert_eq!(layout(&clouds(), 10.0).expect("it is possible"), at);
    }

    #[test]
    fn weights_have_the_perplexity() {
        let distances: Vec<f64> = (0..50).map(|k| f64::from(k * k)).collect();
        let weights = neighbours(&distances, 0, 12.0);
        let entropy: f64 = weights.iter().filter(|w| **w > 0.0).map(|w| -w * w.ln()).sum();
        assert!((entropy.exp() - 12.0).abs() < 1e-3);
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12 && weights[0] == 0.0);
    }

    #[test]
    fn a_step_down_the_gradient_lessens_the_divergence() {
        let points = clouds();
        let p = affinities(&points, 10.0);
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let divergence = |at: &[[f64; 2]]| -> f64 {
            let q = |i: usize, j: usize| 1.0 / (1.0 + distance(at[i], at[j]).powi(2));
            let pairs = || (0..60).flat_map(|i| (0..60).map(move |j| (i, j))).filter(|(i, j)| i != j);
            let sum: f64 = pairs().map(|(i, j)| q(i, j)).sum();
            pairs()
                .map(|(i, j)| p[i * 60 + j].max(1e-300) * (p[i * 60 + j].max(1e-300) / (q(i, j) / sum)).ln())
                .sum()
        };
        let at = principal_components(&points);
        let slope = gradient(&p, &at, 1.0);
        let (step, mut moved) = (1e-4, at.clone());
        for (place, slope) in moved.iter_mut().zip(&slope) {
            (0..2).for_each(|d| place[d] -= step * slope[d]);
        }
        let expected: f64 = slope.iter().flatten().map(|g| g * g).sum::<f64>() * step;
        let found = divergence(&at) - divergence(&moved);
        assert!((found - expected).abs() < 0.01 * expected, "{found} {expected}");
    }

    #[test]
    fn few_and_equal_points_do_no_harm() {
        assert_eq!(layout(&[], 30.0).expect("it is possible").len(), 0);
        assert_eq!(layout(&[vec![1.0, 2.0]], 30.0).expect("it is possible"), [[0.0, 0.0]]);
        let equal = layout(&vec![vec![1.0f32; 4]; 9], 30.0).expect("it is possible");
        assert!(equal.iter().flatten().all(|x| x.is_finite()));
        assert!(layout(&[vec![1.0], vec![1.0, 2.0]], 30.0).is_err());
    }
}
