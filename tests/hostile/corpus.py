"""URLs that hope to be read in two ways. `{i}` is the host that they are after, `{p}` the one that they show,
`{o}` the port at which both can be met."""

from __future__ import annotations

_TEMPLATES = [
    # a backslash, and what looks like one
    r"http://{i}\@{p}:{o}/", r"http://{p}\@{i}:{o}/", r"http://{p}:{o}\@{i}/", r"http:\\{i}:{o}\a",
    r"http:/\{i}:{o}/", r"http://{p}\.{i}:{o}/", r"http://{p}:{o}\{i}/", r"http://{p}\\{i}:{o}/",
    r"\\{i}:{o}/", "http://{i}＼@{p}:{o}/", "http://{i}%5c@{p}:{o}/", "http://{p}:{o}/%5c@{i}",
    # user names
    "http://{p}@{i}:{o}/", "http://{p}:80@{i}:{o}/", "http://{p}:{o}@{i}:{o}/", "http://{p}%40{i}:{o}/",
    "http://a@b@{i}:{o}/", "http://@{i}:{o}/", "http://:@{i}:{o}/", "http://:x@{i}:{o}/", "http://{p};@{i}:{o}/",
    "http://{p}%00@{i}:{o}/", "http://{p}%0d%0a@{i}:{o}/", "http://{p}%2f@{i}:{o}/", "http://{p}%23@{i}:{o}/",
    "http://{i}:{o}:@{p}/", "http://[{p}]@{i}:{o}/", "http://{p}&@{i}:{o}/", "http://{p}＠{i}:{o}/",
    # where the host ends
    "http://{p}:{o}#@{i}/", "http://{p}:{o}?@{i}/", "http://{p}:{o}/@{i}", "http://{p}:{o}#{i}", "http://{p}:{o}?{i}",
    "http://{i}#.{p}:{o}/", "http://{i}:{o}#.{p}/", "http://{i}:{o}?.{p}/", "http://{i};.{p}:{o}/",
    "http://{p}:{o};@{i}/", "http://{i}%2f.{p}:{o}/", "http://{i}%23.{p}:{o}/", "http://{i}%3f.{p}:{o}/",
    "http://{i}／.{p}:{o}/", "http://{i}？.{p}:{o}/", "http://{i}＃.{p}:{o}/", "http://{i}℀.{p}:{o}/",
    "http://{p}:{o}/..//{i}/", "http://{p}:{o}//{i}/", "http://{p}:{o}/http://{i}/", "http://{p}:{o}/;@{i}/",
    # spaces and control characters
    "http://{i} .{p}:{o}/", "http://{i}\t.{p}:{o}/", "http://{i}\n.{p}:{o}/", "http://{i}\r\n.{p}:{o}/",
    "http://{i}\0.{p}:{o}/", "http://{i}\x0b.{p}:{o}/", "http://{i}\x7f.{p}:{o}/", "ht\ntp://{i}:{o}/",
    "http:\n//{i}:{o}/", "http://{p}\n@{i}:{o}/", " http://{i}:{o}/", "\x01http://{i}:{o}/",
    "http://{i}:{o}/ ",
    "http://{p}:{o}/\r\nHost:%20{i}", "http://{p}:{o}/ HTTP/1.1\r\nHost: {i}", "http://{p}:{o}/?\r\nHost:{i}",
    "http://{i}\u2028.{p}:{o}/", "http://{i}\u00a0.{p}:{o}/", "http://{i}\u200b.{p}:{o}/",
    "http://{i}\u3000.{p}:{o}/",
    "http://{i}%20.{p}:{o}/", "http://{i}%09.{p}:{o}/", "http://{i}%00.{p}:{o}/", "http://{i}%0a.{p}:{o}/",
    # slashes and schemes
    "http:///{i}:{o}/", "http:////{i}:{o}/", "http:/{i}:{o}/", "http:{i}:{o}/", "//{i}:{o}/",
    "http//{i}:{o}/",
    "http:://{i}:{o}/", "http:?//{i}:{o}/", "HTTP://{i}:{o}/", "hTtP://{I}:{o}/", "http://///{i}:{o}/",
    "file://{i}/", "ftp://{i}:{o}/", "gopher://{i}:{o}/", "javascript://{i}:{o}/", "data://{i}:{o}/",
    "ws://{i}:{o}/", "jar:http://{i}:{o}/", "url:http://{i}:{o}/", "feed:http://{i}:{o}/", "http+unix://{i}:{o}/",
    # ports
    "http://{i}:0{o}/", "http://{i}:+{o}/", "http://{i}:-1/", "http://{i}:{o}0000000/", "http://{i}:65536/",
    "http://{i}:0/", "http://{i}: {o}/", "http://{i}:{o} /", "http://{i}:1e1/", "http://{i}:0x50/",
    "http://{i}:８０/",
    "http://{i}:{o}:{o}/", "http://{i}:{o}:/", "http://{i}:/", "http://{i}::{o}/", "http://{i}:{o}a/",
    "http://{i}:٨٠/", "http://{i}:1_0/", "http://{i}:%38%30/", "http://{i}:99999999999999999999/",
    # names in other letters
    "http://ｉnternal.example:{o}/", "http://{i}。:{o}/", "http://internal。example:{o}/", "http://internal．example:{o}/",
    "http://internal｡example:{o}/", "http://ⓘnternal.example:{o}/", "http://internal\u00ad.example:{o}/",
    "http://inter\u200dnal.example:{o}/", "http://inter\u2060nal.example:{o}/", "http://ınternal.example:{o}/",
    "http://İnternal.example:{o}/", "http://internal.exampleß:{o}/", "http://faß.example:{o}/",
    "http://ﬁle.example:{o}/", "http://internаl.example:{o}/", "http://xn--internl-3fg.example:{o}/",
    "http://xn--.example:{o}/", "http://xn--a.example:{o}/", "http://xn--zz--zz.example:{o}/",
    "http://☃.example:{o}/", "http://\u202elanretni.example:{o}/", "http://K.example:{o}/", "http://ſ.example:{o}/",
    "http://a\u0301.example:{o}/", "http://\u0301a.example:{o}/", "http://①.example:{o}/", "http://𝐢nternal.example:{o}/",
    # dots, dashes, percents and lengths
    "http://{i}.:{o}/", "http://{i}..:{o}/", "http://.{i}:{o}/", "http://..{i}:{o}/", "http://inter..nal:{o}/",
    "http://.:{o}/", "http://-{i}:{o}/", "http://{i}-:{o}/", "http://in_ternal.example:{o}/", "http://%69nternal.example:{o}/",
    "http://internal%2eexample:{o}/", "http://internal%E3%80%82example:{o}/", "http://%:{o}/", "http://%zz{i}:{o}/",
    "http://{long}.example:{o}/", "http://{labels}:{o}/", "http://{i},{p}:{o}/", "http://{i}|{p}:{o}/",
    "http://{i}^{p}:{o}/", "http://{i}`{p}:{o}/", "http://{i}'{p}:{o}/", 'http://{i}"{p}:{o}/', "http://{i}<{p}:{o}/",
    "http://{i}!{p}:{o}/", "http://{i}${p}:{o}/", "http://{i}*{p}:{o}/", "http://{i}({p}):{o}/", "http://{{{i}}}:{o}/",
    "http://{i}~{p}:{o}/", "http://{i}={p}:{o}/", "http://{i}&{p}:{o}/", "http://{i}+{p}:{o}/", "http://*:{o}/",
    # addresses
    "http://127.0.0.1:{o}/", "http://[::1]:{o}/", "http://[::1:{o}/", "http://::1:{o}/", "http://[::1]]:{o}/",
    "http://[[::1]]:{o}/", "http://[::1]{p}:{o}/", "http://{p}[::1]:{o}/", "http://[::1%25lo]:{o}/", "http://[::1%lo]:{o}/",
    "http://[::1]@{p}:{o}/", "http://[::ffff:127.0.0.1]:{o}/", "http://[0:0:0:0:0:0:0:1]:{o}/", "http://[v1.a]:{o}/",
    "http://[127.0.0.1]:{o}/", "http://[]:{o}/", "http://[{p}]:{o}/", "http://127.0.0.1.:{o}/", "http://127.1:{o}/",
    "http://0x7f.0.0.1:{o}/", "http://0177.0.0.1:{o}/", "http://2130706433:{o}/", "http://127.0.0.1.{p}:{o}/",
    "http://127.0.0.1%2f{p}:{o}/", "http://１２７.0.0.1:{o}/", "http://127.0.0.01:{o}/", "http://0:{o}/",
    "http://127.0.0.256:{o}/", "http://127.0.0.1\u3002:{o}/", "http://[::1]:{o}:{o}/", "http://[::127.0.0.1]:{o}/",
    # and a few that mean what they say
    "http://{i}:{o}/", "http://{p}:{o}/", "http://{I}:{o}/", "http://bücher.example:{o}/", "http://xn--bcher-kva.example:{o}/",
    "http://{p}:{o}/a?b=c#d", "http://{p}:{o}/@", "http://{p}:{o}/%2e%2e/", "http://{p}:{o}/;a=b", "http://{p}:{o}/?q=%0d%0a",
]  # fmt: skip


def corpus(port: int) -> list[str]:
    words = {
        "i": "internal.example",
        "I": "INTERNAL.Example",
        "p": "public.example",
        "o": port,
        "long": "a" * 64,
        "labels": ".".join(["a" * 60] * 5),
    }
    return list(dict.fromkeys(template.format(**words) for template in _TEMPLATES))
