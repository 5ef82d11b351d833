/** Nothing that is kept names a folder of one machine or the host of a package registry. */
import type { Finding } from '../finding.ts';
import type { Source } from '../source.ts';

// Joined from parts, so that this file does not hold what it looks for.
const machineName = new RegExp(
  [String.raw`(?<![\w.$}-])\/${'work'}\/`, `registry\\.${'npmjs'}\\.org`].join('|'),
);

export function checkMachineNames(sources: readonly Source[]): readonly Finding[] {
  return sources.flatMap((source) =>
    source.lines.flatMap((text, index): readonly Finding[] => {
      const subject = machineName.exec(text)?.[0];
      if (subject === undefined) return [];
      return [
        {
          rule: 'machine-name',
          path: source.path,
          line: index + 1,
          subject,
          message: `"${subject}" names one machine or one registry`,
          mend: 'use a relative path, a temporary folder or an example name.',
        },
      ];
    }),
  );
}
