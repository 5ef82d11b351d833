/**
 * Keeps known secrets out of what an attempt leaves behind: its outcome and steps, what it logs,
 * and what its engine tells. What must be exact is refused; what people read is redacted.
 */
import type { CallListener } from '../attempt/context.ts';
import { type AttemptOutcome, type FailedOutcome, failed } from '../attempt/outcome.ts';
import type { GraphEngineIdentity } from '../base/engine-identity.ts';
import { isJsonObject, type JsonValue } from '../base/json.ts';
import type { EngineEvent } from '../engine/engine.ts';
import { Redactor } from '../store/redactor.ts';
import type { SecretStream } from '../store/secret-stream.ts';
import type { EngineLine, LogLine } from './options.ts';

type Place = Omit<EngineLine, 'event'>;

export class SecretGuard {
  readonly #redactor: Redactor;

  constructor(knownSecrets: readonly string[]) {
    this.#redactor = new Redactor(knownSecrets);
  }

  holdsSecret(value: unknown): boolean {
    const { screen } = this.#redactor;
    return screen?.foundInJson(JSON.stringify(value)) ?? false;
  }

  /** Text that people read, with its secrets taken out. */
  text(text: string): string {
    return this.#redactor.text(text);
  }

  /** A result or a request that holds a secret is a failure that does not repeat it. */
  outcome(nodeId: string, outcome: AttemptOutcome): AttemptOutcome {
    if (!this.holdsSecret(outcome)) return outcome;
    if (outcome.kind === 'failed') return this.#failure(nodeId, outcome);
    const large = outcome.kind === 'completed' ? outcome.result : outcome.request;
    if (this.holdsSecret(large)) {
      const what = outcome.kind === 'completed' ? 'result' : 'pause request';
      return failed(
        'KNOWN_SECRET',
        `The ${what} of ${nodeId} holds a known secret and was not recorded.`,
        false,
      );
    }
    return outcome.kind === 'paused' ? { ...outcome, reason: this.text(outcome.reason) } : outcome;
  }

  /** A line for `onLog`. */
  line(line: LogLine): LogLine {
    if (this.#redactor.screen === null) return line;
    const { data, ...rest } = line;
    const harmless = data === undefined ? null : this.#redactor.json(plainJson(data));
    return {
      ...rest,
      message: this.text(String(line.message)),
      ...(isJsonObject(harmless) ? { data: harmless } : {}),
    };
  }

  harmless(identity: GraphEngineIdentity | null): GraphEngineIdentity | null {
    return this.holdsSecret(identity) ? null : identity;
  }

  /** Tells `onEvent` of one engine call; text that is split over several events too is redacted. */
  listen(place: Place, onEvent: (line: EngineLine) => unknown): CallListener {
    const tell = (event: EngineEvent) => onEvent({ ...place, event });
    if (this.#redactor.screen === null) return { heard: tell, ended: () => {} };
    return new RedactedCall(this.#redactor, tell);
  }

  #failure(nodeId: string, outcome: FailedOutcome): FailedOutcome {
    if (!this.holdsSecret(outcome.code)) {
      return { ...outcome, message: this.text(outcome.message) };
    }
    const text = `The failure code of ${nodeId} holds a known secret and was not recorded.`;
    return failed('KNOWN_SECRET', text, false);
  }
}

/** The texts of one call, each kind a stream of its own. */
class RedactedCall implements CallListener {
  readonly #redactor: Redactor;
  readonly #tell: (event: EngineEvent) => unknown;
  readonly #streams: Readonly<Record<'text' | 'thinking', SecretStream>>;

  constructor(redactor: Redactor, tell: (event: EngineEvent) => unknown) {
    this.#redactor = redactor;
    this.#tell = tell;
    this.#streams = { text: redactor.stream(), thinking: redactor.stream() };
  }

  heard(event: EngineEvent): unknown {
    if (event.kind === 'text' || event.kind === 'thinking') {
      return this.#say(event.kind, this.#streams[event.kind].push(event.text));
    }
    const harmless = this.#redactor.json(plainJson(event));
    return isJsonObject(harmless) ? this.#tell(harmless as unknown as EngineEvent) : undefined;
  }

  ended(): unknown {
    this.#say('thinking', this.#streams.thinking.end());
    return this.#say('text', this.#streams.text.end());
  }

  #say(kind: 'text' | 'thinking', text: string): unknown {
    return text === '' ? undefined : this.#tell({ kind, text });
  }
}

/** What JSON shows of a value: nothing that it does not show can be screened. */
function plainJson(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value) ?? 'null') as JsonValue;
}
