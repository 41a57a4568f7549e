// @ts-check
/**
 * The picture of a position, and beside it a grid of buttons for keyboards and screen readers.
 *
 * Drawn from what the server sends: this page knows no rules.
 */

import { h, s } from "./dom.js";
import * as text from "./text.js";

const SIZE = 40;
const ROW_OF_HEXES = SIZE * 0.866;
const MARGIN = 26;
const BASE = 20;

/**
 * @typedef {number | "top" | "bottom" | "left" | "right"} Target
 * @typedef {{text: string, targets?: Target[], word?: string}} Choice
 */

export class BoardPicture {
  /**
   * @param {any} layout
   * @param {any} board - the first position to show
   * @param {(target: Target) => void} onPick
   */
  constructor(layout, board, onPick) {
    this.layout = layout;
    this.onPick = onPick;
    this.isHex = layout.topology === "hex";
    /** True if sides of the board can be chosen: the bases of Xero-G. */
    this.hasBases = (board.edges || []).some((/** @type {any} */ edge) => edge.text.startsWith("base"));
    /** @type {[number, number][]} */
    this.places = layout.names.map((/** @type {string} */ _, /** @type {number} */ index) => this.place(index));
    const width = Math.max(...this.places.map(([x]) => x)) + SIZE / 2 + MARGIN;
    const height = Math.max(...this.places.map(([, y]) => y)) + SIZE / 2 + MARGIN + (this.hasBases ? BASE : 0);
    this.size = [width, height];
    this.ground = s("g", { class: "ground" }, this.drawGround());
    this.marks = s("g", {});
    this.pieces = s("g", { class: "pieces" });
    this.focus = s("g", {});
    this.svg = s("svg", {
      viewBox: `0 0 ${width} ${height}`, class: "board", "aria-hidden": "true",
      onclick: (/** @type {MouseEvent} */ event) => this.click(event),
    }, this.ground, this.marks, this.pieces, this.focus);
    this.grid = h("div", { class: "hidden grid", role: "grid", "aria-label": "board", onkeydown: (/** @type {KeyboardEvent} */ event) => this.move(event) });
    /** @type {HTMLElement[]} */
    this.buttons = [];
    this.makeGrid();
    this.element = h("figure", { class: "board-box" }, this.svg, this.grid);
  }

  /** @param {number} index @returns {[number, number]} */
  place(index) {
    const { xs, ys } = this.layout;
    return [MARGIN + SIZE / 2 + (xs[index] * SIZE) / 2, MARGIN + SIZE / 2 + ys[index] * (this.isHex ? ROW_OF_HEXES : SIZE)];
  }

  drawGround() {
    /** @type {Map<number, string>} */
    const colours = new Map();
    for (const [ground, cells] of Object.entries(this.layout.grounds || {})) {
      for (const index of /** @type {number[]} */ (cells)) colours.set(index, ground);
    }
    const cells = this.places.map(([x, y], index) => {
      const colour = colours.get(index);
      return s("polygon", { points: this.outline(x, y), class: colour ? `cell ground-${colour}` : "cell" });
    });
    const labels = this.layout.row_labels.map((/** @type {string} */ label, /** @type {number} */ line) => {
      const first = this.layout.ys.indexOf(line);
      const x = Math.min(...this.places.filter((_, index) => this.layout.ys[index] === line).map(([x]) => x));
      return s("text", { x: x - SIZE / 2 - 12, y: this.places[first][1] + 4, class: "label" }, label);
    });
    const bottom = Math.max(...this.places.map(([, y]) => y)) + SIZE / 2 + 15;
    for (const [x, label] of this.layout.column_labels) {
      labels.push(s("text", { x: MARGIN + SIZE / 2 + (x * SIZE) / 2, y: bottom, class: "label" }, label));
    }
    return [...cells, ...labels];
  }

  /** @param {number} x @param {number} y */
  outline(x, y, size = SIZE) {
    if (!this.isHex) {
      const r = size / 2;
      return `${x - r},${y - r} ${x + r},${y - r} ${x + r},${y + r} ${x - r},${y + r}`;
    }
    const r = size / Math.sqrt(3);
    return [0, 1, 2, 3, 4, 5].map((corner) => {
      const angle = (Math.PI / 3) * corner + Math.PI / 6;
      return `${(x + r * Math.cos(angle)).toFixed(1)},${(y + r * Math.sin(angle)).toFixed(1)}`;
    }).join(" ");
  }

  makeGrid() {
    /** @type {Map<number, HTMLElement>} */
    const rows = new Map();
    this.layout.names.forEach((/** @type {string} */ name, /** @type {number} */ index) => {
      const button = h("button", {
        role: "gridcell", tabindex: -1, "data-cell": name,
        onclick: () => this.onPick(index),
        onfocus: () => this.showFocus(index),
        onblur: () => this.focus.replaceChildren(),
      });
      this.buttons.push(button);
      const line = this.layout.ys[index];
      if (!rows.has(line)) rows.set(line, h("div", { role: "row" }));
      rows.get(line)?.append(button);
    });
    for (const line of [...rows.keys()].sort((a, b) => a - b)) this.grid.append(/** @type {HTMLElement} */ (rows.get(line)));
    this.buttons[Math.floor(this.buttons.length / 2)].tabIndex = 0;
  }

  /** @param {number} index */
  showFocus(index) {
    for (const button of this.buttons) button.tabIndex = -1;
    this.buttons[index].tabIndex = 0;
    const [x, y] = this.places[index];
    this.focus.replaceChildren(s("polygon", { points: this.outline(x, y, SIZE - 3), class: "focus" }));
  }

  /**
   * Walk with arrows; on hexagonal boards Shift and an upright arrow take the other of the two ways.
   * @param {KeyboardEvent} event
   */
  move(event) {
    const index = this.buttons.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    /** @type {Record<string, [number, number]>} */
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const step = steps[event.key];
    if (!step || index < 0) return;
    event.preventDefault();
    const { xs, ys } = this.layout;
    let x = xs[index] + 2 * step[0];
    if (this.isHex && step[1]) x += event.shiftKey ? -1 : 1;
    const line = ys[index] + step[1];
    const found = xs.findIndex((/** @type {number} */ other, /** @type {number} */ at) => other === x && ys[at] === line);
    if (found >= 0) this.buttons[found].focus();
  }

  /** The nearest cell counts, so that a finger need not hit it. @param {MouseEvent} event */
  click(event) {
    const matrix = /** @type {SVGSVGElement} */ (/** @type {unknown} */ (this.svg)).getScreenCTM();
    if (!matrix) return;
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    const side = this.sideAt(point);
    if (side) {
      this.onPick(side);
      return;
    }
    let [nearest, best] = [-1, SIZE * 0.8];
    this.places.forEach(([x, y], index) => {
      const distance = Math.hypot(point.x - x, point.y - y);
      if (distance < best) [nearest, best] = [index, distance];
    });
    if (nearest >= 0) this.onPick(nearest);
  }

  /** @param {DOMPoint} point @returns {"top" | "bottom" | null} */
  sideAt(point) {
    if (!this.hasBases) return null;
    if (point.y < MARGIN) return "top";
    return point.y > this.size[1] - BASE - 6 ? "bottom" : null;
  }

  /**
   * Draw a position.
   * @param {any} board
   * @param {{picked?: Target[], next?: Target[]}} [choice] - what is chosen so far, and what may be next
   */
  show(board, { picked = [], next = [] } = {}) {
    const marks = board.marks || {};
    /** @type {Map<number, string[]>} */
    const marksOf = new Map();
    for (const [mark, cells] of Object.entries(marks)) {
      for (const index of /** @type {number[]} */ (cells)) marksOf.set(index, [...(marksOf.get(index) || []), mark]);
    }
    this.marks.replaceChildren(...this.drawEdges(board.edges || [], next), ...this.drawMarks(marksOf));
    this.pieces.replaceChildren(...[...board.cells].flatMap((letter, index) => {
      return letter === "." ? [] : [this.drawPiece(letter, index, marksOf.get(index) || [])];
    }), ...this.drawOver(marksOf, picked, next));
    this.layout.names.forEach((/** @type {string} */ name, /** @type {number} */ index) => {
      const kind = this.layout.pieces[board.cells[index]];
      const said = text.cell(name, kind, next.includes(index) ? ["legal"] : (marksOf.get(index) || []).filter((mark) => mark !== "legal"));
      const button = this.buttons[index];
      if (button.getAttribute("aria-label") !== said) button.setAttribute("aria-label", said);
      button.setAttribute("aria-selected", String(picked.includes(index)));
    });
  }

  /** @param {any[]} edges @param {Target[]} next */
  drawEdges(edges, next) {
    const [width, height] = this.size;
    const [left, top, right, bottom] = [MARGIN, MARGIN, width - MARGIN, height - MARGIN - (this.hasBases ? BASE : 0)];
    return edges.map((edge) => {
      const isNext = next.includes(edge.side);
      const name = `edge owner-${edge.owner}${isNext ? " next" : ""}`;
      if (edge.side === "top" || edge.side === "bottom") {
        const y = edge.side === "top" ? top - (this.hasBases ? 20 : 6) : bottom + (this.hasBases ? MARGIN : 2);
        const tall = this.hasBases ? 16 : 4;
        return s("rect", { x: left, y, width: right - left, height: tall, rx: 2, class: name }, s("title", {}, edge.text));
      }
      const x = edge.side === "left" ? left - 6 : right + 2;
      return s("rect", { x, y: top, width: 4, height: bottom - top, rx: 2, class: name }, s("title", {}, edge.text));
    });
  }

  /** Marks below the pieces. @param {Map<number, string[]>} marksOf */
  drawMarks(marksOf) {
    return [...marksOf].flatMap(([index, marks]) => {
      const [x, y] = this.places[index];
      const found = [];
      for (const mark of ["home", "winning", "last"]) {
        if (marks.includes(mark)) found.push(s("polygon", { points: this.outline(x, y, SIZE - 2), class: `mark ${mark}${this.isHex ? " hex" : ""}` }));
      }
      if (marks.includes("forbidden")) found.push(s("path", { d: cross(x, y, 5), class: "mark forbidden" }));
      return found;
    });
  }

  /** Marks above the pieces. @param {Map<number, string[]>} marksOf @param {Target[]} picked @param {Target[]} next */
  drawOver(marksOf, picked, next) {
    const found = [];
    for (const target of next) {
      if (typeof target !== "number") continue;
      const [x, y] = this.places[target];
      found.push(s("circle", { cx: x, cy: y, r: 5, class: "next" }));
    }
    for (const target of picked) {
      if (typeof target !== "number") continue;
      const [x, y] = this.places[target];
      found.push(s("polygon", { points: this.outline(x, y, SIZE - 4), class: "picked" }));
    }
    for (const [index, marks] of marksOf) {
      if (!marks.includes("required")) continue;
      const [x, y] = this.places[index];
      found.push(s("circle", { cx: x, cy: y, r: 12, class: "mark required" }));
    }
    return found;
  }

  /**
   * Pieces are told apart by shape as well as by colour.
   * @param {string} letter @param {number} index @param {string[]} marks
   */
  drawPiece(letter, index, marks) {
    const [x, y] = this.places[index];
    const kind = this.layout.pieces[letter] || { name: letter };
    const owner = kind.owner === 0 || kind.owner === 1 ? `owner-${kind.owner}` : "nobody";
    const name = kind.name;
    if (name.includes("zombie")) {
      const shape = kind.owner === 0 ? cross(x, y, 8) : ring(x, y, 8);
      return s("g", { class: `zombie ${owner}${marks.includes("asleep") ? " asleep" : ""}` },
        s("rect", { x: x - 16, y: y - 16, width: 32, height: 32, rx: 5 }), s("path", { d: shape }));
    }
    if (name.includes("virus")) {
      return s("path", { d: kind.owner === 0 ? cross(x, y, 11) : ring(x, y, 11), class: `virus ${owner}` });
    }
    if (name.includes("ship")) {
      const rings = Number(letter) || 1;
      const circles = [...Array(rings).keys()].map((at) => s("circle", { cx: x, cy: y, r: 16 - 5 * at, class: "ring" }));
      return s("g", { class: "ship" }, circles, s("text", { x, y: y + 4, class: "value" }, letter));
    }
    if (name.includes("stone")) return s("circle", { cx: x, cy: y, r: SIZE * 0.4, class: `stone ${owner}` });
    return s("text", { x, y: y + 6, class: `letter ${owner}` }, letter);
  }
}

/** @param {number} x @param {number} y @param {number} r */
function cross(x, y, r) {
  return `M${x - r},${y - r}L${x + r},${y + r}M${x + r},${y - r}L${x - r},${y + r}`;
}

/** @param {number} x @param {number} y @param {number} r */
function ring(x, y, r) {
  return `M${x - r},${y}a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0`;
}
