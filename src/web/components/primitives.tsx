import type { ButtonHTMLAttributes, ComponentChildren, InputHTMLAttributes, PartialAnchorHTMLAttributes } from "preact";
import icon from "../icon.svg";
import { hrefOf, navigate, type PageLocation } from "../state/location.ts";

/** SVG paths of the icons, in a 24 × 24 view box. */
const ICONS = {
  add: "M12 5v14M5 12h14",
  close: "M6 6l12 12M18 6L6 18",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  delete: "M4 7h16M10 11v6M14 11v6M6 7l1 13h10l1-13M9 7V4h6v3",
  export: "M12 4v11M7 11l5 5 5-5M5 20h14",
  import: "M12 16V5M7 9l5-5 5 5M5 20h14",
  refresh: "M20 11a8 8 0 1 0-2.3 6.6M20 4v7h-7",
  signOut: "M14 4h5v16h-5M4 12h11M11 8l4 4-4 4",
};

interface ButtonProps extends ButtonHTMLAttributes {
  readonly icon?: keyof typeof ICONS;
  readonly children?: ComponentChildren;
}

/** A button with an optional icon. A button without text needs an `aria-label`. */
export const Button = ({ icon, children, ...attributes }: ButtonProps) => (
  <button type="button" class={children ? "" : "icon-button"} {...attributes}>
    {icon && (
      <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
        <path d={ICONS[icon]} />
      </svg>
    )}
    {children}
  </button>
);

interface LinkProps extends Omit<PartialAnchorHTMLAttributes<HTMLAnchorElement>, "role"> {
  readonly to: Partial<PageLocation>;
}

/** A link within the page; following it does not reload the document. */
export function Link({ to, ...attributes }: LinkProps) {
  const onClick = (event: MouseEvent) => {
    // Leave modified clicks to the browser: they open new tabs and windows.
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(to);
    scrollTo(0, 0);
  };
  return <a href={hrefOf(to)} onClick={onClick} {...attributes} />;
}

interface EmptyStateProps {
  readonly title: string;
  readonly isError?: boolean;
  readonly children: ComponentChildren;
}

/** A placeholder for missing content, with the reason and the next step. */
export const EmptyState = ({ title, isError = false, children }: EmptyStateProps) => (
  <section class="card empty-state" role={isError ? "alert" : undefined}>
    <img src={icon} alt="" width="56" height="56" />
    <h2>{title}</h2>
    <div class="muted">{children}</div>
  </section>
);

/** An error message; empty if there is no error. */
export const ErrorText = ({ children, id }: { children?: ComponentChildren; id?: string }) => (
  <p class="error" role="alert" id={id}>
    {children}
  </p>
);

type FieldProps = InputHTMLAttributes & {
  readonly id: string;
  readonly label: string;
  /** Why the value is invalid; empty if it is valid. */
  readonly error: string | undefined;
};

/** A labeled input with its error message below. */
export const Field = ({ id, label, error = "", ...attributes }: FieldProps) => (
  <>
    <label>
      {label}
      <input id={id} autocomplete="off" aria-invalid={error !== ""} aria-describedby={`${id}-error`} {...attributes} />
    </label>
    <ErrorText id={`${id}-error`}>{error}</ErrorText>
  </>
);

/** Placeholder while content loads. */
export const Skeleton = () => <div class="card skeleton" aria-hidden="true" />;

/** Large numbers, each above its label. */
export const Statistics = ({ values }: { values: Readonly<Record<string, number>> }) => (
  <dl class="statistics">
    {Object.entries(values).map(([name, value]) => (
      <div key={name}>
        <dd>{value.toLocaleString("en")}</dd>
        <dt class="small muted">{name}</dt>
      </div>
    ))}
  </dl>
);

interface TableProps {
  /** For screen readers. */
  readonly label: string;
  readonly columns: readonly string[];
  /** A `number` is a count, shown with separators; a `bigint` is an identifier, shown without. */
  readonly rows: readonly (readonly (ComponentChildren | bigint)[])[];
}

/** A small table. */
export const Table = ({ label, columns, rows }: TableProps) => (
  <div class="scrollable">
    <table aria-label={label}>
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
