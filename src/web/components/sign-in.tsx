import { useEffect } from "preact/hooks";
import icon from "../icon.svg";
import { isSigningIn, refusal, signIn } from "../state/session.ts";

/** Asks for a token. */
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
    <main class="middle">
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
          aria-invalid={refusal.value !== ""}
          aria-describedby="token-fault token-help"
        />
        <p class="fault" id="token-fault" role="alert">
          {refusal}
        </p>
        <button type="submit" aria-disabled={isSigningIn.value}>
          {isSigningIn.value ? "Signing in…" : "Sign in"}
        </button>
        <p class="small soft" id="token-help">
          It stays in this tab, and is forgotten when the tab is closed. Whoever runs this server gives you one, or a
          link that signs you in: <code>plantstore token create --link</code> prints it.
        </p>
      </form>
    </main>
  );
}
