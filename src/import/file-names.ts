/** Names that Windows keeps for devices, whatever the extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)$/i;
const LONGEST = 80;

/** A key as the name of a file or folder, without extension, that every system takes. */
export function fileName(key: string): string {
  const short = key.slice(0, LONGEST);
  return DEVICE.test(short) ? `${short}-tests` : short;
}

/** A file that is not there yet, named as near to the wish as can be. */
export function freeFile(wish: string, isTaken: (file: string) => boolean): string {
  if (!isTaken(wish)) return wish;
  const start = wish.replace(/\.yaml$/, "");
  for (let count = 1; ; count++) {
    const file = `${start}-imported${count === 1 ? "" : `-${count}`}.yaml`;
    if (!isTaken(file)) return file;
  }
}
