"""A git repository's file histories as a corpus."""

from __future__ import annotations

import hashlib
from pathlib import Path
from shutil import rmtree

import pytest
from tests.importers import (
    DAY,
    T0,
    Commit,
    Cut,
    cutting,
    git,
    hurried,
    repository,
    same,
    taken,
    taken_in_parts,
    without_git,
)

from recrawl.corpora.importers.repositories import commits
from recrawl.corpora.importers.repositories.git import GONE, Git
from recrawl.errors import BadInputError


def blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0%s" % (len(content), content), usedforsecurity=False).hexdigest()


A, B, C = (blob(text) for text in (b"a", b"b", b"c"))


def test_versions_are_blobs_at_the_committers_time_and_a_deletion_is_a_tombstone(tmp_path: Path) -> None:
    repo = repository(
        tmp_path / "data.git",
        Commit(T0, {"x.json": b"a", "y.json": b"a"}),
        Commit(T0 + 60, {"x.json": b"b"}),
        Commit(T0 + 120, {"x.json": None}),
        Commit(T0 + 180, {"x.json": b"b"}),
        Commit(T0 + 240, {}),
    )
    found = taken(Git(), repo, tmp_path / "out")
    assert found.events == {
        "x.json": [(T0, A), (T0 + 60, B), (T0 + 120, GONE), (T0 + 180, B)],
        "y.json": [(T0, A)],
    }
    assert found.facts["x.json"]["host"] == "data"
    about = found.corpus.about
    assert (about.kind, about.observation, about.start_at, about.end_at) == (
        "data", "every-change", T0, T0 + 240,
    )  # fmt: skip


def test_a_work_tree_is_as_good_as_a_bare_repository_and_a_folder_in_it_is_refused(tmp_path: Path) -> None:
    bare = repository(tmp_path / "r.git", Commit(T0, {"a/x": b"a"}), Commit(T0 + 9, {"a/x": b"b"}))
    git("clone", "-q", str(bare), str(tmp_path / "work"))
    assert taken(Git(), tmp_path / "work", tmp_path / "out").events == {"a/x": [(T0, A), (T0 + 9, B)]}
    with pytest.raises(BadInputError, match="the repository's own folder"):
        taken(Git(), tmp_path / "work" / "a", tmp_path / "none")


def test_names_of_any_bytes_come_through(tmp_path: Path) -> None:
    names = ["a b.txt", 'quo"te', "new\nline", "ünï/😀.json", "back\\slash", "-dash", ":colon"]
    files: dict[str | bytes, bytes | tuple[str, bytes] | None] = dict.fromkeys(names, b"a")
    repo = repository(tmp_path / "r.git", Commit(T0, {**files, b"latin-\xe9": b"a"}))
    assert set(taken(Git(), repo, tmp_path / "out").events) == {*names, "latin-%E9"}


def test_a_merge_counts_as_what_it_changed_on_the_branch_it_was_merged_into(tmp_path: Path) -> None:
    repo = repository(
        tmp_path / "r.git",
        Commit(T0, {"x": b"a", "z": b"a"}),
        Commit(T0 + 10, {"x": b"b"}, branch="side"),
        Commit(T0 + 20, {"z": b"b"}),
        Commit(T0 + 30, {"x": b"b"}, merges=["side"]),
    )
    found = taken(Git(), repo, tmp_path / "out")
    assert found.events == {"x": [(T0, A), (T0 + 30, B)], "z": [(T0, A), (T0 + 20, B)]}
    side = taken(Git(branch="side"), repo, tmp_path / "side")
    assert side.events["x"] == [(T0, A), (T0 + 10, B)]


def test_of_commits_within_one_second_the_last_stands(tmp_path: Path) -> None:
    repo = repository(
        tmp_path / "r.git", Commit(T0, {"x": b"a"}), Commit(T0 + 5, {"x": b"b"}), Commit(T0 + 5, {"x": b"c"})
    )
    traces = taken(Git(), repo, tmp_path / "out").corpus.traces()
    assert traces.at.tolist() == [T0 + 5]


def test_one_wrong_clock_moves_one_commit_and_says_so(tmp_path: Path) -> None:
    repo = repository(
        tmp_path / "r.git",
        Commit(T0, {"x": b"a"}),
        Commit(T0 + 18 * 365 * DAY, {"x": b"b"}),  # a clock far ahead
        Commit(T0 + 20, {"x": b"c"}),
        Commit(T0 - 9 * DAY, {"x": b"a"}),  # and one behind
        Commit(T0 + 30, {"x": b"b"}),
    )
    found = taken(Git(), repo, tmp_path / "out")
    assert [at for at, _ in found.events["x"]] == [T0, T0, T0 + 20, T0 + 20, T0 + 30]
    assert any("out of order (a wrong clock, a rebase): 2 of 5" in note for note in found.result.notes)


def test_links_modules_and_modes_are_no_versions_and_are_counted(tmp_path: Path) -> None:
    repo = repository(
        tmp_path / "r.git",
        Commit(T0, {"x": b"a", "link": ("120000", b"x"), "module": ("160000", b"1" * 40)}),
        Commit(T0 + 1, {"x": ("100755", b"a")}),
        Commit(T0 + 2, {"x": ("120000", b"elsewhere")}),
    )
    found = taken(Git(), repo, tmp_path / "out")
    assert found.events == {"x": [(T0, A), (T0 + 2, GONE)]}
    assert found.result.left_out == {
        "symbolic link": 1,
        "submodule": 1,
        "only the file's mode changed": 1,
    }


def test_only_the_chosen_files_and_times(tmp_path: Path) -> None:
    repo = repository(
        tmp_path / "r.git",
        Commit(T0, {"d/x.json": b"a", "d/y.json": b"a", "d/old.json": b"a", "z.txt": b"a"}),
        Commit(T0 + 10, {"d/x.json": b"b", "d/old.json": None}),
        Commit(T0 + 20, {"d/x.json": b"c", "z.txt": b"b"}),
        Commit(T0 + 30, {"d/x.json": b"a", "d/y.json": b"c"}),
    )
    back = repository(
        tmp_path / "back.git",
        Commit(T0, {"x": b"a", "y": b"a"}),
        Commit(T0 + 10, {"x": None}),
        Commit(T0 + 20, {"x": b"b", "y": b"b"}),
    )
    found = taken(Git(paths=["d/*.json"], since=T0 + 15, until=T0 + 29), repo, tmp_path / "out")
    # what x was at the beginning came at T0 + 10; what is gone by then is not there
    assert found.events == {"d/x.json": [(T0 + 10, B), (T0 + 20, C)], "d/y.json": [(T0, A)]}
    assert found.corpus.about.start_at == T0 + 15
    assert found.result.left_out == {"files that --paths does not name": 1, "commits after --until": 1}
    often = taken(Git(min_versions=3), repo, tmp_path / "often")
    assert set(often.events) == {"d/x.json"}
    # what was gone when the time began is no version: y has two, what came before counts as one
    later = taken(Git(min_versions=2, since=T0 + 15), repo, tmp_path / "later")
    assert set(later.events) == {"d/x.json", "d/y.json", "z.txt"}
    assert taken(Git(min_versions=2, since=T0 + 15), back, tmp_path / "back").events == {
        "y": [(T0, A), (T0 + 20, B)]
    }
    grouped = taken(Git(by_folder=True), repo, tmp_path / "grouped")
    assert {name: row["host"] for name, row in grouped.facts.items()} == {
        "d/x.json": "r/d", "d/y.json": "r/d", "d/old.json": "r/d", "z.txt": "r/.",
    }  # fmt: skip


def test_a_renamed_file_is_another_resource_unless_renames_are_followed(tmp_path: Path) -> None:
    repo = repository(
        tmp_path / "r.git",
        Commit(T0, {"x": b"a"}),
        Commit(T0 + 10, {}, renames={"x": "y"}),
        Commit(T0 + 20, {"y": b"b", "x": b"c"}),
    )
    assert taken(Git(), repo, tmp_path / "out").events == {
        "x": [(T0, A), (T0 + 10, GONE), (T0 + 20, C)],
        "y": [(T0 + 10, A), (T0 + 20, B)],
    }
    followed = taken(Git(follow_renames=True), repo, tmp_path / "followed").events
    assert followed == {"x": [(T0, A), (T0 + 20, B)], "x#2": [(T0 + 20, C)]}


def test_files_are_called_by_the_address_that_the_repository_came_from_without_passwords(
    tmp_path: Path,
) -> None:
    repo = repository(tmp_path / "r.git", Commit(T0, {"a b.json": b"a"}))
    git("-C", str(repo), "config", "remote.origin.url", "https://me:secret@example.org/owner/data.git")
    found = taken(Git(), repo, tmp_path / "out")
    (row,) = found.facts.values()
    assert (row["url"], row["host"], row["path"]) == (
        "https://example.org/owner/data/a%20b.json", "owner/data", "a b.json",
    )  # fmt: skip
    assert "secret" not in (tmp_path / "out" / "corpus.json").read_text()


@pytest.fixture
def few_together(monkeypatch: pytest.MonkeyPatch) -> None:
    # rows: a position after every other commit
    monkeypatch.setattr("recrawl.corpora.importers.repositories.git._N_TOGETHER", 5)


@pytest.mark.usefixtures("few_together")
@pytest.mark.parametrize("since", [T0 - 1.0, T0 + 5.0, T0 + 35.0])
def test_an_import_that_was_cut_off_goes_on_with_the_same_result(tmp_path: Path, since: float) -> None:
    log = [Commit(T0 + n, {f"f{n % 7}": b"%d" % n, "all": b"%d" % n}) for n in range(40)]
    repo = repository(tmp_path / "r.git", *log, Commit(T0 + 41, {"link": ("120000", b"x")}))
    said = {"since": since, "min_versions": 2}
    whole = taken(Git(**said), repo, tmp_path / "whole", options=said)  # type: ignore[arg-type]
    parts = taken_in_parts(Git, repo, tmp_path / "parts", 25, **said)
    assert parts.result.went_on
    same(whole, parts)


@pytest.mark.usefixtures("few_together")
def test_a_history_that_was_rewritten_meanwhile_is_not_gone_on_with(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r.git", *(Commit(T0 + n, {"x": b"%d" % n}) for n in range(30)))
    said = {"branch": "main"}
    with pytest.raises(Cut):
        taken(Git(branch="main"), repo, tmp_path / "out", options=said, tell=cutting(20), watch=hurried())
    rmtree(repo)
    repository(repo, *(Commit(T0 + n, {"y": b"%d" % n}) for n in range(30)))
    with pytest.raises(BadInputError, match="not the one that this import began with"):
        taken(Git(branch="main"), repo, tmp_path / "out", options=said)


def test_a_clone_leaves_the_contents_out_where_the_server_can(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r.git", Commit(T0, {"x": b"a"}), Commit(T0 + 1, {"x": b"b"}))
    git("-C", str(repo), "config", "uploadpack.allowFilter", "true")
    assert taken(Git(), f"file://{repo}", tmp_path / "out").events == {"x": [(T0, A), (T0 + 1, B)]}
    commits.clone(f"file://{repo}", tmp_path / "copy.git", lambda *_: None)
    listed = git("-C", str(tmp_path / "copy.git"), "rev-list", "--objects", "--missing=print", "HEAD")
    assert {line for line in listed.splitlines() if line.startswith("?")} == {f"?{A}", f"?{B}"}


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("-oProxyCommand=x", "begins with a dash"),
        ("--upload-pack=x", "begins with a dash"),
        ("ext::sh -c x://", "cannot be cloned; use one of https"),
        ("nowhere", "is no git repository"),
        ("file:///nowhere/at/all", "git ended with 128"),
    ],
)
def test_what_cannot_be_read_is_said_with_the_remedy(tmp_path: Path, source: str, said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        taken(Git(), source, tmp_path / "out")


def test_a_repository_without_commits_an_unknown_branch_and_a_missing_git_are_said(tmp_path: Path) -> None:
    empty = repository(tmp_path / "empty.git")
    with pytest.raises(BadInputError, match="no commit yet"):
        taken(Git(), empty, tmp_path / "out")
    repo = repository(tmp_path / "r.git", Commit(T0, {"x": b"a"}))
    for branch in ("nothing", "--all"):
        with pytest.raises(BadInputError, match=f"no branch, tag or commit {branch}"):
            taken(Git(branch=branch), repo, tmp_path / branch)
    with without_git(tmp_path), pytest.raises(BadInputError, match="git is not installed"):
        taken(Git(), repo, tmp_path / "none")


def test_nothing_that_a_repository_names_is_run(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r.git", Commit(T0, {"x": b"a"}))
    marker = tmp_path / "run"
    program = tmp_path / "evil"
    program.write_text(f"#!/bin/sh\ntouch {marker}\nexit 1\n")
    program.chmod(0o755)
    for name in ("gpg.program", "core.fsmonitor", "core.pager", "diff.external", "core.sshCommand"):
        git("-C", str(repo), "config", name, str(program))
    git("-C", str(repo), "config", "log.showSignature", "true")
    head = git("-C", str(repo), "cat-file", "commit", "HEAD")
    top, _, rest = head.partition("\n\n")
    mark = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    signed = git("-C", str(repo), "hash-object", "-t", "commit", "-w", "--stdin",
                 stdin=f"{top}\n{mark}\n\n{rest}\n".encode())  # fmt: skip
    git("-C", str(repo), "update-ref", "refs/heads/main", signed)
    assert taken(Git(), repo, tmp_path / "out").events == {"x": [(T0, A)]}
    assert not marker.exists()
    git("-C", str(repo), "log", "-1")  # whoever only says `git log` does run it
    assert marker.exists()


def test_nobody_is_asked_for_objects_that_are_missing(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r.git", Commit(T0, {"x": b"a"}))
    tree = git("-C", str(repo), "rev-parse", "HEAD^{tree}")
    (repo / "objects" / tree[:2] / tree[2:]).unlink()
    marker = tmp_path / "run"
    program = tmp_path / "evil"
    program.write_text(f"#!/bin/sh\ntouch {marker}\nexit 1\n")
    program.chmod(0o755)
    for name, value in (
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", str(tmp_path / "elsewhere.git")),
        ("remote.origin.uploadpack", str(program)),
    ):
        git("-C", str(repo), "config", name, value)
    with pytest.raises(BadInputError, match="git ended with 128"):
        taken(Git(), repo, tmp_path / "out")
    assert not marker.exists()
    with pytest.raises(AssertionError):
        git("-C", str(repo), "log", "--raw")
    assert marker.exists()
