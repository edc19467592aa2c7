/** js-yaml declares the types of its main entry only; this one has the same exports. */
declare module "js-yaml/browser" {
  export * from "js-yaml";
}
