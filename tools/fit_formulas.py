"""Fits the polynomials of core/formulas/*.h and prints them as float32 literals.

Each fit is a weighted minimax (Remez exchange) in 60 digits; the coefficients are then rounded to float32 and the
error of the rounded polynomial, evaluated exactly, is printed beside them as a power of two. Needs mpmath.

    python3 tools/fit_formulas.py [NAME...]
"""
import struct
import sys

from mpmath import mp, mpf, matrix, lu_solve, log, exp, sqrt, tanh, erf, erfc, sin, cos, pi

mp.dps = 60


def float32(x):
    return mpf(struct.unpack("f", struct.pack("f", float(x)))[0])


def evaluate(coefficients, x):
    result = mpf(0)
    for c in reversed(coefficients):
        result = result * x + c
    return result


def remez(f, weight, low, high, degree, grid=600, rounds=12):
    """Minimises max |weight * (f - polynomial)| over [low, high]; the coefficients come lowest power first."""
    n = degree + 2
    middle, half = (low + high) / 2, (high - low) / 2
    points = [middle - half * cos(pi * (2 * i + 1) / (2 * n)) for i in range(n)]
    xs = [middle - half * cos(pi * (i + mpf(1) / 2) / grid) for i in range(grid)]
    values = [(x, f(x), weight(x)) for x in xs]
    coefficients = None
    for _ in range(rounds):
        a, b = matrix(n, n), matrix(n, 1)
        for i, x in enumerate(points):
            power = mpf(1)
            for j in range(degree + 1):
                a[i, j] = power
                power *= x
            a[i, degree + 1] = (-1) ** i / weight(x)
            b[i] = f(x)
        solution = lu_solve(a, b)
        coefficients = [solution[i] for i in range(degree + 1)]
        errors = [(w * (y - evaluate(coefficients, x)), x) for x, y, w in values]
        peaks = []
        for e, x in errors:
            if peaks and (e > 0) == (peaks[-1][0] > 0):
                if abs(e) > abs(peaks[-1][0]):
                    peaks[-1] = (e, x)
            else:
                peaks.append((e, x))
        while len(peaks) > n:
            peaks.pop(0 if abs(peaks[0][0]) < abs(peaks[-1][0]) else -1)
        if len(peaks) < n:
            break
        points = [x for _, x in peaks]
    rounded = [float32(c) for c in coefficients]
    error = max(abs(w * (y - evaluate(rounded, x))) for x, y, w in values)
    return rounded, error


# A removable singularity at 0 is avoided by starting the interval a little above it.
TINY = mpf(2) ** -20


def squared(f):
    """f as a function of z = x * x."""
    return lambda z: f(sqrt(z))


K = mpf(2)  # the tail of the normal distribution is fitted in q = (x - K) / (x + K)


def normal_tail(q):
    """(x + K) * exp(x^2 / 2) * Phi(-x): between 0.4 and 1."""
    x = K * (1 + q) / (1 - q)
    return (x + K) * exp(x * x / 2) * erfc(x / sqrt(2)) / 2


half_ln2 = log(2) / 2 * mpf("1.0001")
FITS = {
    # exp(r) = 1 + r + r^2 * p(r), the coefficients of 1 and r exact
    "exp": lambda: remez(lambda r: (exp(r) - 1 - r) / r**2 if abs(r) > TINY else mpf(1) / 2 + r / 6,
                         lambda r: r**2 / exp(r) + mpf(2) ** -60, -half_ln2, half_ln2, 4),
    # log(1 + f) = f - f^2 / 2 + f^3 * p(f)
    "log": lambda: remez(lambda f: (log(1 + f) - f + f * f / 2) / f**3 if abs(f) > TINY else mpf(1) / 3 - f / 4,
                         lambda f: abs(f**3 / log(1 + f)) if abs(f) > TINY else TINY, sqrt(mpf(1) / 2) - 1, sqrt(mpf(2)) - 1, 8),
    # tanh(x) = x + x^3 * p(x^2), |x| <= 0.625
    "tanh": lambda: remez(squared(lambda x: (tanh(x) - x) / x**3), squared(lambda x: x**3 / tanh(x)), TINY, mpf(".625") ** 2, 4),
    # erf(x) = x + x * p(x^2), |x| <= 0.921875
    "erf": lambda: remez(squared(lambda x: erf(x) / x - 1), squared(lambda x: x / erf(x)), TINY, mpf(".921875") ** 2, 5),
    # log(erfc(x)) = p(x), 0.921875 <= x <= 4; the error counts as erf's
    "erfc_log": lambda: remez(lambda x: log(erfc(x)), lambda x: erfc(x) / erf(x), mpf(".921875"), mpf(4), 7),
    # (x + K) * exp(x^2 / 2) * Phi(-x) = p(q), 0 <= x <= 15
    "normal_tail": lambda: remez(normal_tail, lambda q: 1 / normal_tail(q), mpf(-1), (15 - K) / (15 + K), 10),
    # sin(r) = r + r^3 * p(r^2), cos(r) = 1 - r^2 / 2 + r^4 * p(r^2), |r| <= pi / 4
    "sin": lambda: remez(squared(lambda r: (sin(r) - r) / r**3), squared(lambda r: r**3 / sin(r)), TINY, (pi / 4) ** 2, 2),
    "cos": lambda: remez(squared(lambda r: (cos(r) - 1 + r * r / 2) / r**4), squared(lambda r: r**4 / cos(r)), TINY, (pi / 4) ** 2, 2),
}

if __name__ == "__main__":
    for name in sys.argv[1:] or FITS:
        coefficients, error = FITS[name]()
        print(f"{name}: error 2^{float(log(error, 2)):.1f}")
        for power, c in enumerate(coefficients):
            print(f"    {power}: {float(c).hex()}  {float(c):.9g}f")
