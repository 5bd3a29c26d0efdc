import json
import os
import resource
import subprocess
import sys
import time
from contextlib import suppress
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from numerics.arguments import InvalidArgumentError
from numerics.population import gradient as kernel
from verify.claims import CLAIMS
from verify.cli import main
from verify.instances.instance import load_instance


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    """The four points of the circle, support (0, 1), theta the first of them."""
    path = tmp_path / "circle.npz"
    V = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    np.savez(path, V=V, theta=np.array([1.0, 0.0]), support=np.array([0, 1]))
    return path


def run(capsys, *argv: object) -> tuple[int, str, str]:
    code = main([str(each) for each in argv])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def document(capsys, *argv: object) -> dict:
    code, out, _ = run(capsys, *argv, "--json")
    assert code == 0
    return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


BAD = [
    ("theorem2 --m 3", "arguments=theorem2 --m 3: the following arguments are required: --d"),
    ("theorem2 --d 1 --m 3", "d=1: must be an integer >= 2"),
    ("theorem2 --d 2.5 --m 3", "d=2.5: must be an integer >= 2"),
    ("theorem2 --d nan --m 3", "d=nan: must be an integer >= 2"),
    ("theorem2 --d 4 --m 0", "m=0: must be an integer >= 1"),
    ("theorem2 --d 4 --m 3 --trials 0", "trials=0: must be in 1..1000000"),
    ("theorem2 --d 4 --m 3 --eta-scale -1e-3", "eta_scale=-1e-3: must be positive"),
    ("theorem2 --d 4 --m 3 --eta-scale inf", "eta_scale=inf: must be a finite decimal number"),
    ("theorem2 --d 4 --m 3 --eta-scale -inf", "eta_scale=-inf: must be a finite decimal number"),
    ("theorem2 --d 4 --m 3 --tolerance nan", "tolerance=nan: must be a finite decimal number"),
    ("theorem2 --d 4 --m 3 --tolerance 0", "tolerance=0: must be positive"),
    ("theorem2 --d 4 --m 3 --tol 1", "arguments=theorem2 --d 4 --m 3 --tol 1: unrecognized"),
    ("theorem2 --d 4 --m 3 --law levy", "law=levy: must be one of sphere, gaussian"),
    ("theorem2 --d 4 --m 3 --law orthonormal", "law=orthonormal: needs d <= m"),
    ("theorem2 --d 4 --m 3 --jobs 0", "jobs=0: must be in 1..1024"),
    ("theorem2 --d 4 --m 3 --seed -1", "seed=-1: must be an integer >= 0"),
    ("theorem2 --d 1e12 --m 1e6", "d=1e12: needs about"),
    ("theorem2 --d 1e18 --m 1e18", "d=1e18: needs about"),
    ("instance --d 4 --m 3 --support 1 1 --out x", "support=(1, 1): the two positions must differ"),
    ("instance --d 4 --m 3 --support 1 4 --out x", "support=(1, 4): positions must be in 0..3"),
    ("instance --d 4 --m 3 --support -1 2 --out x", "support=-1: must be an integer >= 0"),
    ("instance --d 4 --m 3 --support 1 --out x", "arguments=instance --d 4 --m 3 --support 1"),
    ("instance --d 4 --m 3 --out no/such/x", "out=no/such/x: cannot be written"),
    ("gradient missing.npz", "instance=missing.npz: unreadable instance file: there is no such"),
    ("gradient x.npz --digits 0", "digits=0: must be in 1..1000"),
    ("gradient x.npz --digits 1001", "digits=1001: must be in 1..1000"),
    ("run --profile fast", "profile=fast: must be one of quick, standard, full"),
    ("run --claim nothing", "claim=nothing: no such claim"),
    ("run --claim zero-start --out /dev/null/x", "out=/dev/null/x: cannot be written"),
    ("show nothing", "claim=nothing: no such claim"),
    ("frobnicate", "arguments=frobnicate: argument COMMAND: invalid choice"),
    ("list extra", "arguments=list extra: unrecognized arguments: extra"),
    ("--frobnicate", "arguments=--frobnicate: unrecognized arguments"),
]


@pytest.mark.parametrize(("request_", "message"), BAD)
@pytest.mark.parametrize("extra", [(), ("--json",)])
def test_a_bad_request_is_one_line_and_leaves_nothing(
    capsys, tmp_path, monkeypatch, request_: str, message: str, extra: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, *request_.split(), *(extra if "instance" not in request_ else ()))
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("error: " + (message if not extra else message.split(":")[0][:9]))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("request_", "end"),
    [
        ("thorem2 --d 4 --m 3", "; did you mean theorem2?"),
        (
            "theorem2 --d 4 --m 3 --trails 3",
            "unrecognized arguments: --trails 3; did you mean --trials?",
        ),
        (
            "theorem2 --d 4 --m 3 --trails=300000000000000",
            "unrecognized arguments: --trails=300000000000000; did you mean --trials?",
        ),
        ("theorem2 --d 4 --m 3 -- --trials 3", "unrecognized arguments: -- --trials 3"),
        ("theorem2 --d 4 --m 3 --=3", "unrecognized arguments: --=3"),
        ("--quite", "unrecognized arguments: --quite; did you mean --quiet?"),
        ("theorem2 --quiet", "the following arguments are required: --d, --m"),
        ("list theorem", "unrecognized arguments: theorem"),
    ],
)
def test_what_is_misspelt_has_a_near_name_of_its_own_kind(capsys, request_: str, end: str) -> None:
    code, out, err = run(capsys, *request_.split())
    assert (code, out) == (2, "")
    assert err.endswith(f"{end}\n")


def test_what_would_break_the_line_is_escaped(capsys) -> None:
    code, out, err = run(capsys, "show", "a\nb\x1b[31m")
    assert (code, out) == (2, "")
    assert err == "error: claim=a\\nb\\x1b[31m: no such claim; 'list' names them all\n"


def test_list_names_every_claim(capsys) -> None:
    code, out, _ = run(capsys, "list")
    assert code == 0
    ids = [line.split()[0] for line in out.splitlines()]
    assert ids == [claim["id"] for claim in document(capsys, "list")["claims"]]
    assert "theorem2-loss" in ids


def test_show_prints_statement_assumptions_and_dependencies(capsys) -> None:
    found = document(capsys, "show", "theorem2-loss")
    code, out, _ = run(capsys, "show", "theorem2-loss")
    assert code == 0
    assert found["statement"] in out
    assert found["source"].startswith("arXiv:2502.07553v2, Theorem 2")
    assert "antisymmetric start" in out
    assert all(dependency in out for dependency in found["dependencies"])


def test_version(capsys) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("xorverify 0.")


def test_instance_writes_what_the_trial_draws(capsys, tmp_path) -> None:
    out = tmp_path / "i.npz"
    assert (
        run(capsys, "instance", "--d", 9, "--m", 3, "--seed", 5, "--trial", 2, "--out", out)[0] == 0
    )
    found = load_instance(out)
    rng = np.random.default_rng(np.random.SeedSequence(5, spawn_key=(2,)))
    a = int(rng.integers(9))
    b = int(rng.integers(8))
    assert found.support == (a, b + (b >= a))
    assert found.V.shape == (9, 3)
    expected = rng.standard_normal((9, 3))
    assert np.allclose(found.V, expected / np.linalg.norm(expected, axis=1)[:, None], atol=1e-15)


def test_gradient_of_the_circle(capsys, instance) -> None:
    found = document(capsys, "gradient", instance, "--digits", 15)
    assert found["convention"] == "L = E (f - y)^2"
    assert (found["d"], found["m"], found["support"], found["digits"]) == (4, 2, [0, 1], 15)
    assert found["loss"].startswith("0.93281898959530")
    assert found["gradient"]["theta"] == ["-0.0518517666402136", "-0.0284416809826276"]
    assert found["gradient"]["theta_tilde"] == ["-0.186747090670938", "-0.210157176328524"]
    assert found["unit_norm_deviation"] == {"lower": "0", "upper": "0"}


def test_a_gradient_that_would_not_fit_in_memory_is_refused_before_the_work(
    capsys, monkeypatch, instance
) -> None:
    kernel = "numerics.balls.gradient_digits.population_gradient_digits"
    # V twice, and for each of 4 positions 1200 bytes and 32 numbers of 114 bits: 50 for 15 digits,
    # and 64 to spare.
    needed = 2 * 64 + 4 * (1200 + 32 * 114 // 8)
    monkeypatch.setattr("verify.running.memory.usable_bytes", lambda: needed)
    document(capsys, "gradient", instance, "--digits", 15)
    with monkeypatch.context() as patched:
        patched.setattr(kernel, lambda *_, **__: pytest.fail("it was computed"))
        patched.setattr("verify.running.memory.usable_bytes", lambda: needed - 1)
        code, out, err = run(capsys, "gradient", instance, "--digits", 15, "--json")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith(f"error: instance={instance}: needs about ")
        assert "GiB of memory" in err
    code, _, err = run(capsys, "gradient", instance, "--digits", 16)
    assert (code, "GiB of memory" in err) == (2, True)


# Prints how many bytes a command takes at its peak, beyond those of a small instance. `getrusage`
# would count what the process that started this one had.
_PEAK = """
import re, sys
from verify.cli import main
status = lambda entry: 1024 * int(
    re.search(entry + r":\\s+(\\d+) kB", open("/proc/self/status").read())[1]
)
small, large, command, *options = sys.argv[1:]
main([command, small, *options])
before = status("VmRSS")
main([command, large, *options])
print(status("VmHWM") - before)
"""


@pytest.mark.parametrize(
    ("command", "bytes_per_position"),
    [
        (("certify", "--eta", "1e9"), 2200),
        (("gradient", "--digits", "17"), 1200 + 32 * 121 // 8),
        (("gradient", "--digits", "200"), 1200 + 32 * 729 // 8),
    ],
)
def test_estimates_of_memory_are_near_the_truth(
    capsys, tmp_path, command: tuple[str, ...], bytes_per_position: int
) -> None:
    d, m = 20_000, 4
    for name, size in (("small", 50), ("large", d)):
        run(capsys, "instance", "--d", size, "--m", m, "--out", tmp_path / name)
    found = subprocess.run(
        [sys.executable, "-c", _PEAK, tmp_path / "small", tmp_path / "large", *command],
        capture_output=True,
        check=True,
        text=True,
    )
    measured = int(found.stdout.splitlines()[-1])
    # The estimate is an upper bound, and a refusal by it is fair. V is next to nothing here.
    assert 0.5 <= measured / (d * (bytes_per_position + 16 * m)) <= 1


def test_gradient_where_the_queries_vanish_is_rational(capsys, instance, tmp_path) -> None:
    with np.load(instance) as archive:
        V = archive["V"]
    path = tmp_path / "zero.npz"
    np.savez(path, V=V, theta=np.zeros(2))
    found = document(capsys, "gradient", path, "--support", 0, 1)
    assert found["loss"] == "0.90625000000000000"
    assert found["gradient"]["theta"] == ["-0.12500000000000000"] * 2
    assert found["gradient"]["theta_tilde"] == found["gradient"]["theta"]


def test_digits_of_the_gradient_agree_with_the_kernel_and_with_each_other(capsys, tmp_path) -> None:
    out = tmp_path / "i.npz"
    run(capsys, "instance", "--d", 30, "--m", 4, "--out", out)
    short = document(capsys, "gradient", out)
    long = document(capsys, "gradient", out, "--digits", 300)
    given = load_instance(out)
    binary64 = kernel(given.V, given.theta, given.theta_tilde, given.support)
    for name, values in (("theta", binary64.theta), ("theta_tilde", binary64.theta_tilde)):
        for few, many, value in zip(
            short["gradient"][name], long["gradient"][name], values, strict=True
        ):
            assert len(Decimal(many).as_tuple().digits) == 300
            with_17 = f"{Decimal(many):.16e}"
            assert Decimal(few) == Decimal(with_17)
            # The kernel's relative accuracy, about 1e-15 m in the norm, at m = 4.
            assert float(few) == pytest.approx(float(value), rel=0, abs=1e-14 * 2 / 30**2)


def test_theorem2_document(capsys) -> None:
    found = document(
        capsys, "theorem2", "--d", "6.4e1", "--m", 16, "--trials", 20, "--quiet", "--seed", 4
    )
    assert (found["d"], found["m"], found["trials"]) == (64, 16, 20)
    assert found["eta_scale"] == "1000"
    failure = found["failure"]
    assert failure["count"] + found["successes"] == 20
    assert failure["lower"] <= failure["point"] <= failure["upper"]
    assert failure["level"] == pytest.approx(0.95)
    assert found["same_position"]["count"] <= failure["count"]
    assert 0 <= found["sup_loss"]["median"] <= found["sup_loss"]["max"] <= 4


def test_theorem2_does_not_depend_on_jobs(capsys) -> None:
    argv = ("theorem2", "--d", 32, "--m", 8, "--trials", 11)
    assert document(capsys, *argv, "--jobs", 1) == document(capsys, *argv, "--jobs", 3)


def test_run_writes_the_report_and_prints_the_table(capsys, tmp_path) -> None:
    argv = ("--profile", "quick", "--claim", "parameter-count", "zero-start", "--out", tmp_path)
    code, out, err = run(capsys, *argv)
    assert code == 0
    assert "parameter-count" in out
    assert "exact" in out
    cells = sum(len(CLAIMS[id_].cells("quick")) for id_ in ("parameter-count", "zero-start"))
    assert f"[{cells}/{cells}]" in err
    results = json.loads((tmp_path / "results.json").read_text())
    assert [each["id"] for each in results["claims"]] == ["zero-start", "parameter-count"]
    assert {each["verdict"] for each in results["claims"]} == {"exact"}
    report = (tmp_path / "report.md").read_text()
    assert "| [zero-start](#zero-start)" in report
    page = (tmp_path / "report.html").read_text()
    assert '<article id="zero-start"' in page
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "figures",
        "report.html",
        "report.md",
        "results.json",
    ]


def test_run_json_is_the_results_file(capsys, tmp_path) -> None:
    argv = ("run", "--profile", "quick", "--claim", "parameter-count", "--out", tmp_path)
    assert document(capsys, *argv) == json.loads((tmp_path / "results.json").read_text())


def in_a_process(*argv: object, **options) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "verify", *map(str, argv)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_the_module_and_its_exit_code() -> None:
    found = in_a_process("theorem2", "--d", "1", "--m", "2")
    assert found.returncode == 2
    assert found.stderr == "error: d=1: must be an integer >= 2\n"


def test_a_closed_output_is_no_traceback() -> None:
    command = f"{sys.executable} -m verify list | true"
    found = subprocess.run(
        command, shell=True, capture_output=True, text=True, check=False, env={**os.environ}
    )
    assert "Traceback" not in found.stderr
    assert "Exception" not in found.stderr


@pytest.mark.parametrize("redirection", [">&-", ">/dev/full"])
@pytest.mark.parametrize(
    "command",
    ["list", "--help", "--version", "theorem2 --d 4 --m 2 --trials 1 --json --quiet"],
)
def test_an_output_that_takes_nothing_is_one_line_and_not_a_refutation(
    command: str, redirection: str
) -> None:
    found = subprocess.run(
        f"{sys.executable} -m verify {command} {redirection}",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 3
    assert found.stderr.startswith("standard output")
    assert found.stderr.count("\n") == 1


def test_a_report_file_that_is_a_folder_is_refused_before_the_work(capsys, tmp_path) -> None:
    for name in ("results.json", "report.md", "report.html"):
        out = tmp_path / name / "out"
        (out / name).mkdir(parents=True)
        code, printed, err = run(capsys, "--claim", "zero-start", "--out", out, "--json")
        assert (code, printed) == (2, "")
        assert err.startswith(f"error: out={out / name}: is a folder")
        assert list(out.iterdir()) == [out / name]


def test_a_disk_that_fills_up_during_the_run_loses_nothing(capsys, tmp_path, monkeypatch) -> None:
    from verify.report import results

    def full(what, path, _) -> None:
        raise InvalidArgumentError(what, path, "cannot be written: No space left on device")

    monkeypatch.setattr(results, "write_atomically", full)
    argv = ("--profile", "quick", "--claim", "parameter-count", "--out", tmp_path, "--json")
    code, out, err = run(capsys, *argv)
    assert code == 3
    assert json.loads(out)["claims"][0]["verdict"] == "exact"
    assert "no report" in err


def test_a_bug_is_one_line_and_not_a_refutation(capsys, monkeypatch) -> None:
    from verify.commands import listing

    def broken(_) -> None:
        raise ZeroDivisionError("two\nlines")

    monkeypatch.setattr(listing, "execute", broken)
    code, out, err = run(capsys, "list")
    assert (code, out) == (3, "")
    assert err == "unexpected failure, please report it: ZeroDivisionError: two\\nlines\n"


def session(leader: int) -> list[int]:
    """The processes that are alive in a session of their own."""
    members = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, _, id_ = stat.read_text().rpartition(")")[2].split()[:4]
            if int(id_) == leader and state != "Z":
                members.append(int(stat.parent.name))
    return members


def test_sigterm_ends_a_run_and_its_workers(tmp_path) -> None:
    command = [sys.executable, "-m", "verify", "--profile", "full", "--claim", "theorem2-loss"]
    run_ = subprocess.Popen(
        [*command, "--out", tmp_path, "--json", "--quiet", "--jobs", "2"],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    # The run, the server of its semaphores and two workers.
    while len(session(run_.pid)) < 4:
        time.sleep(0.1)
    time.sleep(1)
    run_.terminate()
    out, _ = run_.communicate(timeout=60)
    assert run_.returncode == 3
    assert json.loads(out)["claims"][0]["verdict"] == "undecided"
    for _ in range(100):
        if not session(run_.pid):
            return
        time.sleep(0.1)
    pytest.fail("workers are still alive")


@pytest.mark.parametrize("argv", [["--help"], ["theorem2", "--d", "1", "--m", "2"], ["show", "x"]])
def test_help_and_refusals_load_neither_sympy_nor_scipy(argv: list[str]) -> None:
    code = (
        "import sys; from verify.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "heavy = {'sympy', 'scipy', 'rich', 'jinja2', 'matplotlib'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code, *argv], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr


def test_a_table_that_nobody_reads_is_not_a_refutation(tmp_path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    claim = ("--profile", "quick", "--claim", "parameter-count", "--quiet", "--jobs", "1")
    with os.fdopen(writer, "wb") as pipe:
        done = subprocess.run(
            [sys.executable, "-m", "verify", "run", *claim, "--out", str(tmp_path)],
            stdout=pipe,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (done.returncode, done.stderr) == (3, b"")


@pytest.mark.parametrize("failure", [OSError(24, "Too many open files"), ImportError("no numpy")])
def test_a_machine_in_trouble_is_no_bug_of_ours(capsys, monkeypatch, failure) -> None:
    from verify.commands import listing

    def broken(_) -> None:
        raise failure

    monkeypatch.setattr(listing, "execute", broken)
    assert run(capsys, "list") == (3, "", f"cannot go on: {failure}\n")


@pytest.mark.parametrize("moment", ["take_over", "main"])
def test_an_interruption_while_it_is_loading_is_exit_three(moment: str) -> None:
    """Whenever it comes after the first line of ours, it is neither lost nor a traceback."""
    target = {"take_over": "verify.console.streams", "main": "verify.cli"}[moment]
    code = f"""
import os, signal, sys
from verify.__main__ import main
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {target!r}:
            os.kill(os.getpid(), signal.SIGTERM)
import verify.console.interruption
sys.meta_path.insert(0, Interrupting())
sys.argv = ["xorverify", "list"]
verify.console.interruption.take_over()
sys.exit(main())
"""
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert (found.returncode, found.stdout, found.stderr) == (3, "", "interrupted\n")


def test_where_the_libraries_do_not_fit_it_is_said_before_they_are_loaded() -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))

    found = subprocess.run(
        [sys.executable, "-m", "verify", "list", "--json"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limit,
    )
    assert (found.returncode, found.stdout) == (3, "")
    assert found.stderr.startswith("cannot go on: the address space is limited to 300 MiB")


def test_what_comes_after_the_last_byte_changes_nothing() -> None:
    code = """
import atexit, os, signal, sys
from verify.__main__ import main
sys.argv = ["xorverify", "--version"]
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
    atexit.register(os.kill, os.getpid(), number)
sys.exit(main())
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (found.returncode, found.stderr) == (0, b"")


def test_an_interruption_amid_a_text_that_is_executed_is_exit_three(tmp_path) -> None:
    (tmp_path / "interrupted.py").write_text(
        "import sys\n"
        "import verify.cli\n"
        "from verify.__main__ import main\n"
        "verify.cli.main = lambda: exec('raise KeyboardInterrupt')\n"
        "sys.exit(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "interrupted"], cwd=tmp_path, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, b"", b"")
