import { useEffect } from "preact/hooks";
import icon from "../icon.svg";
import { isSigningIn, session, signIn, signInError } from "../state/session.ts";
import { closeDialog, Dialog } from "./dialog.tsx";
import { Field } from "./primitives.tsx";

/** The page of a signed-out user. */
export function SignIn() {
  useEffect(() => {
    document.title = "Plant Store";
  }, []);
  return (
    <main class="centered">
      <div class="card">
        <img src={icon} alt="" width="56" height="56" />
        <h1>Plant Store</h1>
        <SignInForm />
      </div>
    </main>
  );
}

/** The sign-in form as a dialog, which closes after sign-in. */
export function SignInDialog() {
  useEffect(() => {
    if (session.value !== undefined) closeDialog();
  }, [session.value]);
  return (
    <Dialog title="Sign in">
      <SignInForm />
    </Dialog>
  );
}

function SignInForm() {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const token = new FormData(event.currentTarget as HTMLFormElement).get("token");
    if (!isSigningIn.value) signIn(String(token));
  };
  return (
    <form onSubmit={submit}>
      <Field
        id="token"
        name="token"
        label="Your token"
        error={signInError.value}
        type="password"
        placeholder="plt_…"
        aria-describedby="token-error token-help"
      />
      <button type="submit" aria-disabled={isSigningIn.value}>
        {isSigningIn.value ? "Signing in…" : "Sign in"}
      </button>
      <p class="small muted" id="token-help">
        The token is stored in this tab only, and removed when you close the tab. Ask the operator of this server for a
        token, or for a sign-in link, which <code>plantstore token create --link</code> prints.
      </p>
    </form>
  );
}
