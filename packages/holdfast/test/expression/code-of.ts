import { isHoldfastError } from 'holdfast';

/** The code of the error that `work` throws; an error without a code is thrown on. */
export function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (isHoldfastError(error)) return error.code;
    throw error;
  }
  return 'nothing was thrown';
}
