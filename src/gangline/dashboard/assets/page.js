// Fetches the same page every few seconds and puts its content in place of this one's; scroll position, focus and open parts stay.
"use strict";
(() => {
  const seconds = 5;
  const byId = (id, page = document) => page.getElementById(id);
  const places = () => [...byId("main").querySelectorAll("a, summary")];
  const sign = (element) => element.getAttribute("href") || element.textContent;
  let paused = false;

  byId("pause").hidden = false;
  byId("pause").addEventListener("click", () => {
    paused = !paused;
    byId("pause").setAttribute("aria-pressed", String(paused));
    byId("pause").textContent = paused ? "Resume" : "Pause";
  });

  // Replaces the content, and gives focus back to the same link.
  function renew(page) {
    const before = places();
    const focused = before.indexOf(document.activeElement);
    const key = focused < 0 ? null : sign(before[focused]);
    const nth = before.slice(0, Math.max(focused, 0)).filter((each) => sign(each) === key).length;
    for (const open of byId("main").querySelectorAll("details[open]")) {
      const same = byId(open.id, page);
      if (same) same.open = true;
    }
    byId("main").replaceChildren(...byId("main", page).childNodes);
    if (key !== null) places().filter((each) => sign(each) === key)[nth]?.focus({ preventScroll: true });
    document.title = page.title;
  }

  // Alarms are only touched when they say something else, so that they are read aloud once.
  function alarm(...said) {
    const text = said.map((each) => each.textContent).join();
    if (text !== [...byId("state").childNodes].map((each) => each.textContent).join()) byId("state").replaceChildren(...said);
  }

  function lost() {
    const said = document.createElement("p");
    said.className = "alarm";
    said.textContent = "The dashboard itself does not answer. What is shown is what it said last.";
    alarm(said);
  }

  async function refresh() {
    if (paused || document.hidden || String(getSelection()) !== "") return;
    try {
      const answer = await fetch(location.href, { cache: "no-store" });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (!byId("main", page)) throw new Error("this is another server");
      alarm(...byId("state", page).childNodes);
      renew(page);
    } catch {
      lost();
    }
  }

  setInterval(refresh, seconds * 1000);
})();
