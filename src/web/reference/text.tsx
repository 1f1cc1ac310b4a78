import type { ComponentChildren } from "preact";
import { Button, Table } from "../components/primitives.tsx";
import { notify } from "../state/notification.ts";

/** Renders the Markdown that the API description uses: paragraphs, tables and `code`. */
export const Markdown = ({ text }: { text: string }) =>
  text
    .trim()
    .split("\n\n")
    .map((block) => (block.startsWith("|") ? <MarkdownTable text={block} /> : <p>{inline(block)}</p>));

/** Renders text with `code`. */
export const inline = (text: string): ComponentChildren =>
  text.split("`").map((part, index) => (index % 2 === 1 ? <code>{part}</code> : part));

function MarkdownTable({ text }: { text: string }) {
  const [columns = [], , ...rows] = text.split("\n").map((line) => line.split("|").slice(1, -1));
  return <Table label="Details" columns={columns} rows={rows.map((cells) => cells.map(inline))} />;
}

/** Preformatted text with a copy button. Browsers allow copying only over HTTPS and on the local host. */
export const CodeBlock = ({ label, text }: { label: string; text: string }) => (
  <figure class="code-block" aria-label={label}>
    <figcaption class="row small muted">
      <span class="grow">{label}</span>
      {isSecureContext && (
        <Button
          icon="copy"
          aria-label={`Copy: ${label}`}
          onClick={() => navigator.clipboard.writeText(text).then(() => notify({ text: "Copied" }))}
        />
      )}
    </figcaption>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it. */}
    <pre tabIndex={0}>{text}</pre>
  </figure>
);
