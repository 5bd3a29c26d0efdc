import numpy as np
from numpy.typing import NDArray

class MLPRegressor:
    coefs_: list[NDArray[np.float64]]
    intercepts_: list[NDArray[np.float64]]
    def __init__(
        self,
        *,
        hidden_layer_sizes: tuple[int, ...] = ...,
        solver: str = ...,
        alpha: float = ...,
        max_iter: int = ...,
        tol: float = ...,
        random_state: int | None = ...,
    ) -> None: ...
    def fit(self, X: NDArray[np.float64], y: NDArray[np.float64]) -> MLPRegressor: ...
