"""Edit vectors for scikit-learn: an estimator with `fit` and `transform`, for pipelines and grid searches.

Examples:
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.pipeline import make_pipeline
    >>> from editvec.training.estimator import EditVectoriser
    >>> groups = make_pipeline(EditVectoriser(epochs=5), KMeans(20)).fit_predict(edits)
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from editvec import training
from editvec.core.edit import Edit
from editvec.core.errors import UserError
from editvec.data import edit_files
from editvec.neural import model
from editvec.syntax.snippet import snippet_edit
from editvec.training import config

AnyEdit = Edit | tuple[str, str]


class EditVectoriser(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer that learns an edit encoder and maps edits to vectors.

    The encoder is trained together with an editor. An edit is an `editvec.Edit`, or a pair of texts, before and after.
    With `path`, a trained model is loaded instead of training one. `settings` are settings of a run's config.toml.
    """

    def __init__(
        self,
        encoder: str = "sequence",
        editor: str = "seq2seq",
        *,
        recipe: str = "default",
        epochs: int = 5,
        settings: dict[str, Any] | None = None,
        language: str = "csharp",
        path: str | None = None,
        random_state: int = 0,
    ) -> None:
        self.encoder = encoder
        self.editor = editor
        self.recipe = recipe
        self.epochs = epochs
        self.settings = settings
        self.language = language
        self.path = path
        self.random_state = random_state

    def fit(self, X: Iterable[AnyEdit], y: object = None) -> EditVectoriser:  # noqa: N803
        """Train on edits; with `path`, load the model there.

        Raises:
            UserError: An item is not an edit, a setting is invalid, or no edit can be used.
        """
        if self.path is not None:
            self.model_ = model.load(self.path)
            return self
        chosen = {"encoder": self.encoder, "editor": self.editor, "epochs": self.epochs, "seed": self.random_state}
        made = config.with_settings(config.recipe(self.recipe), chosen | (self.settings or {}))
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            edit_files.write(folder / "train.parquet", self._edits(X))
            # The later steps of the pipeline evaluate the vectors, so no edit is held out from training.
            file = folder / "train.parquet"
            training.train(folder / "run", training.Files(file, file), made)
            self.model_ = model.load(folder / "run")
        return self

    def transform(self, X: Iterable[AnyEdit]) -> NDArray[np.float32]:  # noqa: N803
        """Return the edit vectors: [edits, edit_dim]."""
        check_is_fitted(self)
        return self.model_.encode(self._edits(X))

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the names of the numbers of a vector: edit0, edit1 and so on."""
        check_is_fitted(self)
        return np.array([f"edit{at}" for at in range(self.model_.edit_dim)], object)

    def _edits(self, given: Iterable[AnyEdit]) -> Iterable[Edit]:
        """Yield edits for the items."""
        for number, each in enumerate(given):
            if isinstance(each, Edit):
                yield each
            elif isinstance(each, tuple) and len(each) == 2 and all(isinstance(text, str) for text in each):
                yield snippet_edit(*each, self.language, identity=str(number))
            else:
                raise UserError(
                    f"number {number} is not an edit: expected an editvec.Edit or a pair of texts (before, after)."
                )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags
