/**
 * Keeps known secrets out of what an attempt leaves behind: its outcome and steps, what it logs,
 * and what its engine tells. What must be exact is refused; what people read is redacted.
 */
import type { CallListener } from '../attempt/context.ts';
import { type AttemptOutcome, type FailedOutcome, failed } from '../attempt/outcome.ts';
import type { GraphEngineIdentity } from '../base/engine-identity.ts';
import { isJsonObject, type JsonValue } from '../base/json.ts';
import type { EngineEvent } from '../engine/engine.ts';
import { SecretScreen } from '../store/known-secrets.ts';
import type { SecretStream } from '../store/secret-stream.ts';
import type { EngineLine, LogLine } from './options.ts';

type Place = Omit<EngineLine, 'event'>;

export class SecretGuard {
  readonly #screen: SecretScreen | null;

  constructor(knownSecrets: readonly string[]) {
    this.#screen = SecretScreen.of(knownSecrets);
  }

  holdsSecret(value: unknown): boolean {
    return this.#screen?.foundInJson(JSON.stringify(value)) === true;
  }

  /** Text that people read, with its secrets taken out. */
  text(text: string): string {
    return this.#screen?.redact(text) ?? text;
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
    if (!this.holdsSecret([line.message, line.data ?? null])) return line;
    const { data, ...rest } = line;
    const harmless = data === undefined ? null : this.#screen?.redactJson(data);
    return {
      ...rest,
      message: this.text(line.message),
      ...(isJsonObject(harmless) ? { data: harmless } : {}),
    };
  }

  harmless(identity: GraphEngineIdentity | null): GraphEngineIdentity | null {
    return this.holdsSecret(identity) ? null : identity;
  }

  /** Tells `onEvent` of one engine call; text that is split over several events too is redacted. */
  listen(place: Place, onEvent: (line: EngineLine) => void): CallListener {
    const tell = (event: EngineEvent) => onEvent({ ...place, event });
    if (this.#screen === null) return { heard: tell, ended: () => {} };
    return new RedactedCall(this.#screen, tell);
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
  readonly #screen: SecretScreen;
  readonly #tell: (event: EngineEvent) => void;
  readonly #streams: Readonly<Record<'text' | 'thinking', SecretStream>>;

  constructor(screen: SecretScreen, tell: (event: EngineEvent) => void) {
    this.#screen = screen;
    this.#tell = tell;
    this.#streams = { text: screen.stream(), thinking: screen.stream() };
  }

  heard(event: EngineEvent): void {
    if (event.kind === 'text' || event.kind === 'thinking') {
      this.#say(event.kind, this.#streams[event.kind].push(event.text));
      return;
    }
    const harmless = this.#screen.redactJson(event as unknown as JsonValue);
    if (isJsonObject(harmless)) this.#tell(harmless as unknown as EngineEvent);
  }

  ended(): void {
    this.#say('thinking', this.#streams.thinking.end());
    this.#say('text', this.#streams.text.end());
  }

  #say(kind: 'text' | 'thinking', text: string): void {
    if (text !== '') this.#tell({ kind, text });
  }
}
