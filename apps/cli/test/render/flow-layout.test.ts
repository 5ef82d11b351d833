import { randomFlow } from 'holdfast/testing';
import { describe, expect, it } from 'vitest';
import { flowLayout } from '../../src/render/flow-layout.ts';

/** `a>b`, `a.true>b` or `b>a!` for a way back. */
function flowOf(...arrows: readonly string[]) {
  const edges = arrows.map((arrow, index) => {
    const [from = '', to = ''] = arrow.split('>');
    const [source = '', sourceHandle] = from.split('.');
    const back = to.endsWith('!');
    return {
      id: `e${index}`,
      source,
      target: to.replace('!', ''),
      ...(sourceHandle === undefined ? {} : { sourceHandle }),
      ...(back ? { targetHandle: 'next' } : {}),
    };
  });
  const ids = [...new Set(edges.flatMap(({ source, target }) => [source, target]))];
  const nodes = ids.map((id) => ({
    id,
    type: id.startsWith('loop') ? 'control.loop' : 'task',
    config: {},
  }));
  return { nodes, edges };
}

function drawn(...arrows: readonly string[]): readonly string[] {
  return flowLayout(flowOf(...arrows)).map(
    ({ guide, label, nodeId }) => `${guide}${label === null ? '' : `${label}: `}${nodeId}`,
  );
}

describe('flowLayout', () => {
  it('keeps a chain at one level', () => {
    expect(drawn('a>b', 'b>c', 'c>d')).toEqual(['a', 'b', 'c', 'd']);
  });

  it('indents branches and goes on with their join', () => {
    expect(drawn('a>b', 'a>c', 'c>d', 'b>j', 'd>j', 'j>k')).toEqual([
      'a',
      '├ b',
      '└ c',
      '  d',
      'j',
      'k',
    ]);
  });

  it('names the outputs that open branches', () => {
    expect(drawn('a.true>b', 'a.false>c')).toEqual(['a', '├ true: b', '└ false: c']);
  });

  it('goes on with the plain output beside a failure', () => {
    expect(drawn('a>b', 'a.error>x', 'b>c')).toEqual(['a', '└ error: x', 'b', 'c']);
  });

  it('indents the body of a loop and goes on behind it', () => {
    expect(drawn('a>loop', 'loop.body>b', 'b>c', 'c>loop!', 'loop.done>d')).toEqual([
      'a',
      'loop',
      '└ body: b',
      '  c',
      'd',
    ]);
  });

  it('shows every node of any flow exactly once, after all that leads to it', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const flow = randomFlow({ seed, nodes: 40 });
      const shown = flowLayout(flow).map(({ nodeId }) => nodeId);
      expect([...shown].sort()).toEqual(flow.nodes.map(({ id }) => id).sort());
    }
  });

  it('lays out ten thousand nodes in a chain', () => {
    const arrows = Array.from({ length: 10_000 }, (_, index) => `n${index}>n${index + 1}`);
    expect(flowLayout(flowOf(...arrows))).toHaveLength(10_001);
  });
});
