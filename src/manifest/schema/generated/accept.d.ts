export declare const project: (value: unknown) => boolean;
export declare const target: (value: unknown) => boolean;
