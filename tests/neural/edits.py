"""Small edits to learn, and a model to learn them with."""

from __future__ import annotations

import random
from typing import Any

from editvec.core.edit import Edit, Version
from editvec.neural import vocab
from editvec.neural.config import ModelConfig
from editvec.neural.grammar import edit_trees, learn
from editvec.neural.model import EditModel, needs_trees
from editvec.syntax import tree
from editvec.syntax.tree import ABSENT, LIST, Tree

TEN = (
    ("x = x + 1 ;", "x ++ ;"),
    ("y = y + 1 ;", "y ++ ;"),
    ("if ( a == null ) return ;", "if ( a is null ) return ;"),
    ("Assert . Equal ( 0 , xs . Count ) ;", "Assert . Empty ( xs ) ;"),
    ("Assert . Equal ( 0 , ys . Count ) ;", "Assert . Empty ( ys ) ;"),
    ("await Task . Run ( f ) ;", "await Task . Run ( f ) . ConfigureAwait ( false ) ;"),
    ("var n = b == null ? null : b . Name ;", "var n = b ? . Name ;"),
    ("return Foo ( ) ;", "return Bar ( ) ;"),
    ("Log ( m ) ;", "Log . Debug ( m ) ;"),
    ("int z = 0 ;", "var z = 0 ;"),
)


def edit(before: str, after: str, *, above: str = "", below: str = "", identity: str = "e") -> Edit:
    """An edit of tokens that spaces separate, with some tree over them."""
    versions = [Version(text, tuple(text.split()), tree.dumps(some_tree(text.split()))) for text in (before, after)]
    return Edit(
        identity,
        "csharp",
        versions[0],
        versions[1],
        context_before=tuple(above.split()),
        context_behind=tuple(below.split()),
    )


def some_tree(tokens: list[str]) -> Tree:
    """A tree over tokens: halved until three are left, lists and single tokens in between."""
    at = 0

    def build(some: list[str], field: str) -> Tree:
        nonlocal at
        if len(some) <= 3:
            leaves = []
            for token in some:
                leaves.append(Tree("token" if token.isalnum() else token, "", (), token, at, True))
                at += 1
            return Tree(LIST if len(some) == 2 else "group", field, tuple(leaves))
        half = len(some) // 2
        return Tree("pair", field, (build(some[:half], "left"), Tree(ABSENT, "between"), build(some[half:], "right")))

    return Tree("root", "", (build(tokens, "body"),))


def ten_edits() -> list[Edit]:
    """Ten different edits; one `after` holds a token that only the context has."""
    edits = [edit(before, after, identity=f"e{at}") for at, (before, after) in enumerate(TEN)]
    edits[7] = edit(*TEN[7], above="void Bar ( ) { }", below="}", identity="e7")
    return edits


def random_edits(number: int, seed: int = 0) -> list[Edit]:
    """Edits of random tokens and lengths, in contexts."""
    chance = random.Random(seed)

    def words(least: int, most: int) -> str:
        return " ".join(f"w{chance.randrange(40)}" for _ in range(chance.randint(least, most)))

    return [
        edit(words(1, 12), words(0, 12), above=words(0, 9), below=words(0, 9), identity=f"r{at}")
        for at in range(number)
    ]


def small_config(**settings: Any) -> ModelConfig:
    """A config whose networks train in seconds."""
    sizes: dict[str, Any] = {"embed_dim": 32, "tag_dim": 8, "hidden_dim": 48, "edit_dim": 32, "dropout": 0.0}
    return ModelConfig(**(sizes | {"min_count": 1, "graph_dropout": 0.0} | settings))


def small_model(edits: list[Edit], *, seed: int = 0, scale: float | None = None, **settings: Any) -> EditModel:
    """A model over the tokens of some edits, with random weights, `scale` times as large as a new model's."""
    config = small_config(**settings)
    grammar = learn([each for made in edits for each in edit_trees(made)]) if needs_trees(config) else None
    counts = vocab.count_tokens(edits, lowercase=config.lowercase)
    words = vocab.build(counts, size=config.vocab_size, min_count=config.min_count, num_pieces=config.num_pieces)
    model = EditModel(config, words, grammar)
    model.network.initialise(seed)
    # Far from uniform, so that a wrong score shows; but a graph network takes many steps with the same weights, and
    # what is carried to the generator is a product of several.
    for weight in model.network.weights().values():
        weight.value *= scale or (3 if grammar is None and not config.token_skip else 1.5)
    return model


def learn_by_heart(
    model: EditModel, edits: list[Edit], *, steps: int = 150, rate: float = 1e-2, likely: float = 0.95
) -> None:
    """Train a model on edits until it finds each one's `after` so likely, or for so many steps."""
    # Only who trains waits for torch.
    import torch

    from editvec.training.learner import Learner

    learner = Learner(model.network)
    optimiser = torch.optim.Adam(learner.parameters(), rate)
    batch = model.collate(model.exampler.all(edits))
    for _ in range(steps):
        optimiser.zero_grad()
        log_probs = learner(batch)
        (-log_probs.mean()).backward()
        optimiser.step()
        if log_probs.exp().min() > likely:
            break
    learner.close()
