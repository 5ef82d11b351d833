/**
 * The bounds of one expression. All are counted, none is timed, so that an expression which is
 * accepted on one machine is accepted on every machine.
 */

/** The longest source of one expression, in UTF-16 units. */
export const MAX_EXPRESSION_LENGTH = 4_096;

/** The deepest nesting of a syntax tree; a chain of one operator counts each operand. */
export const MAX_EXPRESSION_DEPTH = 128;

/** The most syntax nodes in one expression. */
export const MAX_EXPRESSION_NODES = 1_024;

/** How many macros (`map`, `filter`, `all`, …) may stand inside each other's bodies. */
export const MAX_MACRO_NESTING = 4;

/**
 * What one evaluation may cost, in steps: one for each syntax node evaluated and each list element
 * or map key visited, and one for each `TEXT_UNITS_PER_STEP` units of text made or searched.
 */
export const MAX_EVALUATION_STEPS = 1_000_000;
export const TEXT_UNITS_PER_STEP = 16;

/** The longest template text, and the longest text that a template renders, in UTF-16 units. */
export const MAX_TEMPLATE_LENGTH = 262_144;
export const MAX_RENDERED_LENGTH = 4_194_304;

/** The most `{{ }}` places in one template. */
export const MAX_TEMPLATE_PLACES = 256;
