import { stringifyJson } from "../../domain/json.ts";
import { Table } from "../components/primitives.tsx";
import { limitsOf, type Message, type Operation, type Parameter, type Schema, schemaName } from "./description.ts";
import { CodeBlock, inline, Markdown } from "./text.tsx";
import { TryIt } from "./try-it.tsx";

/** Method and path of an operation. */
export const Endpoint = ({ method, path }: Pick<Operation, "method" | "path">) => (
  <code class="endpoint">
    <b class="tag">{method}</b> {path}
  </code>
);

/** The documentation of an operation, beside a form that sends it. */
export function OperationSection({ operation }: { operation: Operation }) {
  const { operationId, summary, description, parameters, requestBody, responses } = operation;
  return (
    <section id={operationId} class="card operation" aria-label={summary}>
      <div class="prose">
        <h2>
          <a href={`#${operationId}`}>{summary}</a>
        </h2>
        <Endpoint {...operation} />
        <Markdown text={description} />
        <h3>Parameters</h3>
        <ParameterTable label="Parameters" parameters={parameters} />
        {requestBody && <h3>Request body</h3>}
        {requestBody && <MessageContent message={requestBody} />}
        <h3>Responses</h3>
        {Object.entries(responses).map(([status, response]) => (
          <details key={status} open={status < "300"}>
            <summary>
              <code>{status}</code> {inline(response.description ?? "")}
            </summary>
            <MessageContent message={response} />
          </details>
        ))}
      </div>
      <TryIt operation={operation} />
    </section>
  );
}

function MessageContent({ message: { content, headers = {} } }: { message: Message }) {
  const { schema = {}, examples = {} } = content?.["application/json"] ?? {};
  const headerList = Object.entries(headers).map(([name, header]) => ({ ...header, name }));
  const name = schemaName(schema);
  return (
    <>
      {name && (
        <p>
          JSON: {schema.items && "array of "}
          <a href={`#${name}`}>{name}</a>
        </p>
      )}
      {Object.entries(examples).map(([name, { value }]) => (
        <CodeBlock key={name} label={`Example: ${name}`} text={stringifyJson(value, 2)} />
      ))}
      {headerList.length > 0 && <ParameterTable label="Headers" parameters={headerList} />}
    </>
  );
}

/** The fields of an object. */
export const FieldTable = ({ schema: { properties = {}, required } }: { schema: Schema }) => (
  <ParameterTable
    label="Properties"
    parameters={Object.entries(properties).map(([name, schema]) => ({
      name,
      schema,
      description: schema.description,
      required: required?.includes(name) ?? false,
    }))}
  />
);

const ParameterTable = ({ label, parameters }: { label: string; parameters: readonly Parameter[] }) => (
  <Table
    label={label}
    columns={["Name", "Description"]}
    rows={parameters.map(({ name, in: part, required, description = "", schema }) => [
      <>
        <code>{name}</code>
        <p class="small muted">
          {[schema.format ?? schema.type, part, required && "required"].filter(Boolean).join(" · ")}
        </p>
      </>,
      <>
        <Markdown text={description} />
        <p class="small muted">{limitsOf(schema).join(" · ")}</p>
      </>,
    ])}
  />
);
