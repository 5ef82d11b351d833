/** The working numbers of CONTRIBUTING that a machine can hold. */

export const fileLinesMax = 500;
export const functionLinesMax = 70;
export const lineCodePointsMax = 100;
