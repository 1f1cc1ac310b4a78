import type { ButtonHTMLAttributes, ComponentChildren } from "preact";
import sprout from "../sprout.svg";
import { go, hrefOf, type Place } from "../state/location.ts";

/** The outlines of the icons, in a square of 24 units. */
const OUTLINES = {
  add: "M12 5v14M5 12h14",
  close: "M6 6l12 12M18 6L6 18",
  delete: "M4 7h16M10 11v6M14 11v6M6 7l1 13h10l1-13M9 7V4h6v3",
  export: "M12 4v11M7 11l5 5 5-5M5 20h14",
  import: "M12 16V5M7 9l5-5 5 5M5 20h14",
  leave: "M14 4h5v16h-5M4 12h11M11 8l4 4-4 4",
  refresh: "M20 11a8 8 0 1 0-2.3 6.6M20 4v7h-7",
};

interface ActionProps extends ButtonHTMLAttributes {
  readonly icon?: keyof typeof OUTLINES;
  readonly children?: ComponentChildren;
}

/** A button, with an icon before its words; without words it needs an `aria-label`. */
export const Action = ({ icon, children, ...attributes }: ActionProps) => (
  <button type="button" {...attributes}>
    {icon && (
      <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
        <path d={OUTLINES[icon]} />
      </svg>
    )}
    {children}
  </button>
);

interface LinkProps {
  readonly to: Partial<Place>;
  readonly isCurrent?: boolean;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** A link to another place of the page, which it follows without loading the page again. */
export function Link({ to, isCurrent = false, class: className, children }: LinkProps) {
  const follow = (event: MouseEvent) => {
    // New tabs and windows are the browser's.
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(to);
    scrollTo(0, 0);
  };
  return (
    <a href={hrefOf(to)} class={className} aria-current={isCurrent ? "page" : undefined} onClick={follow}>
      {children}
    </a>
  );
}

interface BlankProps {
  readonly title: string;
  readonly isFault?: boolean;
  readonly children: ComponentChildren;
}

/** Stands where there is nothing to show, says why, and what can be done. */
export const Blank = ({ title, isFault = false, children }: BlankProps) => (
  <section class="card blank" role={isFault ? "alert" : undefined}>
    <img src={sprout} alt="" width="72" height="72" />
    <h2>{title}</h2>
    <div class="soft">{children}</div>
  </section>
);

interface TableProps {
  /** For whoever does not see the heading above. */
  readonly caption: string;
  readonly columns: readonly string[];
  /** A `number` is something counted, a `bigint` an id. */
  readonly rows: readonly (readonly (ComponentChildren | bigint)[])[];
}

/** A table of a few rows. */
export const Table = ({ caption, columns, rows }: TableProps) => (
  <div class="wide">
    <table>
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column, index) => (
            <th key={column} scope="col" class={typeof rows[0]?.[index] === "number" ? "right" : ""}>
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((cells, row) => (
          <tr key={row}>
            {cells.map((cell, index) => (
              <td key={columns[index]} class={{ number: "number right", bigint: "number" }[typeof cell as string]}>
                {typeof cell === "number" ? cell.toLocaleString("en") : typeof cell === "bigint" ? String(cell) : cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
