/** A file's text as a module, as the build and Vitest make it. */
declare module "*?raw" {
  const text: string;
  export default text;
}
