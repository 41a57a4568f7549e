// @ts-check
/** Elements without markup: all text goes through text nodes, so nothing that people write becomes part of the page. */

/**
 * @typedef {Node | string | number | null | undefined | false} Child
 */

/**
 * Make an element.
 * @param {string} tag
 * @param {Record<string, any>} [attributes] - `on...` are listeners, booleans are set or left out
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
export function h(tag, attributes = {}, ...children) {
  return /** @type {HTMLElement} */ (filled(document.createElement(tag), attributes, children));
}

/**
 * Make an element of SVG.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {SVGElement}
 */
export function s(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  return /** @type {SVGElement} */ (filled(element, attributes, children));
}

/**
 * Make the elements of trees of SVG.
 * @param {import("./drawing.js").Tree[]} trees
 * @returns {SVGElement[]}
 */
export function drawn(trees) {
  return trees.map(([tag, attributes, ...children]) => s(tag, attributes, ...children.map((child) => Array.isArray(child) ? drawn([/** @type {any} */ (child)])[0] : child)));
}

/**
 * @param {Element} element
 * @param {Record<string, any>} attributes
 * @param {(Child | Child[])[]} children
 */
function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) /** @type {any} */ (element)[name] = value;
    else if (name === "value") /** @type {HTMLInputElement} */ (element).value = value;
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...nodes(children));
  return element;
}

/** @param {(Child | Child[])[]} children */
function nodes(children) {
  /** @type {(Node | string)[]} */
  const found = [];
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    found.push(child instanceof Node ? child : String(child));
  }
  return found;
}

/**
 * Replace what an element holds. Buttons that are there again and links to the same place stay, with what is new of
 * them: so a press that has begun on one ends on it, and it keeps the focus. A button that comes again after a change
 * of the others has the focus too.
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function fill(element, ...children) {
  const focused = document.activeElement;
  const name = focused && focused !== element && element.contains(focused) ? nameOf(focused) : null;
  const known = [...element.children].filter((each) => each.matches("button, a"));
  const wanted = nodes(children).map((node) => {
    const at = known.findIndex((each) => node instanceof Element && isAgain(each, node));
    return at < 0 ? node : renewed(known.splice(at, 1)[0], node);
  });
  for (const node of [...element.childNodes]) if (!wanted.includes(node)) node.remove();
  wanted.forEach((node, at) => {
    // Putting a node where it is would take it out first, and the press with it.
    if (element.childNodes[at] !== node) element.insertBefore(node instanceof Node ? node : new Text(node), element.childNodes[at] ?? null);
  });
  if (name === null || element.contains(document.activeElement)) return;
  const again = [...element.querySelectorAll("button, a")].find((each) => nameOf(each) === name);
  /** @type {HTMLElement | undefined} */ (again)?.focus({ preventScroll: true });
}

/** @param {Element} known @param {Element} node */
function isAgain(known, node) {
  return known.isEqualNode(node) || (known.hasAttribute("href") && known.getAttribute("href") === node.getAttribute("href"));
}

/** A button or link with the listener and the content of its like. @param {any} known @param {any} like @returns {Node} */
function renewed(known, like) {
  known.onclick = like.onclick;
  if (!known.isEqualNode(like)) known.replaceChildren(...like.childNodes);
  return known;
}

/** @param {Element} element */
function nameOf(element) {
  return element.getAttribute("aria-label") || element.textContent;
}

/** Most lines of chat that the page keeps. */
export const CHAT_LINES_COUNT = 200;

/**
 * Show lines of chat, at their end if that was in sight.
 * @param {HTMLElement} element
 * @param {Child[]} lines
 */
export function showLines(element, lines) {
  const wasAtEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - 8;
  fill(element, ...lines);
  if (wasAtEnd) element.scrollTop = element.scrollHeight;
}

/** Say something to people who listen to a screen reader. @param {string} text */
export function announce(text) {
  const live = document.getElementById("live");
  if (live && text) live.append(h("p", {}, text));
  while (live && live.childElementCount > 4) live.firstElementChild?.remove();
}

/**
 * Ask a question with two answers.
 * @param {string} question
 * @param {string} yes
 * @returns {Promise<boolean>}
 */
export function confirmed(question, yes) {
  return new Promise((resolve) => {
    const dialog = /** @type {HTMLDialogElement} */ (
      h("dialog", { "aria-label": question }, h("p", {}, question),
        h("div", { class: "row" },
          h("button", { class: "primary", onclick: () => close(true) }, yes),
          h("button", { onclick: () => close(false) }, "Cancel")))
    );
    /** @param {boolean} answer */
    const close = (answer) => { dialog.close(); dialog.remove(); resolve(answer); };
    dialog.addEventListener("cancel", (event) => { event.preventDefault(); close(false); });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/**
 * The secret in the fragment of an address, which browsers tell no server.
 * @param {string} hash
 * @returns {string | null}
 */
export function secretIn(hash) {
  try {
    return decodeURIComponent(hash.slice(1)) || null;
  } catch {
    return null; // cut off in the middle of a letter: no secret either
  }
}
