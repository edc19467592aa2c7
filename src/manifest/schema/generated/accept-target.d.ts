import type { Validate } from "../../shape.ts";

export declare const validate: Validate;
