/** The kit of run indexes must catch stores that are wrong in one way, by the case about it. */
import type { EventStore, RunIndex, RunIndexRow, RunStorage } from 'holdfast';
import { createMemoryBacking, createMemoryRunStorage } from 'holdfast/storage/memory';
import { runRunIndexConformance, type StorageFactory } from 'holdfast/testing';
import { describe, expect, it } from 'vitest';

interface Mutant {
  /** Part of the name of a case that must fail. */
  readonly caught: string;
  readonly index?: (real: RunIndex, elsewhere: RunStorage) => Partial<RunIndex>;
  readonly append?: (real: EventStore) => EventStore['append'];
}

const byRunId = (rows: readonly RunIndexRow[]) =>
  [...rows].sort((left, right) => (left.runId < right.runId ? -1 : 1));

const mutants: Readonly<Record<string, Mutant>> = {
  'forgets the statuses of a filter': {
    caught: 'a filter is by statuses',
    index: (real) => ({ list: ({ statuses: _none, ...rest } = {}, page) => real.list(rest, page) }),
  },
  'takes a prefix for a pattern': {
    caught: 'a filter is by statuses',
    index: (real) => ({
      list: async ({ runIdPrefix, ...rest } = {}, page) => {
        const { runs } = await real.list(rest, page);
        const pattern = new RegExp(`^${(runIdPrefix ?? '').replaceAll('_', '.')}`);
        return { runs: runs.filter(({ runId }) => pattern.test(runId)) };
      },
    }),
  },
  'lists the oldest first': {
    caught: 'pages are newest first',
    index: (real) => ({
      list: async (filter, page) => {
        const { runs, ...rest } = await real.list(filter, page);
        return { runs: [...runs].reverse(), ...rest };
      },
    }),
  },
  'pages by how many were seen': {
    caught: 'pages are newest first',
    index: (real) => ({
      list: async (filter, { limit = 100, cursor } = {}) => {
        if (cursor === 'nowhere') return real.list(filter, { limit, cursor });
        const { runs } = await real.list(filter, { limit: 1_000 });
        const from = Number(cursor ?? 0);
        const page = runs.slice(from, from + limit);
        return from + limit < runs.length
          ? { runs: page, cursor: String(from + limit) }
          : { runs: page };
      },
    }),
  },
  'gives a cursor behind the last page': {
    caught: 'pages are newest first',
    index: (real) => ({
      list: async (filter, page) => {
        const { runs } = await real.list(filter, page);
        const last = runs.at(-1);
        return last === undefined ? { runs } : { runs, cursor: `${last.createdAt}/${last.runId}` };
      },
    }),
  },
  'takes any limit': {
    caught: 'a page without sense',
    index: (real) => ({
      list: (filter, page = {}) => real.list(filter, { ...page, limit: page.limit || 1 }),
    }),
  },
  'tells what is due in the order of ids': {
    caught: 'in the order of its wake',
    index: (real) => ({ due: async (now) => byRunId(await real.due(now)).reverse() }),
  },
  'forgets ended runs that are due': {
    caught: 'in the order of its wake',
    index: (real) => ({
      due: async (now) => (await real.due(now)).filter(({ status }) => status !== 'complete'),
    }),
  },
  'passes over the mark of an outside append': {
    caught: 'an outside append marks',
    index: (real) => ({
      due: async (now) =>
        (await real.due(now)).filter(({ wakeAt }) => wakeAt !== null && wakeAt <= now),
    }),
  },
  'lets an owner clear a mark that it has not seen': {
    caught: 'an outside append marks',
    append: (real) => async (stream, expected, events, options) => {
      if (expected === 'end' || options?.index === undefined) {
        return real.append(stream, expected, events, options);
      }
      const end = await real.end(stream);
      return real.append(stream, events.length === 0 ? end : expected, events, options);
    },
  },
  'shows rows of every namespace': {
    caught: 'another namespace',
    index: (real, elsewhere) => ({
      get: async (runId) => (await real.get(runId)) ?? (await elsewhere.runIndex.get(runId)),
    }),
  },
  'changes a row though its append was refused': {
    caught: 'by its append or not at all',
    append: (real) => async (stream, expected, events, options) => {
      try {
        return await real.append(stream, expected, events, options);
      } catch (error) {
        const { index } = options ?? {};
        const end = await real.end(stream);
        if (index !== undefined && end > 0) await real.append(stream, end, [], { index });
        throw error;
      }
    },
  },
  'keeps a wake that was taken away': {
    caught: 'null takes the wake away',
    append: (real) => (stream, expected, events, options) => {
      const { wakeAt, ...index } = options?.index ?? {};
      const isKept = options?.index !== undefined && wakeAt === null && expected !== 0;
      return real.append(stream, expected, events, isKept ? { ...options, index } : options);
    },
  },
  'has a row of every stream': {
    caught: 'from the first append that brings one',
    append: (real) => (stream, expected, events, options) =>
      real.append(stream, expected, events, {
        ...options,
        ...(expected === 0 && options?.index === undefined ? { index: { graphId: '' } } : {}),
      }),
  },
  'lets runs be claimed that are held': {
    caught: 'nobody holds',
    index: (real) => ({
      claimable: async (now) => {
        const { runs } = await real.list({ statuses: ['running', 'paused'] });
        return runs.filter(
          ({ status, wakeAt, isMarkedDue }) =>
            status === 'running' || isMarkedDue || (wakeAt !== null && wakeAt <= now),
        );
      },
    }),
  },
  'lets nothing be claimed but what is due': {
    caught: 'nobody holds',
    index: (real) => ({
      claimable: async (now) => {
        const due = new Set((await real.due(now)).map(({ runId }) => runId));
        return (await real.claimable(now)).filter(({ runId }) => due.has(runId));
      },
    }),
  },
};

function mutated({ index, append }: Mutant): StorageFactory {
  return () => {
    const backing = createMemoryBacking();
    return {
      open: (options) => {
        const storage = createMemoryRunStorage({ ...options, backing });
        const namespace = options.namespace === 'elsewhere' ? 'kit' : 'elsewhere';
        const elsewhere = createMemoryRunStorage({ ...options, namespace, backing });
        const { eventStore, runIndex } = storage;
        return {
          ...storage,
          eventStore:
            append === undefined ? eventStore : withOwn(eventStore, { append: append(eventStore) }),
          runIndex: withOwn(runIndex, index?.(runIndex, elsewhere) ?? {}),
        };
      },
    };
  };
}

/** A port with some calls replaced. */
function withOwn<Port extends object>(port: Port, own: Partial<Port>): Port {
  return new Proxy(port, {
    get: (target, key) => {
      if (Object.hasOwn(own, key)) return Reflect.get(own, key);
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

describe('the kit of run indexes', () => {
  it('passes what is not mutated', async () => {
    expect((await runRunIndexConformance(mutated({ caught: '' }))).failures).toEqual([]);
  });

  it.each(Object.entries(mutants))('catches a store that %s', async (_name, mutant) => {
    const { failures } = await runRunIndexConformance(mutated(mutant));
    const names = failures.map((failure) => failure.case);
    expect(names.filter((name) => name.includes(mutant.caught))).not.toEqual([]);
  });
});
