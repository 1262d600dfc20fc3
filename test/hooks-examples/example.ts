import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { createHookTest, type HookTest, type HookTestOptions } from "../../src/testing/index.js";

/** Path of a file in hooks-examples/. */
export function example(name: string): string {
	return fileURLToPath(new URL(`../../hooks-examples/${name}`, import.meta.url));
}

/** Starts the testing kit with a file of hooks-examples/, and disposes it when the test ends. */
export async function tryExample(name: string, options: Omit<HookTestOptions, "hooks"> = {}): Promise<HookTest> {
	const t = await createHookTest({ ...options, hooks: [example(name)] });
	onTestFinished(() => t.dispose());
	return t;
}
