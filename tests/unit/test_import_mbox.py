"""Mailing lists as a corpus of threads."""

from __future__ import annotations

import gzip
from email.utils import formatdate
from pathlib import Path

import pytest
from tests.importers import DAY, T0, Taken, same, taken, taken_in_parts

from recrawl.corpora.importers.threads.mails import Mail, dated, mails, text
from recrawl.corpora.importers.threads.mbox import Mbox
from recrawl.errors import BadInputError


def mail(name: str, at: int, subject: str, body: str = "Hello.", **fields: str) -> str:
    """As Mailman's monthly archives have it."""
    said = {
        "From": "ann at example.org (Ann Other)",
        "Date": formatdate(at),
        "Subject": subject,
        "Message-ID": f"<{name}@example.org>",
        **{key.replace("_", "-"): value for key, value in fields.items()},
    }
    head = "".join(f"{key}: {value}\n" for key, value in said.items() if value)
    return f"From ann at example.org  Sun Sep 13 12:26:40 2037\n{head}\n{body}\n\n"


def written(path: Path, *found: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    data = "".join(found).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def threads(found: Taken) -> dict[str, list[int]]:
    """By title, when its mails were sent, in days."""
    return {
        row["title"]: [(at - T0) // DAY for at, _ in found.events[name]] for name, row in found.facts.items()
    }


def day(n: int) -> int:
    return T0 + n * DAY


def test_mails_of_one_thread_belong_together_whatever_their_order(tmp_path: Path) -> None:
    folder = tmp_path / "talk"
    written(
        folder / "2020-09.txt.gz",
        mail("c", day(3), "Re: Plans", References="<a@example.org> <b@example.org>"),
        mail("b", day(1), "Re: Plans", In_Reply_To="<a@example.org>"),
        mail("x", day(2), "Weekly report"),
    )
    written(
        folder / "2020-10.txt",
        mail("d", day(40), "AW: [talk] plans"),  # names none, but answers to the subject
        mail("a", day(0), "Plans"),
        mail("y", day(30), "Weekly report"),  # the same words, another thread
        mail("b", day(1), "Re: Plans", In_Reply_To="<a@example.org>"),  # once more
        mail("z", day(300), "Re: Plans"),  # too late to be an answer
        mail("s", day(50), "Split", References="<lost@example.org>"),
        mail("t", day(51), "Other words", References="<lost@example.org>"),
    )
    found = taken(Mbox(), folder, tmp_path / "out", strict=True)
    by_size = sorted([(at - T0) // DAY for at, _ in rows] for rows in found.events.values())
    assert by_size == [[0, 1, 3, 40], [2], [30], [50, 51], [300]]
    assert found.result.left_out == {"mails that come twice": 1}
    (row,) = [row for row in found.facts.values() if row["message"] == "c@example.org"]
    assert (row["host"], row["board"], row["title"]) == ("talk", "talk", "Plans")
    assert found.corpus.about.kind == "thread"


def test_posts_carry_names_and_text_and_no_addresses(tmp_path: Path) -> None:
    path = written(
        tmp_path / "talk.mbox",
        mail(
            "a",
            day(0),
            "=?utf-8?q?Caf=C3=A9?=",
            "Good\n>From here on.\n>>From there.",
            From="bob@example.org",
        ),
        mail("b", day(1), "Re: =?utf-8?q?Caf=C3=A9?=", "Yes.", From="=?latin-1?q?J=FCrg?= <c@example.org>"),
    )
    thread = taken(Mbox(board="Lists"), path, tmp_path / "out").threads["Café"]
    assert thread["board"] == "Lists"
    assert thread["posts"] == [
        {"at": day(0), "user": "bob", "text": "Good\nFrom here on.\n>From there."},
        {"at": day(1), "user": "Jürg", "text": "Yes."},
    ]


def test_a_line_that_only_begins_like_the_start_of_a_mail_is_text(tmp_path: Path) -> None:
    body = "First.\n\nFrom my point of view it was 12 o'clock.\nFrom ann  Sun Sep 13 12:26:40 2020\n\nEnd."
    path = written(tmp_path / "a.mbox", mail("a", day(0), "One", body), mail("b", day(1), "Two"))
    found = list(mails(path))
    assert len(found) == 2
    assert isinstance(found[0], Mail)
    assert "point of view" in text(found[0])


@pytest.mark.parametrize(
    ("date", "envelope", "at"),
    [
        ("Sun, 13 Sep 2020 14:26:40 +0200", "", T0),
        ("13 Sep 20 12:26:40", "", T0),  # no zone, two digits
        ("Sun, 13 Sep 2020 12:26:40 +9900", "", T0),  # no zone that there is
        ("Sun, 13 Sep 2020 07:26:40 EST", "", T0),
        ("yesterday", "a Sun Sep 13 12:26:40 2020", T0),
        ("", "a at b.org  Sun Sep 13 12:26:40 2020", T0),
        ("Thu, 1 Jan 1970 00:00:00 +0000", "a Sun Sep 13 12:26:40 2020", T0),
        ("Mon, 1 Jan 2035 00:00:00 +0000", "a Sun Sep 13 12:26:40 2020", T0),  # after it was delivered
        ("Sun, 13 Sep 2020 12:26:40 +0000", "- Wed Jan 1 00:00:00 2031", T0),  # kept much later
        ("Sun, 99 Sep 2020 99:26:40 +0000", "nobody", None),
        ("Sun, 13 Sep 99999999999999 12:26:40 +0000", "", None),
    ],
)
def test_dates_are_mended_from_the_delivery_or_refused(date: str, envelope: str, at: int | None) -> None:
    assert dated(Mail(1, envelope, {"date": date}))[0] == at


def test_mails_without_any_date_and_files_of_another_sort_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "talk"
    undated = mail("b", day(0), "Two", Date="never").replace("Sun Sep 13 12:26:40 2037", "at 12:26 in 2037")
    written(folder / "a.mbox", mail("a", day(0), "One"), undated)
    written(folder / "readme.txt", "This is a list of files.\n")
    found = taken(Mbox(), folder, tmp_path / "out")
    assert threads(found) == {"One": [0]}
    assert found.result.examples == {
        "no date that can be read": ["a.mbox:9"],
        "not an mbox file: it does not begin with a line 'From …'": ["readme.txt:1"],
    }
    with pytest.raises(BadInputError, match=r"a\.mbox:9: no date that can be read"):
        taken(Mbox(), folder, tmp_path / "strict", strict=True)
    with pytest.raises(BadInputError, match="No mail was found"):
        taken(Mbox(), folder / "readme.txt", tmp_path / "none")


MIXED = """--xyz
Content-Type: multipart/alternative; boundary=inner

--inner
Content-Type: text/html; charset=utf-8

<p>The page
--inner
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

The caf=E9
--inner--
--xyz--
"""


@pytest.mark.parametrize(
    ("fields", "body", "said"),
    [
        ({"content-type": 'multipart/mixed; boundary="xyz"'}, MIXED, "The café"),
        ({"content-type": "text/html"}, "<p>One<p>Two", "One\nTwo"),
        ({"content-transfer-encoding": "base64"}, "SGVsbG8=", "Hello"),
        ({"content-transfer-encoding": "base64"}, "not base64!", ""),
        ({"content-type": "text/plain; charset=punycode"}, "plain", "plain"),
        ({"content-type": "image/png"}, "\x89PNG", ""),
        ({"content-type": "multipart/mixed"}, "no boundary", ""),
    ],
)
def test_the_plain_part_is_read_whatever_it_is_packed_in(
    fields: dict[str, str], body: str, said: str
) -> None:
    assert text(Mail(1, fields=fields, body=body.encode())) == said


def test_hostile_mails_take_neither_time_nor_memory(tmp_path: Path) -> None:
    nested = "".join(f"--b{n}\nContent-Type: multipart/mixed; boundary=b{n + 1}\n\n" for n in range(5_000))
    path = written(
        tmp_path / "talk.mbox",
        mail("deep", day(0), "Deep", nested, Content_Type="multipart/mixed; boundary=b0"),
        mail("wide", day(1), "Wide", "--b\n\n\n" * 20_000, Content_Type="multipart/mixed; boundary=b"),
        mail("long", day(2), "Long", "x" * 3_000_000),
        mail("many", day(3), "Many", References=" ".join(f"<{n}@example.org>" for n in range(5_000))),
        mail("head", day(4), "Head", **{f"X{n}": "y" * 1_000 for n in range(500)}),
        mail("word", day(5), "=?utf-8?b?" + "A" * 50_000 + "?=" + "=?x" * 5_000),
        mail("re", day(6), "Re: " * 20_000 + "[" * 20_000),
        mail("last", day(7), "Last", "The end."),
    )
    found = taken(Mbox(), path, tmp_path / "out", strict=True)
    assert sorted((at - T0) // DAY for rows in found.events.values() for at, _ in rows) == list(range(8))
    assert found.threads["Last"]["posts"][0]["text"] == "The end."


def test_a_file_that_is_cut_off_gives_what_is_before_that(tmp_path: Path) -> None:
    path = tmp_path / "talk.mbox.gz"
    whole = gzip.compress(
        "".join(mail(str(n), day(n), f"No {n}", f"{n * 7919}\n" * 5_000) for n in range(50)).encode()
    )
    path.write_bytes(whole[: len(whole) // 2])
    found = taken(Mbox(), path, tmp_path / "out")
    assert 5 < len(found.events) < 50  # some of what is before the tear is lost with it
    assert list(found.result.skipped) == ["the file is cut off or damaged from here on"]


def test_an_import_that_was_cut_off_goes_on_with_the_next_file(tmp_path: Path) -> None:
    folder = tmp_path / "talk"
    for n in range(5):
        again = f"<{5 * n - 3}@example.org>"
        named = [
            mail(str(5 * n + k), day(5 * n + k), f"Re: {k}", In_Reply_To=again if k else "") for k in range(5)
        ]
        written(folder / f"{n}.mbox", *named, mail("odd", day(n), "Odd", Date="13 Sep 2020 12:26:40"))
    whole = taken(Mbox(), folder, tmp_path / "whole")
    parts = taken_in_parts(Mbox, folder, tmp_path / "parts", 45)
    assert parts.result.went_on
    same(whole, parts)
    assert whole.result.notes == parts.result.notes
    assert whole.result.notes == ("Mails that name no time zone that there is, read as UTC: 1.",)
