// @ts-check
/**
 * The connection to the server: requests with one answer each, notifications, and coming back by itself.
 *
 * Other requests than `play` are sent at most once. A `play` that was not answered is sent again after the room was
 * entered again: the server knows it by its ply and never plays it twice.
 */

const SUBPROTOCOL = "tabuleiro.v1.json";
const FIRST_DELAY_MS = 300;
const LONGEST_DELAY_MS = 10_000;
const SLOW_AFTER_MS = 3_000;
const PROBE_LIMIT_MS = 5_000;
const IDENTITY = "tabuleiro.identity";
/** Refusals of a hello that another one mends. */
const OVER_NAMES = ["bad-token", "name-taken"];

/** A refusal of the server. */
export class Refusal extends Error {
  /** @param {string} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** The connection broke before the answer: not known whether it was done. */
export class Unknown extends Error {}

/**
 * @typedef {{account: string, name: string, token: string}} Identity
 * @typedef {{message: any, resolve: (result: any) => void, reject: (error: Error) => void, again: boolean, at: number, socket: WebSocket | null}} Pending
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

export class Link extends EventTarget {
  constructor() {
    super();
    /** @type {WebSocket | null} */
    this.socket = null;
    /** @type {"connecting" | "online" | "slow" | "offline"} */
    this.state = "connecting";
    /** @type {any} */
    this.welcome = null;
    /** Add this to the time here to get the server's, in ms. */
    this.ahead = 0;
    /** @type {Map<number, Pending>} */
    this.pending = new Map();
    /** @type {Map<string, (message: any) => void>} */
    this.rooms = new Map();
    /** @type {(() => Promise<void>)[]} */
    this.comebacks = [];
    this.nextId = 1;
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
    this.socket?.close();
    this.hurry();
    return new Promise((resolve, reject) => {
      this.addEventListener("welcome", () => resolve(undefined), { once: true });
      this.addEventListener("refused", (event) => reject(/** @type {CustomEvent} */ (event).detail), { once: true });
    });
  }

  connect() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}/`, [SUBPROTOCOL]);
    this.socket = socket;
    socket.onopen = () => this.hello(socket);
    socket.onmessage = (event) => { if (socket === this.socket) this.receive(JSON.parse(event.data)); };
    socket.onclose = () => { if (socket === this.socket) this.lost(); };
  }

  /** @param {WebSocket} socket */
  async hello(socket) {
    const identity = this.identity;
    const name = this.wanted || `guest-${Math.floor(1000 + Math.random() * 99_000)}`;
    const message = identity ? { type: "hello", token: identity.token } : { type: "hello", name };
    try {
      const welcome = await this.send({ ...message, client: "page" });
      this.wanted = "";
      this.welcome = welcome;
      this.note(welcome.now_ms);
      const token = welcome.token || identity?.token;
      if (token) this.identity = { account: welcome.account, name: welcome.name, token };
      this.attempts = 0;
      for (const comeback of [...this.comebacks]) await comeback();
      if (socket !== this.socket) return;
      this.become("online");
      this.dispatchEvent(new Event("welcome"));
      this.resend();
    } catch (error) {
      if (!(error instanceof Refusal) || socket !== this.socket) return;
      const isOverName = Boolean(this.wanted) || OVER_NAMES.includes(error.code);
      if (this.wanted) {
        this.wanted = "";
        this.identity = this.kept || null;
        this.dispatchEvent(new CustomEvent("refused", { detail: error }));
      } else if (error.code === "bad-token") {
        this.identity = null;
      }
      if (isOverName) {
        this.hello(socket);
      } else {
        // Too many guests, or a server that ends: later, at growing distances.
        socket.close();
        this.dispatchEvent(new CustomEvent("unwelcome", { detail: error }));
      }
    }
  }

  /**
   * Send a request.
   * @param {any} message
   * @param {{again?: boolean}} [how] - again: send it again after coming back, as long as it is not answered
   * @returns {Promise<any>} the result of `ok`
   * @throws {Refusal | Unknown}
   */
  send(message, { again = false } = {}) {
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      /** @type {Pending} */
      const pending = { message: { ...message, id }, resolve, reject, again, at: Date.now(), socket: null };
      const isOpen = this.socket?.readyState === WebSocket.OPEN;
      if (!isOpen && !again) {
        reject(new Unknown("Not connected now. Nothing was sent."));
        return;
      }
      this.pending.set(id, pending);
      if (isOpen && (this.state === "online" || this.state === "slow" || !again)) this.put(pending);
    });
  }

  /** @param {Pending} pending */
  put(pending) {
    pending.at = Date.now();
    pending.socket = this.socket;
    this.socket?.send(JSON.stringify(pending.message));
  }

  /** Send what is not answered and was not sent over this connection. */
  resend() {
    for (const pending of this.pending.values()) if (pending.socket !== this.socket) this.put(pending);
  }

  /** @param {any} message */
  receive(message) {
    if (message.type === "ok" || message.type === "error") {
      const pending = this.pending.get(message.id);
      this.pending.delete(message.id);
      if (this.state === "slow") this.become("online");
      if (message.type === "ok") pending?.resolve(message.result ?? null);
      else if (pending) pending.reject(new Refusal(message.code, message.message));
      return;
    }
    if (message.head) this.note(message.head.now_ms);
    const room = message.head ? message.head.room : message.room;
    if (message.type === "update" || message.type === "room-gone") this.rooms.get(room)?.(message);
    else this.dispatchEvent(new CustomEvent(message.type, { detail: message }));
  }

  /** Take note of the server's time. @param {number} nowMs */
  note(nowMs) {
    this.ahead = nowMs - Date.now();
  }

  /** The server's time, in ms. */
  now() {
    return Date.now() + this.ahead;
  }

  lost() {
    for (const [id, pending] of this.pending) {
      if (pending.again) continue;
      this.pending.delete(id);
      pending.reject(new Unknown("The connection broke before the answer. It is not known whether it was done."));
    }
    this.become("offline");
    const delay = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 1.7 ** this.attempts++);
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.connect(), delay * (0.5 + Math.random() / 2));
  }

  /** Try again now, if there is no connection. */
  hurry() {
    if (this.state !== "offline") return;
    clearTimeout(this.timer);
    this.attempts = 0;
    this.connect();
  }

  /** A phone that slept may hold a connection that is gone: ask, and drop it if there is no answer. */
  async probe() {
    this.hurry();
    const socket = this.socket;
    if (socket?.readyState !== WebSocket.OPEN || this.state === "connecting") return;
    const limit = setTimeout(() => this.drop(socket), PROBE_LIMIT_MS);
    await this.send({ type: "list-rooms", game: "iris", phases: ["closed"] }).catch(() => null);
    clearTimeout(limit);
  }

  /** @param {WebSocket} socket */
  drop(socket) {
    if (socket !== this.socket) return;
    socket.onclose = null;
    socket.close();
    this.lost();
  }

  /** Say so when the server takes long to answer; give up a connection that stays silent. */
  watch() {
    const oldest = Math.min(...[...this.pending.values()].map((pending) => pending.at));
    const waited = Date.now() - oldest;
    if (this.state === "online" && waited > SLOW_AFTER_MS) this.become("slow");
    if (this.state === "slow" && waited > 6 * SLOW_AFTER_MS && this.socket) this.drop(this.socket);
  }

  /** @param {"connecting" | "online" | "slow" | "offline"} state */
  become(state) {
    if (state === this.state) return;
    this.state = state;
    this.dispatchEvent(new Event("state"));
  }
}
