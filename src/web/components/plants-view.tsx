import { useEffect, useRef } from "preact/hooks";
import { count, tagText, visible } from "../format.ts";
import { go, place } from "../state/location.ts";
import {
  found,
  isFull,
  isLoading,
  isWhole,
  knownTags,
  loadAll,
  loadingFault,
  loadMore,
  plants,
  reload,
} from "../state/plants.ts";
import { session } from "../state/session.ts";
import { show } from "./dialog.tsx";
import { Grid } from "./plant-grid.tsx";
import { Action, Blank, Link } from "./primitives.tsx";

/** The plants: found, added, exported, deleted. */
export function PlantsView() {
  const { canRead = false, canWrite = false } = session.value ?? {};
  return (
    <>
      <div class="title row">
        <h1>Plants</h1>
        <p class="soft grow">
          <span role="status">{canRead && extent()}</span>{" "}
          {place.value.tag !== undefined && <TagChoice tag={place.value.tag} />}
        </p>
        {canWrite && (
          <Action icon="add" onClick={() => show("add")}>
            Add plant
          </Action>
        )}
      </div>
      {canRead && <Tools />}
      {canRead ? (
        <List />
      ) : (
        <Blank title="This token cannot see the plants">
          It may add some, one by one or from a file. To see them, ask for a token with the scope{" "}
          <code>plants:read</code>.
        </Blank>
      )}
    </>
  );
}

/** How many there are, and how sure that is. */
function extent(): string {
  const { length } = plants.value;
  if (length === 0) return "";
  const all = isWhole.value ? count(length, "plant") : `${length.toLocaleString("en")} loaded so far`;
  if (place.value.find === "") return all;
  return `${found.value.length.toLocaleString("en")} found among ${isWhole.value ? all : `the ${all}`}`;
}

const TagChoice = ({ tag }: { tag: string }) => (
  <Link to={{ tag: undefined }} class="cut tag">
    {tagText(tag)} <span aria-hidden="true">×</span>
    <span class="unseen">: show all tags</span>
  </Link>
);

function Tools() {
  const { tag, find } = place.value;
  const tagInput = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (tagInput.current) tagInput.current.value = tag ?? "";
  }, [tag]);
  const choose = (value: string) => {
    if (value !== (tag ?? "")) go({ tag: value || undefined });
  };
  return (
    <search class="tools row">
      <input
        class="find"
        type="search"
        aria-label="Find by name"
        placeholder="Find by name"
        value={find}
        onInput={({ currentTarget }) => go({ find: currentTarget.value }, { isSame: true })}
      />
      <input
        ref={tagInput}
        class="grow"
        type="search"
        aria-label="Tag"
        placeholder="Any tag"
        list="tags"
        onInput={({ currentTarget: { value } }) => (value === "" || knownTags.peek().includes(value)) && choose(value)}
        onChange={({ currentTarget: { value } }) => choose(value)}
      />
      <datalist id="tags">
        {knownTags.value.map((known) => (
          <option key={known} value={known} />
        ))}
      </datalist>
      <Action icon="refresh" class="quiet square" aria-label="Load again" title="Load again" onClick={reload} />
      <Action icon="export" class="quiet" onClick={() => show("export")}>
        Export
      </Action>
    </search>
  );
}

function List() {
  const { tag, find } = place.value;
  if (plants.value.length > 0) {
    return (
      <>
        {found.value.length > 0 ? (
          <Grid plants={found.value} />
        ) : (
          <Blank title="No such name">
            {isWhole.value ? "No name" : "None of the names loaded so far"} has <bdi class="cut">{visible(find)}</bdi>{" "}
            in it.
          </Blank>
        )}
        <Rest />
      </>
    );
  }
  if (loadingFault.value !== "") return <Fault title="The plants could not be loaded" />;
  if (!isWhole.value) return <Skeleton />;
  return tag === undefined ? <Empty /> : <NoneTagged tag={tag} />;
}

/** What is not loaded yet. */
function Rest() {
  if (isWhole.value) return null;
  if (isFull.value) return <p class="rest row soft">The list ends here. Choose a tag to see the others.</p>;
  if (loadingFault.value !== "") return <Fault title="The next plants could not be loaded" />;
  return (
    <p class="rest row">
      <Action class="quiet" aria-disabled={isLoading.value} onClick={loadMore}>
        {isLoading.value ? "Loading…" : "Load more"}
      </Action>
      <Action class="quiet" onClick={loadAll}>
        Load all
      </Action>
    </p>
  );
}

const Fault = ({ title }: { title: string }) => (
  <Blank title={title} isFault>
    <p>{loadingFault}</p>
    <Action icon="refresh" onClick={loadMore}>
      Try again
    </Action>
  </Blank>
);

const Empty = () => (
  <Blank title="Nothing planted yet">
    {session.value?.canWrite ? (
      <>
        <p>Add the first plant, or bring a whole file of them.</p>
        <Link class="button" to={{ view: "import" }}>
          Import a file
        </Link>
      </>
    ) : (
      "Plants that others add will be here."
    )}
  </Blank>
);

const NoneTagged = ({ tag }: { tag: string }) => (
  <Blank title="No plant has this tag">
    <p>
      No tag is exactly <bdi class="cut">{visible(tag)}</bdi>: capitals and spaces count.
    </p>
    <Action onClick={() => go({ tag: undefined })}>Show all plants</Action>
  </Blank>
);

/** Rows that are not there yet. */
const Skeleton = () => <div class="card skeleton" aria-hidden="true" />;
