// Small differences, fetched when they come into view: each takes a moment to work out.
"use strict";

(() => {
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const load = async (place) => {
    for (let tries = 0; tries < 10; tries += 1) {
      const answer = await fetch(place.dataset.glimpse, { headers: { "X-Part": "1" }, credentials: "same-origin" });
      if (answer.ok) {
        place.innerHTML = await answer.text();
        return;
      }
      if (answer.status !== 503) return; // the link stays
      await wait(2000);
    }
  };
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      seen.unobserve(entry.target);
      load(entry.target);
    }
  });
  const look = (within) => {
    for (const place of within.querySelectorAll("[data-glimpse]")) seen.observe(place);
  };
  look(document);
  // What is being read does not move; that there is more is said above it.
  const fresh = document.querySelector("[data-fresh]");
  if (fresh) {
    document.body.addEventListener("news", () => {
      fresh.hidden = false;
    });
  }
  document.addEventListener("part", (event) => look(event.target));
})();
