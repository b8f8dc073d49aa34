import type { ComponentChildren } from 'preact';

/** A column of a table: its title, or its title and a class, such as `end` for numbers. */
type Column = ComponentChildren | readonly [title: ComponentChildren, look: string];

/** The head of a table. */
export function TableHead({ columns, class: shown }: { columns: readonly Column[]; class?: string }) {
  return (
    <thead class={shown}>
      <tr>
        {columns.map((column, i) => {
          const [title, look] = Array.isArray(column) ? column : [column];
          return (
            <th key={i} scope="col" class={look}>
              {title}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}
