/** TODO and FIXME lines: work that somebody left for later. */
import { bounded, counted, type Marker, type Markers } from './facts.ts';
import { gitItems } from './git.ts';
import type { Repository } from './repository.ts';

const FIRST_MARKERS = 20;
const MAX_MARKERS = 10_000;

/** The word begins a line or a comment: a text that merely names it is no marker. */
const MARKER = '(^|//|#|\\*|--|;|%)[[:space:]]*@?(TODO|FIXME)([^[:alnum:]_]|$)';

/** Text files only; counting stops at ten thousand lines. */
export async function workMarkers(of: Repository, signal: AbortSignal): Promise<Markers> {
  const found = { TODO: 0, FIXME: 0 };
  const first: Marker[] = [];
  if (of.head !== null) {
    const args = ['grep', '-I', '-n', '-z', '-E', '--full-name', '-e', MARKER, of.head, '--'];
    const call = { repository: of.repository, args, signal, allow: [1] };
    await gitItems(call, '\n', (item) => {
      const marker = markerOf(item, of.head ?? '');
      if (marker === null) return true;
      found[marker.kind] += 1;
      if (first.length < FIRST_MARKERS) first.push(marker);
      return found.TODO + found.FIXME < MAX_MARKERS;
    });
  }
  const { TODO: todo, FIXME: fixme } = found;
  const atLeast = todo + fixme >= MAX_MARKERS;
  const counts = `${counted(todo, 'TODO')}, ${counted(fixme, 'FIXME')}`;
  const summary = atLeast ? `at least ${counts}` : counts;
  return { todo, fixme, atLeast, first, summary };
}

/** `<commit>:<path> NUL <line> NUL <text>` */
function markerOf(item: string, head: string): Marker | null {
  const [place = '', line = '', text = ''] = item.split('\0');
  if (!/^\d+$/.test(line)) return null;
  const kind = /\bFIXME\b/.test(text) ? 'FIXME' : 'TODO';
  const path = place.startsWith(`${head}:`) ? place.slice(head.length + 1) : place;
  return { path: bounded(path, 200), line: Number(line), kind, text: bounded(text) };
}
