import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { PLAIN_THEME } from "../../src/hooks/plain-theme.js";
import { isMessageEntry } from "../../src/log/entry.js";
import { BUILTIN_TOOLS } from "../../src/tools/index.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";

const page = readFileSync(fileURLToPath(new URL("../../docs/tools.md", import.meta.url)), "utf8");
/** Code by the path of its file in the agent directory. */
const blocks = new Map(
	[...page.matchAll(/^```ts (\S+)\n([\s\S]*?)^```$/gm)].map(([, file = "", code = ""]) => [file, code]),
);

function start(file: string, files: Record<string, string> = {}) {
	const agentDir = tempAgentDir();
	writeFiles(agentDir, { [file]: blocks.get(file) ?? expect.fail(`${file} is not on the page`) });
	return startSession({ agentDir, files });
}

const scenarios: Record<string, () => Promise<void>> = {
	async "tools/count/index.ts"() {
		const { session, provider } = await start("tools/count/index.ts", { "a.txt": "one two\nthree\n" });
		provider.reply([toolCall("count_words", { path: "a.txt" })], "ok");
		await session.prompt("count");
		expect(provider.requests[1]?.messages.at(-1)?.text).toBe("3 words");
	},
	async "hooks/pod.ts"() {
		const agentDir = tempAgentDir();
		const place = tempDir();
		const kubectl = join(place, "kubectl");
		writeFileSync(kubectl, '#!/bin/sh\n[ "$1 $2 $3 $4" = "exec -i web-0 --" ] && shift 4 && exec "$@"\n', {
			mode: 0o755,
		});
		const code = blocks.get("hooks/pod.ts") ?? expect.fail();
		const local = code.replace('"kubectl"', JSON.stringify(kubectl)).replace('"/work"', JSON.stringify(place));
		writeFiles(agentDir, { "hooks/pod.ts": local });
		const { session, provider } = await startSession({ agentDir, on: "pod:web-0" });
		provider.reply([toolCall("ls", {})], "ok");
		await session.prompt("look");
		expect(provider.requests[1]?.messages.at(-1)?.text).toBe("kubectl");
	},
	async "hooks/notes.ts"() {
		const { session, provider } = await start("hooks/notes.ts");
		provider.reply([toolCall("note", { text: "tea" })], [toolCall("note", { text: "milk" })], "ok");
		await session.prompt("note it");
		expect(provider.requests[2]?.messages.at(-1)?.text).toBe("tea\nmilk");
		const result = session.entries.findLast((entry) => isMessageEntry(entry) && entry.message.role === "toolResult");
		const renderer = session.toolRenderer("note");
		expect(renderer?.renderCall?.({ text: "tea" }, PLAIN_THEME)).toBe("note tea");
		const message = isMessageEntry(result) && result.message.role === "toolResult" ? result.message : expect.fail();
		const options = { expanded: false, isPartial: false, isError: false };
		expect(renderer?.renderResult?.(message, PLAIN_THEME, options)).toBe("2 notes");
	},
	async "hooks/wait.ts"() {
		const { session, provider, events } = await start("hooks/wait.ts");
		provider.reply([toolCall("wait", { seconds: 1 })], "ok");
		await session.prompt("wait");
		expect(provider.requests[1]?.messages.at(-1)?.text).toBe("Waited 1 s");
		expect(events).toContainEqual(
			expect.objectContaining({
				type: "tool_execution_update",
				partialResult: expect.objectContaining({ details: { seconds: 0, of: 1 } }),
			}),
		);
		const render = session.toolRenderer("wait")?.renderResult ?? expect.fail();
		const options = { expanded: false, isPartial: true, isError: false };
		const drawn = render({ content: [], details: { seconds: 1, of: 3 } }, PLAIN_THEME, options);
		expect(typeof drawn === "object" && drawn.render(80)).toEqual(["▰▱▱"]);
	},
	async "hooks/hands-off.ts"() {
		const { session } = await start("hooks/hands-off.ts");
		expect(await session.prompt("/hands-off")).toMatchObject({ status: "The agent can only read" });
		expect(await session.prompt("/hands-off")).toMatchObject({ status: "All tools are on" });
	},
	async "hooks/notes-first.ts"() {
		const { session, provider } = await start("hooks/notes-first.ts", {
			"notes/tea.md": "Buy tea.\n",
			"notes/a.md": "no\n",
		});
		provider.reply([toolCall("notes", { pattern: "tea" })], [toolCall("notes", { pattern: "[" })], "ok");
		await session.prompt("look");
		const results = [1, 2].map((index) => provider.requests[index]?.messages.at(-1)?.text);
		expect(results).toEqual(["notes/tea.md\nBuy tea.\n", expect.stringContaining("not a valid regular expression")]);
	},
};

test("a test runs every code block", () => {
	expect([...blocks.keys()].sort()).toEqual(Object.keys(scenarios).sort());
	expect(page.match(/^```/gm)).toHaveLength(2 * blocks.size);
});

test.each(Object.entries(scenarios))("%s does what the page says", (_, run) => run());

test("the calls of background commands return what the page says", async () => {
	const rows = [...page.matchAll(/^\| `(bash|jobs) (\{.*\})` \| (.*) \|$/gm)];
	const calls = rows.map(([, name = "", args = ""]) => toolCall(name, JSON.parse(args)));
	expect(calls).toHaveLength(5);
	const { session, provider } = await startSession({
		files: { "package.json": { scripts: { dev: "sleep 1; echo ready; sleep 1000" } } },
	});
	provider.reply(...calls.map((call) => [call]), "done");
	await session.prompt("go");
	const results = provider.requests.slice(1).map(({ messages }) => messages.at(-1)?.text ?? "");
	expect(results).toEqual([
		expect.stringContaining(/`(.*)`/.exec(rows[0]?.[3] ?? "")?.[1] ?? "?"),
		expect.stringMatching(/^job-1: running for .*: npm run dev/),
		expect.stringMatching(/\n\[job-1: running for .*\]$/),
		expect.stringMatching(/(^|\n)ready\n\n\[job-1: running for [5-9]\.\d s\]$/),
		expect.stringMatching(/\[job-1: stopped after .*\]$/),
	]);
	expect(session.jobs.running).toBe(0);
});

test("the page names every built-in tool", () => {
	const [, names = ""] = /pi has eight: ([^.]*)\./.exec(page) ?? [];
	expect([...names.matchAll(/`(\w+)`/g)].map(([, name]) => name)).toEqual(BUILTIN_TOOLS.map(({ name }) => name));
});
