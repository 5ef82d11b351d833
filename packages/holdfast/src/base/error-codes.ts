/**
 * The closed table of error codes: what each means and what to do next. `docs/error-codes.md` is
 * generated from it. Each room has one section (`const name = {...} as const`, no
 * `satisfies`: isolated declarations cannot carry it); a code stands once.
 */

export interface ErrorCodeEntry {
  readonly meaning: string;
  readonly next: string;
}

const base = {
  INVALID_JSON_VALUE: {
    meaning: 'A value is not plain JSON.',
    next: 'Return or pass only null, booleans, finite numbers, strings, arrays and plain objects.',
  },
  INVALID_ID: {
    meaning: 'An identifier is empty, untrimmed, too long or holds refused characters.',
    next: 'Use a non-empty, trimmed identifier without control characters.',
  },
  INVALID_OPTION: {
    meaning: 'An option has a wrong type or is out of range.',
    next: 'Correct the option named in the message.',
  },
  ASSERTION: {
    meaning: 'A rule that the library itself must keep was broken.',
    next: 'Report it with the message: it is a fault of Holdfast.',
  },
} as const;

const expression = {
  EXPRESSION_SYNTAX: {
    meaning: 'The source of an expression or template cannot be read.',
    next: 'Correct the source at the column named.',
  },
  EXPRESSION_UNKNOWN_NAME: {
    meaning: 'An expression names a variable, field, node or function that does not exist.',
    next: 'Use one of the names that this place offers.',
  },
  EXPRESSION_TYPE: {
    meaning: 'An expression uses a value of the wrong type, or gives one.',
    next: 'Correct the operand, or convert it with string(), double() or int().',
  },
  EXPRESSION_MISSING_KEY: {
    meaning: 'An expression reads a key or list index that the value does not have.',
    next: 'Test with has(), or supply the key.',
  },
  EXPRESSION_NOT_FINITE: {
    meaning: 'Arithmetic in an expression gave no finite number.',
    next: 'Guard the operand, for example `n == 0 ? 0 : total / n`.',
  },
  EXPRESSION_LIMIT: {
    meaning: 'An expression or its evaluation is larger than the bounds allow.',
    next: 'Shorten it, or do the work in a task.',
  },
} as const;

const store = {
  SEQUENCE_CONFLICT: {
    meaning: 'The stream does not end where the append expected it to.',
    next: 'Read the tail of the stream, fold it and decide again.',
  },
  STALE_FENCE: {
    meaning: 'The fencing token is older than one that the stream has seen.',
    next: 'Stop driving this run: another owner has taken it.',
  },
  DUPLICATE_EVENT_ID: {
    meaning: 'An event with this id stands in the stream already.',
    next: 'Leave it: it has been recorded; give a new event its own id.',
  },
  STORAGE_LIMIT_EXCEEDED: {
    meaning: 'A payload, a batch or an artifact is larger than the storage policy allows.',
    next: 'Store less, split it, or put large values into artifacts.',
  },
  KNOWN_SECRET: {
    meaning: 'A value to be stored holds one of the known secrets.',
    next: 'Remove the secret, or refer to it by name.',
  },
  INVALID_STORED_VALUE: {
    meaning: 'A value offered to the store is not one it can keep.',
    next: 'Correct the field named in the message.',
  },
  CORRUPT_EVENT_STREAM: {
    meaning: 'A stored stream has a gap, or a record that cannot be read.',
    next: 'Restore the store from a copy; nothing behind the named place can be trusted.',
  },
  COMPACTED: {
    meaning: 'The events asked for were deleted by a compaction.',
    next: 'Read the snapshot that stands in their place.',
  },
  COMPACTION_REFUSED: {
    meaning: 'There is no durable snapshot at or after the place to compact to.',
    next: 'Save a snapshot first.',
  },
  SNAPSHOT_AHEAD: {
    meaning: 'A snapshot names a sequence past the end of its stream.',
    next: 'Append the events first, then save the snapshot.',
  },
  LEASE_LOST: {
    meaning: 'The lease was released, or another owner holds it or held it since.',
    next: 'Stop driving this run, or acquire the lease again.',
  },
  ARTIFACT_NOT_FOUND: {
    meaning: 'There is no artifact with this digest in this run.',
    next: 'Check the namespace, the run and the digest.',
  },
  ARTIFACT_NOT_ADMITTED: {
    meaning: 'The store never gave this reference for this run.',
    next: 'Read with exactly the reference that write returned.',
  },
  SENSITIVE_CONTENT: {
    meaning: 'An artifact was marked as sensitive: the policy keeps none.',
    next: 'Leave it out, or store a text without what is sensitive.',
  },
  ARTIFACT_INTEGRITY: {
    meaning: 'The stored bytes of an artifact are not those its reference names.',
    next: 'Write the same bytes again, or restore the store from a copy.',
  },
  STORE_BUSY: {
    meaning: 'Other processes held the lock of the store for ten seconds.',
    next: 'Try again; find the process that keeps the store locked.',
  },
  STORE_IO: {
    meaning: 'The store could not be read or written; whether the write happened is unknown.',
    next: 'Correct what the cause names, then send the identical batch again.',
  },
  STORE_FULL: {
    meaning: 'There is no space left; nothing of this write was kept.',
    next: 'Free some space and try again: the store goes on working.',
  },
  STORE_READ_ONLY: {
    meaning: 'The directory or the file of the store may not be written.',
    next: 'Correct its permissions, or choose another directory.',
  },
  STORE_CORRUPT: {
    meaning: 'The file is damaged, cut off, or not a store of this library.',
    next: 'Restore it from a copy, or choose another directory.',
  },
  STORE_POISONED: {
    meaning: 'The disk failed to make a write durable, so this store is refused for good.',
    next: 'Check the disk, then start a new process.',
  },
  STORE_SCHEMA_UNSUPPORTED: {
    meaning: 'The store was written by a newer version of this library.',
    next: 'Use that version, or a newer one.',
  },
  SQLITE_DRIVER_MISSING: {
    meaning: 'Neither node:sqlite nor better-sqlite3 can be loaded.',
    next: 'Use Node 22.13 or later, or run `npm install better-sqlite3@12`.',
  },
} as const;

/** Every section, once here and once in the spread below: the compiler refuses a forgotten one. */
const graph = {
  INVALID_DEFINITION: {
    meaning: 'A graph definition has the wrong shape.',
    next: 'Correct the parts that the issues name.',
  },
  INVALID_VERSION: {
    meaning: 'A version is no integer from 1.',
    next: 'Use 1, 2, 3 and so on.',
  },
  DUPLICATE_NODE_ID: {
    meaning: 'Two nodes of a graph have one id.',
    next: 'Give each node an id of its own.',
  },
  DUPLICATE_EDGE_ID: {
    meaning: 'Two edges of a graph have one id.',
    next: 'Give each edge an id of its own.',
  },
  UNKNOWN_SOURCE_NODE: {
    meaning: 'An edge begins at a node that does not exist.',
    next: 'Name a declared node as the source, or declare it.',
  },
  UNKNOWN_TARGET_NODE: {
    meaning: 'An edge ends at a node that does not exist.',
    next: 'Name a declared node as the target, or declare it.',
  },
  UNKNOWN_NODE: {
    meaning: 'A node id is not declared in the graph.',
    next: 'Use the id of a declared node.',
  },
  INVALID_GRAPH_TYPE: {
    meaning: 'A graph type breaks its contract.',
    next: 'Correct the graph type; runGraphTypeConformance shows how it should behave.',
  },
  INVALID_GRAPH_COMMAND: {
    meaning: 'A decision holds a command that is not allowed.',
    next: 'Return dispatches, or exactly one pause, complete or fail, with exactly their fields.',
  },
  INVALID_GRAPH_EVENT: {
    meaning: 'An event of a trace is not a graph event.',
    next: 'Give exactly type, version and a JSON payload.',
  },
  DESCRIPTION_MISMATCH: {
    meaning: 'A description does not name the nodes of its definition in their order.',
    next: 'Describe every definition node once, in declaration order.',
  },
  INVALID_SHAPE: {
    meaning: 'A part of a description or plan has the wrong type.',
    next: 'Correct the part that the path names.',
  },
  MISSING_FIELD: {
    meaning: 'A required field is missing.',
    next: 'Add the field that the path names.',
  },
  UNKNOWN_FIELD: {
    meaning: 'A field is not part of the shape.',
    next: 'Remove the field that the path names, or correct its name.',
  },
  INVALID_TEXT: {
    meaning: 'A text is blank or holds refused characters.',
    next: 'Use text without control characters.',
  },
  INVALID_DIGEST: {
    meaning: 'A digest has the wrong form.',
    next: 'Use sha256: and 64 lower-case hex digits.',
  },
  INVALID_SCHEMA_VERSION: {
    meaning: 'A description or plan is of an unknown schema version.',
    next: 'Make it with this version of the library.',
  },
  DUPLICATE_ID: {
    meaning: 'An id stands more than once in one list.',
    next: 'Give each entry an id of its own.',
  },
  UNKNOWN_PHASE: {
    meaning: 'A node names a phase that does not exist.',
    next: 'Name a declared phase.',
  },
  UNKNOWN_LANE: {
    meaning: 'A node names an execution lane that does not exist.',
    next: 'Name a declared lane, or null.',
  },
  INVALID_PHASE_ASSIGNMENT: {
    meaning: 'A node is not in exactly the one phase that it names.',
    next: 'List each node in one phase and name that phase in the node.',
  },
  DUPLICATE_SUBSTITUTION: {
    meaning: 'One execution target stands more than once among its stand-ins.',
    next: 'Name each substitution and fallback once.',
  },
  INVALID_BOUND: {
    meaning: 'A bound is malformed, out of range or contradicts another.',
    next: 'Use a known value in range, or unknown with a reason.',
  },
  INVALID_REQUIREMENT: {
    meaning: 'A graph requirement is malformed.',
    next: 'Use memory: required or memory: unused.',
  },
  PACKAGE_NOT_ADMITTED: {
    meaning: 'The package of a plan is not the one that the host admitted.',
    next: 'Admit exactly this package: source, version and digest.',
  },
  INVALID_LANE_RESOLUTION: {
    meaning: 'A plan does not resolve each execution lane exactly once.',
    next: 'Resolve every declared lane and no other.',
  },
  UNKNOWN_SUBSTITUTION: {
    meaning: 'A lane is resolved to a target that the graph does not know.',
    next: 'Use the requested target or a known substitution.',
  },
  DUPLICATE_PERMISSION: {
    meaning: 'A permission stands more than once.',
    next: 'Name each permission once.',
  },
  PERMISSION_NOT_ADMITTED: {
    meaning: 'A requested permission was not admitted with the same scope.',
    next: 'Admit the permission with exactly the requested scope, or do not run the graph.',
  },
  RESOLVED_PLAN_MISMATCH: {
    meaning: 'A resolved plan contradicts itself: it was changed after it was resolved.',
    next: 'Resolve the plan again; never edit a stored one.',
  },
} as const;

const flow = {
  FLOW_NODE_FAILED: {
    meaning: 'A node of a flow failed for good and no edge leaves its `error` output.',
    next: 'Read the failure of the node named; fix it, give it retries, or connect an error edge.',
  },
  FLOW_REJECTED: {
    meaning: 'A flow ended by a no that leads nowhere, or in the middle of a loop.',
    next: 'Connect the output named in the message, or accept the rejection as the result.',
  },
  FLOW_STEP_LIMIT: {
    meaning: 'A dry run of a flow did not end within its step limit.',
    next: 'Check the choices that keep its loops going, or allow more steps.',
  },
  INVALID_FLOW_SHAPE: {
    meaning: 'A part of a flow is missing or has the wrong type.',
    next: 'Give the flow nodes {id, type, config} and edges {id, source, target} as lists.',
  },
  UNKNOWN_NODE_TYPE: {
    meaning: 'A node has a type that the catalogue does not hold.',
    next: 'Use one of the types that the message lists.',
  },
  INVALID_NODE_CONFIG: {
    meaning: 'A field of a node configuration is missing, unknown or wrong.',
    next: 'Correct the field at the path given.',
  },
  INVALID_EXPRESSION: {
    meaning: 'An expression or template of a flow cannot be compiled or names what is not there.',
    next: 'Correct it at the column given.',
  },
  TRIGGER_COUNT: {
    meaning: 'A flow does not have exactly one trigger.',
    next: 'Keep one node of type trigger.',
  },
  UNKNOWN_EDGE_NODE: {
    meaning: 'An edge of a flow begins or ends at a node that does not exist.',
    next: 'Correct the id, or remove the edge.',
  },
  UNKNOWN_OUTPUT: {
    meaning: 'An edge leaves a node from an output that the node does not have.',
    next: 'Use one of the outputs that the message lists.',
  },
  NEXT_INTO_NON_LOOP: {
    meaning: 'An edge leads to `next` of a node that is no loop.',
    next: 'Lead it to a control.loop, or drop its target handle.',
  },
  EDGE_INTO_TRIGGER: {
    meaning: 'An edge leads into the trigger.',
    next: 'Remove it: a flow begins at its trigger once.',
  },
  FORWARD_CYCLE: {
    meaning: 'Forward edges of a flow form a cycle.',
    next: 'Repeat through a control.loop and its next input instead.',
  },
  NO_FORWARD_INPUT: {
    meaning: 'No forward edge leads to a node, so it could never start.',
    next: 'Connect it, or remove it.',
  },
  NEXT_FROM_OUTSIDE: {
    meaning: 'An edge leads to `next` of a loop from outside its body.',
    next: 'Lead it from a node of the body, or to the loop itself.',
  },
  NEXT_FROM_INNER_LOOP: {
    meaning: 'An edge leads to `next` of an outer loop from the body of an inner one.',
    next: 'Leave the inner loop by its done output first.',
  },
  LOOP_WITHOUT_BODY: {
    meaning: 'A loop has nothing on its body output.',
    next: 'Connect a body that leads back to next.',
  },
  NEXT_UNREACHABLE: {
    meaning: 'A node in the body of a loop cannot reach its next.',
    next: 'Lead the node on to the next of its loop.',
  },
  EDGE_INTO_BODY: {
    meaning: 'An edge leads into the body of a loop from outside.',
    next: 'Lead it to the loop itself.',
  },
  LOOPS_OVERLAP: {
    meaning: 'A node would be in the bodies of two loops of which neither is inside the other.',
    next: 'Give each loop a body of its own, or put one loop inside the other.',
  },
  DUPLICATE_EDGE: {
    meaning: 'Two edges of a flow connect the same output and input (a warning).',
    next: 'Remove one of them.',
  },
  NO_OUTGOING_EDGE: {
    meaning: 'Nothing follows a node that has outputs (a warning): the run ends there.',
    next: 'Connect it, or leave it so on purpose.',
  },
} as const;

const testing = {
  CONFORMANCE_FAILED: {
    meaning: 'A conformance kit found that an implementation breaks its contract.',
    next: 'Correct the implementation; each failure names its case and what was seen.',
  },
} as const;

const dag = {
  INVALID_NODE_KIND: {
    meaning: 'A node of a dag is of no known kind.',
    next: 'Use required, optional or finalizer.',
  },
  CONFLICTING_LANE: {
    meaning: 'Two nodes describe one execution lane differently.',
    next: 'Describe a lane the same everywhere, or give it another id.',
  },
  INVALID_LIMIT: {
    meaning: 'A limit of a dag is no integer in its range.',
    next: 'Use an integer from 1 for concurrency, from 0 for retries.',
  },
  MISSING_KEY_LIMIT: {
    meaning: 'A node of a dag names a key that has no limit.',
    next: 'Add the key to keyedConcurrency.',
  },
  INVALID_STOP_ON_ERROR: {
    meaning: 'The option stopOnError of a dag is neither true nor false.',
    next: 'Use true or false.',
  },
  FINALIZER_HAS_EDGES: {
    meaning: 'A finalizer of a dag has an edge.',
    next: 'Remove the edge: finalizers run after all other nodes anyway.',
  },
  DAG_CYCLE: {
    meaning: 'The edges of a dag go round.',
    next: 'Remove an edge of the cycle that the message names, or use a flow with a loop.',
  },
  DAG_NODE_FAILED: {
    meaning: 'A required node or a finalizer of a dag has failed for good.',
    next: 'Read the failures of the nodes named; correct them and run again.',
  },
} as const;

const executor = {
  ABORTED: {
    meaning: 'The run was halted, or an attempt was told to stop.',
    next: 'Run it again: it goes on where it stopped.',
  },
  ACTION_POLICY: {
    meaning: 'The action policy of a node threw, or returned something that is no decision.',
    next: 'Correct the policy: allow, wait or deny; the node can be tried again.',
  },
  ANSWER_INVALID: {
    meaning: 'An answer is not one that the open pause accepts.',
    next: 'Answer in the form that the message names.',
  },
  BUDGET_STOP: {
    meaning: 'The run wanted more dispatches than its limit allows.',
    next: 'Look for a loop that does not end, or raise maxDispatches for a new run.',
  },
  CANCELLED: {
    meaning: 'The run was cancelled.',
    next: 'Start a new run if the work is still wanted.',
  },
  DEADLINE_PASSED: {
    meaning: 'A wait reached its deadline and nothing had come.',
    next: 'Start again with a later deadline, or give the graph a way on.',
  },
  DENIED: {
    meaning: 'The action policy, or a person, denied the attempt.',
    next: 'Change the policy or the graph; a denied attempt is not repeated.',
  },
  DETERMINISM_VIOLATION: {
    meaning: 'The graph decides differently now than the record says it did.',
    next: 'Bring back the code that wrote the run, or give the changed graph a new version.',
  },
  DUPLICATE_POSITION: {
    meaning: 'The graph decided a position that was dispatched before.',
    next: 'Give each occurrence a position of its own, and fold node-dispatched or results.',
  },
  EFFECT_FAILED: {
    meaning: 'Node code threw an error without a code of its own.',
    next: 'Read the message; throw NodeFailure to give failures their own codes.',
  },
  EMPTY_DECISION: {
    meaning: 'The graph decided nothing while nothing was in flight.',
    next: 'Return complete, fail or pause when there is nothing left to dispatch.',
  },
  FLOW_FUNCTION_MISSING: {
    meaning: 'A node of a flow names a function that was not given.',
    next: 'Export the function from the module, or correct the name in the node.',
  },
  FLOW_INVALID: {
    meaning: 'A flow written in code cannot be turned into a flow.',
    next: 'Correct what the message names.',
  },
  FLOW_NO_CASE: {
    meaning: 'No case of a switch was true, and it has no otherwise.',
    next: 'Add a case or an otherwise output.',
  },
  FLOW_PAUSED: {
    meaning: 'The flow waits for a person or a signal.',
    next: 'Answer the pauses named, then call again: the run goes on.',
  },
  FLOW_UNKNOWN: {
    meaning: 'A subflow names a flow that was not given.',
    next: 'Give the flow under that name, or correct the name.',
  },
  GRAPH_CODE_FAILED: {
    meaning:
      "The graph type's own code threw when it was asked what comes next, or folded an event.",
    next: 'Correct the graph type, which the cause shows, and run it again: nothing is lost.',
  },
  INVALID_EVENT: {
    meaning: 'A stored event breaks the rules of the record.',
    next: 'The stream was written by something else or damaged: restore it from a copy.',
  },
  MISSING_MEMORY: {
    meaning: 'The graph requires memory and none was given.',
    next: 'Give bindings.memory a live Memory.',
  },
  MISSING_NODE_BINDING: {
    meaning: 'A node of the graph has no binding.',
    next: 'Bind every node of the definition by its id.',
  },
  NODE_FAILED: {
    meaning: 'Node code failed with a code of its own.',
    next: 'Read the failure code and message.',
  },
  OWNERSHIP_LOST: {
    meaning: 'Another process has taken over the run.',
    next: 'Let that process go on; nothing of this one counts any more.',
  },
  PAUSE_MISMATCH: {
    meaning: 'The pause is not open: it was answered, has expired, or never was.',
    next: 'List the open pauses and answer one of them.',
  },
  PROTOCOL: {
    meaning: 'A call or a decision does not fit the state of the run.',
    next: 'Read the message: it names what was expected.',
  },
  RESULT_INVALID: {
    meaning: 'A node returned something that is not its result: not JSON, or refused by the graph.',
    next: 'Correct the node code; the message names the place in the result.',
  },
  RESULT_TOO_LARGE: {
    meaning: 'A result or a pause request is larger than an event holds.',
    next: "Return less, or bind the node with largeResult: 'artifact'.",
  },
  RUN_OWNED: {
    meaning: 'Another living process drives the run.',
    next: 'Wait for it, or stop it; a dead owner on this machine is replaced at once.',
  },
  RUN_NOT_FOUND: {
    meaning: 'No run of this id is stored here.',
    next: 'List the runs, and check the directory and the namespace.',
  },
  STEP_REPEATED: {
    meaning: 'One attempt used the same step name twice.',
    next: 'Give every step of a node its own name, for example with an index.',
  },
  STORED_GRAPH_MISMATCH: {
    meaning: 'The graph supplied is not the one that the run was stored with.',
    next: 'Supply the stored definition and version, or start a new run.',
  },
  TIMEOUT: {
    meaning: 'An attempt did not settle in its time.',
    next: 'Raise timeoutMs, or make the node observe its signal.',
  },
} as const;

const engine = {
  ENGINE_FAILED: {
    meaning: 'An engine failed; the error names the kind.',
    next: 'Read the kind: a dead lane is not tried again, anything else may be.',
  },
  ENGINE_UNAVAILABLE: {
    meaning: 'Every target that the lane of a node may use is proven dead.',
    next: 'Mend the credentials, quota or configuration, and start a new run.',
  },
  ENGINE_IDENTITY_UNRESOLVED: {
    meaning: 'A record of a dead lane names no provider or model, and its lane has several.',
    next: 'Start a new run: which targets the record means cannot be known.',
  },
  INPUT_LIMIT: {
    meaning: 'The input and prompt of an attempt are larger than its budget allows.',
    next: 'Send less, or raise inputBytes.',
  },
  INVALID_ATTEMPT: {
    meaning: 'An attempt could not be prepared: its prompt is no text.',
    next: 'Return a prompt with visible characters from the builder.',
  },
  MISSING_ENGINE_BINDING: {
    meaning: 'A target of the stored plan has no engine, or an engine fits no target of it.',
    next: 'Bind one engine to each effective and fallback target of the plan.',
  },
  OUTPUT_LIMIT: {
    meaning: 'The answer of an attempt is larger than its budget allows.',
    next: 'Ask for less, or raise outputBytes.',
  },
  TOKEN_BUDGET: {
    meaning: 'A token budget has no room for a call.',
    next: 'Raise the budget, or ask for fewer tokens.',
  },
  WORKSPACE_INSPECTION: {
    meaning: 'The workspace of an attempt could not be inspected.',
    next: 'Name the top folder of a git worktree, and check that git can read it.',
  },
  WORKSPACE_LIMIT: {
    meaning: 'An attempt changed more files or lines than its budget allows.',
    next: 'Look at the changes, then raise filesChanged or linesChanged or split the work.',
  },
  WORKSPACE_VIOLATION: {
    meaning: 'An attempt changed something that its workspace policy does not allow.',
    next: 'Look at the paths named, take the changes back or allow them.',
  },
} as const;

const preflight = {
  INVALID_PREFLIGHT_CONFIG: {
    meaning: 'The plan asks for engine checks and the executor was not given what they need.',
    next: 'Give preflightScratchDirectory: an absolute path of an existing folder.',
  },
  PREFLIGHT_FAILED: {
    meaning: 'A lane has no target left that passed its checks: nothing was dispatched.',
    next: 'Mend the engines named and start a new run.',
  },
  PREFLIGHT_PAUSED: {
    meaning: 'An engine check failed in a way that may pass: nothing was dispatched.',
    next: 'Mend what the reason names, then resume with exactly this preflight event id.',
  },
  RESUME_EVENT_MISMATCH: {
    meaning: 'A resume names another pause than the one that is open.',
    next: 'Resume with the id that the present pause carries.',
  },
} as const;

const commandLine = {
  FILE_NOT_JSON: {
    meaning: 'A file, or text given on the command line, is not JSON.',
    next: 'Correct it at the line and column named.',
  },
  FILE_UNREADABLE: {
    meaning: 'A file or folder named on the command line cannot be read or written.',
    next: 'Correct the path, or its permissions.',
  },
  GIT_FAILED: {
    meaning: 'git is not installed, or refused a command.',
    next: 'Read what git said; the same command by hand shows the same.',
  },
  INVALID_COMMAND: {
    meaning: 'A command, argument or option of the command line is unknown, missing or wrong.',
    next: 'Run `holdfast help`, or the command with --help.',
  },
  MODULE_FAILED: {
    meaning: 'A module of node functions cannot be loaded, or offers nothing that a flow can use.',
    next: 'Load it with node by itself, and correct what that shows.',
  },
  MODULE_MISSING: {
    meaning: 'A flow has tasks, and no module of node functions was found.',
    next: 'Put the module beside the flow file under the same name, or name it with --module.',
  },
  NOT_A_REPOSITORY: {
    meaning: 'The folder is not in a git repository.',
    next: 'Name a repository with --repo, or run `git init`.',
  },
  NODE_ESCAPED: {
    meaning: 'Node code, or its module, threw where nothing catches, or ended the process.',
    next: 'Await every promise and catch errors in timers; then go on with the run.',
  },
  RUN_ENDED: {
    meaning: 'The run has ended, so nothing that is sent to it would be kept.',
    next: 'Look at it with `holdfast show`; start a new run if the work is still wanted.',
  },
  RUN_EXISTS: {
    meaning: 'The run id stands for a run of another flow or of another input.',
    next: 'Choose another --run-id, or leave it out.',
  },
  RUN_NOT_DRIVABLE: {
    meaning: 'The command line cannot drive this run by itself.',
    next: 'Drive it where its graph is defined, or name its parent run.',
  },
  TYPESCRIPT_UNSUPPORTED: {
    meaning: 'This Node cannot run TypeScript and tsx is not installed.',
    next: 'Use Node 22.18 or later, run `npm install tsx`, or give a JavaScript module.',
  },
} as const;

type Sections = typeof base &
  typeof expression &
  typeof store &
  typeof graph &
  typeof testing &
  typeof dag &
  typeof flow &
  typeof executor &
  typeof engine &
  typeof preflight &
  typeof commandLine;

/** A code of the closed table. */
export type ErrorCode = keyof Sections;

/** Every code: its meaning, and what to do next. */
export const errorCodes: Readonly<Record<ErrorCode, ErrorCodeEntry>> = {
  ...base,
  ...expression,
  ...store,
  ...graph,
  ...testing,
  ...dag,
  ...flow,
  ...executor,
  ...engine,
  ...preflight,
  ...commandLine,
};

/** True for a code of the closed table. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCodes, code);
}
