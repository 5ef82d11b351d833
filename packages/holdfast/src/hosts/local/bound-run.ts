/** The code of a stored run. */
import type { NodeBindings } from '../../attempt/binding.ts';
import type { AnyCompiledGraph } from '../../graph/graph-type.ts';

export interface BoundRun {
  readonly graph: AnyCompiledGraph;
  readonly nodes: NodeBindings;
}
