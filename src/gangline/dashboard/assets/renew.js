// Fetches the same page and puts its content in place of this one's; scroll position, focus, open parts and drawings stay.
const byId = (id, page = document) => page.getElementById(id);
const places = () => [...byId("main").querySelectorAll("a, summary")];
const sign = (element) => element.getAttribute("href") || element.textContent;
let asking = false;

// Replaces the content, and gives focus back to the same link.
function replace(page) {
  const before = places();
  const focused = before.indexOf(document.activeElement);
  const key = focused < 0 ? null : sign(before[focused]);
  const nth = before.slice(0, Math.max(focused, 0)).filter((place) => sign(place) === key).length;
  for (const open of byId("main").querySelectorAll("details[open]")) {
    const same = byId(open.id, page);
    if (same) same.open = true;
  }
  replaceBut(byId("main").querySelector("[data-keep]"), page);
  if (key !== null) places().filter((place) => sign(place) === key)[nth]?.focus({ preventScroll: true });
  document.title = page.title;
}

// What is kept stays in the document all the while, so that it keeps focus and picture.
function replaceBut(kept, page) {
  const main = byId("main");
  const fresh = [...byId("main", page).childNodes];
  const place = kept ? fresh.findIndex((node) => node.id === kept.id) : -1;
  if (place < 0) {
    main.replaceChildren(...fresh);
    return;
  }
  for (const node of [...main.childNodes]) if (node !== kept) node.remove();
  kept.before(...fresh.slice(0, place));
  kept.after(...fresh.slice(place + 1));
}

// Alarms are only touched when they say something else, so that they are read aloud once.
function alarm(...words) {
  const text = words.map((word) => word.textContent).join();
  if (text !== [...byId("state").childNodes].map((word) => word.textContent).join()) byId("state").replaceChildren(...words);
}

function lost() {
  const words = document.createElement("p");
  words.className = "alarm";
  words.textContent = "The dashboard itself does not answer. What is shown is what it said last.";
  alarm(words);
}

export async function refresh() {
  if (asking) return;
  asking = true;
  try {
    const answer = await fetch(location.href, { cache: "no-store" });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!byId("main", page)) throw new Error("this is another server");
    alarm(...byId("state", page).childNodes);
    replace(page);
    document.dispatchEvent(new CustomEvent("renewed"));
  } catch {
    lost();
  } finally {
    asking = false;
  }
}
