// @ts-check
/** The frame of the page: addresses, the name of the guest, the state of the connection. */

import { announce, fill, h } from "./dom.js";
import { HomeView } from "./home.js";
import { Link } from "./link.js";
import { ReplayView } from "./replay.js";
import { RoomView } from "./room.js";
import { RulesView } from "./rules.js";
import * as text from "./text.js";

/** A page that does not get on is loaded again, but not over and over. */
const RELOAD_AFTER_MS = 30_000;

const link = new Link();
const isEmbedded = location.pathname.startsWith("/embed/");
const app = /** @type {HTMLElement} */ (document.getElementById("app"));
const state = h("span", { class: "connection" }, text.CONNECTION.connecting);
const guest = h("span", { class: "guest" });
const place = h("div", {});
/** @type {{element: HTMLElement, close: () => void} | null} */
let view = null;

/** Go to an address of this page. @param {string} path */
function open(path) {
  history.pushState(null, "", path);
  show();
}

function show() {
  view?.close();
  const path = location.pathname;
  const room = path.match(/^\/(?:r|embed)\/([A-Za-z0-9]{5})\/?$/);
  const match = path.match(/^\/m\/([A-Za-z0-9]{5})\/([0-9]+)\/?$/);
  const rules = path.match(/^\/rules\/([a-z-]+)\/?$/);
  if (room) view = new RoomView(link, room[1].toUpperCase(), { isEmbedded });
  else if (match) view = new ReplayView(link, match[1].toUpperCase(), Number(match[2]));
  else if (rules) view = new RulesView(rules[1]);
  else view = new HomeView(link, open);
  document.title = "tabuleiro";
  fill(place, view.element);
  scrollTo(0, 0);
}

/** True while a name is asked for: a refused one stands in the form with the reason, though the old one is welcome. */
let isAsking = false;

function showGuest() {
  const name = link.welcome?.name;
  if (!name || isAsking) return;
  fill(guest, h("span", {}, name), h("button", { class: "plain", onclick: askName }, "change name"));
}

function askName() {
  isAsking = true;
  const field = /** @type {HTMLInputElement} */ (h("input", { "aria-label": "your name", minlength: 2, autocomplete: "nickname", placeholder: "name, or text of identity export" }));
  const said = h("span", { class: "problem", role: "alert" });
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      if (field.value.trim()) await link.rename(field.value.trim());
      isAsking = false;
      showGuest();
    } catch (error) {
      fill(said, text.problem(error));
    }
  };
  fill(guest, h("form", { class: "row", onsubmit: submit }, field, h("button", {}, "Save"), said));
  field.focus();
}

if (isEmbedded) {
  fill(app, state, place);
} else {
  fill(app, h("header", { class: "top" }, h("a", { href: "/", class: "brand", onclick: (/** @type {Event} */ event) => { event.preventDefault(); open("/"); } }, "tabuleiro"), state, guest), place);
}
let wasLost = false;
link.addEventListener("state", () => {
  if (link.state === "offline" && !wasLost) announce(text.CONNECTION.offline);
  if (link.state === "online" && wasLost) announce(text.CONNECTED_AGAIN);
  wasLost = link.state === "offline" || (wasLost && link.state !== "online");
  fill(state, text.CONNECTION[link.state]);
  state.classList.toggle("bad", link.state !== "online");
});
link.addEventListener("unwelcome", (event) => fill(state, text.problem(/** @type {CustomEvent} */ (event).detail)));
link.addEventListener("welcome", showGuest);
link.addEventListener("announcement", (event) => {
  const { text: said } = /** @type {CustomEvent} */ (event).detail;
  fill(state, said);
});
addEventListener("popstate", show);
// A page may connect to the nodes that there were when it was loaded: loaded again, it may to newer ones too.
addEventListener("securitypolicyviolation", (event) => {
  if (event.effectiveDirective === "connect-src" && performance.now() > RELOAD_AFTER_MS) location.reload();
});
show();
