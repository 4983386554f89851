// What pages do beyond links and forms. Everything works without it, only less comfortably.
"use strict";

(() => {
  const root = document.documentElement;

  // Light or dark: as the system says, unless somebody chose here.
  const chosen = localStorage.getItem("theme");
  if (chosen) root.dataset.theme = chosen;
  const theme = document.querySelector("[data-theme-switch]");
  if (theme) {
    theme.hidden = false;
    theme.addEventListener("click", () => {
      const dark = root.dataset.theme
        ? root.dataset.theme === "dark"
        : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = dark ? "light" : "dark";
      localStorage.setItem("theme", root.dataset.theme);
    });
  }

  // Parts of a page: fetched after it (`data-part`), fetched again when visits were recorded (`data-news`), or put in
  // place of another by a link or a form (`data-into`).
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const fetched = async (address, options = {}) => {
    for (let tries = 0; ; tries += 1) {
      const answer = await fetch(address, { ...options, headers: { "X-Part": "1" }, credentials: "same-origin" });
      if (answer.status === 401) location.reload();
      if (answer.status !== 503 || tries === 30) return answer;
      await wait(2000); // it is still being worked out
    }
  };
  const asked = new WeakMap(); // what each part was last asked for: older answers come too late
  const put = (part, html) => {
    part.innerHTML = html;
    part.removeAttribute("aria-busy");
    fill(part);
    part.dispatchEvent(new Event("part", { bubbles: true }));
  };
  const load = async (part) => {
    const address = part.dataset.part;
    asked.set(part, address);
    try {
      const answer = await fetched(address);
      if (answer.status >= 500) throw new Error(answer.status);
      const html = await answer.text();
      if (asked.get(part) === address) put(part, html); // a refusal says why
    } catch {
      if (asked.get(part) !== address || !part.hasAttribute("aria-busy")) return; // what is old is better than nothing
      part.removeAttribute("aria-busy");
      part.textContent = "This could not be worked out; load the page again.";
    }
  };
  const fill = (within) => {
    for (const part of within.querySelectorAll("[data-part][aria-busy]")) load(part);
  };
  fill(document);

  const swap = async (address, into, options) => {
    const part = document.querySelector(into);
    const wanted = String(address);
    part.setAttribute("aria-busy", "true");
    if (part.dataset.part) part.dataset.part = wanted; // what is looked at again is what is shown
    asked.set(part, wanted);
    const html = await (await fetched(wanted, options)).text();
    if (asked.get(part) === wanted) put(part, html);
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest("a[data-into]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    if (!link.hasAttribute("data-quietly")) history.pushState(null, "", link.href);
    swap(link.href, link.dataset.into);
  });
  const submitted = (form, quietly) => {
    const address = new URL(form.action, location.href);
    address.search = new URLSearchParams(
      [...new FormData(form)].filter(([, value]) => typeof value === "string" && value !== ""),
    ).toString();
    if (!quietly) history.replaceState(null, "", address);
    return swap(address, form.dataset.into);
  };
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.dataset.into || form.method !== "get") return;
    event.preventDefault();
    submitted(form, form.hasAttribute("data-quietly"));
  });
  let typed;
  document.addEventListener("input", (event) => {
    const form = event.target.form;
    if (!form || !form.hasAttribute("data-typing") || form.method !== "get") return;
    clearTimeout(typed);
    typed = setTimeout(() => submitted(form), 300);
  });
  addEventListener("popstate", () => location.reload());

  if (window.EventSource && document.querySelector("[data-news]")) {
    const source = new EventSource("/live");
    let last = 0;
    let later;
    const look = () => {
      last = Date.now();
      document.body.dispatchEvent(new Event("news"));
      for (const part of document.querySelectorAll("[data-part][data-news]")) {
        // not from under the hands of whoever is at it
        if (!part.querySelector("input:checked") && !part.contains(document.activeElement)) load(part);
      }
    };
    source.addEventListener("news", () => {
      clearTimeout(later);
      later = setTimeout(look, Math.max(0, 5000 - (Date.now() - last)));
    });
    addEventListener("pagehide", () => source.close());
  }

  // Selecting all rows of a list.
  document.addEventListener("change", (event) => {
    const box = event.target;
    if (!(box instanceof HTMLInputElement) || !box.dataset.selects) return;
    for (const one of document.querySelectorAll(`input[name="${box.dataset.selects}"]`)) one.checked = box.checked;
  });

  // From a refusal back to the form, with what was written in it.
  const back = document.querySelector("[data-back]");
  if (back && history.length > 1) {
    back.hidden = false;
    back.addEventListener("click", () => history.back());
  }

  // Keys.
  const places = { o: "/", r: "/resources", c: "/changes", p: "/plan", h: "/hosts", e: "/health", n: "/notices" };
  const keys = document.getElementById("keys");
  let going = false;
  const search = () => {
    const field = document.querySelector("input[type=search]");
    if (field) field.focus();
    return field;
  };
  if (location.hash === "#search") search();
  const rows = () => [...document.querySelectorAll("[data-row] a[href]:first-of-type")];
  const step = (by) => {
    const all = rows();
    if (!all.length) return;
    const at = all.indexOf(document.activeElement);
    all[Math.min(Math.max(at + by, 0), all.length - 1)].focus();
  };
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest && event.target.closest("input, textarea, select, [contenteditable]");
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (going && places[event.key]) {
      location.href = places[event.key];
    } else if (event.key === "/") {
      event.preventDefault();
      if (!search()) location.href = "/resources#search";
    } else if (event.key === "?" && keys) {
      keys.showModal();
    } else if (event.key === "j") {
      step(1);
    } else if (event.key === "k") {
      step(-1);
    }
    going = event.key === "g";
  });
})();
