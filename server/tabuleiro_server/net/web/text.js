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
  repetition: "a draw: the same position came up for the third time",
  score: "a draw: the scores are equal",
  deadlock: "a draw: neither side can move",
  agreement: "a draw by agreement",
  aborted: "the match was aborted",
};

/** @type {Record<string, string>} */
const REFUSALS = {
  "bad-name": "This is no name: use 2 to 20 letters, digits, - or _.",
  "name-taken": "Somebody else has this name. Choose another one.",
  "no-such-room": "There is no such room. It may have been closed.",
  "bad-secret": "This room is private. Ask for the whole link of the invitation.",
  elsewhere: "The room is moving to another server, or has too many watchers for more than watching. Try again later.",
  "seat-taken": "The seat is taken. You can watch.",
  "not-your-turn": "It is the other player's turn.",
  "stale-ply": "The position has changed. Look at the board and try again.",
  "storage-unavailable": "The server cannot save anything now. Nothing was changed; try again soon.",
  "room-damaged": "This room cannot be used because of an error on the server.",
  busy: "The server is busy. Try again in a moment.",
  muted: "The host has muted you.",
  "shutting-down": "The server is about to restart. Try again in a minute.",
};

/** The verb of who makes an offer, its object, and a noun for the whole. @type {Record<string, [string, string, string]>} */
const OFFERS = {
  draw: ["offer", "a draw", "draw offer"],
  takeback: ["ask", "to take the last turn back", "takeback request"],
  rematch: ["offer", "a rematch", "rematch offer"],
};

/** @type {Record<string, string>} */
export const CONNECTION = {
  connecting: "Connecting ...",
  online: "Connected",
  slow: "The server does not answer yet ...",
  offline: "Connection lost; trying to come back ...",
};
export const CONNECTED_AGAIN = "Connected again";

/** The title of each game and its two sides. @type {Record<string, [string, [string, string]]>} */
const TITLES_AND_SIDES = {
  "virus-wars": ["Virus Wars", ["blue", "red"]],
  "xero-g": ["Xero-G", ["south", "north"]],
  iris: ["Iris", ["black", "white"]],
  minefield: ["Minefield", ["black", "white"]],
};

/** @param {string} game */
export function title(game) {
  return TITLES_AND_SIDES[game]?.[0] || game;
}

/**
 * The two players of a room as one guest sees them.
 * @typedef {{names: (string | null)[], sides: [string, string], own: number[]}} Cast
 */

/** @param {string} game @param {(string | null)[]} names @param {number[]} own @returns {Cast} */
export function cast(game, names, own) {
  return { names, sides: TITLES_AND_SIDES[game]?.[1] || ["the first player", "the second player"], own };
}

/** A name and its side; the side alone where names tell nothing apart. @param {Cast} cast @param {number} player */
export function nameAndSide(cast, player) {
  const name = cast.names[player];
  return !name || cast.own.length === 2 ? cast.sides[player] : `${name} (${cast.sides[player]})`;
}

/** The doer of something: "you", a name, or a side. @param {Cast} cast @param {number} player */
export function actor(cast, player) {
  if (cast.own.length === 1 && cast.own[0] === player) return "you";
  const name = cast.names[player];
  return !name || cast.own.length === 2 ? cast.sides[player] : name;
}

/** A stone that was added to a turn. @param {string} cell */
export const laid = (cell) => `${cell} is laid too: the rules leave no other cell`;
export const LAYS_FORCED = "Lay the second stone where one cell is left";

/** A hint that was given here. @param {string} name @param {{actions: string[], value: number}} hint */
export const hintGiven = (name, { actions, value }) =>
  `The hint here: ${actions.join(" ")}, worth ${value > 0 ? "+" : ""}${value.toFixed(2)} to ${name} (-1 lost, +1 won).`;

export const GAMES = Object.keys(TITLES_AND_SIDES);

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
  if (winner === null || winner === undefined) return ENDINGS_WITHOUT_WINNER[termination] || `nobody wins: ${termination}`;
  const text = ENDINGS[termination] || `{winner} wins: ${termination}`;
  return text.replaceAll("{winner}", names[winner]).replaceAll("{loser}", names[1 - winner]);
}

/**
 * An error in words for people.
 * @param {any} error
 */
export function problem(error) {
  if (REFUSALS[error.code]) return REFUSALS[error.code];
  const said = error.message || String(error);
  return capitalised(said) + (/[.!?]$/.test(said) ? "" : ".");
}

/** A sentence that stands for itself; a name it begins with stays as it is. @param {string} text @param {(string | null)[]} [names] */
export function capitalised(text, names = []) {
  return names.some((name) => name && text.startsWith(name)) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

/** @param {string} kind @param {string} actor */
export function offer(kind, actor) {
  const [verb, wish] = OFFERS[kind] || ["offer", kind];
  return `${actor} ${verb}${actor === "you" ? "" : "s"} ${wish}`;
}

/** @param {string} kind @param {string} actor @param {string} how */
function offerEnd(kind, actor, how) {
  return `${actor === "you" ? "your" : `${actor}'s`} ${OFFERS[kind]?.[2] || kind} ${how === "void" ? "has lapsed" : `was ${how}`}`;
}

/** A line of chat. @param {{name: string, text: string, is_player: boolean}} line */
export function said(line) {
  return `${line.name}${line.is_player ? "" : " (watching)"}: ${line.text}`;
}

/**
 * An event as a sentence, by its code; empty for those that say nothing to people. The terminal says the same.
 * @param {any} event
 * @param {Cast} cast
 * @param {string} [own] - the account of who reads it
 * @param {number} [first] - who begins the match
 */
export function event(event, cast, own, first = 0) {
  const doer = () => actor(cast, event.player);
  switch (event.type) {
    case "seat-taken": return `${event.name} sits down as ${cast.sides[event.seat]}`;
    case "bot-seated": return `a bot (${event.level}) sits down as ${cast.sides[event.seat]}`;
    case "seat-freed": return `the seat of ${cast.sides[event.seat]} is free again`;
    case "seats-swapped": return `the players change seats: ${nameAndSide(cast, 0)}, ${nameAndSide(cast, 1)}`;
    case "settings-changed": return "the host has changed the settings";
    case "stand-in-seated": return `a bot (${event.level}) plays for ${actor(cast, event.seat)} until the return`;
    case "match-started":
      return `the match begins: ${nameAndSide(cast, first)} against ${nameAndSide(cast, 1 - first)}; ${cast.sides[first]} begins`;
    case "actions-played":
      return `${event.by_stand_in ? `the bot, for ${doer()},` : doer()} played ${event.actions.join(" ")}`
        + (event.is_makeshift ? " (at random: the bot gave no answer in time)" : "");
    case "hint-taken": return `${doer()} ${doer() === "you" ? "take" : "takes"} a hint`;
    case "actions-undone": return `${doer()} took the last actions back`;
    case "turn-taken-back": return `${doer()} took the last turn back`;
    case "offer-made": return offer(event.kind, doer());
    case "offer-ended": return offerEnd(event.kind, doer(), event.how);
    case "match-ended":
      if (typeof event.late_player === "number") {
        return `the match was aborted: ${actor(cast, event.late_player)} made no first turn in time`;
      }
      return ending(cast.sides, event.winner, event.termination);
    case "said": return said(event);
    case "muted":
      if (event.account === own) {
        return event.is_muted === false ? "you may chat again" : "the host has muted you: you cannot chat here";
      }
      return event.is_muted === false ? `${event.name} may chat again` : `${event.name} is muted`;
    case "host-changed":
      return event.account === own ? "you are the host of this room now" : `${event.name} is the host of this room now`;
    case "room-resumed":
      return event.is_standstill ? "the server stood still for a while and goes on" : "the server was down and is back";
    case "room-closed": return `the room is closed: ${event.reason}`;
    default: return "";
  }
}

/** Whose turn it is. @param {Cast} cast @param {any} board @param {boolean} [hasBegun] - some of the turn's actions are made */
export function turn(cast, board, hasBegun = false) {
  const player = board.to_move;
  if (player === null || player === undefined) return "";
  const left = board.actions_left;
  const isOne = left === 1 && !hasBegun;
  const more = left === null || left === undefined || isOne ? "" : `, ${left} action${left === 1 ? "" : "s"} left`;
  return actor(cast, player) === "you" ? `your turn (${cast.sides[player]})${more}` : `${nameAndSide(cast, player)} to move${more}`;
}

/**
 * What a turn has changed on the board, cells with the same change together; empty for nothing.
 * @param {any} layout
 * @param {any} before
 * @param {any} after
 */
export function change(layout, before, after) {
  const name = (/** @type {string} */ letter) => layout.pieces[letter]?.name || letter;
  const asleep = (/** @type {any} */ board) => new Set(board.marks?.asleep || []);
  const [slept, sleeps] = [asleep(before), asleep(after)];
  /** @type {Map<string, string[]>} */
  const fates = new Map();
  layout.names.forEach((/** @type {string} */ cell, /** @type {number} */ index) => {
    const [old, now] = [before.cells[index], after.cells[index]];
    const named = name(now) + (sleeps.has(index) ? " asleep" : "");
    let fate = "";
    if (old === now) fate = slept.has(index) === sleeps.has(index) ? "" : `${name(now)} ${sleeps.has(index) ? "asleep" : "awake again"} on`;
    else if (now === ".") fate = "empty now";
    else if (old === ".") fate = `${named} on`;
    else fate = `${named} in place of ${name(old)}${slept.has(index) ? " asleep" : ""} on`;
    if (fate) fates.set(fate, [...(fates.get(fate) || []), withGround(layout, cell, index)]);
  });
  return [...fates].map(([fate, cells]) => `${fate} ${cells.join(", ")}`).join("; ");
}

/** @param {any} layout @param {string} cell @param {number} index */
function withGround(layout, cell, index) {
  const ground = Object.keys(layout.grounds || {}).find((each) => layout.grounds[each].includes(index));
  return ground ? `${cell} ${ground}` : cell;
}

/**
 * What was done and what came of it, for people who listen.
 * @param {string} sentence - of the event
 * @param {string[]} actions - that were played
 * @param {any} layout
 * @param {any} before
 * @param {any} after
 * @param {Cast} cast
 */
export function outcome(sentence, actions, layout, before, after, cast) {
  // What is new on cells says which they are.
  const isCells = actions.every((action) => layout.names.includes(action));
  const words = isCells && actions.length ? sentence.replace(` ${actions.join(" ")}`, "") : sentence;
  const changed = change(layout, before, after);
  const scores = after.scores && JSON.stringify(after.scores) !== JSON.stringify(before.scores)
    ? [`groups score: ${cast.sides.map((side, player) => `${side} ${after.scores[player].join(" ") || "0"}`).join(", ")}`] : [];
  const facts = [...(changed ? [changed] : []), ...(after.notices || []), ...scores];
  return facts.length ? `${words}: ${facts.join("; ")}` : words;
}

/** @param {string} name @param {boolean} isBack */
export function presence(name, isBack) {
  return `${name} is ${isBack ? "back" : "away"}`;
}

/** Times at which somebody who listens is told how long there still is. */
export const LOW_TIMES_MS = [30_000, 10_000];

/** @param {number} ms @param {string} side */
export function lowTime(ms, side) {
  return `${ms / 1000} seconds left for ${side}`;
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
