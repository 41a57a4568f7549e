// @ts-check
/** What this browser keeps for its user, beside the name: a setting of turns, and the hints that were given. */

const FORCED = "tabuleiro.lays-forced";
const HINTS = "tabuleiro.hints";
const HINTS_MAX_COUNT = 200;

/** @param {string} key @returns {any} */
function read(key) {
  try {
    return JSON.parse(localStorage.getItem(key) || "null");
  } catch {
    return null;
  }
}

/** @param {string} key @param {any} value */
function write(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // A browser that keeps nothing forgets it with the page.
  }
}

/** True if an action is added to a turn where the rules leave a single cell for it. */
export function laysForced() {
  return read(FORCED) !== false;
}

/** @param {boolean} lays */
export function setLaysForced(lays) {
  write(FORCED, lays);
}

/**
 * Keep a hint of a position, for looking through the match later.
 * @param {string} room @param {number} match @param {number} ply @param {{actions: string[], value: number}} hint
 */
export function keepHint(room, match, ply, { actions, value }) {
  const kept = (read(HINTS) || []).filter((/** @type {any} */ each) => each.room !== room || each.match !== match || each.ply !== ply);
  write(HINTS, [...kept, { room, match, ply, actions, value }].slice(-HINTS_MAX_COUNT));
}

/**
 * @param {string} room @param {number} match @param {number} ply
 * @returns {{actions: string[], value: number} | undefined}
 */
export function hintAt(room, match, ply) {
  return (read(HINTS) || []).find((/** @type {any} */ each) => each.room === room && each.match === match && each.ply === ply);
}
