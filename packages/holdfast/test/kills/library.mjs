/** The built library, as a process of its own imports it. */
export {
  compileGraph,
  createGraphExecutor,
  createSystemClock,
  dagGraphType,
  dataNode,
  driveRun,
  flowDefinition,
  flowGraphType,
  flowNodes,
  startRun,
  verifyRun,
  waitNode,
} from '../../dist/index.js';
export { createLocalRunStorage } from '../../dist/storage/local.js';
