"""The step of the action: review a pull request, and write the results where GitHub looks for them.

Everything is read from the environment. Exit codes: 0 fine, 1 places were found and `fail-level` says so, or those of
editvec for an error.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from editvec.core.errors import UserError
from editvec.core.files import to_json
from editvec.ui.pull_request import MARK, PullRequestReview, review_pull_request
from editvec.ui.report.formats import github, rdjson
from editvec.ui.report.sarif import sarif

MAX_COMMENT, MAX_SUMMARY = 60_000, 1_000_000
API_VERSION = "2022-11-28"


def main() -> int:
    """Run the step."""
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_bytes())
    pull: dict[str, Any] = event.get("pull_request") or {}
    base = os.environ.get("EDITVEC_BASE") or pull.get("base", {}).get("sha")
    try:
        if not base:
            raise UserError("this is not a pull request. Give the input base.")
        patterns, config = (Path(value) if (value := os.environ.get(name)) else None for name in _FOLDERS)
        review = review_pull_request(
            base=base, patterns=patterns, config=config, with_finish=os.environ.get("EDITVEC_FINISH") != "false"
        )
    except UserError as error:
        print(f"::error title=editvec::{str(error).replace('%', '%25')}")
        _append("GITHUB_STEP_SUMMARY", f"editvec: {error}\n")
        return error.exit_code
    _write(review)
    if os.environ.get("EDITVEC_COMMENT") == "true" and pull and review.num_places:
        _comment(review, pull)
    likely = len(review.finished.likely) + len(review.found.writable())
    failing = {"none": 0, "likely": likely, "any": review.num_places}[os.environ.get("EDITVEC_FAIL_LEVEL") or "none"]
    return 1 if failing else 0


_FOLDERS = ("EDITVEC_PATTERNS", "EDITVEC_CONFIG")


def _write(review: PullRequestReview) -> None:
    """Write the files of the artifact, the summary, the outputs and the annotations."""
    out = Path(os.environ["EDITVEC_OUT"])
    out.mkdir(parents=True, exist_ok=True)
    found, project = review.found.patterns, review.found.project
    (out / "editvec.patch").write_bytes(review.patch())
    (out / "editvec.sarif").write_bytes(to_json(sarif(found, project, review.found.suppressed)))
    (out / "editvec.rdjson").write_bytes(to_json(rdjson(found, project)))
    text = review.text()
    if review.patch():
        text += "\nThe likely places are in the artifact: `git apply editvec.patch`.\n"
    _append("GITHUB_STEP_SUMMARY", _cut(text, MAX_SUMMARY))
    _append("GITHUB_OUTPUT", f"places={review.num_places}\n")
    for line in github(found, project):
        print(line)


def _comment(review: PullRequestReview, pull: dict[str, Any]) -> None:
    """Write one comment at the seed's line, or replace that of an earlier run."""
    seed = review.seed
    if seed is None:
        return
    address = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}/pulls"
    body = {"body": _cut(review.text(), MAX_COMMENT)}
    try:
        number = int(pull["number"])
        comments = _call("GET", f"{address}/{number}/comments?per_page=100")
        old = next((each for each in comments if each["body"].startswith(MARK)), None)
        if old is not None:
            _call("PATCH", f"{address}/comments/{int(old['id'])}", body)
            return
        place = {"commit_id": pull["head"]["sha"], "path": seed.path, "line": seed.line, "side": "RIGHT"}
        _call("POST", f"{address}/{number}/comments", {**body, **place})
    except (urllib.error.URLError, TimeoutError) as error:
        # A pull request from a fork may not write comments; the summary has the same text.
        print(f"::warning title=editvec::the comment was not written ({error}). The job summary has its text.")


def _call(method: str, address: str, content: dict[str, Any] | None = None) -> Any:
    headers = {
        "Accept": "application/vnd.github+json",
        "Authorization": f"Bearer {os.environ['EDITVEC_TOKEN']}",
        "X-GitHub-Api-Version": API_VERSION,
    }
    data = None if content is None else json.dumps(content).encode()
    request = urllib.request.Request(address, data, headers, method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read())


def _append(variable: str, text: str) -> None:
    if path := os.environ.get(variable):
        with Path(path).open("a", encoding="utf-8") as stream:
            stream.write(text)


def _cut(text: str, most: int) -> str:
    """Return a text with at most this many bytes, in whole lines."""
    if len(text.encode()) <= most:
        return text
    return text.encode()[: most - 100].decode(errors="ignore").rpartition("\n")[0] + "\n- and more, left out here\n"


if __name__ == "__main__":
    sys.exit(main())
