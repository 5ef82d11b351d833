/** The working numbers of CONTRIBUTING that a machine can hold. */

export const fileLinesMax = 500;
export const functionLinesMax = 70;
/** Three are wanted; a fourth is tolerated, a fifth is an options object. */
export const parametersMax = 4;
export const lineCodePointsMax = 100;
