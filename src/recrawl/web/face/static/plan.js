// The slider of the plan: says in words what the budget it stands at would give, and marks it on the drawings.
"use strict";

document.addEventListener("part", (event) => {
  const plan = event.target.querySelector("[data-plan]");
  if (!plan) return;
  const rows = [...plan.querySelectorAll("tr[data-budget]")];
  const slider = plan.querySelector("[data-slider]");
  const words = plan.querySelector("[data-words]");
  const now = rows[Number(slider.value)];
  const names = [...plan.querySelectorAll("[data-titles] dt")].map((name) => name.textContent);
  const titles = [...plan.querySelectorAll("[data-titles] dd")].map((title) => title.textContent);
  const show = () => {
    const row = rows[Number(slider.value)];
    plan.querySelector("[data-shown]").textContent = row.dataset.perDay;
    slider.setAttribute("aria-valuetext", `${row.dataset.perDay} visits a day`);
    words.textContent = row === now ? "This is the budget in force." : names
      .map((name, i) => `${titles[i]}: ${row.getAttribute(`data-${name}`)} instead of ${now.getAttribute(`data-${name}`)}.`)
      .join(" ");
    for (const spot of plan.querySelectorAll("circle[data-budget]")) {
      spot.classList.toggle("chosen", spot.dataset.budget === row.dataset.budget);
    }
    for (const other of rows) other.classList.toggle("chosen", other === row);
  };
  slider.addEventListener("input", () => {
    show();
    document.querySelector("[data-field]").value = rows[Number(slider.value)].dataset.perDay.replaceAll(",", "");
  });
  show();
});
