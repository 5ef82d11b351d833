/** `npm run pages`: writes the pages of docs/ that are generated from sources. Build first. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { errorCodes } from '../packages/holdfast/dist/base/error-codes.js';
import { renderErrorCodesPage } from './tidy/dist/error-codes-page.js';
import { root } from './workspace.mjs';

writeFileSync(path.join(root, 'docs', 'error-codes.md'), renderErrorCodesPage(errorCodes));
