"""Takes the pictures of the web face that the documentation shows, of a made-up year, into docs/screens.

    python scripts/screens.py [PAGE …]

Each page on a desk (1440 pixels wide) and on a phone (390). Needs Chromium, and Pillow to pack the pictures.
"""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.web import year  # noqa: E402
from tests.web.chromium import NARROW, WIDE, chromium, entered  # noqa: E402
from tests.web.conftest import serving  # noqa: E402

FOLDER = ROOT / "docs" / "screens"
PAGES = {
    "overview": "/",
    "resources": "/resources",
    "resource": "/resources/2",
    "changes": "/changes",
    "plan": "/plan",
    "hosts": "/hosts",
    "health": "/health",
    "notices": "/notices",
    "add": "/add",
}
TALLEST = 2_400  # pixels: the rest of a long page is more of the same


def packed(png: bytes) -> bytes:
    """With a palette: these are flat colours, and a third of the size."""
    from PIL import Image

    with Image.open(io.BytesIO(png)) as image:
        cut = image.convert("RGB").crop((0, 0, image.width, min(image.height, TALLEST)))
        out = io.BytesIO()
        cut.quantize(48).save(out, "PNG", optimize=True)
    return out.getvalue()


def main() -> None:
    wanted = sys.argv[1:] or list(PAGES)
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        home = Path(folder) / "home"
        year.made(home)
        with serving(home, year.NOW) as served:
            for size in (WIDE, NARROW):
                with entered(browser, served, size) as visitor:
                    for name in wanted:
                        visitor.go(PAGES[name])
                        png = visitor.page.screenshot(full_page=True)
                        path = FOLDER / f"{name}-{size[0]}.png"
                        path.write_bytes(packed(png))
                        print(f"{path.relative_to(ROOT)}  {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
