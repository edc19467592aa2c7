/** Whether two base addresses mean one service: neither a slash at the end nor the host's case counts. */
export function sameService(a: string, b: string): boolean {
  return a === b || normal(a) === normal(b);
}

function normal(address: string): string {
  const text = URL.canParse(address) ? new URL(address).href : address;
  return text.replace(/\/+$/, "");
}
