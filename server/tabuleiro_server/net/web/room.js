// @ts-check
/** A room: its board, clocks, offers and chat, and the turn in the making. */

import { BoardPicture } from "./board.js";
import { CHAT_LINES_COUNT, announce, confirmed, fill, h, secretIn, showLines } from "./dom.js";
import { keepHint, laysForced, setLaysForced } from "./kept.js";
import * as text from "./text.js";

const BOARDS_COUNT = 25;
/** Events that change the board. */
const CHANGES = ["actions-played", "actions-undone", "turn-taken-back"];
const isCoarse = matchMedia("(pointer: coarse)");

/** @param {any[] | undefined} list @param {any[]} start */
function begins(list, start) {
  return start.every((item, at) => (list || [])[at] === item);
}

/** Fields with their default value are left out. @param {any} seat */
function isOpen(seat) {
  return (seat.holder.kind ?? "open") === "open";
}

/**
 * Remember what a part of the page shows, and tell whether that is something else than before: only then is it made
 * anew, so that a press on it is not lost.
 * @param {HTMLElement} part @param {any} shown
 */
function isNew(part, shown) {
  const before = part.dataset.shown;
  part.dataset.shown = JSON.stringify(shown);
  return part.dataset.shown !== before;
}

export class RoomView {
  /**
   * @param {import("./link.js").Link} link
   * @param {string} code
   * @param {{isEmbedded?: boolean}} [how]
   */
  constructor(link, code, { isEmbedded = false } = {}) {
    this.link = link;
    this.code = code;
    this.isEmbedded = isEmbedded;
    this.secret = secretIn(location.hash);
    /** @type {any} */
    this.head = null;
    /** @type {number | null} */
    this.seat = null;
    this.seq = 0;
    /** @type {string[]} */
    this.actions = [];
    /** @type {any[]} */
    this.chat = [];
    /** @type {any} */
    this.secrets = null;
    /** @type {any} */
    this.board = null;
    /** @type {BoardPicture | null} */
    this.picture = null;
    /** The turn in the making: actions so far, the board after them, what is picked of the next one. */
    this.turn = this.emptyTurn();
    /** The ply that is looked back at, null for now. @type {number | null} */
    this.back = null;
    /** @type {Map<string, any>} */
    this.boards = new Map();
    /** The time that was left to the own clock when it was last looked at. */
    this.lowTime = { ply: -1, left: 0 };
    this.note = "";
    this.isSending = false;
    this.isUnanswered = false;
    this.isConsidering = false;
    /** What was picked while the server considered the action before. @type {any} */
    this.queued = null;
    this.parts = this.makeParts();
    this.element = h("main", { class: isEmbedded ? "room embedded" : "room" }, ...Object.values(this.parts.columns));
    this.reasonGone = "";
    link.rooms.set(code, this);
    this.ticker = setInterval(() => this.showClocks(), 200);
    if (link.isWelcome) link.enter(code);
  }

  close() {
    clearInterval(this.ticker);
    this.link.forget(this.code);
    // A player's seat stays; watchers are counted.
    if (this.head && !this.ownSeats.length) this.link.send({ type: "leave-room", room: this.code }).catch(() => undefined);
  }

  /** @returns {{actions: string[], board: any, picked: any[], ready: any, words: any[], laid: string}} */
  emptyTurn() {
    return { actions: [], board: null, picked: [], ready: null, words: [], laid: "" };
  }

  makeParts() {
    const parts = {
      title: h("h1"), facts: h("p", { class: "facts" }), players: h("div", { class: "players" }), clocks: /** @type {HTMLElement[]} */ ([]),
      status: h("p", { class: "status" }), board: h("div", { class: "board-place" }), buttons: h("div", { class: "row actions" }),
      offers: h("div", { class: "offers" }), look: h("div", { class: "row look" }), invite: h("div", { class: "invite" }),
      moves: h("ol", { class: "moves", "aria-label": "actions of the match" }), lines: h("div", { class: "lines", role: "log", "aria-label": "chat" }),
    };
    const typed = /** @type {HTMLInputElement} */ (h("input", {
      "aria-label": "type a turn", placeholder: "type a turn, e.g. c3", autocomplete: "off", autocapitalize: "off", spellcheck: "false", maxlength: 400,
    }));
    const said = /** @type {HTMLInputElement} */ (h("input", { "aria-label": "chat message", placeholder: "Message", maxlength: 300, autocomplete: "off" }));
    const typing = h("form", { class: "row typed", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); this.typeTurn(typed); } },
      typed, h("button", {}, "Play"));
    const forcing = h("label", { class: "field check" }, h("input", {
      type: "checkbox", checked: laysForced(), onchange: (/** @type {Event} */ event) => setLaysForced(/** @type {HTMLInputElement} */ (event.target).checked),
    }), text.LAYS_FORCED);
    const chatting = h("form", { class: "row", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); this.say(said); } },
      said, h("button", {}, "Send"));
    const heading = h("header", { class: "heading" }, parts.title, parts.facts);
    const columns = this.isEmbedded
      ? { left: h("section", { class: "left" }, heading, parts.players, parts.status, parts.board) }
      : {
        left: h("section", { class: "left" }, heading, parts.players, parts.status, parts.board, parts.buttons, parts.offers, typing, forcing, parts.look),
        right: h("section", { class: "right" }, parts.invite, h("h2", {}, "Turns"), parts.moves, h("h2", {}, "Chat"), parts.lines, chatting),
      };
    return { ...parts, typing, forcing, columns };
  }

  /** Enter, or enter again with the events that were missed. */
  async enter() {
    this.take(await this.link.send({
      type: "watch-room", room: this.code, boards: true,
      ...(this.head ? { since: this.seq } : {}), ...(this.secret ? { secret: this.secret } : {}),
    }));
  }

  /** @param {any} entered */
  take(entered) {
    this.seat = entered.seat ?? null;
    this.secrets = entered.secrets || this.secrets;
    if (entered.layout && (!this.picture || entered.layout.names.length !== this.picture.layout.names.length)) {
      this.picture = new BoardPicture(entered.layout, entered.board, (target) => this.pick(target));
      fill(this.parts.board, this.picture.element);
    }
    this.board = entered.board || this.board;
    if (entered.snapshot) {
      this.actions = [...entered.snapshot.actions];
      this.chat = [...(entered.snapshot.chat || [])];
    }
    this.head = entered.head;
    for (const event of entered.events || []) this.learn(event);
    this.seq = entered.head.seq;
    this.turn = this.emptyTurn();
    this.isSending = this.isUnanswered;
    this.show();
  }

  /** @param {any} message */
  hear(message) {
    if (message.type === "room-gone") {
      this.reasonGone = message.reason;
      if (this.head?.phase === "closed") this.fail({ code: "no-such-room" });
      else this.link.follow(this.code, message.node_url);
      return;
    }
    if (!this.head) return;
    const known = this.head;
    this.head = message.head;
    this.tellPresence(known.seats);
    const news = (message.events || []).filter((/** @type {any} */ event) => event.seq > this.seq);
    const last = news.findLast((/** @type {any} */ { event }) => CHANGES.includes(event.type));
    for (const event of news) {
      this.learn(event, message.board, event === last);
      this.seq = event.seq;
    }
    if (message.board) {
      this.board = message.board;
      this.turn = this.emptyTurn();
      this.isSending = this.isUnanswered;
      this.note = "";
      if (last && this.isMyTurn) announce(this.sentence(text.turn(this.cast, this.board)));
    }
    this.show();
  }

  /** @param {any[]} before - the seats so far */
  tellPresence(before) {
    const own = this.link.welcome?.account;
    this.head.seats.forEach((/** @type {any} */ seat, /** @type {number} */ at) => {
      const isSame = seat.holder.account && seat.holder.account === before[at].holder.account;
      if (isSame && seat.holder.account !== own && Boolean(seat.is_connected) !== Boolean(before[at].is_connected)) {
        this.tell(text.presence(seat.holder.name, seat.is_connected));
      }
    });
  }

  /** Say something in the live region and in the chat. @param {string} sentence */
  tell(sentence) {
    announce(this.sentence(sentence));
    this.chat.push({ sentence: this.sentence(sentence) });
    this.chat = this.chat.slice(-CHAT_LINES_COUNT);
  }

  /**
   * Take an event in.
   * @param {any} sequenced
   * @param {any} [board] - the new position, if it came along
   * @param {boolean} [isLast] - it is the position after this event
   */
  learn(sequenced, board = null, isLast = false) {
    const event = sequenced.event;
    if (event.type === "match-started") { this.actions = []; this.back = null; }
    if (event.type === "actions-played") this.actions = [...this.actions.slice(0, event.ply), ...event.actions];
    if (event.type === "actions-undone" || event.type === "turn-taken-back") this.actions = this.actions.slice(0, event.ply);
    const sentence = text.event(event, this.cast, this.link.welcome?.account, board?.to_move ?? 0);
    if (!sentence || event.type === "room-closed") return;
    if (event.type === "said") {
      this.chat.push({ name: event.name, text: event.text, is_player: event.is_player });
      this.chat = this.chat.slice(-CHAT_LINES_COUNT);
      announce(sentence);
    } else if (CHANGES.includes(event.type)) {
      // The turns stand in a list of their own.
      const layout = this.picture?.layout;
      announce(this.sentence(layout && isLast && board ? text.outcome(sentence, event.actions || [], layout, this.board, board, this.cast) : sentence));
    } else {
      this.tell(sentence);
    }
  }

  /** @param {string} words */
  sentence(words) {
    return text.capitalised(words, [...this.cast.names, ...this.names()]);
  }

  get cast() {
    const { game, seats } = this.head;
    return text.cast(game, seats.map((/** @type {any} */ seat) => seat.holder.name || null), this.ownSeats);
  }

  /** The players of the match that is shown, whoever sits there now. @returns {[string, string]} */
  names() {
    const known = this.head?.match?.players || [];
    const { names, sides } = this.cast;
    return [known[0] || names[0] || sides[0], known[1] || names[1] || sides[1]];
  }

  get ownSeats() {
    const own = this.link.welcome?.account;
    return [0, 1].filter((seat) => this.head && this.head.seats[seat].holder.account === own);
  }

  get isMyTurn() {
    const match = this.head?.match;
    return Boolean(!this.isEmbedded && this.head?.phase === "playing" && match && this.ownSeats.includes(match.to_move));
  }

  // The turn in the making

  get shownBoard() {
    if (this.back !== null) return this.boards.get(this.keyOf(this.back)) || this.board;
    return this.turn.board || this.board;
  }

  /** True in the game whose second stone can be forced. */
  get hasForced() {
    return this.head.game === "iris";
  }

  get choices() {
    if (!this.isMyTurn || this.back !== null || this.isSending || this.turn.ready) return [];
    return /** @type {any[]} */ ((this.turn.board || this.board).choices || []);
  }

  nextTargets() {
    const picked = this.turn.picked;
    const open = this.choices.filter((choice) => begins(choice.targets, picked));
    return [...new Set(open.map((choice) => (choice.targets || [])[picked.length]).filter((target) => target !== undefined))];
  }

  /** @param {any} target */
  pick(target) {
    if (!this.isMyTurn || this.isSending) return;
    if (this.isConsidering) { this.queued = target; return; }
    if (this.back !== null) { this.lookBack(null); return; }
    // A turn of several actions that is complete waits for its button, whatever is touched.
    if (this.turn.ready && this.turn.actions.length) return;
    if (this.turn.ready) this.dropReady();
    const picked = this.turn.picked;
    if (picked.length && picked[picked.length - 1] === target) {
      this.turn.picked = picked.slice(0, -1);
      this.turn.words = [];
      this.show();
      return;
    }
    let way = [...picked, target];
    let open = this.choices.filter((choice) => begins(choice.targets, way));
    if (!open.length) {
      way = [target];
      open = this.choices.filter((choice) => begins(choice.targets, way));
    }
    if (!open.length) {
      this.note = `${this.nameOf(target)} cannot be played now.`;
      this.turn.picked = [];
      this.show();
      return;
    }
    this.note = "";
    this.turn.picked = way;
    const done = open.filter((choice) => (choice.targets || []).length === way.length);
    this.turn.words = done.length === open.length && done.length > 1 ? done : [];
    if (done.length === 1 && open.length === 1) this.choose(done[0]);
    else this.show();
  }

  /** @param {any} target */
  nameOf(target) {
    return typeof target === "number" ? this.picture?.layout.names[target] : `The ${target} side`;
  }

  /** Take an action into the turn. @param {any} choice */
  async choose(choice) {
    this.turn.words = [];
    const left = this.board.actions_left ?? 1;
    if (left === 1 && !this.turn.actions.length) {
      if (isCoarse.matches) {
        this.turn.ready = [choice.text];
        this.show();
      } else {
        await this.play([choice.text]);
      }
      return;
    }
    await this.consider([...this.turn.actions, choice.text]);
  }

  dropReady() {
    this.turn.ready = null;
    this.turn.picked = [];
  }

  /** @param {string[]} actions */
  async consider(actions) {
    const match = this.head.match;
    if (!actions.length) {
      this.turn = this.emptyTurn();
      this.show();
      return;
    }
    this.isConsidering = true;
    try {
      const found = await this.considered(actions);
      const now = this.head.match;
      if (now.number === match.number && now.ply === match.ply && now.revision === match.revision) {
        this.turn = { ...this.emptyTurn(), actions: found.actions, board: found.board, ready: found.board.choices ? null : found.actions, laid: found.laid };
        if (found.laid) announce(text.laid(found.laid));
        announce(`${found.actions.join(" ")}${this.turn.ready ? ". The turn is complete." : ""}`);
      }
    } catch (error) {
      this.note = text.problem(error);
      this.queued = null;
    }
    this.isConsidering = false;
    const next = this.queued;
    this.queued = null;
    this.show();
    if (next !== null) this.pick(next);
  }

  /**
   * The board after actions of the own turn, and after the one that the rules leave then: it is added, and named `laid`.
   * @param {string[]} actions @returns {Promise<{actions: string[], board: any, laid: string}>}
   */
  async considered(actions) {
    const { number: match, ply, revision = 0 } = this.head.match;
    const request = { type: "consider", room: this.code, match, ply, revision };
    const found = await this.link.send({ ...request, actions });
    const choices = found.board.choices || [];
    const required = found.board.marks?.required || [];
    if (!laysForced() || choices.length !== 1 || !required.includes(choices[0].targets[0])) return { ...found, laid: "" };
    return { ...await this.link.send({ ...request, actions: [...found.actions, choices[0].text] }), laid: choices[0].text };
  }

  /** @param {string[]} actions */
  async play(actions) {
    if (this.isSending) return;
    const match = this.head.match;
    this.isSending = this.isUnanswered = true;
    this.show();
    try {
      await this.link.send({
        type: "play", room: this.code, match: match.number, ply: match.ply, revision: match.revision || 0, actions,
      }, { again: true });
      this.note = "";
    } catch (error) {
      this.note = text.problem(error);
      this.turn = this.emptyTurn();
      this.isSending = false;
    }
    this.isUnanswered = false;
    // The news of an own turn may come a moment after the answer: nothing can be chosen in between.
    if (this.head.match?.ply !== match.ply) this.isSending = false;
    this.show();
  }

  /** @param {HTMLInputElement} typed */
  async typeTurn(typed) {
    const actions = typed.value.trim().split(/\s+/).filter(Boolean);
    if (!actions.length || !this.isMyTurn) {
      this.note = this.isMyTurn ? "" : "It is not your turn.";
      this.show();
      return;
    }
    this.back = null;
    this.turn = this.emptyTurn();
    const { actions: whole, laid } = await this.completed(actions);
    await this.play(whole);
    if (this.note) return;
    typed.value = "";
    if (!laid) return;
    this.note = `${text.laid(laid)}.`;
    announce(this.note);
    this.show();
  }

  /** Typed actions with the one that the rules leave; what is wrong with them is said when they are played. @param {string[]} actions */
  async completed(actions) {
    const asTyped = { actions, laid: "" };
    if (!this.hasForced) return asTyped;
    return this.considered(actions).then((found) => (found.laid ? found : asTyped), () => asTyped);
  }

  // Requests

  /** @param {any} message */
  async ask(message) {
    try {
      const result = await this.link.send(message);
      this.note = "";
      return result;
    } catch (error) {
      this.note = text.problem(error);
      return undefined;
    } finally {
      this.show();
    }
  }

  async join() {
    const entered = await this.ask({ type: "join-room", room: this.code, boards: true, ...(this.secret ? { secret: this.secret } : {}) });
    if (entered) this.take(entered);
  }

  /** @param {string} question @param {string} yes @param {any} message */
  async askFirst(question, yes, message) {
    if (await confirmed(question, yes)) await this.ask(message);
  }

  async hint() {
    const match = this.head.match;
    this.note = "Thinking about a hint ...";
    this.show();
    const found = await this.ask({ type: "take-hint", room: this.code, match: match.number, ply: match.ply, revision: match.revision || 0 });
    if (found) {
      keepHint(this.code, match.number, match.ply, found);
      this.note = `Hint: ${found.actions.join(" ")}`;
      announce(this.note);
      this.show();
    }
  }

  /** @param {HTMLInputElement} said */
  async say(said) {
    const line = said.value.trim();
    if (!line) return;
    await this.ask({ type: "say", room: this.code, text: line });
    if (!this.note) said.value = "";
  }

  /** @param {any} error */
  fail(error) {
    if (error.code === "no-such-room" && this.reasonGone) error = { message: `The room is gone: ${this.reasonGone}` };
    fill(this.element, h("section", { class: "left" }, h("h1", {}, this.code), h("p", { class: "status" }, text.problem(error)),
      h("p", {}, h("a", { href: "/" }, "All rooms"))));
    announce(text.problem(error));
  }

  // Looking back

  /** @param {number} ply */
  keyOf(ply) {
    const match = this.head.match;
    return `${match.number}/${match.revision || 0}/${ply}`;
  }

  /** Show a past position; null shows the present one. @param {number | null} ply */
  async lookBack(ply) {
    const match = this.head.match;
    const last = this.actions.length;
    this.back = ply === null || ply >= last ? null : Math.max(0, ply);
    if (this.back !== null && !this.boards.has(this.keyOf(this.back))) {
      const first = Math.max(0, this.back - Math.floor(BOARDS_COUNT / 2));
      const found = await this.ask({
        type: "get-boards", room: this.code, match: match.number, ply: first, count: BOARDS_COUNT, ...(this.secret ? { secret: this.secret } : {}),
      });
      for (const board of found?.boards || []) this.boards.set(this.keyOf(board.ply), board);
    }
    this.show();
  }

  // Showing

  show() {
    if (!this.head) return;
    const parts = this.parts;
    const head = this.head;
    document.title = `${this.isMyTurn ? "Your turn - " : ""}${text.title(head.game)} - ${head.room}`;
    fill(parts.title, text.title(head.game));
    const watching = head.watchers ? `, ${head.watchers} watching` : "";
    fill(parts.facts, [text.options(head.options), text.timeControl(head.settings?.time_control), `room ${head.room}${watching}`].filter(Boolean).join(" - "));
    this.showPlayers();
    fill(parts.status, this.statusText());
    this.picture?.show(this.shownBoard, { picked: this.turn.picked, next: this.nextTargets() });
    if (this.isEmbedded) return;
    const wasInButtons = parts.buttons.contains(document.activeElement);
    fill(parts.buttons, ...this.buttons());
    // With the button that was pressed the focus would go: the board has it next.
    if (wasInButtons && !parts.buttons.contains(document.activeElement)) this.picture?.focusCell();
    this.showOffers();
    parts.typing.hidden = !this.ownSeats.length || head.phase !== "playing";
    parts.forcing.hidden = parts.typing.hidden || !this.hasForced;
    this.showInvitation();
    this.showLook();
    this.showChat();
  }

  statusText() {
    const { head } = this;
    if (this.note) return this.note;
    if (this.back !== null) return `After ${this.back} of ${this.actions.length} actions. Press a cell to come back.`;
    if (head.phase === "waiting") return "Waiting for an opponent.";
    if (head.match?.termination) return `${this.sentence(text.ending(this.names(), head.match.winner, head.match.termination))}.`;
    if (this.isSending) return "Sending your turn ...";
    if (this.isMyTurn) {
      if (this.turn.ready) return `${this.turn.laid ? `${text.laid(this.turn.laid)}. ` : ""}${this.turn.ready.join(" ")}: play it?`;
      if (this.turn.words.length) return "Which one?";
      if (this.turn.picked.length) return "Choose where to.";
      return `${this.sentence(text.turn(this.cast, this.turn.board || this.board, this.turn.actions.length > 0))}.`;
    }
    if (head.thinking) return `${this.names()[head.thinking.player]} is thinking ...`;
    return `${this.sentence(text.turn(this.cast, this.board))}.`;
  }

  showPlayers() {
    const { head, parts } = this;
    parts.clocks = [];
    fill(parts.players, ...[0, 1].map((seat) => {
      const view = head.seats[seat];
      const toMove = head.phase === "playing" && head.match?.to_move === seat;
      const clock = h("span", { class: "clock" });
      parts.clocks[seat] = clock;
      const away = view.holder.kind === "person" && !view.is_connected ? h("span", { class: "away" }, "away") : null;
      const kinds = Object.values(this.picture?.layout.pieces || {});
      const look = kinds.some((kind) => kind.name.includes("stone")) ? " stones" : "";
      return h("div", { class: `player owner-${seat}${look}${toMove ? " to-move" : ""}`, "aria-current": toMove ? "true" : null },
        h("span", { class: "dot", "aria-hidden": "true" }),
        h("span", { class: "name" }, isOpen(view) ? "open seat" : this.names()[seat],
          this.ownSeats.includes(seat) ? h("span", { class: "you" }, " (you)") : null), away, clock);
    }));
    this.showClocks();
  }

  showClocks() {
    const { clock, first_turn: first, to_move: mover } = this.head?.match ?? {};
    this.parts.clocks.forEach((element, seat) => {
      if (!clock) { if (element.textContent) element.textContent = ""; return; }
      const player = clock.players[seat];
      const spent = clock.running === seat && clock.since_ms ? Math.max(0, this.link.now() - clock.since_ms) : 0;
      const left = Math.min(player.stage_ms, player.stage_ms - spent);
      const isFirst = Boolean(first) && mover === seat;
      const shown = isFirst
        ? text.firstTurn(first.until_ms - this.link.now())
        : text.clock(left) + (player.periods_left ? ` +${player.periods_left}` : "");
      if (first && element.title !== text.FIRST_TURN_TITLE) element.title = text.FIRST_TURN_TITLE;
      if (!first && element.title) element.title = "";
      if (element.textContent !== shown) element.textContent = shown;
      element.classList.toggle("low", clock.running === seat && left < 10_000);
      if (clock.running === seat && this.ownSeats.includes(seat)) this.tellLowTime(seat, left);
    });
  }

  /** Tell once in a turn that time runs low. @param {number} seat @param {number} left */
  tellLowTime(seat, left) {
    const before = this.lowTime.ply === this.head.match.ply ? this.lowTime.left : Infinity;
    this.lowTime = { ply: this.head.match.ply, left };
    const passed = text.LOW_TIMES_MS.findLast((ms) => left <= ms && before > ms && before !== Infinity);
    if (passed) announce(this.sentence(text.lowTime(passed, this.cast.sides[seat])));
  }

  /** @returns {(HTMLElement | null)[]} */
  buttons() {
    const { head, turn } = this;
    const match = head.match;
    const isSeated = this.ownSeats.length > 0;
    /** @type {(HTMLElement | null)[]} */
    const found = [];
    const button = (/** @type {string} */ label, /** @type {() => void} */ action, kind = "") => h("button", { class: kind, onclick: action }, label);
    if (turn.ready && !this.isSending) found.push(button("Play", () => this.play(turn.ready), "primary"));
    for (const choice of turn.words) found.push(button(choice.word, () => this.choose(choice), "primary"));
    if (!turn.picked.length && !turn.ready) {
      for (const choice of this.choices.filter((each) => !(each.targets || []).length)) found.push(button(choice.word || choice.text, () => this.choose(choice), "choice"));
    }
    if (turn.actions.length && !this.isSending) found.push(button("Step back", () => this.consider(turn.actions.slice(0, turn.laid ? -2 : -1))));
    else if (turn.ready || turn.picked.length) found.push(button("Cancel", () => { this.turn = this.emptyTurn(); this.show(); }));
    if (head.phase === "waiting" && !isSeated && head.seats.some((/** @type {any} */ seat) => isOpen(seat))) {
      found.push(button("Take the seat", () => this.join(), "primary"));
    }
    if (head.phase === "playing" && isSeated) {
      const number = match.number;
      if (head.settings?.hints && this.isMyTurn) found.push(button("Hint", () => this.hint()));
      found.push(button("Take back", () => this.askFirst("Ask to take back your last turn?", "Ask", { type: "offer", room: this.code, kind: "takeback" })));
      if (head.game !== "virus-wars") found.push(button("Draw", () => this.askFirst("Offer a draw?", "Offer a draw", { type: "offer", room: this.code, kind: "draw" })));
      found.push(match.can_abort
        ? button("Abort", () => this.askFirst("End this match without a result?", "Abort", { type: "abort", room: this.code, match: number }))
        : button("Resign", () => this.askFirst("Resign this match?", "Resign", { type: "resign", room: this.code, match: number })));
      if (this.mayClaim()) found.push(button("Claim the win", () => this.ask({ type: "claim-win", room: this.code, match: number })));
    }
    if (head.phase === "finished" && isSeated) found.push(button("Rematch", () => this.ask({ type: "offer", room: this.code, kind: "rematch" }), "primary"));
    return found;
  }

  mayClaim() {
    const { head } = this;
    if (this.ownSeats.length !== 1) return false;
    const other = head.seats[1 - this.ownSeats[0]];
    const after = head.settings?.away_after_ms ?? 120_000;
    return other.away_since_ms && this.link.now() - other.away_since_ms > after;
  }

  showOffers() {
    const offers = (this.head.offers || []).map((/** @type {any} */ offer) => ({
      kind: offer.kind,
      said: this.sentence(text.offer(offer.kind, text.actor(this.cast, offer.player))),
      isMine: this.ownSeats.includes(offer.player) && this.ownSeats.length === 1,
      may: this.ownSeats.length > 0,
    }));
    if (!isNew(this.parts.offers, offers)) return;
    fill(this.parts.offers, ...offers.map((/** @type {any} */ { kind, said, isMine, may }) => {
      const answer = (/** @type {boolean} */ accept) => this.ask({ type: "answer", room: this.code, kind, accept });
      return h("div", { class: "row offer" }, h("span", {}, said),
        may && !isMine ? h("button", { class: "primary", onclick: () => answer(true) }, "Accept") : null,
        may ? h("button", { onclick: () => answer(false) }, isMine ? "Withdraw" : "Decline") : null);
    }));
  }

  showInvitation() {
    const { head, parts } = this;
    const secret = this.secrets?.invite || (head.settings?.is_private ? this.secret : null);
    if (!isNew(parts.invite, [head.phase, secret, this.ownSeats.length])) return;
    const base = this.link.welcome?.public_url ? this.link.welcome.public_url.replace(/^ws/, "http").replace(/\/$/, "") : location.origin;
    const address = `${base}/r/${head.room}${secret ? `#${encodeURIComponent(secret)}` : ""}`;
    const server = base.replace(/^http/, "ws");
    const line = `tabuleiro play --server ${server} --room ${head.room}${secret ? `-${secret}` : ""}`;
    if (head.phase !== "waiting" || !this.ownSeats.length) { fill(parts.invite); return; }
    const copied = h("span", { class: "muted" });
    const copy = (/** @type {string} */ what) => navigator.clipboard?.writeText(what).then(() => fill(copied, "copied"), () => fill(copied, "select it and copy it"));
    fill(parts.invite, h("h2", {}, "Invite a friend"), h("p", {}, "Send this link:"), h("p", { class: "row" }, h("code", {}, address),
      h("button", { onclick: () => copy(address) }, "Copy")), h("p", { class: "muted" }, "In a terminal: ", h("code", {}, line)), copied);
  }

  showLook() {
    const { head, parts } = this;
    const match = head.match;
    const count = this.actions.length;
    if (!match || !count) { fill(parts.look); fill(parts.moves); return; }
    const at = this.back ?? count;
    const button = (/** @type {string} */ label, /** @type {string} */ name, /** @type {number | null} */ ply, /** @type {boolean} */ off) =>
      h("button", { "aria-label": name, title: name, disabled: off, onclick: () => this.lookBack(ply) }, label);
    fill(parts.look, button("«", "first position", 0, at === 0), button("‹", "one action back", at - 1, at === 0),
      h("span", { class: "muted" }, `${at} / ${count}`), button("›", "one action on", at + 1, at === count), button("»", "now", null, at === count),
      h("a", { href: `/m/${head.room}/${match.number}${location.hash}` }, "replay"));
    if (parts.moves.childElementCount > count || parts.moves.dataset.match !== String(match.number)) fill(parts.moves);
    parts.moves.dataset.match = String(match.number);
    for (let ply = 0; ply < count; ply++) {
      const known = parts.moves.children[ply];
      if (known && known.textContent === this.actions[ply]) continue;
      const item = h("li", {}, h("button", { onclick: () => this.lookBack(ply + 1) }, this.actions[ply]));
      if (known) known.replaceWith(item);
      else parts.moves.append(item);
    }
    if (this.back === null) parts.moves.scrollTop = parts.moves.scrollHeight;
  }

  showChat() {
    showLines(this.parts.lines, this.chat.map((line) => line.sentence
      ? h("p", { class: "muted" }, line.sentence)
      : h("p", {}, h("b", {}, line.name, line.is_player ? "" : " (watching)"), ": ", line.text)));
  }
}
