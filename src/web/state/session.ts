import { signal } from "@preact/signals";
import { ConnectionError, PlantStoreClient, PlantStoreError } from "../../client/index.ts";

/** A token that works, and what it may do. */
export interface Session {
  readonly client: PlantStoreClient;
  readonly canRead: boolean;
  readonly canWrite: boolean;
}

/** What this tab keeps until it is closed. The reference page reads and writes the token and the scopes too. */
const TOKEN_KEY = "plantstore.token";
const SCOPES_KEY = "plantstore.scopes";
const REASON_KEY = "plantstore.reason";

/** `undefined` while nobody is signed in. It ends with the document, so that nothing of it is left for the next one. */
export const session = signal<Session | undefined>();
/** Whether a token is being tried. */
export const isSigningIn = signal(false);
/** Why nobody is signed in; empty when there is nothing to say. */
export const refusal = signal(take(REASON_KEY));

/** Signs in with the token of a link (`/#token=...`), which leaves the address at once, or with the one kept in this tab. */
export function resume(): void {
  keepLinkedToken();
  // A link that is opened in this very tab changes nothing but the fragment.
  addEventListener("hashchange", () => keepLinkedToken() && location.reload());
  const token = sessionStorage.getItem(TOKEN_KEY);
  if (token !== null) signIn(token);
}

/** Tries a token and keeps it when it works; {@link refusal} says why it does not. */
export async function signIn(text: string): Promise<void> {
  const token = text.trim();
  refusal.value = "";
  if (!/^plt_[0-9A-Za-z]{36}$/.test(token)) return refuse("This is no token: it is plt_ and 36 letters and digits.");
  isSigningIn.value = true;
  try {
    const client = clientFor(token);
    const isKnown = sessionStorage.getItem(TOKEN_KEY) === token;
    const scopes = (isKnown && sessionStorage.getItem(SCOPES_KEY)) || (await learnScopes(client));
    sessionStorage.setItem(TOKEN_KEY, token);
    sessionStorage.setItem(SCOPES_KEY, scopes);
    session.value = { client, canRead: scopes.includes("read"), canWrite: scopes.includes("write") };
  } catch (error) {
    if (!isInvalidToken(error)) refusal.value = explain(error);
    else refuse("This token does not work: it is mistyped, or it has expired or was revoked. Ask for a new one.");
  } finally {
    isSigningIn.value = false;
  }
}

/** Forgets the token and all that was loaded with it. */
export function signOut(reason = ""): void {
  forgetToken();
  sessionStorage.setItem(REASON_KEY, reason);
  location.reload();
}

/** What went wrong, for a person. A token that works no longer is forgotten. */
export function explain(error: unknown): string {
  if (isInvalidToken(error)) signOut("Your token works no longer: it has expired or was revoked. Ask for a new one.");
  if (error instanceof ConnectionError) return navigator.onLine ? "The server does not answer." : "You are offline.";
  return error instanceof Error ? error.message : String(error);
}

/** For long work, which a restart of the server should not end: goes on trying for half a minute. */
export const patientClient = (): PlantStoreClient => clientFor(sessionStorage.getItem(TOKEN_KEY) ?? "", 9);

const clientFor = (token: string, attempts = 4) => new PlantStoreClient({ url: location.origin, token, attempts });

/** The API does not tell the scopes of a token, but it looks at them before anything else of a request. */
async function learnScopes(client: PlantStoreClient): Promise<string> {
  const isAllowed = (error: unknown) => {
    if (!(error instanceof PlantStoreError) || error.status === 401 || error.status >= 429) throw error;
    return error.code !== "insufficient_scope";
  };
  const reading = client.listPage({ limit: 1 }).then(() => true, isAllowed);
  // A plant without a name: refused by all means, but for want of the scope first.
  const writing = client.createPlant({ id: 0n, name: "" }).then(() => true, isAllowed);
  const [canRead, canWrite] = await Promise.all([reading, writing]);
  return [canRead ? "read" : "", canWrite ? "write" : ""].join(" ");
}

const isInvalidToken = (error: unknown): boolean => error instanceof PlantStoreError && error.code === "invalid_token";

function refuse(reason: string): void {
  forgetToken();
  refusal.value = reason;
}

function forgetToken(): void {
  sessionStorage.removeItem(TOKEN_KEY);
  sessionStorage.removeItem(SCOPES_KEY);
}

/** Takes the token out of the address, when there is one, and keeps it in the place of another. */
function keepLinkedToken(): boolean {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token === null) return false;
  history.replaceState(null, "", location.pathname + location.search);
  forgetToken();
  sessionStorage.setItem(TOKEN_KEY, token);
  return true;
}

function take(key: string): string {
  const text = sessionStorage.getItem(key) ?? "";
  sessionStorage.removeItem(key);
  return text;
}
