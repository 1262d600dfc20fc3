import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider, text, toolCall } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor, openPi, read, submit, submitIdle } from "./support.js";

const page = readFileSync(new URL("../../docs/usage.md", import.meta.url), "utf8");
/** The commands of the section on the export. */
const COMMANDS = (/\n## Export\n[\s\S]*?```\n([\s\S]*?)```/.exec(page)?.[1] ?? "").trim().split("\n");

/** A hook that removes the first exchange from the context. */
const FORGET = `export default (pi) => {
	pi.on("context", ({ messages }) => ({ messages: messages.length > 3 ? messages.slice(2) : messages }));
};`;

/** The requests of a page, in the words of its ledger. */
function requestsOf(html: string): { reasons: { text: string }[]; requests: { reply?: number; changes?: number[] }[] } {
	const [, json = "{}"] = /<script type="application\/json" id="ledger">([^<]*)<\/script>/.exec(html) ?? [];
	return JSON.parse(json);
}

/** The only session: its file and the start of its id. */
function sessionOf(agentDir: string): { file: string; id: string } {
	const dir = join(agentDir, "sessions");
	const [folder = ""] = readdirSync(dir);
	const [name = ""] = readdirSync(join(dir, folder)).filter((file) => file.endsWith(".jsonl"));
	const file = join(dir, folder, name);
	return { file, id: JSON.parse(readFileSync(file, "utf8").split("\n")[0] ?? "").id.slice(0, 8) };
}

test("a session is exported with /export and with every command of the documentation", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider, { hooks: { "forget.ts": FORGET } });
	const cwd = tempDir();
	writeFiles(cwd, { "price.ts": "export const price = 1;\n" });
	provider
		.reply("A shop.")
		.reply([text("I'll read it."), toolCall("read", { path: "price.ts" })])
		.reply("It is `1`.\n\n```ts\nconst price = 1;\n```\n\n</script><script>alert(1)</script>");
	const pi = await openPi({ agentDir, cwd });
	await submit(pi, "what is this project?");
	await pi.waitForText("A shop.");
	await submit(pi, "what is the price?");
	await pi.waitForText("const price = 1;");
	await submitIdle(pi, "/export notes.md");
	await pi.waitForText("notes.md");
	await submitIdle(pi, "/export live.html");
	await pi.waitForText("live.html");
	await submitIdle(pi, "/quit");
	await pi.exited;

	expect(readFileSync(join(cwd, "notes.md"), "utf8")).toMatch(/^# [\s\S]*A shop\.[\s\S]*It is `1`\./);
	const live = readFileSync(join(cwd, "live.html"), "utf8");
	expect(statSync(join(cwd, "live.html")).mode & 0o777).toBe(0o600);
	expect(live).toContain('<pre><code><span class="k">const</span> price = <span class="n">1</span>;</code></pre>');
	expect(live).toMatch(/<b>read<\/b> price\.ts[\s\S]*<span class="k">export<\/span>/);
	expect(live).not.toContain("<script>alert(1)");
	const { reasons, requests } = requestsOf(live);
	const hidden = (changes: number[] = []) => changes.map((value, at) => (at % 3 === 2 ? reasons[value]?.text : value));
	expect(requests.map(({ changes }) => hidden(changes))).toEqual([
		[],
		[],
		[0, 3, "hidden by a hook"],
		expect.any(Array),
	]);
	expect(hidden(requests.at(-1)?.changes).at(-1)).toMatch(/^hidden by the hook .*forget\.ts$/);

	const { file, id } = sessionOf(agentDir);
	expect(COMMANDS).toHaveLength(3);
	for (const command of COMMANDS) {
		const args = command.split(" ").slice(1);
		const run = await runPi(
			args.map((word) => word.replace("0198f1c2", id).replace("./sessions/2026-01-02.jsonl", file)),
			{ agentDir, cwd },
		);
		expect(run).toMatchObject({ code: 0, stderr: "" });
		expect(run.stdout).toMatch(args[2] === undefined ? /\/pi-session-\S+\.html\n$/ : /\/review\.html\n$/);
		const html = readFileSync(run.stdout.trim(), "utf8");
		expect(requestsOf(html).requests.slice(0, 3)).toEqual(requests.slice(0, 3));
	}
});

test("an undone compaction is in no format that another program continues from", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider, { settings: { compaction: { keepRecentTokens: 1 } } });
	const cwd = tempDir();
	const pi = await openPi({ agentDir, cwd });
	for (const number of ["one", "two", "three"]) {
		// Long enough for a compaction.
		provider.reply(`${"word ".repeat(2000)}\n\nReply ${number}.`);
		await submit(pi, `prompt ${number}`);
		await pi.waitForText(`Reply ${number}.`);
		await pi.waitForGone("esc stops");
	}
	provider.reply("The summary of one and two.");
	await submitIdle(pi, "/compact");
	await pi.waitForText("enter accept");
	await read();
	await pi.press("enter");
	await pi.waitForText("compacted here");
	await submitIdle(pi, "/uncompact anyway");
	await pi.waitForText(/entry \d+ undone/);
	provider.reply("Reply four.");
	await submit(pi, "prompt four");
	await pi.waitForText("Reply four.");
	await submitIdle(pi, "/quit");
	await pi.exited;

	const { id } = sessionOf(agentDir);
	const exported = async (format: string) =>
		(await runPi(["sessions", "export", id, "-", "--format", format], { agentDir, cwd })).stdout;
	const lines = (await exported("claude"))
		.trim()
		.split("\n")
		.map((line) => JSON.parse(line));
	expect(lines.filter(({ uuid }) => uuid).map(({ type, subtype }) => subtype ?? type)).toEqual(
		["one", "two", "three", "four"].flatMap(() => ["user", "assistant"]),
	);
	expect(await exported("markdown")).not.toContain("The summary of one and two.");
	expect(await exported("html")).toContain("A summary replaced the earlier messages until it was undone");
	const { steps } = JSON.parse(await exported("atif"));
	expect(steps.filter(({ extra }: { extra?: { kind?: string } }) => extra?.kind === "compaction")).toEqual([
		expect.objectContaining({
			message: "The summary of one and two.",
			extra: expect.objectContaining({ undone: true }),
		}),
	]);
});
