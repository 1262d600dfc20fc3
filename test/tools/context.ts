import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { ToolContext, ToolResult } from "../../src/tools/tool.js";
import { createTestHost } from "../helpers/tool-hosts.js";

/** A context in a new working directory, next to a directory for long output. Both are removed after the test. */
export async function toolContext(changes: Partial<ToolContext> = {}): Promise<ToolContext> {
	const dir = await realpath(await mkdtemp(join(tmpdir(), "pi-tool-")));
	onTestFinished(() => rm(dir, { recursive: true, force: true }));
	const cwd = join(dir, "work");
	await mkdir(cwd);
	const context = {
		cwd,
		signal: new AbortController().signal,
		toolCallId: "call-1",
		tmpDir: join(dir, "tmp"),
		...changes,
	};
	return { ...context, host: changes.host ?? (await createTestHost(context.cwd)) };
}

/** The text of a result; an image is replaced by its MIME type. */
export function textOf(result: ToolResult): string {
	return result.content.map((part) => (part.type === "text" ? part.text : `<${part.mimeType}>`)).join("\n");
}
