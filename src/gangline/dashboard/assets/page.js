// Where every page begins: it renews itself, choices take effect at once, and a page with a map draws it.
import { follow } from "./live.js";
import { refresh } from "./renew.js";

const pause = document.getElementById("pause");
let paused = false;
pause.hidden = false;
pause.addEventListener("click", () => {
  paused = !paused;
  pause.setAttribute("aria-pressed", String(paused));
  pause.textContent = paused ? "Resume" : "Pause";
  if (!paused) refresh();
});

document.addEventListener("change", (event) => {
  if (event.target.matches("form[data-at-once] select")) event.target.form.requestSubmit();
});

document.documentElement.classList.add("scripted");

follow(() => {
  if (!paused && !document.hidden && String(getSelection()) === "" && !document.activeElement?.matches("select, main input")) refresh();
});

if (document.getElementById("map")) import("./map.js").then((map) => map.begin());
