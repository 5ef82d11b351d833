/** Chance that can be repeated: numbers in [0, 1) from a seed. */

/** A generator (mulberry32): the same seed gives the same numbers. */
export function seededNumbers(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    return mixed(state);
  };
}

/** One number that depends only on `seed` and `key`. */
export function hashedNumber(seed: number, key: number): number {
  return mixed((Math.imul(seed | 0, 0x9e3779b1) ^ Math.imul(key | 0, 0x85ebca6b)) | 0);
}

function mixed(state: number): number {
  let bits = Math.imul(state ^ (state >>> 15), 1 | state);
  bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
  return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296;
}
