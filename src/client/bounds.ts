/**
 * What an answer may measure. service-api.md ("Limits") states no bounds, so these are far above anything
 * that a service would send and only keep a broken or hostile one from filling the memory.
 */

/** Bytes of an answer that is held whole: everything but the list of test cases. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** Bytes of one test case of the streamed list; the list as a whole has no such bound. */
export const MAX_ITEM_BYTES = 16 * 1024 * 1024;
/** Test cases of one list. */
export const MAX_ITEMS = 1_000_000;
/** Lists and objects inside each other. */
export const MAX_DEPTH = 100;
/** Bytes of an answer with an error status that are read for the service's words. */
export const MAX_ERROR_BYTES = 64 * 1024;
/** Characters of the service's own words that are kept. */
export const MAX_WORDS = 500;
/**
 * Bytes of a streamed list that each get a time limit of their own. A limit on silence alone would let a
 * server that trickles single bytes hold tasc for days; a limit on the whole would cut off a long honest list.
 */
export const STREAM_WINDOW_BYTES = 256 * 1024;
