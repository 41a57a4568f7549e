// @ts-check
/**
 * The connections to the server: requests with one answer each, notifications, and coming back by itself.
 *
 * A server may be several nodes. The first connection is to one of them and comes back by itself; a room that another
 * node has takes a connection to that one, which lasts as long as it lasts. Where a room is, is found out here: those
 * who ask for something in a room need not know.
 *
 * Other requests than `play` are sent at most once. A `play` that was not answered is sent again after the room was
 * entered again: the server knows it by its ply and never plays it twice.
 */

const SUBPROTOCOL = "tabuleiro.v1.json";
const FIRST_DELAY_MS = 300;
const LONGEST_DELAY_MS = 10_000;
const SLOW_AFTER_MS = 3_000;
const PROBE_LIMIT_MS = 5_000;
const OPEN_LIMIT_MS = 10_000;
const REDIRECTS_COUNT = 3;
const IDENTITY = "tabuleiro.identity";
/** Refusals of a hello that another one mends. */
const OVER_NAMES = ["bad-token", "name-taken"];
/** Refusals that will not last. */
const FOR_NOW = ["busy", "storage-unavailable", "shutting-down", "elsewhere"];
/** Refusals by a room that quick play has led to, and that is not to be had any more. */
const NOT_THERE = ["seat-taken", "no-such-room", "room-damaged"];
/** Requests that enter a room. */
const ENTRIES = ["create-room", "quick-play", "join-room", "watch-room"];

/** A refusal of the server. */
export class Refusal extends Error {
  /** @param {{code: string, message: string, node_url?: string, room?: string, follow?: boolean}} told */
  constructor(told) {
    super(told.message);
    this.code = told.code;
    this.nodeUrl = told.node_url;
    this.room = told.room;
    this.follow = told.follow;
  }
}

/** The connection broke before the answer: not known whether it was done. */
export class Unknown extends Error {}

/**
 * @typedef {{account: string, name: string, token: string}} Identity
 * @typedef {{resolve: (result: any) => void, reject: (error: Error) => void, at: number}} Pending
 * @typedef {{hear: (message: any) => void, enter: () => Promise<void>, fail: (error: any) => void}} Room
 */

const EXPORTED = "tabuleiro-identity-";
const CHECKSUM_CHARS = 4;

/**
 * Read what `tabuleiro identity export` writes: a checksum, and the server, the name and the token as JSON.
 * @param {string} written
 * @returns {Identity | null}
 */
function identityIn(written) {
  if (!written.startsWith(EXPORTED)) return null;
  try {
    const coded = written.slice(EXPORTED.length).replaceAll("-", "+").replaceAll("_", "/");
    const bytes = Uint8Array.from(atob(coded), (letter) => letter.charCodeAt(0));
    const [, name, token] = JSON.parse(new TextDecoder().decode(bytes.slice(CHECKSUM_CHARS)));
    return { account: "", name, token };
  } catch {
    return null;
  }
}

/** One connection. */
class Wire {
  /**
   * @param {string} url
   * @param {(message: any, wire: Wire) => void} onTold - told unasked
   * @param {(wire: Wire) => void} onLost - called once
   */
  constructor(url, onTold, onLost) {
    this.url = url;
    this.onTold = onTold;
    this.onLost = onLost;
    this.isLost = false;
    /** @type {Map<number, Pending>} */
    this.pending = new Map();
    this.nextId = 1;
    this.socket = new WebSocket(url, [SUBPROTOCOL]);
    this.opened = new Promise((resolve) => { this.socket.onopen = resolve; });
    this.socket.onmessage = (event) => this.receive(JSON.parse(event.data));
    this.socket.onclose = () => this.drop();
  }

  get isOpen() {
    return !this.isLost && this.socket.readyState === WebSocket.OPEN;
  }

  /** When the request was sent that waits longest for its answer, in ms. */
  get oldest() {
    return Math.min(...[...this.pending.values()].map((pending) => pending.at));
  }

  /** @param {any} message @returns {Promise<any>} the result of `ok` @throws {Refusal | Unknown} */
  send(message) {
    if (!this.isOpen) return Promise.reject(new Unknown("Not connected now. Nothing was sent."));
    const id = this.nextId++;
    this.socket.send(JSON.stringify({ ...message, id }));
    return new Promise((resolve, reject) => this.pending.set(id, { resolve, reject, at: Date.now() }));
  }

  /** @param {any} message */
  receive(message) {
    if (this.isLost) return;
    if (message.type !== "ok" && message.type !== "error") {
      this.onTold(message, this);
      return;
    }
    const pending = this.pending.get(message.id);
    this.pending.delete(message.id);
    if (message.type === "ok") pending?.resolve(message.result ?? null);
    else pending?.reject(new Refusal(message));
  }

  /** Give the connection up. */
  drop() {
    if (this.isLost) return;
    this.isLost = true;
    this.socket.onclose = null;
    this.socket.close();
    const error = new Unknown("The connection broke before the answer. It is not known whether it was done.");
    for (const pending of this.pending.values()) pending.reject(error);
    this.pending.clear();
    this.onLost(this);
  }
}

export class Link extends EventTarget {
  constructor() {
    super();
    /** @type {Wire | null} */
    this.home = null;
    /** @type {"connecting" | "online" | "slow" | "offline"} */
    this.state = "connecting";
    /** The first connection is there, and says who we are. */
    this.isWelcome = false;
    /** @type {any} */
    this.welcome = null;
    /** Add this to the time here to get the server's, in ms. */
    this.ahead = 0;
    /** The ways to other nodes. @type {Map<string, Promise<Wire>>} */
    this.nodes = new Map();
    /** The connections to them that are there. @type {Set<Wire>} */
    this.nodeWires = new Set();
    /** The connections of rooms that are not on the first one. @type {Map<string, Wire>} */
    this.places = new Map();
    /** @type {Map<string, Room>} */
    this.rooms = new Map();
    /** The rooms that are being entered: each ends when that is over. @type {Map<string, Promise<void>>} */
    this.entering = new Map();
    /** Rooms that were lost and not entered again yet. @type {Set<string>} */
    this.lostRooms = new Set();
    /** @type {(() => Promise<void>)[]} */
    this.comebacks = [];
    this.attempts = 0;
    this.timer = 0;
    setInterval(() => this.watch(), 500);
    addEventListener("online", () => this.probe());
    addEventListener("offline", () => this.probe());
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.probe(); });
    this.connect();
  }

  /** @returns {Identity | null} */
  get identity() {
    try {
      return JSON.parse(localStorage.getItem(IDENTITY) || "null");
    } catch {
      return null;
    }
  }

  /** @param {Identity | null} identity */
  set identity(identity) {
    try {
      if (identity) localStorage.setItem(IDENTITY, JSON.stringify(identity));
      else localStorage.removeItem(IDENTITY);
    } catch { /* private windows may keep nothing: this guest lasts as long as the page */ }
  }

  /**
   * Connect as another guest: a new one of this name, or one of another computer by what `identity export` wrote.
   * @param {string} name
   */
  async rename(name) {
    const known = identityIn(name);
    this.kept = this.identity;
    this.wanted = known ? known.name : name;
    this.identity = known;
    for (const node of this.nodes.values()) node.then((wire) => wire.drop(), () => undefined);
    this.home?.drop();
    this.hurry();
    return new Promise((resolve, reject) => {
      this.addEventListener("welcome", () => resolve(undefined), { once: true });
      this.addEventListener("refused", (event) => reject(/** @type {CustomEvent} */ (event).detail), { once: true });
    });
  }

  // The first connection

  connect() {
    const own = `${location.protocol === "https:" ? "wss:" : "ws:"}//${location.host}/`;
    // Every second time by another node: the one that this page came from may not come back.
    const others = (this.welcome?.node_urls || []).slice(1);
    const url = others.length && this.attempts % 2 === 0 && this.attempts ? others[(this.attempts / 2 - 1) % others.length] : own;
    const home = new Wire(url, (message, wire) => this.hear(message, wire), () => this.lost(home));
    this.home = home;
    home.opened.then(() => this.hello(home));
  }

  /** @param {Wire} home */
  async hello(home) {
    const identity = this.identity;
    const name = this.wanted || `guest-${Math.floor(1000 + Math.random() * 99_000)}`;
    const message = identity ? { type: "hello", token: identity.token } : { type: "hello", name };
    try {
      const welcome = await home.send({ ...message, client: "page" });
      this.wanted = "";
      this.welcome = welcome;
      this.note(welcome.now_ms);
      const token = welcome.token || identity?.token;
      if (token) this.identity = { account: welcome.account, name: welcome.name, token };
      this.attempts = 0;
      this.isWelcome = true;
      for (const comeback of [...this.comebacks]) await comeback();
      for (const code of this.rooms.keys()) if (!this.places.has(code)) await this.enter(code);
      if (home.isLost) return;
      this.show();
      this.dispatchEvent(new Event("entered"));
      this.dispatchEvent(new Event("welcome"));
    } catch (error) {
      if (!(error instanceof Refusal) || home.isLost) return;
      const isOverName = Boolean(this.wanted) || OVER_NAMES.includes(error.code);
      if (this.wanted) {
        this.wanted = "";
        this.identity = this.kept || null;
        this.dispatchEvent(new CustomEvent("refused", { detail: error }));
      } else if (error.code === "bad-token") {
        this.identity = null;
      }
      if (isOverName) {
        this.hello(home);
      } else {
        // Too many guests, or a server that ends: later, at growing distances.
        home.drop();
        this.dispatchEvent(new CustomEvent("unwelcome", { detail: error }));
      }
    }
  }

  /** @param {Wire} home */
  lost(home) {
    if (home !== this.home) return;
    this.isWelcome = false;
    for (const code of this.rooms.keys()) if (!this.places.has(code)) this.lostRooms.add(code);
    this.show();
    const delay = delayMs(this.attempts++);
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.connect(), delay);
  }

  /** Try again now, if there is no connection. */
  hurry() {
    if (!this.home?.isLost) return;
    clearTimeout(this.timer);
    this.attempts = 0;
    this.connect();
  }

  // Nodes and rooms

  /** The connection to a node. @param {string} url @returns {Promise<Wire>} @throws {Refusal | Unknown} */
  node(url) {
    if (this.home && this.isWelcome && url === this.welcome.node_urls?.[0]) return Promise.resolve(this.home);
    const known = this.nodes.get(url);
    if (known) return known;
    const way = this.connectNode(url);
    this.nodes.set(url, way);
    way.catch(() => { if (this.nodes.get(url) === way) this.nodes.delete(url); });
    return way;
  }

  /** @param {string} url */
  async connectNode(url) {
    /** @type {(error: Error) => void} */
    let giveUp = () => undefined;
    const failed = new Promise((_, reject) => { giveUp = reject; });
    const wire = new Wire(url, (message, from) => this.hear(message, from), () => {
      giveUp(new Unknown(`No connection to ${url}.`));
      this.lostNode(wire);
    });
    const limit = setTimeout(() => wire.drop(), OPEN_LIMIT_MS);
    await Promise.race([wire.opened, failed]);
    clearTimeout(limit);
    try {
      const welcome = await wire.send({ type: "hello", token: this.identity?.token, client: "page" });
      // It knows of nodes that came after we connected: the way back when the first one does not come again.
      const own = this.welcome?.node_urls?.[0];
      if (own) this.welcome.node_urls = [...new Set([own, ...(welcome.node_urls || [])])];
    } catch (error) {
      wire.drop();
      throw error;
    }
    this.nodeWires.add(wire);
    return wire;
  }

  /** @param {Wire} wire */
  lostNode(wire) {
    this.nodes.delete(wire.url);
    this.nodeWires.delete(wire);
    for (const [code, place] of this.places) {
      if (place !== wire) continue;
      this.places.delete(code);
      if (!this.rooms.has(code)) continue;
      this.lostRooms.add(code);
      this.enter(code);
    }
    this.show();
  }

  /** The connection on which a room is, as far as is known. @param {string | undefined} code */
  placeOf(code) {
    return (code && this.places.get(code)) || this.home;
  }

  /** Enter a room, over and over while its node fails; who enters it already is waited for. @param {string} code */
  enter(code) {
    const before = this.entering.get(code);
    const entering = this.enterAfter(code, before);
    this.entering.set(code, entering);
    return entering;
  }

  /** @param {string} code @param {Promise<void> | undefined} before */
  async enterAfter(code, before) {
    await before;
    const room = this.rooms.get(code);
    for (let attempt = 0; room && this.rooms.get(code) === room; attempt++) {
      try {
        await room.enter();
        break;
      } catch (error) {
        if (error instanceof Refusal && !FOR_NOW.includes(error.code)) {
          room.fail(error);
          break;
        }
        this.lostRooms.add(code);
        this.places.delete(code);
        this.show();
        // The first connection enters its rooms when it is back.
        if (!this.isWelcome) return;
      }
      await new Promise((resolve) => setTimeout(resolve, delayMs(attempt)));
    }
    this.lostRooms.delete(code);
    this.show();
    this.dispatchEvent(new Event("entered"));
  }

  /** Enter a room where it is now. @param {string} code @param {string | undefined} nodeUrl - none: not known */
  async follow(code, nodeUrl) {
    this.places.delete(code);
    try {
      if (nodeUrl) this.moveTo(code, await this.node(nodeUrl));
    } catch {
      this.lostRooms.add(code);
    }
    await this.enter(code);
  }

  /** @param {string} code @param {Wire} wire */
  moveTo(code, wire) {
    if (wire === this.home) this.places.delete(code);
    else this.places.set(code, wire);
  }

  /** Nobody looks at a room any more. @param {string} code */
  forget(code) {
    this.rooms.delete(code);
    this.lostRooms.delete(code);
    this.show();
  }

  // Requests

  /**
   * Send a request to where its room is.
   * @param {any} message
   * @param {{again?: boolean}} [how] - again: send it again after coming back, as long as it is not answered
   * @returns {Promise<any>} the result of `ok`
   * @throws {Refusal | Unknown}
   */
  async send(message, { again = false } = {}) {
    for (let redirects = 0; ;) {
      if (again) await this.entered(message.room);
      try {
        return await this.placeOf(message.room)?.send(message);
      } catch (error) {
        if (error instanceof Unknown && again) continue;
        if (!(error instanceof Refusal) || error.code !== "elsewhere" || !error.nodeUrl || redirects++ >= REDIRECTS_COUNT) throw error;
        if (ENTRIES.includes(message.type)) return this.enterThere(message, error, redirects);
        await this.follow(message.room, error.nodeUrl);
      }
    }
  }

  /**
   * Ask to enter a room at the node that has it, and at the next one if we are sent on.
   * @param {any} message @param {Refusal} refusal @param {number} redirects @returns {Promise<any>}
   */
  async enterThere(message, refusal, redirects) {
    let asked = message;
    for (let at = refusal; ; redirects++) {
      const wire = await this.node(/** @type {string} */ (at.nodeUrl));
      if (asked.type === "quick-play" && at.room) asked = { type: "join-room", room: at.room, ...(asked.boards ? { boards: true } : {}) };
      try {
        const result = await wire.send(at.follow && asked.type === "watch-room" ? { ...asked, follow: true } : asked);
        this.moveTo(result.head.room, wire);
        return result;
      } catch (error) {
        if (!(error instanceof Refusal) || redirects >= REDIRECTS_COUNT) throw error;
        // The seat was taken meanwhile: quick play looks for another one.
        if (asked !== message && message.type === "quick-play" && NOT_THERE.includes(error.code)) return this.send(message);
        if (error.code !== "elsewhere" || !error.nodeUrl) throw error;
        at = error;
      }
    }
  }

  /** Wait until nothing stands between a room and its requests. @param {string} code */
  async entered(code) {
    while (!this.placeOf(code)?.isOpen || this.lostRooms.has(code) || !(this.isWelcome || this.places.has(code))) {
      await new Promise((resolve) => this.addEventListener("entered", resolve, { once: true }));
    }
  }

  /** @param {any} message @param {Wire} wire */
  hear(message, wire) {
    if (message.head) this.note(message.head.now_ms);
    if (message.type !== "update" && message.type !== "room-gone") {
      if (wire === this.home || message.type === "announcement") this.dispatchEvent(new CustomEvent(message.type, { detail: message }));
      return;
    }
    const code = message.head ? message.head.room : message.room;
    // A node that a room has left may still tell of it.
    if (wire === this.placeOf(code)) this.rooms.get(code)?.hear(message);
  }

  /** Take note of the server's time. @param {number} nowMs */
  note(nowMs) {
    this.ahead = nowMs - Date.now();
  }

  /** The server's time, in ms. */
  now() {
    return Date.now() + this.ahead;
  }

  // How the connections are

  /** @returns {Wire[]} */
  get wires() {
    return this.home?.isOpen ? [this.home, ...this.nodeWires] : [...this.nodeWires];
  }

  /** A phone that slept may hold connections that are gone: ask, and drop those without an answer. */
  probe() {
    this.hurry();
    if (!this.isWelcome) return;
    for (const wire of this.wires) {
      const limit = setTimeout(() => wire.drop(), PROBE_LIMIT_MS);
      wire.send({ type: "list-rooms", game: "iris", phases: ["closed"] }).catch(() => null).then(() => clearTimeout(limit));
    }
  }

  /** Say so when the server takes long to answer; give up a connection that stays silent. */
  watch() {
    const waited = (/** @type {Wire} */ wire) => Date.now() - wire.oldest;
    for (const wire of this.wires) if (waited(wire) > 6 * SLOW_AFTER_MS) wire.drop();
    this.isSlow = this.wires.some((wire) => waited(wire) > SLOW_AFTER_MS);
    this.show();
  }

  /** Tell how the connections are now, if that has changed. */
  show() {
    const isThere = this.isWelcome && !this.lostRooms.size;
    const isFirst = this.state === "connecting" && !this.home?.isLost && !this.lostRooms.size;
    const state = isThere ? (this.isSlow ? "slow" : "online") : isFirst ? "connecting" : "offline";
    if (state === this.state) return;
    this.state = state;
    this.dispatchEvent(new Event("state"));
  }
}

/** How long to wait before the next attempt, by those before. @param {number} attempt */
function delayMs(attempt) {
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 1.7 ** attempt) * (0.5 + Math.random() / 2);
}
