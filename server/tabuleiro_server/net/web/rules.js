// @ts-check
/** The rules of a game, and a picture of its start. */

import { fill, h } from "./dom.js";
import * as text from "./text.js";

export class RulesView {
  /**
   * @param {import("./link.js").Link} link
   * @param {string} game
   */
  constructor(link, game) {
    this.link = link;
    this.game = game;
    this.page = h("section", { class: "rules" }, h("h1", {}, text.title(game)));
    this.element = h("main", {}, this.page);
    this.comeback = () => this.load();
    link.comebacks.push(this.comeback);
    if (link.state === "online") this.load();
  }

  close() {
    this.link.comebacks = this.link.comebacks.filter((comeback) => comeback !== this.comeback);
  }

  async load() {
    const { games } = await this.link.send({ type: "list-games" });
    const form = games.find((/** @type {any} */ each) => each.name === this.game);
    if (!form) {
      fill(this.page, h("h1", {}, "There is no such game"), h("p", {}, ...games.flatMap((/** @type {any} */ each) => [h("a", { href: `/rules/${each.name}` }, each.title), " "])));
      return;
    }
    fill(this.page, h("h1", {}, form.title), h("pre", {}, form.rules), h("p", {}, h("a", { href: "/" }, "Play")));
  }
}
