// Says when the page should be renewed: when the server tells of a change since the page was made, and every half minute,
// because ages grow.
// Without a stream of events (a proxy that keeps them back, too many readers) it asks every five seconds instead.
const SELDOM = 30000;
const OFTEN = 5000;

export function follow(renew) {
  let timer = 0;
  const every = (pause) => {
    clearInterval(timer);
    timer = setInterval(renew, pause);
  };
  every(OFTEN);
  const stream = new EventSource(`/live?since=${document.body.dataset.version}`);
  stream.addEventListener("open", () => every(SELDOM));
  stream.addEventListener("changed", renew);
  stream.addEventListener("error", () => every(OFTEN));
  addEventListener("pagehide", () => stream.close());
}
