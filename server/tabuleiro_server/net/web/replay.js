// @ts-check
/** A match of the past, stepped through with a slider. */

import { BoardPicture } from "./board.js";
import { fill, h, secretIn } from "./dom.js";
import { hintAt } from "./kept.js";
import * as text from "./text.js";

const BOARDS_COUNT = 50;

export class ReplayView {
  /**
   * @param {import("./link.js").Link} link
   * @param {string} code
   * @param {number} match
   */
  constructor(link, code, match) {
    this.link = link;
    const secret = secretIn(location.hash);
    this.request = { room: code, match, ...(secret ? { secret } : {}) };
    this.ply = 0;
    /** @type {any} */
    this.record = null;
    /** @type {Map<number, any>} */
    this.boards = new Map();
    /** @type {BoardPicture | null} */
    this.picture = null;
    this.place = h("div", { class: "board-place" });
    this.status = h("p", { class: "status" });
    this.slider = /** @type {HTMLInputElement} */ (h("input", { type: "range", min: 0, max: 0, value: 0, "aria-label": "position in the match", oninput: () => this.go(Number(this.slider.value)) }));
    this.heading = h("header", { class: "heading" }, h("h1", {}, `Match ${match} of room ${code}`));
    const step = (/** @type {string} */ label, /** @type {string} */ name, /** @type {() => number} */ where) =>
      h("button", { "aria-label": name, title: name, onclick: () => this.go(where()) }, label);
    const back = [step("«", "first position", () => 0), step("‹", "one action back", () => this.ply - 1)];
    const on = [step("›", "one action on", () => this.ply + 1), step("»", "last position", () => this.length)];
    this.controls = /** @type {(HTMLButtonElement | HTMLInputElement)[]} */ ([...back, this.slider, ...on]);
    // Until there is a match to step through.
    for (const control of this.controls) control.disabled = true;
    this.element = h("main", { class: "room" }, h("section", { class: "left" }, this.heading, this.status, this.place,
      h("div", { class: "row look" }, ...this.controls)));
    this.onKey = (/** @type {KeyboardEvent} */ event) => this.key(event);
    addEventListener("keydown", this.onKey);
    this.comeback = async () => { if (!this.record) await this.load(); };
    link.comebacks.push(this.comeback);
    if (link.isWelcome) this.load();
  }

  close() {
    removeEventListener("keydown", this.onKey);
    this.link.comebacks = this.link.comebacks.filter((comeback) => comeback !== this.comeback);
  }

  get length() {
    return this.record ? this.record.actions.length : 0;
  }

  async load() {
    try {
      this.record = await this.link.send({ type: "get-record", ...this.request });
      const { players, game, winner, termination } = this.record;
      /** @type {[string, string]} */
      const names = [players[0].name || "?", players[1].name || "?"];
      fill(this.heading, h("h1", {}, text.title(game)), h("p", { class: "facts" }, `${names[0]} against ${names[1]} - room `,
        h("a", { href: `/r/${this.record.room}${location.hash}` }, this.record.room)));
      this.ending = termination ? text.capitalised(text.ending(names, winner, termination), names) : "The match goes on";
      this.slider.max = String(this.length);
      for (const control of this.controls) control.disabled = false;
      await this.go(this.length);
    } catch (error) {
      fill(this.status, text.problem(error));
    }
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const inField = event.target instanceof HTMLInputElement || (event.target instanceof HTMLElement && event.target.closest(".grid"));
    if (inField || event.ctrlKey || event.altKey || event.metaKey) return;
    /** @type {Record<string, number>} */
    const places = { ArrowLeft: this.ply - 1, ArrowRight: this.ply + 1, Home: 0, End: this.length };
    if (!(event.key in places)) return;
    event.preventDefault();
    this.go(places[event.key]);
  }

  /** @param {number} ply */
  async go(ply) {
    if (!this.record) return;
    this.ply = Math.max(0, Math.min(ply, this.length));
    const wanted = this.ply;
    if (!this.boards.has(wanted)) {
      const first = Math.max(0, wanted - Math.floor(BOARDS_COUNT / 2));
      try {
        const found = await this.link.send({ type: "get-boards", ...this.request, ply: first, count: BOARDS_COUNT });
        for (const board of found.boards) this.boards.set(board.ply, board);
        if (!this.picture) {
          this.picture = new BoardPicture(found.layout, found.boards[0], () => undefined);
          fill(this.place, this.picture.element);
        }
      } catch (error) {
        fill(this.status, text.problem(error));
        return;
      }
    }
    if (wanted !== this.ply) return;
    this.slider.value = String(wanted);
    const board = this.boards.get(wanted);
    this.picture?.show({ ...board, marks: { ...board.marks, legal: [] } });
    const made = wanted ? `Action ${wanted} of ${this.length}: ${this.record.actions[wanted - 1]}.` : `The start; ${this.length} actions follow.`;
    const hint = hintAt(this.record.room, this.request.match, wanted);
    const name = this.record.players[board.to_move ?? 0].name || "?";
    fill(this.status, [made, wanted === this.length ? `${this.ending}.` : "", hint ? text.hintGiven(name, hint) : ""].filter(Boolean).join(" "));
  }
}
