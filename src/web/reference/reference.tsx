import { useEffect } from "preact/hooks";
import { openDialog } from "../components/dialog.tsx";
import { Button, Table } from "../components/primitives.tsx";
import { SignInDialog } from "../components/sign-in.tsx";
import { session } from "../state/session.ts";
import { type ApiDescription, loadDescription, operationsOf } from "./description.ts";
import { Endpoint, FieldTable, OperationSection } from "./operation.tsx";
import { Markdown } from "./text.tsx";

/** Fetches the API description; returns the API reference. */
export const loadReference = async () => <Reference description={await loadDescription()} />;

/** The API reference: introduction, contents, operations and schemas. */
function Reference({ description }: { description: ApiDescription }) {
  const { info, components } = description;
  const operations = operationsOf(description);
  useEffect(() => {
    // The browser looked for the anchor before it was rendered.
    document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }, []);
  return (
    <>
      <div class="title row">
        <h1>API reference</h1>
        <p class="muted grow">Version {info.version}</p>
        <a class="button secondary" href="/openapi.json">
          OpenAPI
        </a>
      </div>
      <section class="card prose">
        <Markdown text={info.description} />
        <Table
          label="Operations"
          columns={["Operation", "Endpoint"]}
          rows={operations.map((operation) => [
            <a href={`#${operation.operationId}`}>{operation.summary}</a>,
            <Endpoint {...operation} />,
          ])}
        />
      </section>
      <section class="card prose">
        <h2>Authentication</h2>
        <Markdown text={components.securitySchemes.bearer.description} />
        {session.value === undefined && <Button onClick={() => openDialog(<SignInDialog />)}>Sign in</Button>}
      </section>
      {operations.map((operation) => (
        <OperationSection key={operation.operationId} operation={operation} />
      ))}
      {Object.entries(components.schemas).map(([name, schema]) => (
        <section key={name} id={name} class="card prose">
          <h2>
            <a href={`#${name}`}>{name}</a>
          </h2>
          <Markdown text={schema.description ?? ""} />
          <FieldTable schema={schema} />
        </section>
      ))}
    </>
  );
}
