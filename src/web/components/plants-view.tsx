import { useEffect, useRef } from "preact/hooks";
import { formatCount, tagLabel, visibleText } from "../format.ts";
import { location, navigate } from "../state/location.ts";
import {
  isComplete,
  isLoading,
  knownTags,
  limitReached,
  loadAll,
  loadError,
  loadMore,
  matches,
  plants,
  reload,
} from "../state/plants.ts";
import { session } from "../state/session.ts";
import { AddDialog } from "./add-dialog.tsx";
import { openDialog } from "./dialog.tsx";
import { ExportDialog } from "./export-dialog.tsx";
import { PlantGrid } from "./plant-grid.tsx";
import { Button, EmptyState, Link, Skeleton } from "./primitives.tsx";

/** The list of plants, with search, filter and export. */
export function PlantsView() {
  const { canRead = false, canWrite = false } = session.value ?? {};
  return (
    <>
      <div class="title row">
        <h1>Plants</h1>
        <p class="muted grow">
          <span role="status">{canRead && countText()}</span>{" "}
          {plants.value.length > 0 && !isComplete.value && !limitReached.value && (
            <Button class="tag" onClick={loadAll}>
              Load all
            </Button>
          )}{" "}
          {location.value.tag !== undefined && <TagFilter tag={location.value.tag} />}
        </p>
        {canWrite && (
          <Button icon="add" onClick={() => openDialog(<AddDialog />)}>
            Add plant
          </Button>
        )}
      </div>
      {canRead && <Toolbar />}
      {canRead ? (
        <List />
      ) : (
        <EmptyState title="This token cannot read plants">
          You can add plants one by one or import a file. To see plants, ask for a token with the scope{" "}
          <code>plants:read</code>.
        </EmptyState>
      )}
    </>
  );
}

/** Returns the number of listed plants, and whether all are loaded. */
function countText(): string {
  const { length } = plants.value;
  if (length === 0) return "";
  const loaded = isComplete.value ? formatCount(length, "plant") : `${length.toLocaleString("en")} loaded so far`;
  if (location.value.find === "") return loaded;
  return `${matches.value.length.toLocaleString("en")} found among ${isComplete.value ? loaded : `the ${loaded}`}`;
}

const TagFilter = ({ tag }: { tag: string }) => (
  <Link to={{ tag: undefined }} class="truncate tag" aria-label={`${tagLabel(tag)}: show all tags`}>
    {tagLabel(tag)} ×
  </Link>
);

function Toolbar() {
  const { tag, find } = location.value;
  const tagInput = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (tagInput.current) tagInput.current.value = tag ?? "";
  }, [tag]);
  const filterByTag = (value: string) => {
    if (value !== (tag ?? "")) navigate({ tag: value || undefined });
  };
  const isKnown = (value: string) => value === "" || knownTags.peek().includes(value);
  return (
    <search class="toolbar row">
      <input
        type="search"
        aria-label="Find by name"
        placeholder="Find by name"
        value={find}
        onInput={({ currentTarget }) => navigate({ find: currentTarget.value }, { replace: true })}
      />
      <input
        ref={tagInput}
        type="search"
        aria-label="Tag"
        placeholder="Any tag"
        list="tags"
        onInput={({ currentTarget: { value } }) => isKnown(value) && filterByTag(value)}
        onChange={({ currentTarget }) => filterByTag(currentTarget.value)}
      />
      <datalist id="tags">
        {knownTags.value.map((known) => (
          <option key={known} value={known} />
        ))}
      </datalist>
      <Button icon="refresh" aria-label="Refresh" title="Refresh" onClick={reload} />
      <Button icon="export" class="secondary" onClick={() => openDialog(<ExportDialog />)}>
        Export
      </Button>
    </search>
  );
}

function List() {
  const { tag } = location.value;
  if (plants.value.length > 0) {
    return (
      <>
        {matches.value.length > 0 ? <PlantGrid plants={matches.value} /> : <NoMatches />}
        <LoadMore />
      </>
    );
  }
  if (loadError.value !== "") return <LoadFailed title="The plants could not be loaded" />;
  if (!isComplete.value) return <Skeleton />;
  return tag === undefined ? <NoPlants /> : <NoPlantsWithTag tag={tag} />;
}

function LoadMore() {
  if (isComplete.value) return null;
  if (limitReached.value)
    return <p class="muted">The list is too long to show in full. Choose a tag to see other plants.</p>;
  if (loadError.value !== "") return <LoadFailed title="The next plants could not be loaded" />;
  return (
    <Button class="secondary" aria-disabled={isLoading.value} onClick={loadMore}>
      {isLoading.value ? "Loading…" : "Load more"}
    </Button>
  );
}

const LoadFailed = ({ title }: { title: string }) => (
  <EmptyState title={title} isError>
    <p>{loadError}</p>
    <Button icon="refresh" onClick={loadMore}>
      Try again
    </Button>
  </EmptyState>
);

const NoMatches = () => (
  <EmptyState title="No matching plants">
    {isComplete.value ? "No name" : "No name loaded so far"} contains{" "}
    <bdi class="truncate">{visibleText(location.value.find)}</bdi>.
  </EmptyState>
);

const NoPlants = () => (
  <EmptyState title="No plants yet">
    {session.value?.canWrite ? (
      <>
        <p>Add your first plant, or import a file.</p>
        <Link class="button" to={{ view: "import" }}>
          Import a file
        </Link>
      </>
    ) : (
      "Plants appear here once they are added."
    )}
  </EmptyState>
);

const NoPlantsWithTag = ({ tag }: { tag: string }) => (
  <EmptyState title="No plant has this tag">
    <p>
      No tag is exactly <bdi class="truncate">{visibleText(tag)}</bdi>. Case and spaces matter.
    </p>
    <Button onClick={() => navigate({ tag: undefined })}>Show all plants</Button>
  </EmptyState>
);
