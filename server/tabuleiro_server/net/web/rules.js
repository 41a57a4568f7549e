// @ts-check
/** The rules of a game with diagrams, from a file that the server makes of its rules page. */

import { drawn, fill, h, s } from "./dom.js";
import { Drawing } from "./drawing.js";
import * as text from "./text.js";

const LINK = /(https?:\/\/\S+)/;

export class RulesView {
  /** @param {string} game */
  constructor(game) {
    this.game = game;
    this.page = h("article", { class: "rules" }, h("h1", {}, text.title(game)));
    this.element = h("main", {}, this.page);
    this.load();
  }

  close() {}

  async load() {
    const others = text.GAMES.filter((game) => game !== this.game).flatMap((game) => [" - ", h("a", { href: `/rules/${game}` }, text.title(game))]);
    const play = h("p", {}, h("a", { href: "/" }, "Play"), ...others);
    const answer = await fetch(new URL(`rules-${this.game}.json`, import.meta.url)).catch(() => null);
    if (!answer?.ok) {
      fill(this.page, h("h1", {}, answer?.status === 404 ? "There is no such game" : "The rules cannot be loaded now"), play);
      return;
    }
    const [, ...parts] = await answer.json();
    fill(this.page, h("h1", {}, text.title(this.game)), ...this.drawn(parts), play);
  }

  /** @param {any[]} parts */
  drawn(parts) {
    /** @type {HTMLElement[]} */
    const found = [];
    for (const { kind, text: said = "", diagrams = [] } of parts) {
      const last = found[found.length - 1];
      if (kind === "heading") found.push(h("h2", {}, said.charAt(0) + said.slice(1).toLowerCase()));
      else if (kind === "diagrams") found.push(h("div", { class: "diagrams" }, diagrams.map((/** @type {any} */ each) => this.diagram(each))));
      else if (kind === "item" && last.tagName === "UL") last.append(h("li", {}, ...linked(said)));
      else if (kind === "item") found.push(h("ul", {}, h("li", {}, ...linked(said))));
      else found.push(h("p", {}, ...linked(said)));
    }
    return found;
  }

  /** @param {{caption: string, layout: any, stages: any[]}} diagram */
  diagram({ caption, layout, stages }) {
    const boards = stages.map(({ board, route = [] }) => {
      const drawing = new Drawing(layout, board);
      const position = drawing.position(board, { picked: route, next: board.marks?.legal });
      return s("svg", { viewBox: drawing.viewBox, class: "board", "aria-hidden": "true" }, drawn(drawing.ground()), drawn(position));
    });
    return h("figure", { class: boards.length > 1 ? "diagram both" : "diagram" }, h("div", { class: "stages" }, boards), h("figcaption", {}, text.caption(caption)));
  }
}

/** Text in which addresses are links. @param {string} said */
function linked(said) {
  return said.split(LINK).map((part) => LINK.test(part) ? h("a", { href: part, rel: "noreferrer" }, part) : part);
}
