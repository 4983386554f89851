// The line of visits: drag over a stretch to zoom into it; arrows and + − do what the links above it do.
"use strict";

(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const FEWEST = 8; // units of the drawing: less is a click

  const follow = (link) => link && link.click();
  const zoom = (key) => follow(document.querySelector(`[data-zoom="${key}"]`));

  document.addEventListener("keydown", (event) => {
    if (!event.target.matches || !event.target.matches("[data-timeline]")) return;
    const key = { ArrowLeft: "earlier", ArrowRight: "later", "+": "in", "=": "in", "-": "out" }[event.key];
    if (!key || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    zoom(key);
  });

  // Where the line is wider than the page, the newest visits are what is looked for.
  const newest = () => {
    const line = document.querySelector("[data-timeline]");
    if (line) line.scrollLeft = line.scrollWidth;
    return line;
  };
  newest();

  // What had the focus is another element after a zoom.
  document.addEventListener("part", (event) => {
    if (event.target.id !== "visits") return;
    const line = newest();
    if (line && document.activeElement === document.body) line.focus({ preventScroll: true });
  });

  let drag = null;
  const across = (svg, event) => {
    const box = svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
    return Math.min(Math.max(x, Number(svg.dataset.left)), Number(svg.dataset.right));
  };
  const moment = (svg, x) => {
    const left = Number(svg.dataset.left);
    const share = (x - left) / (Number(svg.dataset.right) - left);
    const from = Number(svg.dataset.from);
    return new Date(1000 * (from + share * (Number(svg.dataset.until) - from))).toISOString().slice(0, 19) + "Z";
  };

  document.addEventListener("pointerdown", (event) => {
    const svg = event.target.closest && event.target.closest("svg.timeline");
    if (!svg || event.button || event.pointerType === "touch") return;
    event.preventDefault();
    const band = document.createElementNS(SVG, "rect");
    band.setAttribute("class", "chosen");
    band.setAttribute("y", "4");
    band.setAttribute("height", "112");
    svg.append(band);
    drag = { svg, band, x: across(svg, event) };
  });
  document.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const x = across(drag.svg, event);
    drag.band.setAttribute("x", Math.min(x, drag.x));
    drag.band.setAttribute("width", Math.abs(x - drag.x));
  });
  document.addEventListener("pointerup", (event) => {
    if (!drag) return;
    const { svg, band, x } = drag;
    const end = across(svg, event);
    drag = null;
    band.remove();
    if (Math.abs(end - x) < FEWEST) return;
    const link = document.createElement("a");
    const query = new URLSearchParams({ from: moment(svg, Math.min(x, end)), until: moment(svg, Math.max(x, end)) });
    link.href = `${svg.closest("[data-timeline]").dataset.timeline}?${query}`;
    link.dataset.into = "#visits";
    link.dataset.quietly = "";
    document.body.append(link);
    link.click();
    link.remove();
  });
})();
