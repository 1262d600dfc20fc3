import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { buildContext } from "../../src/context/build-context.js";
import { importSession } from "../../src/imports/import-session.js";
import type { ImportPlace } from "../../src/imports/program.js";
import { sessionsAt } from "../../src/imports/programs.js";
import { checkSession } from "../../src/log/check-session.js";
import { SessionLog } from "../../src/log/session-log.js";
import { tempDir } from "../log/support.js";

export const CWD = "/home/ada/shop";
export const lines = (...values: unknown[]) =>
	values.map((value) => `${typeof value === "string" ? value : JSON.stringify(value)}\n`).join("");

export function write(path: string, text: string): string {
	mkdirSync(dirname(path), { recursive: true });
	writeFileSync(path, text);
	return path;
}

/** Imports the first session in a file, and checks what must hold for each: legal, undamaged, the source unchanged. */
export async function imported(path: string) {
	const before = readFileSync(path);
	const [found] = sessionsAt(path).sessions;
	if (!found) throw new Error("no session found");
	const made = await importSession(found, { dir: join(tempDir(), "sessions"), cwd: "/here" });
	expect(readFileSync(path)).toEqual(before);
	const log = SessionLog.open(made.path, { readOnly: true });
	const { entries, header } = log;
	log.close();
	const { messages, problems } = await buildContext(entries, []);
	expect(problems).toEqual([]);
	expect(checkSession(made.path).issues).toEqual([]);
	return { found, made, header, entries: entries.slice(1) as readonly Record<string, unknown>[], messages };
}

/** Entries in short: role or type, then text, calls, signature. */
export function short(entries: readonly Record<string, unknown>[]): string[] {
	return entries.map((entry) => {
		const { role, content, toolName, command, isError } = (entry.message ?? {}) as Record<string, unknown>;
		const item = entry.item as { text: string } | undefined;
		if (role === undefined) return `${entry.type} ${item?.text ?? entry.summary ?? entry.name ?? ""}`.trim();
		if (role === "bashExecution") return `!${command}`;
		const blocks =
			typeof content === "string" ? [{ type: "text", text: content }] : (content as Record<string, unknown>[]);
		const texts = blocks.map((block) => {
			if (block.type === "toolCall") return `${block.name}(${JSON.stringify(block.arguments)})`;
			if (block.type === "thinking") return `<${block.thinking}${block.redacted ? "redacted" : ""}>`;
			return block.type === "image" ? `[${block.mimeType}]` : block.text;
		});
		return [role === "toolResult" ? `${toolName}${isError ? " failed" : ""}:` : role, ...texts].join(" ");
	});
}

/** The parts of a Claude Code session: each line continues the line before unless it says otherwise. */
export function claudeLines(...parts: Record<string, unknown>[]): string {
	const common = { isSidechain: false, cwd: CWD, sessionId: "c-1", version: "2.1.37" };
	return lines(
		...parts.map((part, index) => {
			const uuid = String(index);
			const parentUuid = index === 0 ? null : String(index - 1);
			return { ...common, timestamp: `2026-01-01T10:00:0${index % 10}.000Z`, uuid, parentUuid, ...part };
		}),
	);
}
export const typed = (content: unknown, more: object = {}) => ({
	type: "user",
	message: { role: "user", content },
	...more,
});
export const said = (id: string, block: object, more: object = {}) => ({
	type: "assistant",
	message: {
		...{ id, role: "assistant", model: "claude-opus-4-5-20251101", content: [block] },
		usage: { input_tokens: 10, output_tokens: 20, cache_read_input_tokens: 300, cache_creation_input_tokens: 40 },
	},
	...more,
});
export const use = (id: string, name: string, input: object) => ({ type: "tool_use", id, name, input });
export const result = (id: string, content: unknown, more: object = {}) =>
	typed([{ type: "tool_result", tool_use_id: id, content }], more);

/** Where programs keep sessions of `CWD`. */
export function placeIn(home: string): ImportPlace {
	return { cwd: CWD, home, env: {}, sessionDir: join(home, "sessions") };
}
