/** Sets an own property whatever its name: by assignment, `__proto__` would change the object's prototype. */
export function setOwn<T>(map: Record<string, T>, key: string, value: T): void {
  if (key === "__proto__")
    Object.defineProperty(map, key, { value, writable: true, enumerable: true, configurable: true });
  else map[key] = value;
}
