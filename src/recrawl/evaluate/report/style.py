"""How the page looks: light and dark, on a phone and on a desk, and on paper."""

from __future__ import annotations

_FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif'
_LIGHT = {
    "paper": "#fff", "ink": "#1b1f24", "soft": "#57606a", "rule": "#d5dae0", "panel": "#f5f7f9",
    "yes": "#0b6b45", "no": "#a3330b", "c0": "#0b5cad", "c1": "#b8410c", "c2": "#08745a", "c3": "#8e3a84",
    "c4": "#7a5800", "c5": "#2a7da0", "c6": "#3a3f45", "c7": "#a8254b",
}  # fmt: skip
_DARK = {
    "paper": "#14171b", "ink": "#e8ebee", "soft": "#a3adb8", "rule": "#39414a", "panel": "#1c2126",
    "yes": "#5fd3a0", "no": "#ff9d73", "c0": "#72b4f5", "c1": "#ff9a66", "c2": "#4fd0a8", "c3": "#e09bd8",
    "c4": "#e3bd4c", "c5": "#8ed3ee", "c6": "#d4d9de", "c7": "#ff8fa8",
}  # fmt: skip
_RULES = """
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 76rem; padding: 1.5rem 1rem 4rem; background: var(--paper);
  color: var(--ink); font: 16px/1.55 FONT; overflow-wrap: break-word }
h1 { font-size: 1.7rem; line-height: 1.2; margin: .2rem 0 .6rem }
h2 { font-size: 1.25rem; margin: 2.6rem 0 .6rem; border-top: 1px solid var(--rule); padding-top: 1.2rem }
p, ul { max-width: 46rem }
.lead { font-size: 1.1rem }
a { color: var(--c0) }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; margin: 1rem 0; padding: 0;
  max-width: none }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .8rem 1.2rem;
  margin: 1.2rem 0; background: var(--panel); padding: 1rem; border-radius: .5rem }
dt { color: var(--soft); font-size: .85rem }
dd { margin: 0; font-weight: 600 }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr));
  gap: 1.2rem; margin: 1rem 0 }
figure { margin: 0; min-width: 0 }
figcaption { font-weight: 600; margin-bottom: .3rem }
.scroll { overflow-x: auto; margin: 0 0 1rem; border: 1px solid var(--rule);
  border-radius: .5rem; position: relative }
.scroll:focus-visible { outline: 2px solid var(--c0) }
table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums }
.caption { font-weight: 600; margin: 1.2rem 0 .4rem }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
thead th { border-top: 0 }
th.word { position: sticky; left: 0; background: var(--paper) }
th, td { padding: .35rem .8rem; text-align: right; white-space: nowrap; border-top: 1px solid var(--rule) }
.word { text-align: left }
thead th { color: var(--soft); vertical-align: bottom }
td small { color: var(--soft) }
.finding { border-left: 4px solid var(--soft); padding: .1rem 0 .1rem .9rem; margin: 1rem 0;
  max-width: 46rem }
.finding p { margin: .2rem 0 }
.finding b { display: inline-block; min-width: 6.2rem }
.yes { border-color: var(--yes) }
.yes b { color: var(--yes) }
.no { border-color: var(--no); border-left-style: double }
.no b { color: var(--no) }
pre { background: var(--panel); padding: .8rem 1rem; border-radius: .5rem; overflow-x: auto;
  white-space: pre-wrap; font-size: .9rem }
svg { display: block; width: 100%; height: auto; font: 12px FONT }
svg text { fill: var(--ink); paint-order: stroke; stroke: var(--paper); stroke-width: 3px;
  stroke-linejoin: round }
svg .tick { fill: var(--soft) }
.grid { stroke: var(--rule); fill: none }
.axis { stroke: var(--soft); fill: none }
.line { fill: none; stroke: currentColor; stroke-width: 2; stroke-linejoin: round }
.mark { fill: currentColor; stroke: var(--paper); stroke-width: 1 }
.leader { fill: none; stroke: currentColor; stroke-width: .7; opacity: .6 }
.bar { fill: none; stroke: currentColor; stroke-width: 1.5; opacity: .55 }
.limit path { fill: none; stroke: var(--soft); stroke-width: 1.5 }
.limit text { fill: var(--soft); font-style: italic }
.curve text { fill: currentColor }
footer { margin-top: 3rem; color: var(--soft); font-size: .9rem }
@media (max-width: 40rem) {
  th, td { padding: .35rem .5rem }
  table { font-size: .82rem }
}
@media print {
  body { max-width: none }
  .scroll { overflow: visible; border: 0 }
  figure, .finding, tr { break-inside: avoid }
}
"""


def style() -> str:
    colours = "\n".join(f".s{name[1:]} {{ color: var(--{name}) }}" for name in _LIGHT if name[1:].isdigit())
    return (
        f":root {{ color-scheme: light dark; {_named(_LIGHT)} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {_named(_DARK)} }} }}"
        f"{_RULES.replace('FONT', _FONT)}{colours}\n"
    )


def _named(colours: dict[str, str]) -> str:
    return "; ".join(f"--{name}: {colour}" for name, colour in colours.items())
