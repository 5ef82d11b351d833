/**
 * Marks on objects that nothing else can see or set: private fields, put on an object that is there
 * already. (A WeakSet does the same at three times the price per step, most of it in the
 * collector.)
 */

/** Returns the object it is given, so that a subclass puts its private fields on that object. */
export class Stamped {
  constructor(value: object) {
    // biome-ignore lint/correctness/noConstructorReturn: the object to mark stands in for `this`
    return value;
  }
}
