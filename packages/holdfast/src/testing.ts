/** The door `holdfast/testing`: kits, fakes and generators. */

// The planner
export { simulate } from './testing/simulate-flow.ts';
