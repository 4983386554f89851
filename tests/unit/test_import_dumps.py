"""MediaWiki XML dumps, sound and unsound."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from hashlib import sha1
from math import nan
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
import zstandard
from tests.intakes import events, run, run_cut

from recrawl.corpora.importers.wikis import pages
from recrawl.corpora.importers.wikis.dumps import MediaWikiDump
from recrawl.corpora.native import Corpus
from recrawl.corpora.sources import batch
from recrawl.errors import BadInputError

HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">
  <siteinfo>
    <sitename>Little wiki</sitename>
    <base>https://wiki.example/wiki/Main_Page</base>
    <namespaces><namespace key="0" case="first-letter" /></namespaces>
  </siteinfo>
"""
AT = 1_577_836_800  # 2020-01-01T00:00:00Z


def revision(
    n: int, digest: str | None = None, more: str = "", text: str = '<text bytes="5" id="1" />'
) -> str:
    said = "" if digest is None else f"<sha1>{digest}</sha1>"
    return f"""    <revision>
      <id>{n}</id>
      <timestamp>2020-01-{n:02d}T00:00:00Z</timestamp>
      <contributor><username>U</username><id>999</id></contributor>
      {more}{text}{said}
    </revision>
"""


def page(title: str, *revisions: str, namespace: int = 0, more: str = "") -> str:
    return (
        f"  <page>\n    <title>{escape(title)}</title>\n    <ns>{namespace}</ns>\n    <id>7</id>\n{more}"
        f"{''.join(revisions)}  </page>\n"
    )


def dump(tmp_path: Path, *parts: str, name: str = "stub.xml", pack: Callable[[bytes], bytes] = bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(pack((HEAD + "".join(parts) + "</mediawiki>\n").encode()))
    return path


def url(title: str) -> str:
    return f"https://wiki.example/wiki/{title}"


def at(day: int) -> int:
    return AT + (day - 1) * 86_400


def test_the_length_of_each_text_goes_along_where_the_dump_says_it(tmp_path: Path) -> None:
    path = dump(
        tmp_path,
        page("A", revision(1, "aa"), revision(2, "bb", text='<text bytes="25" id="2" />')),
        page("B", revision(1, "cc", text='<text xml:space="preserve">abc</text>')),
    )
    run(MediaWikiDump(), path, tmp_path / "out", strict=True)
    found = Corpus(tmp_path / "out").traces().size_bytes
    assert found is not None
    assert found.tolist() == pytest.approx([15.0, nan], nan_ok=True)


def test_revisions_become_versions_with_the_wikis_own_digests(tmp_path: Path) -> None:
    path = dump(
        tmp_path,
        page("Café & more (x)", revision(1, "aa"), revision(2, "bb"), revision(3, "aa")),
        page("Talk:Other", revision(1, "cc"), namespace=1),
    )
    done = run(MediaWikiDump(), path, tmp_path / "out", strict=True)
    assert events(tmp_path / "out") == {
        url("Caf%C3%A9_%26_more_(x)"): [(at(1), "aa"), (at(2), "bb"), (at(3), "aa")]
    }
    assert done.left_out == {"revisions in other namespaces": 1}
    assert done.about["title"] == "Revisions of Little wiki"


def test_namespaces_minor_edits_redirects_and_times_can_be_chosen(tmp_path: Path) -> None:
    minor = "<minor />"
    path = dump(
        tmp_path,
        page("A", revision(1, "a", minor), revision(2, "b", minor), revision(3, "c"), revision(4, "d")),
        page("B", revision(1, "e"), more='    <redirect title="A" />\n'),
        page("Talk:A", revision(2, "f"), namespace=1),
    )
    chosen = MediaWikiDump(namespaces="0, 1", drop_minor=True, drop_redirects=True, until=at(4))
    done = run(chosen, path, tmp_path / "out", strict=True)
    assert events(tmp_path / "out") == {url("A"): [(at(1), "a"), (at(3), "c")], url("Talk:A"): [(at(2), "f")]}
    assert done.left_out == {
        "minor edits": 1,
        "revisions of redirects": 1,
        "revisions outside --since and --until": 1,
    }
    with pytest.raises(BadInputError, match="--namespaces"):
        MediaWikiDump(namespaces="main")


def test_a_digest_that_is_not_written_down_is_that_of_the_text_else_the_revisions_number(
    tmp_path: Path,
) -> None:
    text = "Grüße & <ref>"
    inline = f'<text xml:space="preserve">{escape(text)}</text>'
    value, known = int(sha1(text.encode(), usedforsecurity=False).hexdigest(), 16), ""
    while value:
        value, digit = divmod(value, 36)
        known = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + known
    path = dump(
        tmp_path,
        page(
            "A",
            revision(1, None, text=inline),
            revision(2, None),
            revision(3, known.rjust(31, "0")),
            revision(4, "", text='<text deleted="deleted" />'),
            revision(5, None, text='<text xml:space="preserve"></text>'),
        ),
    )
    done = run(MediaWikiDump(), path, tmp_path / "out", strict=True)
    (first, second, third, fifth) = [digest for _, digest in events(tmp_path / "out")[url("A")]]
    assert first == third  # so that a revert is seen as one
    assert second == "r2"
    assert fifth == "phoiac9h4m842xq45sp7s6u21eteeq1"  # that of no text at all, as every MediaWiki knows it
    assert done.left_out == {"revisions that were taken from public view": 1}


@pytest.mark.parametrize(
    "pack",
    [gzip.compress, bz2.compress, lzma.compress, zstandard.compress],
    ids=["gz", "bz2", "xz", "zst"],
)
def test_packed_dumps_are_read_and_torn_ones_give_what_they_have(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    parts = [page(f"P{n}", *(revision(day, f"{n * 31 + day:x}") for day in range(1, 29))) for n in range(200)]
    whole = dump(tmp_path, *parts, name="whole.xml-p1p200", pack=pack)
    run(MediaWikiDump(), whole, tmp_path / "out", strict=True)
    assert len(events(tmp_path / "out")) == 200
    torn = tmp_path / "torn.xml"
    torn.write_bytes(whole.read_bytes()[:-400])
    done = run(MediaWikiDump(), torn, tmp_path / "torn")
    assert len(events(tmp_path / "torn")) < 200
    assert list(done.skipped.values()) == [1]
    with pytest.raises(BadInputError, match=r"torn\.xml:\d+: .*--strict"):
        run(MediaWikiDump(), torn, tmp_path / "strict", strict=True)


def test_7z_is_refused_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "d.xml.7z"
    path.write_bytes(b"7z\xbc\xaf\x27\x1c" + b"\0" * 100)
    with pytest.raises(BadInputError, match="7z x -so"):
        run(MediaWikiDump(), path, tmp_path / "out")


def test_a_bad_page_and_a_bad_revision_are_skipped_with_their_lines(tmp_path: Path) -> None:
    bad = revision(2, "b").replace("2020-01-02T00", "soon")
    path = dump(tmp_path, page("", revision(1, "x")), page("A", revision(1, "a"), bad, revision(3, "c")))
    done = run(MediaWikiDump(), path, tmp_path / "out")
    assert events(tmp_path / "out") == {url("A"): [(at(1), "a"), (at(3), "c")]}
    content = path.read_text().splitlines()
    page_line = int(done.examples["the page has no title"][0].removeprefix("stub.xml:"))
    assert content[page_line - 1].strip() == "<page>"
    line = int(done.examples["the time cannot be read"][0].removeprefix("stub.xml:"))
    assert content[line - 1].strip() == "<revision>"
    assert "soon" in content[line + 1]


def test_only_the_very_first_revision_of_a_long_page_is_kept_though_it_is_minor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "N_TOGETHER", 3)
    revisions = [revision(day, f"{day}", "<minor />") for day in range(1, 9)]
    run(MediaWikiDump(drop_minor=True), dump(tmp_path, page("A", *revisions)), tmp_path / "out")
    assert events(tmp_path / "out") == {url("A"): [(at(1), "1")]}


def test_revisions_outside_of_a_page_are_nobodys(tmp_path: Path) -> None:
    stray = page("B", revision(2, "x")).replace("page>", "leaf>")
    run(MediaWikiDump(), dump(tmp_path, page("A", revision(1, "a")), stray), tmp_path / "out")
    assert events(tmp_path / "out") == {url("A"): [(at(1), "a")]}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ('<!DOCTYPE m [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><mediawiki>&c;</mediawiki>', "document type"),
        ("<rss><page/></rss>", "no MediaWiki dump"),
        ("<mediawiki>" + "<a>" * 100, "nested too deeply"),
        ("<mediawiki><page><title>x</wrong>", "not XML"),
        ('<?xml version="1.0" encoding="latin-1"?><mediawiki/>', "not in UTF-8"),
        ("<mediawiki><page><title>" + "x" * (3 << 20), "longer than 1 MiB"),
        ('<mediawiki><page a="' + "x" * (3 << 20), "longer than 1 MiB"),
        ("", "stops in the middle"),
        ("\0\0\0", "not XML"),
    ],
    ids=["entities", "not-a-dump", "deep", "torn-tags", "latin-1", "title", "attribute", "empty", "nul"],
)
def test_hostile_files_cost_little_and_say_why(
    tmp_path: Path, content: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MAX_PIECE_BYTES", 1 << 20)
    path = tmp_path / "hostile.xml"
    path.write_text(content)
    with pytest.raises(BadInputError, match=why):
        run(MediaWikiDump(), path, tmp_path / "out", strict=True)


def test_a_cut_off_import_goes_on_at_the_end_of_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "N_TOGETHER", 5)
    monkeypatch.setattr(pages, "N_TOGETHER", 3)  # so that a page comes in stretches
    bad = revision(2, "b").replace("2020-01-02T00", "soon")
    folder = tmp_path / "in"
    folder.mkdir()
    for part in (1, 2):
        parts = [page(f"P{part}{n}", *(revision(day, f"{day}") for day in range(1, 5))) for n in range(9)]
        dump(folder, *parts, page(f"Bad{part}", bad), name=f"p{part}.xml.gz", pack=gzip.compress)
    run(MediaWikiDump(), folder, tmp_path / "whole")
    for n_reached in (1, 2, 5, 6, 7):
        done = run_cut(MediaWikiDump, folder, tmp_path / f"cut{n_reached}", n_reached=n_reached)
        assert events(tmp_path / f"cut{n_reached}") == events(tmp_path / "whole")
        assert done.skipped == {"the time cannot be read": 2}
        unpacked = gzip.decompress((folder / "p2.xml.gz").read_bytes()).decode().splitlines()
        line = int(done.examples["the time cannot be read"][-1].partition(":")[2])
        assert "soon" in unpacked[line + 1]
