/**
 * How deep maps and lists may nest. A manifest needs about ten levels; a hundred is a generator gone wrong.
 */
export const MAX_DEPTH = 100;

/** YAML's own bound on a key without `? `, in UTF-16 units from its start to its colon. */
export const MAX_KEY_LENGTH = 1024;

/**
 * How many characters of the text all aliases together may stand for. A bound on the number of aliases would
 * refuse a thousand test cases that share one list of tags, and would let a few aliases to a large text pass;
 * what has to be bounded is the size of the text with every alias written out.
 */
export const ALIAS_BUDGET = 250_000;
