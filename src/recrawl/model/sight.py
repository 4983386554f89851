"""What the first visit shows of a resource, and what that makes us expect of it."""

from __future__ import annotations

from dataclasses import dataclass

SIGHT_FORMAT = 2  # of `FEATURES`: one more whenever a column comes, goes or means something else
# How often something changes, as sitemaps have it.
CHANGEFREQ = ("always", "hourly", "daily", "weekly", "monthly", "yearly", "never")


@dataclass(frozen=True, slots=True)
class Feature:
    """One column of a sight."""

    name: str
    meaning: str
    wide: bool = False  # spread over powers of ten, such as a count or a length: read it by its logarithm


FEATURES: tuple[Feature, ...] = (
    # Those of Barbosa and others (2005), in the order of the paper.
    Feature("links", "links in the page: a and area elements with an address", wide=True),
    Feature("emails", "distinct e-mail addresses, in links and in the text", wide=True),
    Feature("last_modified", "1: the answer had a Last-Modified header"),
    Feature("text_bytes", "bytes of what is read, in UTF-8, without tags, scripts and styles", wide=True),
    Feature("images", "img elements", wide=True),
    Feature("depth", "links to follow from the site's first page, which has depth 1; known from collecting"),
    Feature("level", "how deep in the site's folders the URL is; / is 1"),
    # The answer's headers; none of them is known where no headers are.
    Feature("max_age_s", "how long the answer may be kept: max-age of Cache-Control", wide=True),
    Feature("uncached", "1: no-store or no-cache in Cache-Control, or Pragma: no-cache"),
    Feature("expires_s", "from Date to Expires; 0: at once", wide=True),
    Feature("etag", "1: the answer had an ETag"),
    Feature("age_s", "how long a cache had held the answer: its Age header", wide=True),
    Feature("cookies", "1: the answer set a cookie"),
    Feature("modified_days", "age of Last-Modified", wide=True),
    # The content as a whole.
    Feature("bytes", "size of the body", wide=True),
    Feature("html", "1: the content is an HTML page"),
    Feature("feed", "1: the content is an RSS or Atom feed, or a sitemap"),
    Feature("json", "1: the content is JSON, unless it is RDF"),
    Feature("xml", "1: the content is other XML, or RDF in any spelling"),
    Feature("csv", "1: the content is a table of values between separators"),
    Feature("plain", "1: the content is plain text"),
    # What an HTML page is made of.
    Feature("elements", "elements in the page", wide=True),
    Feature("scripts", "script elements", wide=True),
    Feature("forms", "form elements", wide=True),
    Feature("iframes", "iframe elements", wide=True),
    Feature("tables", "table elements", wide=True),
    Feature("headings", "h1 to h6", wide=True),
    Feature("list_items", "li elements", wide=True),
    Feature("inputs", "input, select and textarea elements", wide=True),
    Feature("media", "video, audio, embed and object elements", wide=True),
    Feature("internal_links", "links to the same site", wide=True),
    Feature("external_links", "links to other sites", wide=True),
    Feature("external_share", "share of external links among internal and external ones"),
    Feature("words", "words that are read", wide=True),
    Feature("text_share", "text_bytes as a share of the page's source"),
    # Dates in it.
    Feature(
        "dates",
        "dates in the text, 10,000 at most; of what is no page, in its first and its last 16 KiB",
        wide=True,
    ),
    Feature(
        "newest_days",
        "age of the newest date in text, time elements and metadata, but for those in the future",
        wide=True,
    ),
    Feature("dates_month", "how many of the last 30 days are named there", wide=True),
    Feature("dates_year", "how many of the last 365 days are named there", wide=True),
    Feature("published_days", "age of the date of publication that the page's metadata names", wide=True),
    Feature("revised_days", "age of the date of modification that the page's metadata names", wide=True),
    # What the page says about itself.
    Feature("feed_link", "1: the page names a feed of its own"),
    Feature("canonical", "1: the page names its canonical address"),
    Feature("viewport", "1: the page says how small screens show it"),
    Feature("generator", "1: the page names the program that made it"),
    Feature("refresh", "1: the page asks to be loaded anew after a while"),
    Feature("comments", "1: the page has a place for readers' comments"),
    Feature("language", "1: the page names its language"),
    Feature("english", "1: and that is English"),
    Feature("schema_types", "distinct schema.org types in JSON-LD and microdata", wide=True),
    Feature("schema_article", "1: one of them is an article, news or a posting in a blog"),
    Feature("schema_product", "1: one of them is a product, an offer or a review"),
    Feature("schema_event", "1: one of them is an event, a posting in a forum, a question or a live report"),
    Feature("schema_body", "1: one of them is an organisation, a person or a place"),
    # What a sitemap says of it; known where it was added by one, and of lastmod where a feed told of it, too.
    Feature("changefreq", "0 always, 1 hourly, 2 daily, 3 weekly, 4 monthly, 5 yearly, 6 never"),
    Feature("lastmod_days", "age of lastmod", wide=True),
    # The URL.
    Feature("url_length", "characters of the URL", wide=True),
    Feature("url_segments", "parts of its path that are not empty"),
    Feature("url_digits", "digits in its path and query"),
    Feature("url_dated", "1: its path holds a year and a month"),
    Feature("url_parameters", "parameters of its query"),
    Feature("url_news", "1: path or subdomain has a word for news"),
    Feature("url_blog", "1: path or subdomain has a word for a blog"),
    Feature("url_archive", "1: path or subdomain has a word for an archive or a history"),
    Feature("url_about", "1: path or subdomain has a word for about, contact, help or imprint"),
    Feature("url_legal", "1: path or subdomain has a word for terms, privacy or other law"),
    Feature("url_forum", "1: path or subdomain has a word for a forum, a thread or a question"),
    Feature("url_shop", "1: path or subdomain has a word for a shop, a product or a price"),
    Feature("url_listing", "1: path or subdomain has a word for a tag, a category or a search"),
    Feature("url_page", "1: the file name ends like a page: .html, .htm, .xhtml"),
    Feature("url_program", "1: the file name ends like a program: .php, .aspx, .jsp, .cgi …"),
    Feature("url_data", "1: the file name ends like data: .json, .csv, .xml, .rdf …"),
    Feature("url_document", "1: the file name ends like a document: .pdf, .docx, .txt …"),
    # The graph of links between what is watched. A sight keeps the first as it was then; for a model both are
    # counted anew.
    Feature("in_links", "watched pages that link to it", wide=True),
    Feature(
        "page_rank", "its PageRank among watched pages with links, as a multiple of their mean", wide=True
    ),
)

_COLUMNS = {feature.name: place for place, feature in enumerate(FEATURES)}


def column(name: str) -> int:
    """The place of a feature.

    >>> column("links"), FEATURES[column("page_rank")].name
    (0, 'page_rank')
    """
    return _COLUMNS[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What a visit showed of a resource: one value for each of `FEATURES`."""

    resource_id: int
    at: float
    format: int = SIGHT_FORMAT  # values of another format are not comparable
    values: tuple[float, ...]  # NaN: not known


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunch:
    """What a sight makes us expect of a resource that was never seen to change."""

    per_day: float  # changes, from the regression
    gap_s: float  # the mean interval of the change-rate group that the classifier puts it in
