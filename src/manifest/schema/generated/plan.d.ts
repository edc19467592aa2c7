import type { Validate } from "../validator.ts";

export declare const validate: Validate;
