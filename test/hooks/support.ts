import { onTestFinished } from "vitest";

/** A hook whose factory has this body. */
export const hook = (body: string) => `export default function (pi) {\n${body}\n}\n`;

/** A global that a test shares with its hooks; deleted after the test. */
export function share(name: string, value: unknown): void {
	Reflect.set(globalThis, name, value);
	onTestFinished(() => void Reflect.deleteProperty(globalThis, name));
}
