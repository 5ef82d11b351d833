/** The code of a stored run. */
import type { NodeBindings } from '../../attempt/binding.ts';
import type { AnyCompiledGraph } from '../../graph/graph-type.ts';

/** A compiled graph with a binding for each of its nodes. */
export interface BoundRun {
  readonly graph: AnyCompiledGraph;
  readonly nodes: NodeBindings;
}
