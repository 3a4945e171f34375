"""The hierarchy of sites: the groups of similar sites that a rule may explain.

Sites that would be generalised in the same way from one example alone form the initial groups. Then the two most
similar groups are merged, again and again, as long as what they share is specific enough (Bader et al., 2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from editvec.rules.antiunify import generalise
from editvec.rules.candidates import MIN_WEIGHT, common, is_usable
from editvec.rules.sites import Site
from editvec.rules.template import name_holes, weigh, write
from editvec.syntax.languages import Language

_REPRESENTATIVES = 4
"""Maximum number of sites of a group that are compared with another group."""
_MAX_CLUSTERS = 40
"""Maximum number of initial groups that are merged; the largest groups are taken."""

SiteGroup = tuple[Site, ...]


def hierarchy(sites: Sequence[Site], language: Language) -> list[SiteGroup]:
    """Return all groups: the initial ones, the largest first, then the merged ones in the order of merging."""
    by_template: dict[tuple[str, str, str, str], list[Site]] = {}
    for site in sites:
        by_template.setdefault(_own_template(site, language), []).append(site)
    groups = [tuple(each) for each in by_template.values()]
    groups.sort(key=len, reverse=True)
    found = list(groups)
    waiting = groups[:_MAX_CLUSTERS]
    scores: dict[tuple[int, int], float] = {}
    while len(waiting) > 1:
        best: tuple[float, int, int] | None = None
        for one in range(len(waiting)):
            for other in range(one + 1, len(waiting)):
                key = (id(waiting[one]), id(waiting[other]))
                if key not in scores:
                    scores[key] = _likeness(waiting[one], waiting[other], language)
                if scores[key] > 0 and (best is None or scores[key] > best[0]):
                    best = scores[key], one, other
        if best is None:
            break
        _, one, other = best
        merged = waiting[one] + waiting[other]
        found.append(merged)
        waiting = [each for at, each in enumerate(waiting) if at not in (one, other)] + [merged]
    return found


def _own_template(site: Site, language: Language) -> tuple[str, str, str, str]:
    """Return a site's templates as texts, generalised from this site alone, and the kinds of their nodes.

    The smallest usable pair is taken. Values that occur on both sides are holes. Sites with equal results form an
    initial group.
    """
    pair = next((each for each in site.pairs if is_usable(each, site.example.language)), site.pairs[0])
    found = generalise([pair], language)
    name_holes(found, language)
    one, other = (" ".join(write(side, one_line=True).split()) for side in (found.before, found.after))
    return one, other, pair.before.kind, pair.after.kind


def _likeness(one: SiteGroup, other: SiteGroup, language: Language) -> float:
    """Return how much two groups have in common; 0 if that is not specific enough for a rule."""
    chosen = one[:_REPRESENTATIVES] + other[:_REPRESENTATIVES]
    for found in islice(common(chosen, language, min_weight=MIN_WEIGHT / 4), 2):
        if weigh(found.before, language) < MIN_WEIGHT / 2:
            continue
        return weigh(found.before, language) + weigh(found.after, language)
    return 0.0
