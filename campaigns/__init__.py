"""What attacks the verifier: mutated theorems, hostile instances, hostile files, reruns."""
