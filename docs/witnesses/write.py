"""The witnesses that linear and error-function attention learn, as bundles that can be replayed.

Run ``python docs/witnesses/write.py``; it writes a bundle for each cell of the claim
softmax-is-necessary beside itself, from the first draw of seed 0. ``xorverify replay FILE`` decides
each of them again, from the numbers in the file alone.
"""

from __future__ import annotations

from pathlib import Path

from verify.claims.softmax import WITNESSES, witness_question
from verify.decisions.bundle import save_bundle
from verify.decisions.descent import decide_descent
from verify.seeds import Streams

CLAIM = "softmax-is-necessary"
MAX_BITS = 4096


def main() -> None:
    """Decide and save every witness."""
    for name, witness in WITNESSES.items():
        question = witness_question(witness, Streams(0, f"{CLAIM}/{name}"), 0)
        found = decide_descent(question, MAX_BITS)
        path = Path(__file__).with_name(f"{witness.attention}_attention.json")
        save_bundle(path, question, found)
        print(f"{path.name}: {found['verdict']}, every loss <= {found['sup_loss']['upper']}")


if __name__ == "__main__":
    main()
