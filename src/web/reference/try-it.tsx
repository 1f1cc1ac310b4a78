import { useSignal } from "@preact/signals";
import { stringifyJson } from "../../domain/json.ts";
import { useAction } from "../components/hooks.ts";
import { ErrorText } from "../components/primitives.tsx";
import { session, storedToken } from "../state/session.ts";
import type { Operation } from "./description.ts";
import { buildRequest, curlCommand, type Reply, send } from "./request.ts";
import { CodeBlock } from "./text.tsx";

/** A form that sends an operation with the token of the session, and the same request as a curl command. */
export function TryIt({ operation }: { operation: Operation }) {
  const { summary, parameters, requestBody } = operation;
  const [example] = Object.values(requestBody?.content?.["application/json"].examples ?? {});
  const exampleBody = stringifyJson(example?.value, 2);
  const fields = useSignal<Record<string, string>>({ body: exampleBody });
  const reply = useSignal<Reply | undefined>(undefined);
  const { error, run } = useAction();
  const request = buildRequest(operation, fields.value);

  const submit = (event: Event) => {
    event.preventDefault();
    run(async () => {
      reply.value = undefined;
      reply.value = await send(request, storedToken());
    });
  };
  return (
    <form
      aria-label={`Try it: ${summary}`}
      onSubmit={submit}
      onInput={({ currentTarget }) => {
        fields.value = Object.fromEntries(new FormData(currentTarget)) as Record<string, string>;
      }}
    >
      <h3>Try it</h3>
      {parameters.map(({ name, required, example = "" }) => (
        <label key={name}>
          {name}
          <input name={name} required={required} placeholder={String(example)} autocomplete="off" />
        </label>
      ))}
      {requestBody && (
        <label>
          Request body
          <textarea name="body" rows={6} spellcheck={false} defaultValue={exampleBody} />
        </label>
      )}
      <footer class="row">
        <button type="submit">Send</button>
        {session.value === undefined && <p class="small muted">You are not signed in: the request has no token.</p>}
      </footer>
      <ErrorText>{error}</ErrorText>
      {reply.value && <ReplyView reply={reply.value} />}
      <CodeBlock label="curl" text={curlCommand(request)} />
    </form>
  );
}

const ReplyView = ({ reply: { status, milliseconds, headers, body } }: { reply: Reply }) => (
  <section aria-label="Response">
    <p role="status">
      <b>{status}</b> <span class="muted">{milliseconds} ms</span>
    </p>
    <CodeBlock label="Response headers" text={headers} />
    {body !== "" && <CodeBlock label="Response body" text={body} />}
  </section>
);
