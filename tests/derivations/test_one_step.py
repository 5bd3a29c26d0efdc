"""The exact slopes against the enumerated loss, from the embeddings themselves."""

from dataclasses import replace

import mpmath
import pytest
import sympy as sp

from derivations import one_step
from derivations.calculus.power_sums import Entry
from derivations.catalogue import load
from derivations.notation import E
from derivations.population_step.constants import value
from derivations.proof.differentiation import NumericModel
from derivations.proof.enumeration import dot
from derivations.proof.evaluation import evaluate_over, evaluate_real
from derivations.proof.instances import seeded

A, B, K = 0, 1, 2


def _model(seed, *, d, m):
    """Return a model with unit vectors, theta_tilde = -theta and s_a >= s_b."""
    model = NumericModel(seeded(seed), d=d, m=m, antisymmetric=True)

    def normalised(vector):
        return [x / mpmath.sqrt(dot(vector, vector)) for x in vector]

    with mpmath.workdps(50):
        model.V = [normalised(row) for row in model.V]
        model.theta = normalised(model.theta)
        model.theta_tilde = [-x for x in model.theta]
        model.V[:2] = sorted(model.V[:2], key=lambda row: -dot(row, model.theta))
    return model


def _minus(left, right):
    return [x - y for x, y in zip(left, right, strict=True)]


def _orthogonal(model, vector):
    """Return the sequence v_j^perp.vector."""
    along = dot(model.theta, vector)
    return [dot(row, vector) - dot(row, model.theta) * along for row in model.V]


def _evaluated(model, expr, *, p, p_third=None):
    scores = [dot(row, model.theta) for row in model.V]
    exponentials = model.exponentials(model.theta)
    V, one = model.V, model.rational(1, 1)
    sums = {
        "Z": sum(exponentials),
        "Z_2": sum(x**2 for x in exponentials),
        "Z_tilde": sum(one / x for x in exponentials),
        "Z_tilde_2": sum(one / x**2 for x in exponentials),
    }
    sums["omega"] = 1 / (sums["Z"] * sums["Z_tilde"])
    return sums["omega"], evaluate_over(
        expr,
        rational=model.rational,
        sequences={"E": exponentials, "s": scores, "p": p, "p_third": p_third or p},
        positions={"a": A, "b": B, "k_out": K},
        scalars={
            **sums,
            "Delta": scores[A] - scores[B],
            "rho": dot(V[A], V[B]),
            "rho_ak": dot(V[A], V[K]),
            "rho_bk": dot(V[B], V[K]),
        },
        exponentials={"Delta": exponentials[A] / exponentials[B]},
    )


SIZES = pytest.mark.parametrize(("seed", "d", "m"), [(1, 3, 2), (2, 4, 3), (3, 5, 3), (4, 6, 4)])


@SIZES
def test_slopes_between_the_support_against_the_enumerated_loss(seed, d, m):
    model = _model(seed, d=d, m=m)
    model.A = _minus(model.V[A], model.V[B])
    p = _orthogonal(model, model.A)
    omega, slope = _evaluated(model, one_step.slope_b(), p=p)
    model.require_close(-2 * omega * slope, model.slope_of_loss(), "head 1")
    omega, slope = _evaluated(model, one_step.slope_a(), p=p)
    model.require_close(2 * omega * slope, model.slope_of_loss_tilde(), "head 2")


@SIZES
def test_the_slope_of_a_third_position_against_the_enumerated_loss(seed, d, m):
    model = _model(seed, d=d, m=m)
    model.A = _minus(model.V[A], model.V[K])
    omega, slope = _evaluated(
        model,
        one_step.slope_k(),
        p=_orthogonal(model, model.V[A]),
        p_third=_orthogonal(model, model.V[K]),
    )
    model.require_close(-2 * omega * slope, model.slope_of_loss(), "head 1")


def _fails():
    derivation = load("one_step")
    slopes = replace(derivation, steps=derivation.steps[:4])
    return any(result.failed for result in slopes.check())


@pytest.mark.parametrize(
    ("function", "wrong"),
    [
        ("slope_b", lambda right: lambda: -right()),
        ("slope_b", lambda right: lambda: right() + sp.Rational(1, 1000)),
        ("slope_b", lambda right: lambda: right().xreplace({one_step.rho: -one_step.rho})),
        ("slope_b", lambda right: lambda: right().xreplace({one_step.p: 2 * one_step.p})),
        ("slope_a", lambda right: lambda: right().xreplace({one_step.s: -one_step.s})),
        ("slope_a", lambda right: lambda: right().xreplace({one_step.p: -one_step.p})),
        ("slope_k", lambda right: lambda: right().xreplace({one_step.p: -one_step.p})),
        ("slope_k", lambda right: lambda: right() - Entry(one_step.p, one_step.k_out)),
        ("slope_k", lambda right: lambda: right().xreplace({one_step.rho_ak: one_step.rho_bk})),
        ("along_support", lambda right: lambda: -right()),
        ("along_third", lambda right: lambda: 2 * right()),
        ("own_part", lambda _right: lambda weights: weights),
        ("own_part", lambda right: lambda weights: right(weights).xreplace({E: E**2})),
    ],
)
def test_a_wrong_slope(monkeypatch, function, wrong):
    monkeypatch.setattr(one_step, function, wrong(getattr(one_step, function)))
    assert _fails()


def test_thresholds_at_which_the_loss_is_the_tolerance():
    context = mpmath.MPContext()
    context.dps = 30
    functions = {"sqrt": context.sqrt, "log": context.log, "max": max}

    def evaluated(name, scalars):
        return evaluate_real(
            value(name),
            rational=lambda p, q: context.mpf(p) / q,
            scalars=scalars,
            functions=functions,
        )

    for tolerance in ("0.01", "0.5", "1", "1.7"):
        at = {"T": context.mpf(tolerance), "share": context.mpf("0.3"), "d": context.mpf(50)}
        at |= {"sigma": context.mpf("0.2"), "C": context.mpf(7), "omega_low": context.mpf("0.9")}
        for name in ("r_loss", "x_loss", "tau_0", "tau_a"):
            at[name] = evaluated(name, at)
        # With equality in every bound, d - 2 equal weights off the support made up to d of them.
        gain = 2 * at["C"] * at["omega_low"]
        other = context.exp(-gain * at["tau_0"])
        third = context.exp(2 * at["sigma"] - gain * at["tau_a"])
        own = 1 / (1 + other + 50 * third)
        loss = (1 - (2 * own - 1) ** 2) ** 2
        assert abs(loss - min(at["T"], 1)) < context.mpf(10) ** -25
