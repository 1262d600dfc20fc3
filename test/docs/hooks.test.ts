import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { EVENTS, SESSION_REASONS } from "../../src/hooks/events.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(`${root}docs/hooks.md`, "utf8");

interface CodeBlock {
	/** What stands after `ts`: the file that it is, or is quoted from. */
	file: string;
	code: string;
}

const blocks: CodeBlock[] = [...page.matchAll(/^```(?:ts|typescript)\b *(.*)\n([\s\S]*?)^```$/gm)].map(
	([, file = "", code = ""]) => ({ file: file.trim(), code }),
);
const quotes = blocks.filter(({ file }) => file.startsWith("hooks-examples/"));
const hooks = blocks.filter((block) => !quotes.includes(block));

/** Starts a session with one of the page's hooks. */
function startWith(file: string, options: Parameters<typeof startSession>[0] = {}) {
	const found = hooks.find((hook) => hook.file === file);
	return startSession({
		...options,
		hooks: { [file]: found?.code ?? `throw new Error("${file} is not on the page")` },
	});
}

const scenarios: Record<string, () => Promise<void>> = {
	async "no-push.ts"() {
		const { session, provider } = await startWith("no-push.ts");
		provider.reply([toolCall("bash", { command: "git push" }), toolCall("bash", { command: "echo fine" })], "ok");
		await session.prompt("push");
		const results = provider.requests[1]?.messages.slice(-2).map(({ text }) => text.trim());
		expect(results?.[0]).toContain("Pushing is left to the user. Say what you would push.");
		expect(results?.[1]).toContain("fine");
	},
	async "whole-output.ts"() {
		const { session, provider } = await startWith("whole-output.ts");
		provider.reply([toolCall("bash", { command: "seq 1 100000" }), toolCall("bash", { command: "echo short" })], "ok");
		await session.prompt("count");
		const results = provider.requests[1]?.messages.slice(-2).map(({ text }) => text);
		expect(results?.[0]).toMatch(/Search all of it with grep in \/\S+\.$/);
		expect(results?.[1]).not.toContain("Search all of it");
	},
	async "explain.ts"() {
		const { session, provider, sent } = await startWith("explain.ts", { files: { "a.ts": "a", "b.ts": "b" } });
		provider.reply("It is short.");
		expect(await session.prompt("/explain")).toEqual({ kind: "command", status: "Name a file: /explain <file>" });
		await session.prompt("/explain a.ts");
		expect(sent(1)).toEqual(["user: Read a.ts and explain it to someone who is new here. Do not change anything."]);
		expect(await session.completeArguments("explain", "a")).toEqual([{ value: "a.ts" }]);
	},
	async "bookmark.ts"() {
		const { session } = await startWith("bookmark.ts");
		expect(await session.prompt("/bookmark")).toMatchObject({ status: "No bookmarks yet" });
		expect(await session.prompt("/bookmark before the change")).toMatchObject({ status: "Marked entry 1" });
		expect(await session.prompt("/bookmark")).toMatchObject({ status: "1 before the change" });
		const plain = (text: string) => text;
		const theme = { accent: plain, dim: plain, bold: plain, success: plain, warning: plain, error: plain };
		const entry = session.entries[1];
		expect(entry && session.entryRenderer("bookmark")?.(entry, theme)).toBe("★ before the change");
	},
	async "forget.ts"() {
		const { session, provider, sent } = await startWith("forget.ts", { files: { "a.txt": "a" } });
		provider.reply("a1", [toolCall("read", { path: "a.txt" })], "a2", "a3");
		await session.prompt("u1");
		await session.prompt("u2");
		expect(await session.prompt("/forget 2")).toMatchObject({ status: expect.stringContaining("Name the entry") });
		expect(await session.prompt("/forget 3")).toMatchObject({ status: "Turn 3 is hidden from the model" });
		await session.prompt("u3");
		expect(sent(4)).toEqual(["user: u1", "assistant: a1", "user: u3"]);
		expect(session.context.problems).toEqual([]);
	},
	async "replace.ts"() {
		const { session, provider, sent } = await startWith("replace.ts");
		provider.reply("a1", "a2", "a3");
		await session.prompt("u1");
		await session.prompt("/replace We met.");
		await session.prompt("u2");
		expect(sent(2)).toEqual(["user: [Summary]\n\nWe met.", "user: u2"]);
		await session.prompt("/replace We talked.");
		await session.prompt("u3");
		expect(sent(3)).toEqual(["user: [Summary]\n\nWe talked.", "user: u3"]);
	},
};

describe("docs/hooks.md", () => {
	test.each(quotes)("quotes $file as it is", ({ file, code }) => {
		expect(readFileSync(root + file, "utf8")).toContain(code);
	});

	test("every other block of code is a whole hook that a test runs", () => {
		expect(hooks.map(({ file }) => file).sort()).toEqual(Object.keys(scenarios).sort());
	});

	test.each(Object.entries(scenarios))("%s does what the page says", (_, run) => run());

	test("the table of events says what the policy table says", () => {
		const first: Record<string, string> = { session: "`cancel`", before_request: "stop", tool_call: "block" };
		const combine = {
			none: () => "not read",
			first: (name: string) => `the first ${first[name]} ends it`,
			chain: () => "each sees the one before",
		};
		const expected = Object.entries(EVENTS).map(([name, policy]) => [
			`\`${name}\``,
			combine[policy.combine](name),
			policy.deadline === "timeout" ? "`hookTimeout`" : policy.deadline,
			policy.onError === "block" ? "blocks the call" : "is shown",
		]);
		const rows = tableAfter("## Events").map((cells) => [cells[0], ...cells.slice(4)]);
		expect(rows).toEqual(expected);
	});

	test("the table of session reasons says what the policy table says", () => {
		const rows = tableAfter("### Session reasons").flatMap(([reasons = "", what = "", answers = ""]) =>
			reasons.split(", ").map((reason) => ({ reason, what, answers: reason.includes("before_") ? answers : "" })),
		);
		const members = (text: string) => [...text.matchAll(/\{ (\w+)/g)].map(([, member]) => member);
		expect(Object.fromEntries(rows.map(({ reason, answers }) => [reason, members(answers)]))).toEqual(
			Object.fromEntries(Object.entries(SESSION_REASONS).map(([reason, { reads }]) => [`\`${reason}\``, reads])),
		);
		const limits = Object.entries(SESSION_REASONS).filter(([, { deadline }]) => deadline !== EVENTS.session.deadline);
		expect(limits.map(([reason, { deadline }]) => [reason, deadline])).toEqual([
			["before_compact", "none"],
			["shutdown", { togetherMs: 2000 }],
		]);
		expect(page).toContain("`before_compact` has no time limit");
		expect(rows.find(({ reason }) => reason === "`shutdown`")?.what).toContain(
			"two seconds at most for all hooks together",
		);
	});

	test("the table of recipes names every example, and no other file", () => {
		const files = readdirSync(`${root}hooks-examples`).filter((name) => name.endsWith(".ts"));
		const rows = tableAfter("## Recipes").map(([file]) => file);
		expect(rows.sort()).toEqual(files.map((name) => `\`${name}\``).sort());
	});

	test("its links lead to headings that exist", () => {
		const anchors = [...page.matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
			title
				.toLowerCase()
				.replace(/[^\w -]/g, "")
				.replaceAll(" ", "-"),
		);
		const links = [...page.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor);
		expect(links.filter((link) => !anchors.includes(link ?? ""))).toEqual([]);
	});
});

/** Cells of the first table after a heading, without its head. */
function tableAfter(heading: string): string[][] {
	const lines = page.slice(page.indexOf(`\n${heading}\n`)).split("\n");
	const start = lines.findIndex((line) => line.startsWith("|"));
	const end = lines.findIndex((line, i) => i > start && !line.startsWith("|"));
	return lines.slice(start + 2, end).map((line) =>
		line
			.split("|")
			.slice(1, -1)
			.map((cell) => cell.trim()),
	);
}
