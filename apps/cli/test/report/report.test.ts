import { existsSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { appendLine, readLedger } from '../../src/report/ledger.ts';
import { TestRepository } from '../fakes/repository.ts';
import { fakePrompter } from '../fakes/terminal.ts';
import { leaveReportUncertain } from '../fakes/uncertain-report.ts';
import { Workspace } from '../fakes/workspace.ts';

describe('report', () => {
  let place: Workspace;
  let repository: TestRepository;

  beforeEach(() => {
    place = new Workspace();
    repository = new TestRepository(place.path('shop'));
    repository.commit('Begin', { 'README.md': '[gone](gone.md)\n' });
  });

  afterEach(() => {
    place.remove();
  });

  const report = ['report', '--repo', 'shop'];

  it('with --yes writes the page, publishes it once, and says where it is', async () => {
    const { exitCode, document } = await place.json([...report, '--yes']);
    expect(exitCode).toBe(0);
    const page = readFileSync(String(document['report']), 'utf8');
    expect(page).toMatch(/^# Release report of shop$/m);
    expect(page).toContain('1 relative link leads nowhere.');
    expect(page).toContain('- `README.md:1` → `gone.md`');
    expect(page).toContain('passed at attempt 3');
    expect(readLedger(place.store).map(({ runId }) => runId)).toEqual([document['runId']]);
  });

  it('without a terminal and without --yes ends paused with the command that answers', async () => {
    const { exitCode, out } = await place.call(report);
    expect(exitCode).toBe(3);
    expect(out).toContain('Publish the release report of shop at ');
    const command = /holdfast (answer .*)/.exec(out)?.[1]?.split(' ') ?? [];
    await place.call(command);
    const again = await place.json(report);
    expect(again.exitCode).toBe(0);
    expect(existsSync(String(again.document['report']))).toBe(true);
  });

  it('goes on with the unfinished run, also by resume', async () => {
    const first = await place.json(report);
    const second = await place.json(report);
    expect(second.document['runId']).toBe(first.document['runId']);
    const runId = String(first.document['runId']);
    expect((await place.json(['resume', runId])).exitCode).toBe(3);
    expect((await place.json([...report, '--yes'])).document['runId']).toBe(runId);
    expect((await place.json([...report, '--yes'])).document['runId']).not.toBe(runId);
  });

  it('another commit is another run', async () => {
    const first = await place.json(report);
    repository.commit('More', { b: 'x' });
    const second = await place.json(report);
    expect(second.document['runId']).not.toBe(first.document['runId']);
  });

  it('asks on a terminal; a no writes nothing', async () => {
    const prompter = fakePrompter(['no']);
    const { exitCode, out } = await place.call(report, { isInteractive: true, prompter });
    expect(exitCode).toBe(0);
    expect(out).not.toContain('\nreport  ');
    expect(readLedger(place.store)).toEqual([]);
  });

  it('copies the page where it is wanted', async () => {
    await place.call([...report, '--yes', '--output', 'out/page.md']);
    expect(readFileSync(place.path('out/page.md'), 'utf8')).toContain('# Release report of shop');
  });

  it.each([
    ['no folder', 'nowhere', 'FILE_UNREADABLE'],
    ['no repository', '.', 'NOT_A_REPOSITORY'],
    ['a file', 'shop/README.md', 'NOT_A_REPOSITORY'],
  ])('%s is refused and nothing is stored', async (_what, folder, code) => {
    const { exitCode, document } = await place.json(['report', '--repo', folder]);
    expect([exitCode, document.error?.code]).toEqual([2, code]);
    expect(existsSync(place.store)).toBe(false);
  });

  it('an empty repository has a report too', async () => {
    new TestRepository(place.path('empty'));
    const { exitCode, document } = await place.json(['report', '--repo', 'empty', '--yes']);
    expect(exitCode).toBe(0);
    expect(readFileSync(String(document['report']), 'utf8')).toContain('nothing new to release');
  });

  it('--yes reconciles a lost publish by looking: without a line it is run again', async () => {
    const runId = await leaveReportUncertain(place, repository.folder);
    const { exitCode, document } = await place.json([...report, '--yes']);
    expect([exitCode, document['runId']]).toEqual([0, runId]);
    expect(readLedger(place.store)).toHaveLength(1);
    expect((await place.call(['events', runId])).out).toContain('the ledger has no line of run');
  });

  it('--yes reconciles a lost publish by looking: with a line it is not run again', async () => {
    const runId = await leaveReportUncertain(place, repository.folder);
    const line = { runId, position: 'flow/publish#1', key: 'k', commit: null, report: 'r.md' };
    appendLine(place.store, line);
    const { exitCode } = await place.json([...report, '--yes']);
    expect(exitCode).toBe(0);
    expect(readLedger(place.store)).toEqual([line]);
    expect((await place.call(['events', runId])).out).toContain('with the key k');
  });

  it('a line that was cut off by a crash is no line', async () => {
    const runId = await leaveReportUncertain(place, repository.folder);
    place.write('.holdfast/reports/ledger.jsonl', `{"runId":"${runId}","position":"flow/pub`);
    expect((await place.call([...report, '--yes'])).exitCode).toBe(0);
    expect((await place.call(['events', runId])).out).toContain('the ledger has no line of run');
    expect(readLedger(place.store).map(({ position }) => position)).toEqual(['flow/publish#1']);
  });

  it('a person is told what the ledger says', async () => {
    await leaveReportUncertain(place, repository.folder);
    const prompter = fakePrompter(['retry', 'I looked']);
    const { exitCode, out } = await place.call(report, { isInteractive: true, prompter });
    expect(out).toContain('For your decision: the ledger has no line of run');
    expect(exitCode).toBe(0);
  });
});
