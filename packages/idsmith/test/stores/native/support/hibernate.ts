/** Draws one value of the sequence, as `nextval` does. */
export type Draw = () => Promise<bigint>;

/** Another program that numbers its rows from the same sequence: one id after the other. */
export type Numbering = AsyncGenerator<bigint, never>;

/**
 * Hibernate's `pooled`, from 5.6.8 on: a value is the top of its block. The first value that a process draws stands alone if
 * it is the initial value of the mapping.
 */
export async function* hibernatePooled(draw: Draw, size: bigint, initialValue: bigint): Numbering {
  let top = await draw();
  let id = top === initialValue ? top : top - size + 1n;
  for (;;) {
    while (id <= top) yield id++;
    top = await draw();
    id = top - size + 1n;
  }
}

/** Hibernate's `pooled-lo`: a value is the bottom of its block, and ids below 1 are left out. */
export async function* hibernatePooledLo(draw: Draw, size: bigint): Numbering {
  for (;;) {
    const bottom = await draw();
    for (let id = bottom < 1n ? 1n : bottom; id < bottom + size; id++) yield id;
  }
}

/** Hibernate's `none`, and everything that has `nextval` as the default of a column: a value is an id. */
export async function* plainNextval(draw: Draw): Numbering {
  for (;;) yield await draw();
}

/** EclipseLink: a value is the top of its block, the first one too, which therefore must not be below the size. */
export async function* eclipseLink(draw: Draw, size: bigint): Numbering {
  for (;;) {
    const top = await draw();
    for (let id = top - size + 1n; id <= top; id++) yield id;
  }
}
