/** The functions of order.json. They stand for services; none of them is real. */
import { type NodeContext, NodeFailure, type TaskInput } from 'holdfast';

interface Order {
  readonly items?: readonly { readonly price: number; readonly count: number }[];
  /** How often the bank is out of reach before it answers. */
  readonly bankFailures?: number;
  readonly cardDeclined?: boolean;
}

export function reserve({ input }: TaskInput<Order>): { readonly total: number } {
  const total = (input.items ?? []).reduce((sum, { price, count }) => sum + price * count, 0);
  return { total };
}

export function release(): string {
  return 'the items are free again';
}

/** Give the key to a service that recognises a repeated request: it is equal for every retry. */
export function charge(
  { amount }: { readonly amount: number },
  { idempotencyKey, position, runInput }: NodeContext,
): { readonly charged: number; readonly key: string } {
  const { bankFailures = 0, cardDeclined = false } = (runInput ?? {}) as Order;
  const attempt = Number(/\/(\d+)$/.exec(position)?.[1] ?? 1);
  if (cardDeclined)
    throw new NodeFailure('CARD_DECLINED', 'The bank said no.', { retryable: false });
  if (attempt <= bankFailures) throw new NodeFailure('BANK_AWAY', 'The bank did not answer.');
  return { charged: amount, key: idempotencyKey };
}

export function refund({ output }: { readonly output: { readonly charged: number } }): string {
  return `${output.charged} paid back`;
}

export function ship(): { readonly summary: string } {
  return { summary: 'handed to the carrier' };
}

export function askCarrier(): { readonly summary: string } {
  return { summary: 'asked where it is' };
}

export function tellDeclined(): { readonly summary: string } {
  return { summary: 'told that the card was declined' };
}
