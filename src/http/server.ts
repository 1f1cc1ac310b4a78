import { AppError, ERRORS, statusOf } from "../domain/error.ts";
import type { Owner } from "../domain/plant.ts";
import type { Scope } from "../domain/token.ts";
import { Authorizer, type AuthorizerOptions, type AuthResult } from "./auth.ts";
import { type Call, requestIdOf } from "./call.ts";
import { commonHeaders, type HeaderFields, isPreflight, preflight } from "./common-headers.ts";
import { errorResponse, HttpError, toPublicError } from "./errors.ts";
import { type Certificate, Listener, type ListenerOptions } from "./listener.ts";
import { LoadShedder } from "./load-shedding.ts";
import type { Route } from "./routes.ts";

/** The default of {@link ServerOptions.maxRequests}. */
const MAX_REQUESTS = 10_000;
/** Turns of the event loop that a stop waits for at most, while requests keep coming in. */
const MAX_LAST_TURNS = 100;

/** Made once: in a flood there is no time for errors and their stacks. */
const TOO_BUSY = new AppError("unavailable", "the server is busy with too many requests: try again");

/** What a listener needs. */
export interface ServerOptions extends ListenerOptions, AuthorizerOptions {
  readonly routes: readonly Route[];
  /**
   * The maximum number of authenticated requests in progress; further ones get 503. Neither requests without a valid token
   * nor responses that are being sent count. 10,000 by default.
   */
  readonly maxRequests?: number;
  /** Origins whose scripts may call the API from a browser. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** Called for every request once its answer begins, and once more when the answer breaks off. */
  onResponse(event: ResponseEvent): void;
}

/** What is known of a request. */
export interface ResponseEvent {
  readonly call: Call;
  /** Which route it took: `createPlant`, `livez`...; `none` when there is none for it. */
  readonly operation: string;
  readonly status: number;
  /** Milliseconds from the first look at the request. */
  readonly durationMs: number;
  readonly error: AppError | undefined;
  /** Whether the answer had begun, with another status, when the error broke it off. */
  readonly isAborted: boolean;
}

type Methods = ReadonlyMap<string, Route>;

/** The HTTP listener: finds the route of each request, lets it in, and turns whatever fails into an answer. */
export class HttpServer {
  readonly #options: ServerOptions;
  readonly #listener: Listener;
  readonly #authorizer: Authorizer;
  readonly #headersOf: (request: Request) => HeaderFields;
  readonly #loadShedder = new LoadShedder();
  #isDraining = false;
  #requestsInProgress = 0;
  #requestCount = 0;

  /** @throws Error when the address cannot be listened on */
  constructor(options: ServerOptions) {
    this.#options = options;
    this.#authorizer = new Authorizer(options, (request) => this.#listener.peerAddress(request));
    this.#headersOf = commonHeaders(options.corsOrigins, options.certificate !== undefined);
    const paths = Map.groupBy(options.routes, ({ path }) => path);
    const noMethods: Methods = new Map();
    this.#listener = new Listener(options, {
      routes: Object.fromEntries(
        [...paths].map(([path, routes]) => {
          const methods: Methods = new Map(routes.map((route) => [route.method, route]));
          return [path, (request: Bun.BunRequest) => this.#answer(request, methods)];
        }),
      ),
      fetch: (request) => this.#answer(request as Bun.BunRequest, noMethods),
    });
  }

  /** `http://host:port` or `https://host:port`, with the port that was really taken. */
  get url(): string {
    return this.#listener.url;
  }

  /** Requests that are being answered. */
  get pendingRequests(): number {
    return this.#listener.pendingRequests;
  }

  /** Has new connections use another certificate. */
  setCertificate(certificate: Certificate): void {
    this.#listener.setCertificate(certificate);
  }

  /** From now on every answer asks its client to connect again, so that none is left on a connection when it closes. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Takes no new connections and resolves when every request is answered, at the latest after `deadlineMs`. */
  async stop(deadlineMs: number): Promise<void> {
    await this.#listener.stop(deadlineMs, this.#takeLastRequests());
  }

  /**
   * Bun closes an idle connection without a look at what has arrived on it, and the kernel drops the connections that
   * nobody has taken: whoever sent those requests would never know what became of them. So they are read first, until
   * two turns of the event loop in a row bring none: a turn may begin after its look at the sockets.
   */
  async #takeLastRequests(): Promise<void> {
    let quietTurns = 0;
    for (let turn = 0; turn < MAX_LAST_TURNS && quietTurns < 2; turn++) {
      const before = this.#requestCount;
      await new Promise((resolve) => setImmediate(resolve));
      quietTurns = this.#requestCount === before ? quietTurns + 1 : 0;
    }
  }

  async #answer(request: Bun.BunRequest, methods: Methods): Promise<Response> {
    this.#requestCount++;
    const call = new ServedCall(request, this.#headersOf(request), this.#authorizer, this.#options.onResponse);
    this.#loadShedder.count(call.startedMs);
    let response: Response | undefined;
    let error: AppError | undefined;
    try {
      const route = this.#find(call, methods);
      call.operation = route.operation;
      if (route.scope !== undefined) {
        const result = this.#authorize(call, route.scope);
        const admitted = result instanceof Promise ? await result : result;
        if (admitted instanceof AppError) error = admitted;
        else call.grant(admitted.owner, route.scope);
      }
      if (error === undefined) {
        if (call.isAuthenticated) this.#requestsInProgress++;
        const answer = route.handle(call);
        response = answer instanceof Promise ? await answer : answer;
      }
    } catch (thrown) {
      error = toPublicError(thrown);
    }
    if (call.isAuthenticated) this.#requestsInProgress--;
    response ??= errorResponse(call, error as AppError);
    if (this.#loadShedder.isTickLate(call.startedMs)) await this.#loadShedder.tickEnd;
    if (this.#isDraining) response.headers.set("Connection", "close");
    call.report(response.status, error, false);
    return response;
  }

  #find({ request, headers }: ServedCall, methods: Methods): Pick<Route, "operation" | "scope" | "handle"> {
    const { method } = request;
    const route = methods.get(method === "HEAD" ? "GET" : method);
    if (route !== undefined) return route;
    if (methods.size === 0) throw new AppError("path_not_found", "there is nothing at this path: see /docs");
    const allowed = [...methods.keys()].flatMap((each) => (each === "GET" ? ["GET", "HEAD"] : [each])).join(", ");
    if (isPreflight(request, headers)) return preflight(allowed);
    throw new HttpError("method_not_allowed", `use ${allowed} here`, { Allow: allowed });
  }

  /** Not asked where no token is needed: whoever asks whether the server lives is told so, however busy it is. */
  #authorize({ request, startedMs }: ServedCall, scope: Scope): AuthResult | Promise<AuthResult> {
    const { maxRequests = MAX_REQUESTS } = this.#options;
    const isTooBusy = this.#requestsInProgress >= maxRequests || this.#loadShedder.shouldShed(startedMs);
    return isTooBusy ? TOO_BUSY : this.#authorizer.authorize(request, scope, startedMs);
  }
}

/** A call with what is reported of it. */
class ServedCall implements Call {
  readonly request: Bun.BunRequest;
  readonly requestId: string;
  readonly headers: HeaderFields;
  owner = "";
  operation = "none";
  readonly startedMs = performance.now();
  readonly #authorizer: Authorizer;
  readonly #onResponse: (event: ResponseEvent) => void;
  #scope: Scope | undefined;

  constructor(
    request: Bun.BunRequest,
    headers: HeaderFields,
    authorizer: Authorizer,
    onResponse: (event: ResponseEvent) => void,
  ) {
    this.request = request;
    this.requestId = requestIdOf(request);
    this.headers = headers;
    this.#authorizer = authorizer;
    this.#onResponse = onResponse;
  }

  grant(owner: Owner, scope: Scope): void {
    this.owner = owner;
    this.#scope = scope;
  }

  get isAuthenticated(): boolean {
    return this.#scope !== undefined;
  }

  async recheck(): Promise<void> {
    if (this.#scope !== undefined) await this.#authorizer.recheck(this.request, this.owner, this.#scope);
  }

  onAbort(thrown: unknown): void {
    const error = toPublicError(thrown);
    this.report(statusOf(ERRORS[error.code].number), error, true);
  }

  report(status: number, error: AppError | undefined, isAborted: boolean): void {
    const durationMs = performance.now() - this.startedMs;
    this.#onResponse({ call: this, operation: this.operation, status, durationMs, error, isAborted });
  }
}
