import { onTestFinished } from "vitest";

/** A hook whose factory has this body. */
export const hook = (body: string) => `export default function (pi) {\n${body}\n}\n`;

/** A global that hooks of a test share with it; gone when the test is over. */
export function share(name: string, value: unknown): void {
	Reflect.set(globalThis, name, value);
	onTestFinished(() => void Reflect.deleteProperty(globalThis, name));
}
