// @ts-check
/** The picture of a position, and beside it a grid of buttons for keyboards and screen readers. */

import { drawn, h, s } from "./dom.js";
import { Drawing, marksByCell } from "./drawing.js";
import * as text from "./text.js";

/**
 * @typedef {import("./drawing.js").Target} Target
 * @typedef {{text: string, targets?: Target[], word?: string}} Choice
 */

/** @type {Record<string, [number, number]>} */
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export class BoardPicture {
  /**
   * @param {any} layout
   * @param {any} board - the first position to show
   * @param {(target: Target) => void} onPick
   */
  constructor(layout, board, onPick) {
    this.layout = layout;
    this.onPick = onPick;
    this.drawing = new Drawing(layout, board);
    this.position = s("g", {});
    this.focus = s("g", {});
    this.svg = s("svg", {
      viewBox: this.drawing.viewBox, class: "board", "aria-hidden": "true",
      onclick: (/** @type {MouseEvent} */ event) => this.click(event),
    }, s("g", {}, drawn(this.drawing.ground())), this.position, this.focus);
    this.grid = h("div", {
      class: "hidden grid", role: "grid", "aria-label": "board", "aria-description": text.walking(this.drawing.isHex),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.move(event),
    });
    /** The buttons of cells, by index. @type {HTMLElement[]} */
    this.buttons = [];
    /** The buttons of sides that can be chosen. @type {Map<Target, HTMLElement>} */
    this.sides = new Map();
    /** The targets line by line, for the upright arrows. @type {Target[][]} */
    this.lines = [];
    this.makeGrid();
    this.element = h("figure", { class: "board-box" }, this.svg, this.grid);
  }

  makeGrid() {
    const { names, ys } = this.layout;
    names.forEach((/** @type {string} */ name, /** @type {number} */ index) => {
      this.buttons.push(this.makeButton(index, name));
      (this.lines[ys[index]] ||= []).push(index);
    });
    if (this.drawing.hasBases) {
      this.lines = [["top"], ...this.lines, ["bottom"]];
      for (const side of /** @type {Target[]} */ (["top", "bottom"])) this.sides.set(side, this.makeButton(side, String(side)));
    }
    for (const line of this.lines) this.grid.append(h("div", { role: "row" }, line.map((target) => this.buttonOf(target))));
    this.buttons[Math.floor(this.buttons.length / 2)].tabIndex = 0;
  }

  /** @param {Target} target @param {string} name */
  makeButton(target, name) {
    return h("button", {
      role: "gridcell", tabindex: -1, "data-cell": name,
      onclick: () => this.onPick(target),
      onfocus: () => this.showFocus(target),
      onblur: () => this.focus.replaceChildren(),
    });
  }

  /** @param {Target} target @returns {HTMLElement} */
  buttonOf(target) {
    return /** @type {HTMLElement} */ (typeof target === "number" ? this.buttons[target] : this.sides.get(target));
  }

  /** Give the focus to the cell that had it last. */
  focusCell() {
    [...this.buttons, ...this.sides.values()].find((button) => button.tabIndex === 0)?.focus({ preventScroll: true });
  }

  /** @param {Target} target */
  showFocus(target) {
    for (const button of [...this.buttons, ...this.sides.values()]) button.tabIndex = -1;
    const button = this.buttonOf(target);
    button.tabIndex = 0;
    // As browsers do by themselves: keys want to see the focus, fingers would take it for a mark.
    if (button.matches(":focus-visible")) this.focus.replaceChildren(...drawn([this.drawing.focus(target)]));
  }

  /**
   * Walk with arrows; on hexagonal boards Shift and an upright arrow take the other of the two ways.
   * @param {KeyboardEvent} event
   */
  move(event) {
    const step = STEPS[event.key];
    const line = this.lines.findIndex((targets) => targets.some((target) => this.buttonOf(target) === document.activeElement));
    if (!step || line < 0) return;
    event.preventDefault();
    const here = /** @type {Target} */ (this.lines[line].find((target) => this.buttonOf(target) === document.activeElement));
    const found = this.neighbour(here, line, step, event.shiftKey);
    if (found !== undefined) this.buttonOf(found).focus();
  }

  /**
   * @param {Target} here
   * @param {number} line - where it stands in `lines`
   * @param {[number, number]} step
   * @param {boolean} isOther - the other of two ways
   * @returns {Target | undefined}
   */
  neighbour(here, line, [across, along], isOther) {
    const { xs } = this.layout;
    const targets = this.lines[line + along] || [];
    if (typeof here !== "number") return targets[Math.floor(targets.length / 2)];
    if (typeof targets[0] === "string") return targets[0];
    const x = xs[here] + 2 * across + (this.drawing.isHex && along ? (isOther ? -1 : 1) : 0);
    return targets.find((target) => typeof target === "number" && xs[target] === x);
  }

  /** @param {MouseEvent} event */
  click(event) {
    const matrix = /** @type {SVGSVGElement} */ (/** @type {unknown} */ (this.svg)).getScreenCTM();
    if (!matrix) return;
    const target = this.drawing.targetAt(new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse()));
    if (target !== null) this.onPick(target);
  }

  /**
   * Draw a position.
   * @param {any} board
   * @param {{picked?: Target[], next?: Target[]}} [choice] - what is chosen so far, and what may be next
   */
  show(board, { picked = [], next = [] } = {}) {
    this.position.replaceChildren(...drawn(this.drawing.position(board, { picked, next })));
    const marksOf = marksByCell(board);
    this.layout.names.forEach((/** @type {string} */ name, /** @type {number} */ index) => {
      const kind = this.layout.pieces[board.cells[index]];
      const marks = (marksOf.get(index) || []).filter((mark) => mark !== "legal");
      this.describe(index, text.cell(name, kind, next.includes(index) ? ["legal", ...marks] : marks), picked);
    });
    for (const side of this.sides.keys()) {
      const edge = (board.edges || []).find((/** @type {any} */ each) => each.side === side);
      this.describe(side, text.side(String(side), edge?.text, next.includes(side)), picked);
    }
  }

  /** @param {Target} target @param {string} said @param {Target[]} picked */
  describe(target, said, picked) {
    const button = this.buttonOf(target);
    if (button.getAttribute("aria-label") !== said) button.setAttribute("aria-label", said);
    button.setAttribute("aria-selected", String(picked.includes(target)));
  }
}
