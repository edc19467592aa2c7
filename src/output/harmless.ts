/**
 * Joiners, selectors and tags show nothing by themselves, so they can hide a difference between two names. Some
 * belong to what one sees: they make one emoji out of several, or shape a Persian or Hindi word. Looked at by their
 * neighbours, since a pattern of all emoji is far too slow to be tried at every character.
 */
export function isHarmlessJoiner(character: string, text: string, at: number): boolean {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0xfe0e || code === 0xfe0f) return /\p{Emoji}$/u.test(before(text, at));
  if (code === 0x200d && joinsEmoji(text, at)) return true;
  if (code === 0x200c || code === 0x200d) return shapesWord(text, at);
  return code >= 0xe0020 && code <= 0xe007f && FLAG.test(text.slice(Math.max(0, at - LONGEST_FLAG), at));
}

/** The flags of England, Scotland and Wales are a black flag and invisible letters. */
const FLAG = /\u{1f3f4}[\u{e0020}-\u{e007e}]*$/u;
const LONGEST_FLAG = 16;

function joinsEmoji(text: string, at: number): boolean {
  return (
    /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)$/u.test(before(text, at)) &&
    /^\p{Extended_Pictographic}/u.test(after(text, at))
  );
}

function shapesWord(text: string, at: number): boolean {
  return (
    /[^\P{L}\p{ASCII}]$|\p{M}$/u.test(before(text, at)) &&
    /^(?:[^\P{L}\p{ASCII}]|\p{M})/u.test(after(text, at))
  );
}

/** The character before and after: one or two UTF-16 units. */
function before(text: string, at: number): string {
  return text.slice(Math.max(0, at - 2), at);
}

function after(text: string, at: number): string {
  return text.slice(at + 1, at + 3);
}
