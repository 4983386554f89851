"""The fast way of reading a page's lines reads what the careful one reads."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from recrawl.parse import html

PIECES = [
    "<p>", "</p>", "<b>", "</b>", "<div class='a>b'>", "</div>", "<br>", "<td>", "<table>", "<tr>",
    "</table>", "<!-- c > <p> -->", "<!--", "-->", "&lt;", "&amp;amp;", "&nbsp;", "a", "b c", "\n",
    "<script>x<p></script>", "<style>", "</style>", "<title>", "</title>",
    "<svg><title>t</title><style>a<b</style>", "<xmp>", "</xmp>", "<textarea><b>", "</textarea>",
    '<a href="x"">', '<p a"b=c>', "<p a<b=c>", "<b<", "<head>", "<body>", "<frameset>", "<noscript>",
    "</noscript>", "<template><p>x</template>", "<![CDATA[x<y]]>", "<math><mi>", "<select><option>", "é",
    "\x00", "<plaintext>", "<li>", "<ul>", "'", '"', "=", "<input value='<p>'>", "<a title='<!-- '>",
    "<h1", "/>", "<P>", "<LI ID=3>",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
@settings(max_examples=400, deadline=None)
@example("<xmp>&amp;</xmp>")
@example('<p>a<!-- <p a=" -->b<b class="x">c')
@example('<p a"b=c>t "q" <b>u')
def test_the_fast_way_and_the_careful_one_agree(document: str) -> None:
    careful = [line for _, line in html.seen(LexborHTMLParser(document))]
    assert html.all_lines(LexborHTMLParser(document)) == careful
