/** Descriptions, plans and admission: seed 003, from "Describe the graph" on. */
import {
  compileGraph,
  type ExecutionTarget,
  type GraphDescription,
  type PlanResolution,
  resolveGraphPlan,
  validateGraphDescription,
  validateResolvedPlan,
} from 'holdfast/graph';
import { describe, expect, test } from 'vitest';
import { issuesOf } from './issues.ts';
import { describeRelay, relayDefinition, relayWith } from './relay.ts';

type Mutable = { [key: string]: unknown };

/** A copy of `value` with one place changed; `undefined` removes it. */
function changed<T>(value: T, pointer: string, to: unknown): T {
  const copy = JSON.parse(JSON.stringify(value)) as Mutable;
  const keys = pointer.split('/').slice(1);
  const last = keys.pop() ?? '';
  const parent = keys.reduce<Mutable>((at, key) => at[key] as Mutable, copy);
  if (to === undefined) delete parent[last];
  else parent[last] = to;
  return copy as T;
}

function target(model: string, tools: readonly string[] = []): ExecutionTarget {
  return { adapter: 'cli', provider: 'acme', modelFamily: 'a', model, tools };
}

const withLane = relayWith((_, definition) => {
  const described = describeRelay(definition);
  return {
    describe: () => ({
      ...described,
      nodes: described.nodes.map((node) => ({ ...node, laneId: 'fast' })),
      executionLanes: [
        {
          id: 'fast',
          requested: target('big'),
          knownSubstitutions: [target('small'), target('old')],
        },
      ],
      requestedPermissions: [{ name: 'read', scope: { path: 'src' } }],
    }),
  };
});

const description: GraphDescription = compileGraph(withLane, relayDefinition).describe();
const identity = {
  source: 'npm:relay',
  version: '1.0.0',
  digest: `sha256:${'a'.repeat(64)}`,
} as const;
const resolution: PlanResolution = {
  package: identity,
  admission: { package: identity, permissions: [{ name: 'read', scope: { path: 'src' } }] },
  executionLanes: [{ id: 'fast', effective: target('big'), fallbacks: [target('small')] }],
  preflight: {
    timeoutMs: 1_000,
    lanes: [{ laneId: 'fast', live: 'required', unsupportedStatic: 'block' }],
  },
};

describe('validateGraphDescription', () => {
  test('gives a valid description back frozen and equal', () => {
    const given = structuredClone(description);
    const valid = validateGraphDescription(given);
    expect(valid).toEqual(description);
    expect(Object.isFrozen(valid.phases[0]?.nodeIds)).toBe(true);
    expect(Object.isFrozen(given)).toBe(false);
  });

  const wrong: readonly (readonly [pointer: string, to: unknown, issues: readonly string[]])[] = [
    ['/bounds', undefined, ['MISSING_FIELD /bounds']],
    ['/schemaVersion', 2, ['INVALID_SCHEMA_VERSION /schemaVersion']],
    ['/graph/kind', '', ['INVALID_TEXT /graph/kind']],
    ['/graph/typeVersion', 0, ['INVALID_VERSION /graph/typeVersion']],
    ['/graph/definitionDigest', 'sha256:A', ['INVALID_DIGEST /graph/definitionDigest']],
    ['/graph/extra', 1, ['UNKNOWN_FIELD /graph/extra']],
    ['/phases', {}, ['INVALID_SHAPE /phases']],
    ['/phases/0/name', ' ', ['INVALID_TEXT /phases/0/name']],
    ['/phases/0/nodeIds', ['one', 'two', 'three'], ['UNKNOWN_NODE /phases/0/nodeIds/2']],
    ['/phases/0/nodeIds', ['one', 'one', 'two'], ['INVALID_PHASE_ASSIGNMENT /phases/0/nodeIds/1']],
    ['/phases/0/nodeIds', ['one'], ['INVALID_PHASE_ASSIGNMENT /nodes/1/phaseId']],
    [
      '/nodes/0/id',
      'two',
      [
        'DUPLICATE_ID /nodes/1/id',
        'UNKNOWN_NODE /phases/0/nodeIds/0',
        'UNKNOWN_NODE /edges/0/source',
      ],
    ],
    ['/nodes/1/phaseId', 'other', ['UNKNOWN_PHASE /nodes/1/phaseId']],
    ['/nodes/1/laneId', 'slow', ['UNKNOWN_LANE /nodes/1/laneId']],
    ['/nodes/1/laneId', 7, ['INVALID_ID /nodes/1/laneId']],
    ['/nodes/1/inputContract', undefined, ['MISSING_FIELD /nodes/1/inputContract']],
    ['/edges/0/target', 'three', ['UNKNOWN_NODE /edges/0/target']],
    ['/policies/budget', undefined, ['MISSING_FIELD /policies/budget']],
    ['/executionLanes/0/requested/model', 1, ['INVALID_TEXT /executionLanes/0/requested/model']],
    [
      '/executionLanes/0/requested/tools',
      ['a', 'a'],
      ['DUPLICATE_ID /executionLanes/0/requested/tools/1'],
    ],
    [
      '/executionLanes/0/knownSubstitutions/1',
      target('small'),
      ['DUPLICATE_SUBSTITUTION /executionLanes/0/knownSubstitutions/1'],
    ],
    [
      '/requestedPermissions',
      [
        { name: 'a', scope: 1 },
        { name: 'a', scope: 2 },
      ],
      ['DUPLICATE_PERMISSION /requestedPermissions/1/name'],
    ],
    ['/bounds/maxFanOut', { kind: 'known', value: -1 }, ['INVALID_BOUND /bounds/maxFanOut/value']],
    [
      '/bounds/maxFanOut',
      { kind: 'unknown', reason: '' },
      ['INVALID_TEXT /bounds/maxFanOut/reason'],
    ],
    ['/bounds/maxFanOut', { kind: 'some', reason: 'r' }, ['INVALID_BOUND /bounds/maxFanOut/kind']],
    ['/bounds/dispatches/min/value', 3, ['INVALID_BOUND /bounds/dispatches']],
    ['/requirements/memory', 'maybe', ['INVALID_REQUIREMENT /requirements/memory']],
  ];

  test.each(wrong)('refuses %s = %j', (pointer, to, issues) => {
    const given = changed(description, pointer, to);
    expect(issuesOf(() => validateGraphDescription(given))).toEqual(
      expect.arrayContaining([...issues]),
    );
  });

  test('refuses a node that names another phase than the one that lists it', () => {
    const phases = [
      { id: 'all', name: 'All', nodeIds: ['one'] },
      { id: 'rest', name: 'Rest', nodeIds: ['two'] },
    ];
    expect(issuesOf(() => validateGraphDescription({ ...description, phases }))).toEqual([
      'INVALID_PHASE_ASSIGNMENT /nodes/1/phaseId',
    ]);
  });

  test('names every problem at once', () => {
    const given = wrong
      .filter(([pointer]) =>
        ['/graph/kind', '/requirements/memory', '/policies/budget'].includes(pointer),
      )
      .reduce((value, [pointer, to]) => changed(value, pointer, to), description);
    expect([...issuesOf(() => validateGraphDescription(given))].sort()).toEqual([
      'INVALID_REQUIREMENT /requirements/memory',
      'INVALID_TEXT /graph/kind',
      'MISSING_FIELD /policies/budget',
    ]);
  });

  test('refuses what is no JSON, or nested more than 256 levels', () => {
    let deep: unknown = {};
    for (let level = 0; level < 300; level += 1) deep = [deep];
    for (const inputContract of [deep, undefined, new Date(0)]) {
      const [issue] = issuesOf(() => validateGraphDescription({ ...description, inputContract }));
      expect(issue).toMatch(/^INVALID_JSON_VALUE \/inputContract/);
    }
    expect(issuesOf(() => validateGraphDescription(null))).toEqual(['INVALID_SHAPE ']);
  });
});

describe('resolveGraphPlan', () => {
  test('freezes a plan whose digest changes with each part of it', () => {
    const plan = resolveGraphPlan(description, resolution);
    expect(plan.plan.executionLanes).toEqual([
      {
        ...description.executionLanes[0],
        effective: target('big'),
        fallbacks: [target('small')],
      },
    ]);
    expect(plan.plan.permissions).toEqual({
      requested: description.requestedPermissions,
      admitted: resolution.admission.permissions,
    });
    expect(JSON.parse(plan.canonicalJson)).toEqual(plan.plan);
    expect(Object.isFrozen(plan.plan.permissions.admitted)).toBe(true);
    const others = [
      resolveGraphPlan(changed(description, '/bounds/maxFanOut/value', 2), resolution),
      resolveGraphPlan(
        description,
        changed(resolution, '/executionLanes/0/effective', target('old')),
      ),
      resolveGraphPlan(description, changed(resolution, '/executionLanes/0/fallbacks', [])),
      resolveGraphPlan(description, changed(resolution, '/preflight', undefined)),
      resolveGraphPlan(
        description,
        changed(resolution, '/admission/permissions/1', { name: 'more', scope: null }),
      ),
    ];
    const digests = [plan, ...others].map(({ digest }) => digest);
    expect(new Set(digests).size).toBe(digests.length);
    expect('preflight' in (others[3]?.plan ?? {})).toBe(false);
    expect(resolveGraphPlan(structuredClone(description), structuredClone(resolution))).toEqual(
      plan,
    );
  });

  const refusals: readonly (readonly [pointer: string, to: unknown, issues: readonly string[]])[] =
    [
      ['/admission/package/version', '1.0.1', ['PACKAGE_NOT_ADMITTED /package']],
      [
        '/package/digest',
        'md5',
        ['INVALID_DIGEST /package/digest', 'PACKAGE_NOT_ADMITTED /package'],
      ],
      [
        '/package/license',
        'MIT',
        ['UNKNOWN_FIELD /package/license', 'PACKAGE_NOT_ADMITTED /package'],
      ],
      ['/admission', undefined, ['MISSING_FIELD /admission', 'INVALID_SHAPE /admission']],
      ['/executionLanes', [], ['INVALID_LANE_RESOLUTION /executionLanes']],
      [
        '/executionLanes/1',
        { id: 'slow', effective: target('big') },
        ['INVALID_LANE_RESOLUTION /executionLanes/1/id'],
      ],
      [
        '/executionLanes/1',
        { id: 'fast', effective: target('big') },
        ['DUPLICATE_ID /executionLanes/1/id'],
      ],
      [
        '/executionLanes/0/effective',
        target('huge'),
        ['UNKNOWN_SUBSTITUTION /executionLanes/0/effective'],
      ],
      [
        '/executionLanes/0/effective',
        target('big', ['shell']),
        ['UNKNOWN_SUBSTITUTION /executionLanes/0/effective'],
      ],
      [
        '/executionLanes/0/fallbacks',
        [target('huge')],
        ['UNKNOWN_SUBSTITUTION /executionLanes/0/fallbacks/0'],
      ],
      [
        '/executionLanes/0/fallbacks',
        [target('big')],
        ['DUPLICATE_SUBSTITUTION /executionLanes/0/fallbacks/0'],
      ],
      [
        '/executionLanes/0/fallbacks',
        [target('old'), target('old')],
        ['DUPLICATE_SUBSTITUTION /executionLanes/0/fallbacks/1'],
      ],
      ['/admission/permissions', [], ['PERMISSION_NOT_ADMITTED /admission/permissions']],
      [
        '/admission/permissions/0/scope',
        { path: '/' },
        ['PERMISSION_NOT_ADMITTED /admission/permissions'],
      ],
      [
        '/admission/permissions/1',
        { name: 'read', scope: 1 },
        ['DUPLICATE_PERMISSION /admission/permissions/1/name'],
      ],
      ['/preflight/timeoutMs', 0, ['INVALID_BOUND /preflight/timeoutMs']],
      ['/preflight/timeoutMs', 2_147_483_648, ['INVALID_BOUND /preflight/timeoutMs']],
      ['/preflight/lanes', [], ['INVALID_LANE_RESOLUTION /preflight/lanes']],
      ['/preflight/lanes/0/live', 'maybe', ['INVALID_SHAPE /preflight/lanes/0/live']],
      [
        '/preflight/lanes/0/laneId',
        'slow',
        [
          'INVALID_LANE_RESOLUTION /preflight/lanes/0/laneId',
          'INVALID_LANE_RESOLUTION /preflight/lanes',
        ],
      ],
      [
        '/preflight/lanes/1',
        { laneId: 'fast', live: 'skip', unsupportedStatic: 'allow' },
        ['INVALID_LANE_RESOLUTION /preflight/lanes/1/laneId'],
      ],
      ['/preflight/retries', 1, ['UNKNOWN_FIELD /preflight/retries']],
      ['/hosts', [], ['UNKNOWN_FIELD /hosts']],
    ];

  test.each(refusals)('refuses %s = %j', (pointer, to, issues) => {
    const given = changed(resolution, pointer, to);
    expect(issuesOf(() => resolveGraphPlan(description, given))).toEqual(issues);
  });

  test('tells all refusals at once', () => {
    const given = changed(changed(resolution, '/executionLanes', []), '/admission/permissions', []);
    expect(issuesOf(() => resolveGraphPlan(description, given))).toEqual([
      'INVALID_LANE_RESOLUTION /executionLanes',
      'PERMISSION_NOT_ADMITTED /admission/permissions',
    ]);
  });
});

describe('validateResolvedPlan', () => {
  const { plan, ...snapshot } = resolveGraphPlan(description, resolution);

  test('gives a stored plan back with the same text and digest', () => {
    expect(validateResolvedPlan(JSON.parse(snapshot.canonicalJson))).toEqual({ plan, ...snapshot });
  });

  test.each([
    ['/extra', 1, 'UNKNOWN_FIELD /extra'],
    ['/bounds', undefined, 'MISSING_FIELD /bounds'],
    ['/executionLanes/0/note', 'x', 'UNKNOWN_FIELD /executionLanes/0/note'],
    [
      '/executionLanes/0/effective',
      target('huge'),
      'UNKNOWN_SUBSTITUTION /executionLanes/0/effective',
    ],
    ['/permissions/admitted', [], 'PERMISSION_NOT_ADMITTED /admission/permissions'],
    ['/permissions/granted', [], 'UNKNOWN_FIELD /permissions/granted'],
    ['/nodes/0/laneId', 'slow', 'UNKNOWN_LANE /nodes/0/laneId'],
    ['/schemaVersion', 2, 'INVALID_SCHEMA_VERSION /schemaVersion'],
    ['/preflight/lanes', [], 'INVALID_LANE_RESOLUTION /preflight/lanes'],
  ] as const)('refuses an edited plan: %s = %j', (pointer, to, issue) => {
    const edited = changed(JSON.parse(snapshot.canonicalJson), pointer, to);
    expect(issuesOf(() => validateResolvedPlan(edited))).toEqual([issue]);
  });

  test('refuses what is no plan', () => {
    expect(issuesOf(() => validateResolvedPlan(null))).toContain('INVALID_SHAPE ');
    expect(issuesOf(() => validateResolvedPlan({ plan, ...snapshot }))).toContain(
      'UNKNOWN_FIELD /digest',
    );
  });
});
