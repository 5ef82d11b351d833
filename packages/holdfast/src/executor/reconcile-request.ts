/** What a person says of an uncertain attempt. */
import type { JsonValue } from '../base/json.ts';

interface ReconcileBase {
  readonly pauseId: string;
  /** The sub-step it is about; without it, the whole attempt. */
  readonly step?: string;
  readonly by: string;
  readonly reason: string;
}

export type ReconcileRequest = ReconcileBase &
  (
    | { readonly kind: 'completed'; readonly result: JsonValue }
    | { readonly kind: 'failed'; readonly code: string }
    | { readonly kind: 'retry' }
  );
