// @ts-check
/** The home page: running rooms as they change, quick play, and the form of a new match. */

import { CHAT_LINES_COUNT, fill, h, showLines } from "./dom.js";
import * as text from "./text.js";

const MINUTE_MS = 60_000;

/** @type {[string, any][]} */
const TIMES = [
  ["no clock", { kind: "none" }],
  ["1+0", { kind: "fischer", initial_ms: MINUTE_MS, increment_ms: 0 }],
  ["3+2", { kind: "fischer", initial_ms: 3 * MINUTE_MS, increment_ms: 2000 }],
  ["5+3", { kind: "fischer", initial_ms: 5 * MINUTE_MS, increment_ms: 3000 }],
  ["10+5", { kind: "fischer", initial_ms: 10 * MINUTE_MS, increment_ms: 5000 }],
  ["1 day a turn", { kind: "correspondence", days: 1 }],
  ["3 days a turn", { kind: "correspondence", days: 3 }],
];

export class HomeView {
  /**
   * @param {import("./link.js").Link} link
   * @param {(path: string) => void} open - go to another address of the page
   */
  constructor(link, open) {
    this.link = link;
    this.open = open;
    /** @type {Map<string, any>} */
    this.rooms = new Map();
    /** @type {string[]} */
    this.people = [];
    /** @type {any} */
    this.games = null;
    this.note = h("p", { class: "status", role: "alert" });
    this.quick = h("div", { class: "row quick" });
    this.list = h("div", { class: "rooms" });
    this.here = h("p", { class: "muted" });
    /** @type {any[]} */
    this.chat = [];
    this.lines = h("div", { class: "lines", role: "log", "aria-label": "chat" });
    const said = /** @type {HTMLInputElement} */ (h("input", { "aria-label": "chat message", placeholder: "Message to everybody here", maxlength: 300, autocomplete: "off" }));
    const chatting = h("form", { class: "row", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); this.say(said); } }, said, h("button", {}, "Send"));
    this.form = h("div", {});
    this.element = h("main", { class: "home" },
      h("section", {}, h("h1", {}, "Play abstract board games"), this.note, h("h2", {}, "Play now"),
        h("p", { class: "muted" }, "Against whoever waits for the same game, or wait for somebody."), this.quick, this.form),
      h("section", {}, h("h2", {}, "Rooms"), this.list, this.here, h("h2", {}, "Chat"), this.lines, chatting));
    this.onLobby = (/** @type {Event} */ event) => this.hear(/** @type {CustomEvent} */ (event).detail);
    link.addEventListener("lobby-update", this.onLobby);
    this.comeback = () => this.subscribe();
    link.comebacks.push(this.comeback);
    if (link.isWelcome) this.subscribe();
  }

  close() {
    this.link.removeEventListener("lobby-update", this.onLobby);
    this.link.comebacks = this.link.comebacks.filter((comeback) => comeback !== this.comeback);
    this.link.send({ type: "unsubscribe-lobby" }).catch(() => undefined);
  }

  async subscribe() {
    try {
      const listed = await this.link.send({ type: "subscribe-lobby" });
      this.rooms = new Map(listed.rooms.map((/** @type {any} */ room) => [room.room, room]));
      this.showRooms();
      this.chat = listed.chat || [];
      this.showChat();
      if (!this.games) {
        this.games = await this.link.send({ type: "list-games" });
        this.showGames();
      }
    } catch (error) {
      fill(this.note, text.problem(error));
    }
  }

  /** @param {any} update */
  hear(update) {
    for (const room of update.rooms) this.rooms.set(room.room, room);
    for (const code of update.gone) this.rooms.delete(code);
    this.people = update.people;
    this.count = update.people_count;
    this.showRooms();
    if (update.chat?.length) {
      this.chat = [...this.chat, ...update.chat].slice(-CHAT_LINES_COUNT);
      this.showChat();
    }
  }

  /** @param {HTMLInputElement} said */
  async say(said) {
    const line = said.value.trim();
    if (!line) return;
    try {
      await this.link.send({ type: "say-in-lobby", text: line });
      said.value = "";
      fill(this.note);
    } catch (error) {
      fill(this.note, text.problem(error));
    }
  }

  showChat() {
    showLines(this.lines, this.chat.length
      ? this.chat.map((line) => h("p", {}, h("b", {}, line.name), ": ", line.text))
      : [h("p", { class: "muted" }, "No messages yet.")]);
  }

  showRooms() {
    const own = this.link.welcome?.account;
    const rooms = [...this.rooms.values()].sort((a, b) => b.created_at_ms - a.created_at_ms);
    const line = (/** @type {any} */ room) => {
      const names = room.seats.map((/** @type {any} */ seat) => seat.name || "open seat").join(" - ");
      const isOwn = room.seats.some((/** @type {any} */ seat) => seat.account === own && own);
      const isOpen = room.phase === "waiting" && room.seats.some((/** @type {any} */ seat) => seat.kind !== "person" && seat.kind !== "bot");
      const facts = [text.options(room.options), text.timeControl(room.settings?.time_control), room.watchers ? `${room.watchers} watching` : ""];
      return h("a", { class: "room-line", href: `/r/${room.room}`, onclick: (/** @type {Event} */ event) => { event.preventDefault(); this.open(`/r/${room.room}`); } },
        h("b", {}, text.title(room.game)), h("span", {}, names), h("span", { class: "muted" }, facts.filter(Boolean).join(", ")),
        h("span", { class: "go" }, isOwn ? "continue" : isOpen ? "play" : "watch"));
    };
    fill(this.list, ...(rooms.length ? rooms.map(line) : [h("p", { class: "muted" }, "Nobody plays now. Start a match.")]));
    if (this.people.length) {
      const others = (this.count || 0) - this.people.length;
      fill(this.here, `Here: ${this.people.join(", ")}${others > 0 ? ` and ${others} more` : ""}`);
    }
  }

  showGames() {
    fill(this.quick, ...this.games.games.map((/** @type {any} */ game) => h("button", { class: "primary", onclick: () => this.quickPlay(game.name) }, game.title)));
    fill(this.form, this.makeForm());
  }

  /** @param {string} game */
  async quickPlay(game) {
    await this.enter({ type: "quick-play", game });
  }

  /** @param {any} message */
  async enter(message) {
    try {
      const entered = await this.link.send(message);
      this.open(`/r/${entered.head.room}${entered.secrets ? `#${encodeURIComponent(entered.secrets.invite)}` : ""}`);
    } catch (error) {
      fill(this.note, text.problem(error));
    }
  }

  makeForm() {
    const select = (/** @type {string} */ label, /** @type {[string, string][]} */ choices, /** @type {() => void} */ onchange = () => undefined) => {
      const field = /** @type {HTMLSelectElement} */ (h("select", { onchange }, ...choices.map(([value, shown]) => h("option", { value }, shown))));
      return { field, row: h("label", { class: "field" }, h("span", {}, label), field) };
    };
    const games = this.games.games;
    const game = select("Game", games.map((/** @type {any} */ each) => [each.name, each.title]), () => change());
    const opponent = h("div", {});
    const more = h("div", {});
    const time = select("Clock", TIMES.map(([shown], at) => [String(at), shown]));
    const rules = h("p", {});
    /** @type {{against: HTMLSelectElement, seat: HTMLSelectElement, read: () => Record<string, any>, settings: () => any}} */
    let fields;
    const change = () => {
      const form = games.find((/** @type {any} */ each) => each.name === game.field.value);
      const levels = this.link.welcome?.levels?.[form.name] || [];
      const against = select("Opponent", [["", "a friend or anybody"], ...levels.map((/** @type {string} */ level) => [level, `bot: ${level}`])]);
      const preferred = levels.indexOf("easy");
      if (preferred >= 0) against.field.value = "easy";
      fill(opponent, against.row);
      fill(rules, h("a", { href: `/rules/${form.name}` }, `Rules of ${form.title}`));
      const options = optionFields(form.options);
      const seat = select("You are", [["0", form.sides[0]], ["1", form.sides[1]], ["draw", "drawn at random"]]);
      const isPrivate = checkbox("Private: only with the link");
      const hints = checkbox("Hints allowed");
      fill(more, seat.row, time.row, isPrivate.row, hints.row, ...options.rows);
      fields = {
        against: against.field, seat: seat.field, read: options.read,
        settings: () => ({
          time_control: TIMES[Number(time.field.value)][1],
          ...(isPrivate.field.checked ? { is_private: true } : {}), ...(hints.field.checked ? { hints: true } : {}),
          ...(seat.field.value === "draw" ? { first: "draw" } : {}),
        }),
      };
    };
    change();
    const start = async () => {
      const level = fields.against.value;
      const other = level ? { kind: "bot", level } : { kind: "open" };
      const seats = fields.seat.value === "1" ? [other, { kind: "me" }] : [{ kind: "me" }, other];
      await this.enter({ type: "create-room", game: game.field.value, options: fields.read(), seats, settings: fields.settings() });
    };
    return h("form", { class: "new", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); start(); } },
      h("h2", {}, "New match"), game.row, opponent, rules, h("details", {}, h("summary", {}, "More settings"), more), h("button", { class: "primary" }, "Start"));
  }
}

/** @param {string} label */
function checkbox(label) {
  const field = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox" }));
  return { field, row: h("label", { class: "field check" }, field, h("span", {}, label)) };
}

/**
 * The fields of a game's options; what is left as it was is not sent.
 * @param {any[]} forms
 */
function optionFields(forms) {
  /** @type {[any, HTMLInputElement | HTMLSelectElement][]} */
  const fields = [];
  const rows = forms.filter((form) => form.kind !== "position").map((form) => {
    const field = form.kind === "choice"
      ? h("select", {}, ...form.choices.map((/** @type {string} */ choice) => h("option", { value: choice, selected: choice === form.default }, choice)))
      : h("input", { type: "number", min: form.low, max: form.high, value: form.default ?? "", placeholder: "automatic" });
    fields.push([form, /** @type {any} */ (field)]);
    return h("label", { class: "field", title: form.help }, h("span", {}, `${form.label}: ${form.help}`), field);
  });
  const read = () => {
    /** @type {Record<string, any>} */
    const found = {};
    for (const [form, field] of fields) {
      if (field.value === "" || field.value === String(form.default)) continue;
      found[form.key] = form.kind === "number" ? Number(field.value) : field.value;
    }
    return found;
  };
  return { rows, read };
}
