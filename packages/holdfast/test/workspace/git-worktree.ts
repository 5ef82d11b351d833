/** A git repository of its own in a temporary folder, made by the real git. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  checkWorkspacePolicy,
  createGitInspector,
  type NodeWorkspacePolicy,
  underWorkspacePolicy,
  type WorkspaceChanges,
  type WorkspaceInspector,
} from 'holdfast';

const environment = {
  ...process.env,
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
};

export const never: AbortSignal = new AbortController().signal;

export class GitWorktree {
  readonly folder: string;

  constructor(folder?: string) {
    this.folder = folder ?? realpathSync(mkdtempSync(path.join(tmpdir(), 'holdfast-worktree-')));
    mkdirSync(this.folder, { recursive: true });
    if (!existsSync(this.at('.git'))) this.git('init', '--quiet', '--initial-branch=main');
  }

  /** Another worktree of this repository, on a branch of its own. */
  linked(branch: string, folder: string): GitWorktree {
    this.git('worktree', 'add', '--quiet', '-b', branch, folder);
    return new GitWorktree(folder);
  }

  git(...args: readonly string[]): string {
    const options = { cwd: this.folder, env: environment, encoding: 'utf8' } as const;
    return execFileSync('git', args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  }

  at(name: string): string {
    return path.join(this.folder, name);
  }

  write(files: Readonly<Record<string, string | Uint8Array>>): void {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(path.dirname(this.at(name)), { recursive: true });
      writeFileSync(this.at(name), content);
    }
  }

  commit(files: Readonly<Record<string, string | Uint8Array>> = {}): void {
    this.write(files);
    this.git('add', '--all');
    this.git('commit', '--quiet', '--allow-empty', '--message', 'work');
  }

  /** What `work` changes, as the inspector sees it. */
  async changes(
    work: () => unknown,
    inspector: WorkspaceInspector = createGitInspector(),
  ): Promise<WorkspaceChanges> {
    const before = await inspector.capture(this.folder, never);
    await work();
    return inspector.compare(before, await inspector.capture(this.folder, never, before), never);
  }

  /** `work` as the effect of an attempt with that policy. */
  async under(policy: NodeWorkspacePolicy, work: () => unknown): Promise<unknown> {
    const inspector = createGitInspector();
    return underWorkspacePolicy({ policy, limits: {}, inspector, signal: never }, work);
  }

  read(): NodeWorkspacePolicy {
    return checkWorkspacePolicy({ mode: 'read', directory: this.folder, allowedPaths: [] });
  }

  mayWrite(...allowedPaths: readonly string[]): NodeWorkspacePolicy {
    return checkWorkspacePolicy({ mode: 'write', directory: this.folder, allowedPaths });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
