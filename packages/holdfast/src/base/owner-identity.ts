/** Which process on which boot of which machine; enough to prove that it is dead. */
export interface OwnerIdentity {
  readonly id: string;
  readonly host: string;
  readonly bootId: string;
  readonly pidNamespace: string;
  readonly pid: number;
  /** The start time of the process as the kernel counts it: a reused pid has another. */
  readonly startTime: string;
}
