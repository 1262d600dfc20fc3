import { type ExportHtmlOptions, htmlText } from "../../src/export/html.js";
import type { RecordedRequest, SessionEntry } from "../../src/log/entry.js";
import { assistantMessage, compaction, custom, header, result, user } from "../helpers/entries.js";

const TIMESTAMP = "2026-01-01T00:00:00.000Z";

/** A one-pixel PNG image, base64. */
export const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** An HTML page in one piece. */
export function pageOf(options: ExportHtmlOptions): string {
	return [...htmlText(options)].join("");
}

/** An entry with a reply to a request of this many tokens. */
function reply(
	text: string,
	calls: Parameters<typeof assistantMessage>[1],
	{
		tokens,
		messages,
		thinking,
		shape,
	}: { tokens: number; messages: number; thinking?: string; shape?: RecordedRequest },
): SessionEntry {
	const message = assistantMessage(text, calls);
	const cacheRead = Math.round(tokens * 0.8);
	return {
		type: "message",
		timestamp: TIMESTAMP,
		message: {
			...message,
			provider: "acme",
			model: "coder-2",
			content: [...(thinking ? [{ type: "thinking" as const, thinking }] : []), ...message.content],
			usage: {
				...message.usage,
				input: tokens - cacheRead,
				cacheRead,
				cost: { ...message.usage.cost, total: tokens / 400_000 },
			},
		},
		context: { digest: "", messages, tokens, ...(shape && { shape }) },
	};
}

/**
 * A session with one of everything: 6 requests (entries 2, 4, 7, 13, 15, 18), a compaction in entry 10 that keeps entries
 * 7 to 9 and shortens entry 8, and a hook that hides entries 13 and 14 from the last request, adds a message to it and
 * replaces entry 16.
 */
export function sampleSession(): SessionEntry[] {
	const edit = result("edit-1", "Edited src/price.ts", "edit");
	if (edit.message.role === "toolResult") {
		edit.message.details = {
			diff: '  1 export function price(cents: number): string {\n- 2 \treturn (cents / 100).toFixed(1);\n+ 2 \treturn (cents / 100).toFixed(2);\n  3 }\n …\n+12 export const CURRENCY = "USD";',
			added: 2,
			removed: 1,
		};
	}
	const failed = result("bash-1", "FAIL test/price.test.ts\n  expected 1.50, received 1.5\n\nexit code 1", "bash");
	if (failed.message.role === "toolResult") {
		failed.message.isError = true;
		failed.message.details = { exitCode: 1, durationMs: 820 };
	}
	const source =
		'import { format } from "./format.js";\n\n/** A price in dollars. */\nexport function price(cents: number): string {\n\treturn (cents / 100).toFixed(1); // wrong for 150\n}\n';
	return [
		{ ...header(), id: "0198f1c2", cwd: "/home/ada/shop" },
		user([
			{ type: "text", text: "The price test fails. Find out why and fix it.\nHere is a screenshot:" },
			{ type: "image", data: PIXEL, mimeType: "image/png" },
		]),
		reply(
			"I'll run the test first.",
			[{ id: "bash-1", name: "bash", arguments: { command: "npm test -- price", timeout: 60 } }],
			{
				tokens: 2100,
				messages: 1,
				thinking: "The test probably compares strings. Let me see what it prints before I read the source.",
			},
		),
		failed,
		reply("", [{ id: "read-1", name: "read", arguments: { path: "src/price.ts" } }], { tokens: 2600, messages: 3 }),
		result("read-1", source, "read"),
		{
			type: "system_item",
			timestamp: TIMESTAMP,
			source: "tasks",
			item: { kind: "task_reminder", text: "1 of 2 tasks is done" },
		},
		reply(
			"`toFixed(1)` drops a digit. I'll fix that:",
			[
				{
					id: "edit-1",
					name: "edit",
					arguments: { path: "src/price.ts", oldText: "toFixed(1)", newText: "toFixed(2)" },
				},
			],
			{ tokens: 3900, messages: 6 },
		),
		edit,
		user("Thanks. Please explain the difference in a table."),
		{
			...compaction(
				7,
				"## Goal\n\nFix the failing price test.\n\n- `src/price.ts` used `toFixed(1)`; it is `toFixed(2)` now.",
			),
			shortened: [{ entryIndex: 8, characters: 10 }],
		},
		{
			type: "message",
			timestamp: TIMESTAMP,
			message: {
				role: "bashExecution",
				command: "git status --short",
				output: " M src/price.ts",
				exitCode: 0,
				cancelled: false,
				truncated: false,
				timestamp: 1,
			},
		},
		custom("stack-marker", { label: "explain", depth: 1 }),
		reply(
			"### Why it failed\n\n| call | result |\n|---|---:|\n| `(1.5).toFixed(1)` | 1.5 |\n| `(1.5).toFixed(2)` | 1.50 |\n\n1. The test expects *two* digits.\n2. The function returned **one**.\n\n> Prices always have two digits.\n\n```ts\n// The fix\nexport const price = (cents: number) => (cents / 100).toFixed(2);\n```\n\nSee [the docs](https://example.test/toFixed).",
			[],
			{ tokens: 1400, messages: 5 },
		),
		user("And in Python?"),
		reply(
			"",
			[
				{
					id: "write-1",
					name: "write",
					arguments: {
						path: "price.py",
						content: 'def price(cents: int) -> str:\n    """A price in dollars."""\n    return f"{cents / 100:.2f}"\n',
					},
				},
			],
			{ tokens: 1900, messages: 7 },
		),
		result("write-1", "Created price.py", "write"),
		user("Is that all?"),
		reply("Yes: the test passes, and `price.py` does the same.", [], {
			tokens: 900,
			messages: 9,
			shape: [
				{ compaction: 10 },
				[7, 8],
				{ compaction: 10, entry: 8 },
				[9, 13],
				{
					message: { role: "user", content: "Two earlier questions were answered: a table, and Python.", timestamp: 1 },
					entryIndex: null,
				},
				[15, 16],
				{ message: result("write-1", "Created it", "write").message, entryIndex: 16 },
				[17, 18],
			],
		}),
		{ type: "session_info", timestamp: TIMESTAMP, name: "Fix the price test" },
	];
}
