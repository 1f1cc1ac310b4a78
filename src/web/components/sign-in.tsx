import { useEffect } from "preact/hooks";
import icon from "../icon.svg";
import { isSigningIn, signIn, signInError } from "../state/session.ts";

/** The sign-in form. */
export function SignIn() {
  useEffect(() => {
    document.title = "Plant Store";
  }, []);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const token = new FormData(event.currentTarget as HTMLFormElement).get("token");
    if (!isSigningIn.value) signIn(String(token));
  };
  return (
    <main class="centered">
      <form class="card" onSubmit={submit}>
        <img src={icon} alt="" width="56" height="56" />
        <h1>Plant Store</h1>
        <label for="token">Your token</label>
        <input
          id="token"
          name="token"
          type="password"
          autocomplete="off"
          placeholder="plt_…"
          aria-invalid={signInError.value !== ""}
          aria-describedby="token-fault token-help"
        />
        <p class="error" id="token-fault" role="alert">
          {signInError}
        </p>
        <button type="submit" aria-disabled={isSigningIn.value}>
          {isSigningIn.value ? "Signing in…" : "Sign in"}
        </button>
        <p class="small muted" id="token-help">
          The token is stored in this tab only, and removed when you close the tab. Ask the operator of this server for
          a token, or for a sign-in link, which <code>plantstore token create --link</code> prints.
        </p>
      </form>
    </main>
  );
}
