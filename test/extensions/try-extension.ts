import { onTestFinished } from "vitest";
import { createHookTest, type HookTest, type HookTestOptions } from "../../src/testing/index.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

/** The source of an extension whose factory has this body. */
export const extension = (body: string) => `export default function (pi) {\n${body}\n}\n`;

/** Starts a session with an extension whose factory has this body. */
export async function tryExtension(body: string, options: Omit<HookTestOptions, "hooks"> = {}): Promise<HookTest> {
	const dir = tempDir();
	writeFiles(dir, { "mine.ts": extension(body) });
	const t = await createHookTest({ ...options, hooks: [], extensions: [`${dir}/mine.ts`] });
	onTestFinished(() => t.dispose());
	return t;
}
