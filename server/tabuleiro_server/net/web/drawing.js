// @ts-check
/**
 * The drawing of a position, as a tree of SVG: all shapes of boards, pieces and marks are here and nowhere else.
 *
 * Needs no document and imports nothing: the page shows the tree (`dom.js`), and the server makes the pictures of its
 * link previews by this same file. Drawn from what the server sends: no rules.
 */

export const SIZE = 40;
const ROW_OF_HEXES = SIZE * 0.866;
const MARGIN = 26;
const BASE = 20;

/**
 * @typedef {number | "top" | "bottom" | "left" | "right"} Target
 * @typedef {[string, Record<string, any>, ...any]} Tree - a tag, its attributes, and its children: trees and texts
 */

export class Drawing {
  /**
   * @param {any} layout
   * @param {any} board - any position on it
   */
  constructor(layout, board) {
    this.layout = layout;
    this.isHex = layout.topology === "hex";
    /** True if sides of the board can be chosen: the bases of Xero-G. */
    this.hasBases = (board.edges || []).some((/** @type {any} */ edge) => edge.text.startsWith("base"));
    /** @type {[number, number][]} */
    this.places = layout.names.map((/** @type {string} */ _, /** @type {number} */ index) => this.place(index));
    const width = Math.max(...this.places.map(([x]) => x)) + SIZE / 2 + MARGIN;
    const height = Math.max(...this.places.map(([, y]) => y)) + SIZE / 2 + MARGIN + (this.hasBases ? BASE : 0);
    this.size = [width, height];
  }

  /** @param {number} index @returns {[number, number]} */
  place(index) {
    const { xs, ys } = this.layout;
    return [MARGIN + SIZE / 2 + (xs[index] * SIZE) / 2, MARGIN + SIZE / 2 + ys[index] * (this.isHex ? ROW_OF_HEXES : SIZE)];
  }

  get viewBox() {
    return `0 0 ${this.size[0]} ${this.size[1]}`;
  }

  /** The nearest cell or side to a point, so that a finger need not hit it. @param {{x: number, y: number}} point @returns {Target | null} */
  targetAt(point) {
    if (this.hasBases && point.y < MARGIN) return "top";
    if (this.hasBases && point.y > this.size[1] - BASE - 6) return "bottom";
    /** @type {[Target | null, number]} */
    let [nearest, best] = [null, SIZE * 0.8];
    this.places.forEach(([x, y], index) => {
      const distance = Math.hypot(point.x - x, point.y - y);
      if (distance < best) [nearest, best] = [index, distance];
    });
    return nearest;
  }

  /** What stays the same for a whole match. @returns {Tree[]} */
  ground() {
    /** @type {Map<number, string>} */
    const colours = new Map();
    for (const [ground, cells] of Object.entries(this.layout.grounds || {})) {
      for (const index of /** @type {number[]} */ (cells)) colours.set(index, ground);
    }
    /** @type {Tree[]} */
    const cells = this.places.map(([x, y], index) => {
      const colour = colours.get(index);
      return ["polygon", { points: this.outline(x, y), class: colour ? `cell ground-${colour}` : "cell" }];
    });
    /** @type {Tree[]} */
    const labels = this.layout.row_labels.map((/** @type {string} */ label, /** @type {number} */ line) => {
      const first = this.layout.ys.indexOf(line);
      const x = Math.min(...this.places.filter((_, index) => this.layout.ys[index] === line).map(([x]) => x));
      return ["text", { x: x - SIZE / 2 - 12, y: this.places[first][1] + 4, class: "label" }, label];
    });
    const bottom = Math.max(...this.places.map(([, y]) => y)) + SIZE / 2 + 15;
    for (const [x, label] of this.layout.column_labels) {
      labels.push(["text", { x: MARGIN + SIZE / 2 + (x * SIZE) / 2, y: bottom, class: "label" }, label]);
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

  /** The outline of a target that has the focus. @param {Target} target @returns {Tree} */
  focus(target) {
    if (typeof target === "number") {
      const [x, y] = this.places[target];
      return ["polygon", { points: this.outline(x, y, SIZE - 3), class: "focus" }];
    }
    return ["rect", { ...this.side(target), class: "focus" }];
  }

  /**
   * The marks and pieces of a position, from the bottom to the top.
   * @param {any} board
   * @param {{picked?: Target[], next?: Target[]}} [choice] - what is chosen so far, and what may be next
   * @returns {Tree[]}
   */
  position(board, { picked = [], next = [] } = {}) {
    const marksOf = marksByCell(board);
    const pieces = [...board.cells].flatMap((letter, index) => letter === "." ? [] : [this.piece(letter, index, marksOf.get(index) || [])]);
    return [...this.edges(board.edges || [], next), ...this.under(marksOf), ...pieces, ...this.over(marksOf, picked, next)];
  }

  /** The bar along a side of the board. @param {"top" | "bottom" | "left" | "right"} side */
  side(side) {
    const [width, height] = this.size;
    const [left, top, right, bottom] = [MARGIN, MARGIN, width - MARGIN, height - MARGIN - (this.hasBases ? BASE : 0)];
    if (side === "top" || side === "bottom") {
      const y = side === "top" ? top - (this.hasBases ? 20 : 6) : bottom + (this.hasBases ? MARGIN : 2);
      return { x: left, y, width: right - left, height: this.hasBases ? 16 : 4, rx: 2 };
    }
    return { x: side === "left" ? left - 6 : right + 2, y: top, width: 4, height: bottom - top, rx: 2 };
  }

  /** @param {any[]} edges @param {Target[]} next @returns {Tree[]} */
  edges(edges, next) {
    return edges.map((edge) => {
      const name = `edge owner-${edge.owner}${next.includes(edge.side) ? " next" : ""}`;
      return ["rect", { ...this.side(edge.side), class: name }, ["title", {}, edge.text]];
    });
  }

  /** Marks below the pieces. @param {Map<number, string[]>} marksOf @returns {Tree[]} */
  under(marksOf) {
    return [...marksOf].flatMap(([index, marks]) => {
      const [x, y] = this.places[index];
      /** @type {Tree[]} */
      const found = [];
      for (const mark of ["home", "winning", "last"]) {
        if (marks.includes(mark)) found.push(["polygon", { points: this.outline(x, y, SIZE - 2), class: `mark ${mark}${this.isHex ? " hex" : ""}` }]);
      }
      if (marks.includes("forbidden")) found.push(["path", { d: cross(x, y, 5), class: "mark forbidden" }]);
      return found;
    });
  }

  /** Marks above the pieces. @param {Map<number, string[]>} marksOf @param {Target[]} picked @param {Target[]} next */
  over(marksOf, picked, next) {
    /** @type {Tree[]} */
    const found = [];
    for (const target of next) {
      if (typeof target !== "number") continue;
      const [x, y] = this.places[target];
      found.push(["circle", { cx: x, cy: y, r: 5, class: "next" }]);
    }
    for (const target of picked) {
      if (typeof target !== "number") continue;
      const [x, y] = this.places[target];
      found.push(["polygon", { points: this.outline(x, y, SIZE - 4), class: "picked" }]);
    }
    for (const [index, marks] of marksOf) {
      if (!marks.includes("required")) continue;
      const [x, y] = this.places[index];
      found.push(["circle", { cx: x, cy: y, r: 12, class: "mark required" }]);
    }
    return found;
  }

  /**
   * Pieces are told apart by shape as well as by colour.
   * @param {string} letter @param {number} index @param {string[]} marks
   * @returns {Tree}
   */
  piece(letter, index, marks) {
    const [x, y] = this.places[index];
    const kind = this.layout.pieces[letter] || { name: letter };
    const owner = kind.owner === 0 || kind.owner === 1 ? `owner-${kind.owner}` : "nobody";
    const name = kind.name;
    if (name.includes("zombie")) {
      const shape = kind.owner === 0 ? cross(x, y, 8) : ring(x, y, 8);
      return ["g", { class: `zombie ${owner}${marks.includes("asleep") ? " asleep" : ""}` },
        ["rect", { x: x - 16, y: y - 16, width: 32, height: 32, rx: 5 }], ["path", { d: shape }]];
    }
    if (name.includes("virus")) {
      return ["path", { d: kind.owner === 0 ? cross(x, y, 11) : ring(x, y, 11), class: `virus ${owner}` }];
    }
    if (name.includes("ship")) {
      const rings = Number(letter) || 1;
      const circles = [...Array(rings).keys()].map((at) => ["circle", { cx: x, cy: y, r: 16 - 5 * at, class: "ring" }]);
      return ["g", { class: "ship" }, ...circles, ["text", { x, y: y + 4, class: "value" }, letter]];
    }
    if (name.includes("stone")) return ["circle", { cx: x, cy: y, r: SIZE * 0.4, class: `stone ${owner}` }];
    return ["text", { x, y: y + 6, class: `letter ${owner}` }, letter];
  }
}

/**
 * The marks of each cell that has any.
 * @param {any} board
 * @returns {Map<number, string[]>}
 */
export function marksByCell(board) {
  /** @type {Map<number, string[]>} */
  const found = new Map();
  for (const [mark, cells] of Object.entries(board.marks || {})) {
    for (const index of /** @type {number[]} */ (cells)) found.set(index, [...(found.get(index) || []), mark]);
  }
  return found;
}

/** @param {number} x @param {number} y @param {number} r */
function cross(x, y, r) {
  return `M${x - r},${y - r}L${x + r},${y + r}M${x + r},${y - r}L${x - r},${y + r}`;
}

/** @param {number} x @param {number} y @param {number} r */
function ring(x, y, r) {
  return `M${x - r},${y}a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0`;
}
