// Fetches the same page every few seconds and puts its content in place of this one's; scroll position, focus and open parts stay.
"use strict";
(() => {
  const seconds = 5;
  const pause = document.getElementById("pause");
  const main = () => document.getElementById("main");
  let paused = false;

  pause.hidden = false;
  pause.addEventListener("click", () => {
    paused = !paused;
    pause.setAttribute("aria-pressed", String(paused));
    pause.textContent = paused ? "Resume" : "Pause";
  });

  const busy = () => paused || document.hidden || String(getSelection()) !== "" || main().contains(document.activeElement);

  function show(text) {
    const page = new DOMParser().parseFromString(text, "text/html");
    const next = page.getElementById("main");
    if (!next) return;
    for (const open of main().querySelectorAll("details[open]")) {
      const same = next.querySelector("#" + CSS.escape(open.id));
      if (same) same.open = true;
    }
    main().replaceChildren(...next.childNodes);
    document.title = page.title;
  }

  function lost() {
    const state = main().querySelector(".state");
    if (!state || state.querySelector(".lost")) return;
    const said = document.createElement("p");
    said.className = "alarm lost";
    said.textContent = "The dashboard itself does not answer. What is shown is what it said last.";
    state.prepend(said);
  }

  async function refresh() {
    if (busy()) return;
    try {
      const answer = await fetch(location.href, { cache: "no-store" });
      show(await answer.text());
    } catch {
      lost();
    }
  }

  setInterval(refresh, seconds * 1000);
})();
