export declare const accepts: (value: unknown) => boolean;
