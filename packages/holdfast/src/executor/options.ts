/** What an executor is made of, with its defaults filled in. */
import type { ChildRun, NodeBinding } from '../attempt/binding.ts';
import type { HashText } from '../base/digest.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Clock } from '../base/ports.ts';
import type { EngineEvent } from '../engine/engine.ts';
import type { AnyCompiledGraph } from '../graph/graph-type.ts';
import type { StreamRef } from '../history/envelope.ts';
import type { Memory } from '../memory/memory.ts';
import type { LaneBook } from '../run/lane-book.ts';
import type { RunStorage } from '../store/storage.ts';
import type { EngineSeats } from './engine-bindings.ts';
import type { ChildExecutor } from './executor.ts';

/** A line that node code logged. */
export interface LogLine {
  readonly runId: string;
  readonly nodeId: string;
  readonly position: string;
  readonly message: string;
  readonly data?: JsonObject;
}

/** What an engine told while it worked on an attempt. */
export interface EngineLine {
  readonly runId: string;
  readonly nodeId: string;
  readonly position: string;
  readonly event: EngineEvent;
}

/** The executor's own settings; `createGraphExecutor` makes them from its options. */
export interface ExecutorSettings {
  readonly stream: StreamRef;
  readonly graph: AnyCompiledGraph;
  readonly storage: RunStorage;
  readonly bindings: ReadonlyMap<string, NodeBinding>;
  readonly runInput: JsonValue;
  readonly memory: Memory | null;
  readonly clock: Clock;
  readonly hash: HashText;
  readonly fence: bigint | null;
  /** The mark of this executor in what it writes: no other has the same. */
  readonly writer: string;
  readonly maxConcurrentAttempts: number;
  readonly maxDispatches: number;
  /** Delays longer than this end `run` with `waiting` instead of being waited for. */
  readonly maxIdleMs: number;
  /** A snapshot is taken behind a tail of at least so many events. */
  readonly snapshotTailEvents: number;
  /** The lanes of the stored plan. */
  readonly lanes: LaneBook;
  readonly engines: EngineSeats;
  /** Where engines are checked; null when the plan asks for no checks. */
  readonly preflightScratchDirectory: string | null;
  readonly onLog: (line: LogLine) => void;
  readonly onEngineEvent: (line: EngineLine) => void;
  /** An executor of a child run with these settings. */
  readonly childExecutor: (runId: string, child: ChildRun) => Promise<ChildExecutor>;
}
