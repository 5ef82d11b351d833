/** A rule that the library has broken. */
export class SimViolation extends Error {
  override readonly name = 'SimViolation';
}
