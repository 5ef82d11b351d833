/** The colours of a terminal, or none. */
import type picocolors from 'picocolors';

export type Colours = ReturnType<typeof picocolors.createColors>;
