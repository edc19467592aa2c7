/** Lines at the lower end of a terminal that are drawn over; the cursor stands below them. */
export function drawStatus(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

/** Goes up over the lines and clears what is there. */
export function eraseStatus(count: number): string {
  return `\u001b[${count}A\u001b[0J`;
}
