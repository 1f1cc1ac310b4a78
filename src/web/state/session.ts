import { signal } from "@preact/signals";
import { ConnectionError, PlantStoreClient, PlantStoreError } from "../../client/index.ts";

/** A client with a valid token, and the operations that the token allows. */
export interface Session {
  readonly client: PlantStoreClient;
  readonly canRead: boolean;
  readonly canWrite: boolean;
}

/** A token of the server, or a JWT of its identity provider. */
const TOKEN = /^(?:plt_[0-9A-Za-z]{36}|[\w-]+\.[\w-]+\.[\w-]+)$/;

/** `sessionStorage` keys. */
const TOKEN_KEY = "plantstore.token";
const SCOPES_KEY = "plantstore.scopes";
const REASON_KEY = "plantstore.reason";

/** The current session; `undefined` if signed out. Signing out reloads the page, which clears all in-memory state. */
export const session = signal<Session | undefined>();
/** Whether a token is being checked. */
export const isSigningIn = signal(false);
/** Why the user is signed out; empty if there is no message to show. */
export const signInError = signal(consume(REASON_KEY));

/** Signs in with a token in the URL (`/#token=...`), removing it from there first, or with the stored token. */
export function restoreSession(): void {
  storeTokenFromUrl();
  // A sign-in link opened in this tab changes only the fragment, so the browser does not reload.
  addEventListener("hashchange", () => storeTokenFromUrl() && location.reload());
  const token = storedToken();
  if (token !== null) signIn(token);
}

/** Checks a token and stores it if it is valid; otherwise sets {@link signInError}. */
export async function signIn(text: string): Promise<void> {
  const token = text.trim();
  signInError.value = "";
  if (!TOKEN.test(token))
    return rejectToken("This is not a token: a token is plt_ and 36 letters or digits, or a JWT.");
  isSigningIn.value = true;
  try {
    const client = clientFor(token);
    const isStored = storedToken() === token;
    const scopes = (isStored && sessionStorage.getItem(SCOPES_KEY)) || (await detectScopes(client));
    sessionStorage.setItem(TOKEN_KEY, token);
    sessionStorage.setItem(SCOPES_KEY, scopes);
    session.value = { client, canRead: scopes.includes("read"), canWrite: scopes.includes("write") };
  } catch (error) {
    if (!isInvalidToken(error)) signInError.value = describeError(error);
    else rejectToken("This token does not work: it is mistyped, expired or revoked. Check it, or ask for a new one.");
  } finally {
    isSigningIn.value = false;
  }
}

/** Removes the token and reloads the page; `reason` is shown on the sign-in form. */
export function signOut(reason = ""): void {
  clearToken();
  sessionStorage.setItem(REASON_KEY, reason);
  location.reload();
}

/** Returns an error message for the user. Signs out if the token is no longer valid. */
export function describeError(error: unknown): string {
  if (isInvalidToken(error)) signOut("Your token no longer works: it has expired or was revoked. Ask for a new one.");
  if (error instanceof ConnectionError) return navigator.onLine ? "The server is not responding." : "You are offline.";
  return error instanceof Error ? error.message : String(error);
}

/** Returns a client for long tasks. It retries for about 30 s, so that a server restart does not interrupt them. */
export const longTaskClient = (): PlantStoreClient => clientFor(storedToken() ?? "", 9);

/** Returns the token of the session, or `null`. */
export const storedToken = (): string | null => sessionStorage.getItem(TOKEN_KEY);

const clientFor = (token: string, attempts = 4) => new PlantStoreClient({ url: location.origin, token, attempts });

/** Returns the token's scopes, found by trying requests: the API checks scopes before it validates a request. */
async function detectScopes(client: PlantStoreClient): Promise<string> {
  const isAllowed = (error: unknown) => {
    if (!(error instanceof PlantStoreError) || error.status === 401 || error.status >= 429) throw error;
    return error.code !== "insufficient_scope";
  };
  const reading = client.listPage({ limit: 1 }).then(() => true, isAllowed);
  // The empty name is invalid, so this never creates a plant.
  const writing = client.createPlant({ id: 0n, name: "" }).then(() => true, isAllowed);
  const [canRead, canWrite] = await Promise.all([reading, writing]);
  return [canRead ? "read" : "", canWrite ? "write" : ""].join(" ");
}

const isInvalidToken = (error: unknown): boolean => error instanceof PlantStoreError && error.code === "invalid_token";

function rejectToken(reason: string): void {
  clearToken();
  signInError.value = reason;
}

function clearToken(): void {
  sessionStorage.removeItem(TOKEN_KEY);
  sessionStorage.removeItem(SCOPES_KEY);
}

/** Moves a token from the URL to `sessionStorage`; returns whether the URL had one. */
function storeTokenFromUrl(): boolean {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token === null) return false;
  history.replaceState(null, "", location.pathname + location.search);
  clearToken();
  sessionStorage.setItem(TOKEN_KEY, token);
  return true;
}

/** Returns and removes a stored value. */
function consume(key: string): string {
  const text = sessionStorage.getItem(key) ?? "";
  sessionStorage.removeItem(key);
  return text;
}
