// @ts-check
/** Every sentence that depends on codes of the protocol, by these codes. */

/** @type {Record<string, string>} */
const ENDINGS = {
  blocked: "{winner} wins: {loser} cannot move",
  base: "{winner} wins: a ship entered the base of {loser}",
  score: "{winner} wins: more points",
  connection: "{winner} wins: {winner} joined both edges",
  resignation: "{winner} wins: {loser} resigned",
  timeout: "{winner} wins: {loser} ran out of time",
  abandoned: "{winner} wins: {loser} stayed away",
};

/** @type {Record<string, string>} */
const ENDINGS_WITHOUT_WINNER = {
  repetition: "A draw: the same position came up for the third time",
  score: "A draw: the scores are equal",
  deadlock: "A draw: neither side can move",
  agreement: "A draw by agreement",
  aborted: "The match was aborted",
};

/** @type {Record<string, string>} */
const REFUSALS = {
  "bad-name": "This is no name: use 2 to 20 letters, digits, - or _.",
  "name-taken": "Somebody else has this name. Choose another one.",
  "no-such-room": "There is no such room. It may have been closed.",
  "bad-secret": "This room is private. Ask for the whole link of the invitation.",
  "seat-taken": "The seat is taken. You can watch.",
  "not-your-turn": "It is the other player's turn.",
  "stale-ply": "The position has changed. Look at the board and try again.",
  "storage-unavailable": "The server cannot save anything now. Nothing was changed; try again soon.",
  "room-damaged": "This room cannot be used because of an error on the server.",
  busy: "The server is busy. Try again in a moment.",
  muted: "The host has muted you.",
  "shutting-down": "The server is about to restart. Try again in a minute.",
};

/** @type {Record<string, [string, string]>} */
const OFFERS = {
  draw: ["offers a draw", "Draw"],
  takeback: ["asks to take the last turn back", "Takeback"],
  rematch: ["wants a rematch", "Rematch"],
};

/** @type {Record<string, string>} */
export const PHASES = { waiting: "waiting", playing: "playing", finished: "finished", closed: "closed" };

/** @type {Record<string, string>} */
export const CONNECTION = {
  connecting: "Connecting ...",
  online: "",
  slow: "The server does not answer yet ...",
  offline: "Connection lost. Reconnecting ...",
};

/** @type {Record<string, string>} */
const TITLES = { "virus-wars": "Virus Wars", "xero-g": "Xero-G", iris: "Iris", minefield: "Minefield" };

/** @param {string} game */
export function title(game) {
  return TITLES[game] || game;
}

export const GAMES = Object.keys(TITLES);

/** The marks of a board on this page, by the signs that captions use for them. @type {Record<string, string>} */
const SIGNS = { "+": "a dot", "-": "a cross", "*": "a dashed ring", "<": "shaded" };

/** The caption of a diagram. @param {string} said */
export function caption(said) {
  return said.replace(/\(([-+*<])\)/g, (_, sign) => `(${SIGNS[sign]})`);
}

/**
 * The end of a match.
 * @param {[string, string]} names
 * @param {number | null | undefined} winner
 * @param {string} termination
 */
export function ending(names, winner, termination) {
  if (winner === null || winner === undefined) return ENDINGS_WITHOUT_WINNER[termination] || `Nobody wins: ${termination}`;
  const text = ENDINGS[termination] || `{winner} wins: ${termination}`;
  return text.replaceAll("{winner}", names[winner]).replaceAll("{loser}", names[1 - winner]);
}

/**
 * An error in words for people.
 * @param {any} error
 */
export function problem(error) {
  return REFUSALS[error.code] || sentence(error.message || String(error));
}

/** @param {string} text */
function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}

/** @param {string} kind */
export function offerName(kind) {
  return OFFERS[kind] ? OFFERS[kind][1] : kind;
}

/** @param {string} kind @param {string} name */
export function offer(kind, name) {
  return OFFERS[kind] ? `${name} ${OFFERS[kind][0]}` : `${name} offers: ${kind}`;
}

/**
 * An event as a sentence; empty for those that say nothing to people.
 * @param {any} event
 * @param {[string, string]} names
 */
export function event(event, names) {
  switch (event.type) {
    case "seat-taken": return `${event.name} sits down`;
    case "bot-seated": return `A bot (${event.level}) sits down`;
    case "seat-freed": return "A seat is free again";
    case "seats-swapped": return "The players change seats";
    case "settings-changed": return "The host changed the settings";
    case "seat-connected": return `${names[event.seat]} is back`;
    case "seat-disconnected": return `${names[event.seat]} is away`;
    case "stand-in-seated": return `A bot (${event.level}) plays for ${names[event.seat]}`;
    case "match-started": return `Match ${event.match} begins: ${names[0]} against ${names[1]}`;
    case "actions-played": return `${names[event.player]} played ${event.actions.join(" ")}`;
    case "hint-taken": return `${names[event.player]} took a hint`;
    case "actions-undone": return `${names[event.player]} took back the last actions`;
    case "turn-taken-back": return `${names[event.player]} took back the last turn`;
    case "offer-made": return offer(event.kind, names[event.player]);
    case "offer-ended": return event.how === "void" ? "" : `${offerName(event.kind)} ${event.how}`;
    case "match-ended":
      if (typeof event.late_player === "number") {
        return `The match was aborted: ${names[event.late_player]} made no first turn in time`;
      }
      return ending(names, event.winner, event.termination);
    case "muted": return event.is_muted === false ? `${event.name} may chat again` : `${event.name} is muted`;
    case "host-changed": return `${event.name} is the host now`;
    case "room-resumed":
      return event.is_standstill ? "The server stood still for a while and goes on" : "The server was down and is back";
    case "room-closed": return `The room is closed: ${event.reason}`;
    default: return "";
  }
}

/**
 * A time on a clock.
 * @param {number} ms
 */
export function clock(ms) {
  const left = Math.max(0, ms);
  const seconds = left < 10_000 ? Math.floor(left / 100) / 10 : Math.ceil(left / 1000);
  if (left < 10_000) return `0:0${seconds.toFixed(1)}`;
  const days = Math.floor(seconds / 86_400);
  if (days) return `${days} d ${Math.floor((seconds % 86_400) / 3600)} h`;
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  const rest = String(seconds % 60).padStart(2, "0");
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

/**
 * The time left for a first turn, and the reason that no clock runs yet.
 * @param {number} ms
 */
export const firstTurn = (ms) => `first turn ${clock(ms)}`;
export const FIRST_TURN_TITLE = "the clock starts after both first turns";

/**
 * A time control in the form that people type.
 * @param {any} control
 */
export function timeControl(control) {
  switch (control?.kind ?? "none") {
    case "none": return "no clock";
    case "fischer": return `${minutes(control.initial_ms)}+${control.increment_ms / 1000}`;
    case "byo-yomi": return `${minutes(control.main_ms)}, ${control.periods} x ${control.period_ms / 1000} s`;
    case "turn": return `${control.turn_ms / 1000} s a turn`;
    case "correspondence": return control.days === 1 ? "1 day a turn" : `${control.days} days a turn`;
    default: return control.kind;
  }
}

/** @param {number} ms */
function minutes(ms) {
  return String(Math.round(ms / 600) / 100);
}

/**
 * The settings of a game in a few words.
 * @param {Record<string, any>} options
 */
export function options(options) {
  if (options.rows) return `${options.cols}x${options.rows}, ${options.steps} steps a turn`;
  if (options.size) return `${options.size}x${options.size}`;
  if (options.side) return `side ${options.side}`;
  return "";
}

/** What a piece on a cell is called, for people who listen. @param {string} name @param {any} kind @param {string[]} marks */
export function cell(name, kind, marks) {
  const words = [name, kind ? kind.name : "empty"];
  if (marks.includes("legal") || marks.includes("required")) words.push("can be played");
  if (marks.includes("forbidden")) words.push("forbidden");
  if (marks.includes("last")) words.push("last turn");
  if (marks.includes("winning")) words.push("wins");
  return words.join(", ");
}

/** A side of the board that can be chosen. @param {string} name @param {string | undefined} text @param {boolean} isNext */
export function side(name, text, isNext) {
  return [`${name} side`, text, isNext ? "can be played" : ""].filter(Boolean).join(", ");
}

/** How to walk over the board with keys. @param {boolean} isHex */
export function walking(isHex) {
  return isHex
    ? "Walk with the arrow keys; with Shift, up and down take the other of their two ways. Enter chooses."
    : "Walk with the arrow keys. Enter chooses.";
}
