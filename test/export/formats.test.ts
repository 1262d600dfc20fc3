import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { conversationParts } from "../../src/export/conversation-parts.js";
import { type ExportFormat, exportPieces, exportToFile, formatOfName } from "../../src/export/formats.js";
import { claude } from "../../src/imports/claude.js";
import type { SessionEntry } from "../../src/log/entry.js";
import { isRecord } from "../../src/util/is-record.js";
import { assistant, bashExecution, compaction, header, result, user } from "../helpers/entries.js";
import { tempDir } from "../helpers/temp.js";
import { PIXEL, sampleSession } from "./sample-session.js";

async function exported(
	format: ExportFormat,
	entries: readonly SessionEntry[],
	title = "Fix the price",
): Promise<string> {
	let text = "";
	const source = { length: entries.length, at: (index: number) => entries[index] };
	for await (const piece of exportPieces(format, { entries: source, name: title })) text += piece;
	return text;
}

describe("exportToFile", () => {
	test("the name of a file says its format", () => {
		expect(["a.html", "b.HTM", "c.md", "d.jsonl", "e.json", "f.txt"].map(formatOfName)).toEqual([
			...["html", "html", "markdown", "claude", "atif", undefined],
		]);
	});

	test.each(["markdown", "claude", "atif"] as const)("does not replace a file with %s", async (format) => {
		const path = join(tempDir(), "README.md");
		writeFileSync(path, "before");
		await expect(exportToFile(path, format, { entries: sampleSession(), name: "t" })).rejects.toThrow(`${path} exists`);
		expect(readFileSync(path, "utf8")).toBe("before");
	});
});

/** Fields of ATIF 1.5 by object, required ones with an exclamation mark; its models refuse all others. */
const ATIF_FIELDS = {
	root: "schema_version! session_id! agent! steps! notes final_metrics continued_trajectory_ref extra",
	agent: "name! version! model_name tool_definitions extra",
	step: "step_id! timestamp source! model_name reasoning_effort message! reasoning_content tool_calls observation metrics extra",
	toolCall: "tool_call_id! function_name! arguments!",
	result: "source_call_id content subagent_trajectory_ref",
	metrics:
		"prompt_tokens completion_tokens cached_tokens cost_usd prompt_token_ids completion_token_ids logprobs extra",
	final: "total_prompt_tokens total_completion_tokens total_cached_tokens total_cost_usd total_steps extra",
} as const;
const AGENT_ONLY = ["model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics"];

type Fields = Record<string, unknown>;

/** What is wrong with a trajectory by the rules of the format's models. */
function atifProblems(text: string): string[] {
	const problems: string[] = [];
	const check = (kind: keyof typeof ATIF_FIELDS, value: unknown): Fields => {
		if (!isRecord(value)) return { problem: problems.push(`${kind} is no object`) };
		const fields = ATIF_FIELDS[kind].split(" ");
		const known = fields.map((name) => name.replace("!", ""));
		for (const name of Object.keys(value)) if (!known.includes(name)) problems.push(`${kind}.${name} is unknown`);
		for (const name of fields) {
			if (name.endsWith("!") && value[name.slice(0, -1)] === undefined) problems.push(`${kind} lacks ${name}`);
		}
		return value;
	};
	const listOf = (value: unknown) => (Array.isArray(value) ? value : []);
	const root = check("root", JSON.parse(text));
	check("agent", root.agent);
	check("final", root.final_metrics);
	const steps = listOf(root.steps);
	if (steps.length === 0) problems.push("no steps");
	if (isRecord(root.final_metrics) && root.final_metrics.total_steps !== steps.length) problems.push("total_steps");
	for (const [at, value] of steps.entries()) {
		const step = check("step", value);
		if (step.step_id !== at + 1) problems.push(`step ${at} has the id ${step.step_id}`);
		if (!["system", "user", "agent"].includes(String(step.source))) problems.push(`source ${step.source}`);
		if (typeof step.message !== "string") problems.push("message is no text");
		if (Number.isNaN(Date.parse(String(step.timestamp ?? 0)))) problems.push(`timestamp ${step.timestamp}`);
		if (step.source !== "agent")
			for (const name of AGENT_ONLY) if (name in step) problems.push(`${name} in a step of ${step.source}`);
		if (step.metrics !== undefined) check("metrics", step.metrics);
		const calls = listOf(step.tool_calls).map((call) => check("toolCall", call));
		for (const call of calls) if (!isRecord(call.arguments)) problems.push("arguments are no object");
		const results = isRecord(step.observation) ? listOf(step.observation.results) : [];
		for (const found of results.map((entry) => check("result", entry))) {
			if (!calls.some((call) => call.tool_call_id === found.source_call_id)) problems.push("result without its call");
			if (typeof found.content !== "string") problems.push("content is no text");
		}
	}
	return problems;
}

const TEXTS = fc.oneof(
	fc.string(),
	fc.constantFrom("", "```\ncode\n```", "# a", "\u001b[31mred", "</script>", "[x](y)"),
);
function shell(output: string): SessionEntry {
	return { type: "message", timestamp: "2026-01-01T00:00:00.000Z", message: { ...bashExecution, output } };
}

function undo(entryIndex: number): SessionEntry {
	return { type: "context_undo", timestamp: "2026-01-01T00:00:00.000Z", entryIndex };
}

/** Any order of messages, also those that no program writes. */
const ENTRIES = fc.array(
	fc.oneof(
		TEXTS.map((text) => user(text)),
		fc.tuple(TEXTS, fc.uniqueArray(fc.nat(4))).map(([text, ids]) =>
			assistant(
				text,
				ids.map((id) => ({ id: `call-${id}`, name: ["bash", "read", "edit", "their_tool"][id % 4] ?? "bash" })),
			),
		),
		fc.tuple(fc.nat(4), TEXTS).map(([id, text]) => result(`call-${id}`, text, "bash")),
		TEXTS.map((output) => shell(output)),
		TEXTS.map((text) => compaction(1, text)),
	),
	{ maxLength: 12 },
);

describe("ATIF", () => {
	test("a session is a legal trajectory: steps in order, results with their calls, and the sums", async () => {
		const text = await exported("atif", sampleSession());
		expect(atifProblems(text)).toEqual([]);
		const { steps, final_metrics: sums, ...rest } = JSON.parse(text);
		expect(rest).toMatchObject({ schema_version: "ATIF-v1.5", agent: { name: "pi", model_name: "acme/coder-2" } });
		const called = steps.filter((step: Fields) => step.tool_calls);
		expect(called[0]).toMatchObject({
			source: "agent",
			metrics: { prompt_tokens: expect.any(Number), cost_usd: expect.any(Number) },
			observation: { results: [{ source_call_id: called[0].tool_calls[0].tool_call_id }] },
		});
		expect(sums.total_prompt_tokens).toBe(
			steps.reduce(
				(sum: number, step: { metrics?: { prompt_tokens: number } }) => sum + (step.metrics?.prompt_tokens ?? 0),
				0,
			),
		);
		expect(steps.some((step: { extra?: Fields }) => step.extra?.kind === "compaction")).toBe(true);
	});

	test("an undone summary says so", async () => {
		const entries = [header(), user("hi"), compaction(1, "Undone."), undo(2), compaction(1, "In force.")];
		const { steps } = JSON.parse(await exported("atif", entries));
		expect(
			steps.slice(1).map(({ message, extra }: { message: string; extra: Fields }) => [message, extra.undone]),
		).toEqual([
			["Undone.", true],
			["In force.", undefined],
		]);
	});

	test("any session is a legal trajectory", async () => {
		await fc.assert(
			fc.asyncProperty(ENTRIES, async (entries) => {
				expect(atifProblems(await exported("atif", [header(), ...entries]))).toEqual([]);
			}),
		);
	});

	test("a failed call is named, and an image is", async () => {
		const failed = result("call-1", "no such file", "read");
		if (failed.message.role === "toolResult") {
			failed.message.isError = true;
			failed.message.content.push({ type: "image", data: PIXEL, mimeType: "image/png" });
		}
		const entries = [header(), user("hi"), assistant("", [{ id: "call-1", name: "read" }]), failed];
		const { steps } = JSON.parse(await exported("atif", entries));
		expect(steps[1]).toMatchObject({
			extra: { failed_calls: ["call-1"] },
			observation: { results: [{ content: "no such file\n[image/png]" }] },
		});
	});
});

describe("Markdown", () => {
	test("a session as text", async () => {
		await expect(await exported("markdown", sampleSession())).toMatchFileSnapshot("__snapshots__/sample-session.md");
	});

	test("an undone summary is omitted", async () => {
		const entries = [header(), user("hi"), compaction(1, "Undone."), undo(2), compaction(1, "In force.")];
		const text = await exported("markdown", entries);
		expect(text).toContain("## Summary of everything above\n\nIn force.");
		expect(text).not.toContain("Undone.");
	});

	test("code blocks end where their text ends, and control characters are visible", async () => {
		await fc.assert(
			fc.asyncProperty(TEXTS, async (text) => {
				const entries = [header(), user("hi"), assistant("", [{ id: "1", name: "bash" }]), result("1", text, "bash")];
				const lines = (await exported("markdown", [...entries, user("the end")])).split("\n");
				expect(lines.join("")).not.toMatch(/[\u0000-\u0008\u001b]/);
				expect(outsideFences(lines).slice(-3)).toEqual(["", "the end", ""]);
			}),
		);
	});
});

/** The lines that are not in a code block. */
function outsideFences(lines: readonly string[]): string[] {
	let fence: string | null = null;
	return lines.filter((line) => {
		const mark = /^`{3,}/.exec(line)?.[0] ?? null;
		if (fence === null) {
			fence = mark;
			return mark === null;
		}
		if (mark !== null && mark.length >= fence.length && line === mark) fence = null;
		return false;
	});
}

describe("Claude Code", () => {
	/** Exports a session, and reads what Claude Code would find. */
	async function roundTrip(entries: readonly SessionEntry[]) {
		const path = join(tempDir(), "s.jsonl");
		writeFileSync(path, await exported("claude", entries));
		return claude.read(path, "");
	}

	const plain = (entries: readonly SessionEntry[]) =>
		[
			...conversationParts({
				length: entries.length + 1,
				at: (i: number) => [header(), ...entries][i],
			}),
		].map((part) => {
			if (part.kind === "summary" || part.kind === "note") return [part.kind, part.text];
			if (part.kind === "shell") return [part.kind, part.message.command, part.message.output];
			if (part.kind === "prompt") return [part.kind, part.message.content];
			const blocks = part.message.content.map((block) =>
				block.type === "toolCall" ? [block.name, block.arguments] : block.type === "text" ? block.text : "thinking",
			);
			return [
				part.kind,
				blocks,
				part.results.map(({ content, isError }) => [content, isError]),
				part.message.usage.input,
			];
		});

	test("a session is the same when it is imported again", async () => {
		const call = (id: string, name: string, args: Fields) => ({ id, name, arguments: args as never });
		const entries = [
			user("What does a.ts do?"),
			assistant("Let me look.", [
				call("1", "read", { path: "/project/a.ts", limit: 3 }),
				call("2", "bash", { command: "npm test", timeout: 20 }),
				call("3", "edit", { path: "/project/a.ts", oldText: "a", newText: "b", replaceAll: true }),
				call("4", "edit", { path: "/project/a.ts", edits: [{ oldText: "a", newText: "b" }] }),
				call("5", "grep", { pattern: "a", path: "/project", ignoreCase: true, output: "files" }),
				call("6", "find", { pattern: "*.ts" }),
				call("7", "their_tool", { anything: [1] }),
			]),
			...["1", "2", "3", "4", "5", "6", "7"].map((id) => result(id, `result ${id}`, "tool")),
			assistant("It adds."),
			shell("a.ts"),
			user("Thanks"),
			assistant("Bye."),
		];
		const read = await roundTrip([header(), ...entries]);
		expect(plain(read.entries)).toEqual(plain(entries));
		expect(read.leftOut).toEqual({});
	});

	test("names of Claude Code, absolute paths, milliseconds, and one line after the other", async () => {
		const entries = [
			{ ...header(), cwd: "/project" },
			user("hi"),
			assistant("", [{ id: "1", name: "read", arguments: { path: "src/../a.ts" } }]),
			result("1", "x", "read"),
			assistant("", [{ id: "2", name: "bash", arguments: { command: "ls", timeout: 5 } }]),
		];
		const lines = (await exported("claude", entries))
			.trim()
			.split("\n")
			.map((line) => JSON.parse(line));
		const inputs = lines.flatMap(({ message }) =>
			Array.isArray(message?.content)
				? message.content.flatMap(({ name, input }: Fields) => (name ? [[name, input]] : []))
				: [],
		);
		expect(inputs).toEqual([
			["Read", { file_path: "/project/a.ts" }],
			["Bash", { command: "ls", timeout: 5000 }],
		]);
		const chain = lines.filter(({ uuid }) => uuid);
		expect(chain.slice(1).map(({ parentUuid }) => parentUuid)).toEqual(chain.slice(0, -1).map(({ uuid }) => uuid));
		expect(lines.find(({ message }) => message?.content?.[0]?.tool_use_id === "2")?.message.content[0].is_error).toBe(
			true,
		);
	});

	test("the latest summary stands before the messages that pi keeps", async () => {
		const entries = [
			header(),
			user("first"),
			assistant("One."),
			user("second"),
			assistant("Two."),
			compaction(3, "So far."),
		];
		const read = await roundTrip([...entries, user("third")]);
		expect(plain(read.entries).map(([kind, text]) => `${kind} ${text}`)).toEqual([
			"prompt first",
			...["reply One.", "summary So far.", "prompt second", "reply Two.", "prompt third"],
		]);
	});

	test("an undone summary is omitted, and one before it counts again", async () => {
		const entries = [
			header(),
			user("first"),
			assistant("One."),
			compaction(3, "So far."),
			user("second"),
			assistant("Two."),
		];
		const undone = [...entries, compaction(6, "Undone."), undo(6), user("third")];
		const lines = async (all: readonly SessionEntry[]) =>
			plain((await roundTrip(all)).entries).map(([kind, text]) => `${kind} ${text}`);
		const said = ["prompt first", "reply One.", "summary So far.", "prompt second", "reply Two.", "prompt third"];
		expect(await lines(undone)).toEqual(said);
		expect(await lines([...undone, undo(3)])).toEqual(said.filter((line) => line !== "summary So far."));
		expect(await exported("claude", [...undone, undo(3)])).not.toContain("compact_boundary");
	});

	test("a summary after the frozen request is omitted", async () => {
		const answered = {
			...assistant("Two."),
			context: { digest: "", messages: 3, tokens: 1, shape: [[1, 4]] as [number, number][] },
		};
		const entries = [header(), user("first"), assistant("One."), user("second"), answered, compaction(5, "Later.")];
		const freeze: SessionEntry = { type: "context_freeze", timestamp: "2026-01-01T00:00:00.000Z", entryIndex: 4 };
		expect(await exported("claude", [...entries, user("third")])).toContain("Later.");
		expect(await exported("claude", [...entries, freeze, user("third")])).not.toContain("Later.");
	});

	test("prompts and replies of any session come back in order", async () => {
		const said = fc.oneof(
			fc.stringMatching(/^[a-z]{1,8}$/).map((text) => user(text)),
			fc
				.tuple(fc.stringMatching(/^[a-z]{1,8}$/), fc.boolean())
				.map(([text, calls]) => assistant(text, calls ? [{ id: text, name: "their_tool" }] : [])),
		);
		const texts = (entries: readonly SessionEntry[]) =>
			plain(entries).map(([kind, content]) => [kind, Array.isArray(content) ? content.flat()[0] : content]);
		await fc.assert(
			fc.asyncProperty(fc.array(said, { maxLength: 8 }), async (entries) => {
				const read = await roundTrip([header(), user("hi"), ...entries]);
				expect(texts(read.entries)).toEqual(texts([user("hi"), ...entries]));
			}),
			{ numRuns: 50 },
		);
	});
});
