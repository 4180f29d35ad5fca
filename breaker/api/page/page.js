// Keeps the page true without reloading it: fetches it anew after each move and every few seconds, takes over the parts
// that differ, and takes the colours away when nothing comes any more. Times become the reader's own.
(() => {
  "use strict";
  const EVERY_MS = 5000;
  const LIMIT_MS = 10000;
  const LOST_MS = 15000;
  // In a tab that nobody sees timers are slow, and its title and icon shall be true all the same.
  const HIDDEN_EVERY_MS = 30000;
  const HIDDEN_LOST_MS = 180000;
  const GRACE_MS = 3000; // after it is seen again

  const live = document.getElementById("live");
  const said = document.getElementById("said");
  const tip = document.getElementById("tip");
  let shown = parts(document); // as the server drew them
  let heard = Date.now();
  let seen = Date.now();
  let fetching = false;
  let again = false;
  let source = null;
  let pointed = null; // the slot that is told: { day, index }

  function parts(root) {
    return new Map([...root.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part.outerHTML]));
  }

  function find(name, root = document) {
    return root.querySelector(`[data-part="${name}"]`);
  }

  // Taking over what differs

  async function refresh() {
    if (fetching) {
      again = true;
      return;
    }
    fetching = true;
    try {
      const answer = await fetch(location.pathname, { cache: "no-store", signal: AbortSignal.timeout(LIMIT_MS) });
      if (answer.ok) adopt(new DOMParser().parseFromString(await answer.text(), "text/html"));
    } catch {
      // It is tried again; when it has been in vain for too long, the page says so.
    }
    fetching = false;
    if (again) {
      again = false;
      refresh();
    }
  }

  function adopt(fresh) {
    const drawn = parts(fresh);
    heard = Date.now();
    const before = document.querySelector("h1").textContent;
    if ([...drawn.keys()].join() === [...shown.keys()].join()) {
      for (const [name, html] of drawn) if (shown.get(name) !== html) replace(find(name), find(name, fresh));
    } else {
      replace(document.querySelector("main"), fresh.querySelector("main"));
      replace(find("clock"), find("clock", fresh));
    }
    shown = drawn;
    document.querySelector("main").className = fresh.querySelector("main").className;
    document.title = fresh.title;
    document.querySelector("link[rel=icon]").href = fresh.querySelector("link[rel=icon]").href;
    dress();
    const now = document.querySelector("h1").textContent;
    if (now !== before) said.textContent = now;
    if (live.className === "lost") tellLive(); // the stream of moves may never have noticed
  }

  function replace(old, drawn) {
    const made = document.importNode(drawn, true);
    const focus = old.contains(document.activeElement) ? document.activeElement : null;
    for (const one of old.querySelectorAll("details[open]")) {
      made.querySelector(`details[data-keep="${one.dataset.keep}"]`)?.setAttribute("open", "");
    }
    const day = focus?.matches(".day") ? [...old.querySelectorAll(".day")].indexOf(focus) : -1;
    const kept = focus?.closest("[data-keep]")?.dataset.keep;
    const told = pointed && old.contains(pointed.day) ? [...old.querySelectorAll(".day")].indexOf(pointed.day) : -1;
    const index = pointed?.index;
    old.replaceWith(made);
    if (kept) made.querySelector(`[data-keep="${kept}"] > summary`)?.focus({ preventScroll: true });
    if (day >= 0) made.querySelectorAll(".day")[day]?.focus({ preventScroll: true });
    if (told >= 0) {
      dress();
      const anew = made.querySelectorAll(".day")[told];
      if (anew) tell(anew, index);
      else untell();
    }
  }

  function lost() {
    const since = new Date(heard).toLocaleTimeString("en-GB");
    const banner = find("headline");
    document.querySelector("main").className = "stale";
    banner.className = "headline unknown";
    const text = `No connection to Firstbyte since ${since}: this is what was last known.`;
    const line = banner.querySelector("h1");
    if (line.textContent !== text) line.textContent = said.textContent = text;
    shown.set("headline", ""); // so that it is drawn anew
    document.title = "Not connected · Firstbyte";
    document.querySelector("link[rel=icon]").href = "data:,";
    say("lost", "No connection");
  }

  function say(state, word) {
    live.hidden = false;
    live.className = state;
    live.textContent = word;
  }

  // The reader's own time, and what stands in a slot

  function dress() {
    for (const time of document.querySelectorAll("time:not([title])")) {
      const then = new Date(time.dateTime);
      time.title = time.textContent;
      time.textContent = local(then, time.textContent);
    }
    for (const title of document.querySelectorAll(".slot > title")) {
      title.parentNode.says = title.textContent;
      title.remove();
    }
  }

  function local(then, utc) {
    const offset = then.getTimezoneOffset();
    if (!offset) return utc;
    const clock = then.toLocaleTimeString("en-GB");
    if (then.toDateString() === new Date().toDateString()) return clock;
    return `${then.toLocaleDateString("en-GB", { day: "2-digit", month: "short" })} ${clock.slice(0, 5)}`;
  }

  function says(day, index) {
    const slot = day.querySelectorAll(".slot")[index];
    const [span, ...rest] = slot.says.split(": ");
    const length = Number(day.dataset.length);
    const start = new Date((Number(day.dataset.first) + index * length) * 1000);
    if (!start.getTimezoneOffset()) return `${span}: ${rest.join(": ")}`;
    const end = new Date(start.getTime() + length * 1000);
    const cut = length >= 60 ? 5 : 8;
    const own = [start, end].map((at) => at.toLocaleTimeString("en-GB").slice(0, cut)).join(" to ");
    return `${own}: ${rest.join(": ")}`;
  }

  function tell(day, index, aloud = false) {
    const all = day.querySelectorAll(".slot");
    if (!all.length) return;
    untell();
    const at = Math.min(Math.max(index, 0), all.length - 1);
    pointed = { day, index: at };
    all[at].classList.add("at");
    const text = says(day, at);
    tip.textContent = text;
    tip.hidden = false;
    place();
    if (aloud) said.textContent = text;
  }

  function place() {
    const box = pointed.day.querySelectorAll(".slot")[pointed.index].getBoundingClientRect();
    const left = box.left + box.width / 2 - tip.offsetWidth / 2;
    tip.style.left = `${Math.min(Math.max(left, 8), document.documentElement.clientWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${box.top > tip.offsetHeight + 12 ? box.top - tip.offsetHeight - 8 : box.bottom + 8}px`;
  }

  function untell() {
    document.querySelector(".slot.at")?.classList.remove("at");
    tip.hidden = true;
    pointed = null;
  }

  const STEPS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") untell();
    const day = event.target.closest?.(".day");
    if (!day || !(event.key in STEPS)) return;
    const last = day.querySelectorAll(".slot").length - 1;
    const index = (pointed?.day === day ? pointed.index : last) + STEPS[event.key];
    event.preventDefault();
    tell(day, index === -Infinity ? 0 : index === Infinity ? last : index, true);
  });
  document.addEventListener("focusin", (event) => {
    const day = event.target.closest?.(".day");
    if (day && event.target.matches(":focus-visible") && !pointed) tell(day, Infinity, true);
  });
  document.addEventListener("focusout", (event) => {
    if (event.target.matches?.(".day") && event.target.isConnected) untell();
  });
  document.addEventListener("pointerover", (event) => {
    const slot = event.target.closest?.(".slot");
    if (slot) tell(slot.closest(".day"), [...slot.parentNode.children].indexOf(slot));
    else if (pointed && document.activeElement !== pointed.day) untell();
  });
  addEventListener("scroll", () => pointed && place(), { passive: true });

  // When to look

  function listen() {
    source?.close();
    source = new EventSource("events");
    source.onopen = source.onerror = tellLive;
    source.addEventListener("move", refresh);
  }

  function tellLive() {
    if (source?.readyState === EventSource.OPEN) say("on", "Live");
    else say("off", "Reconnecting");
  }

  function look() {
    if (document.hidden) {
      source?.close(); // a browser has few connections to one server
      if (Date.now() - heard > HIDDEN_EVERY_MS) refresh();
      return;
    }
    refresh();
    if (!source || source.readyState === EventSource.CLOSED) listen();
  }

  setInterval(() => {
    const waited = Date.now() - heard;
    if (waited > (document.hidden ? HIDDEN_LOST_MS : LOST_MS) && Date.now() - seen > GRACE_MS) lost();
  }, 1000);
  setInterval(look, EVERY_MS);
  document.addEventListener("visibilitychange", () => {
    seen = Date.now();
    if (seen - heard > LOST_MS) document.querySelector("main").className = "stale"; // until it is fetched
    look();
  });
  addEventListener("pageshow", (event) => event.persisted && look());
  dress();
  listen();
})();
