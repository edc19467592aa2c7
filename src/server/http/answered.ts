/**
 * What answers are made of: plain data in which a field may be undefined. Such a field is not written, which is how
 * an answer leaves out what has no value and, in the text, no null either.
 */
export type Answered = null | boolean | number | string | readonly Answered[] | AnsweredObject;
export type AnsweredObject = { readonly [name: string]: Answered | undefined };
