/** SHA-256 by Node's own code: ten times faster than the portable one, with the same digests. */
import { hash } from 'node:crypto';
import type { HashText } from '../base/digest.ts';

export const hashText: HashText = (text) => hash('sha256', text);
