import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { startSession } from "../../helpers/session.js";
import { tempAgentDir, tempDir, writeFiles } from "../../helpers/temp.js";
import { run } from "./run.js";

const STACK = fileURLToPath(new URL("../../fixtures/hooks/stack-design.ts", import.meta.url));

/** A session of three turns in which the second and third were popped. */
async function poppedSession() {
	const [agentDir, cwd] = [tempAgentDir(), tempDir("pi-project-")];
	const { session, provider } = await startSession({ agentDir, cwd, session: { kind: "new" }, hookFiles: [STACK] });
	provider.reply("a1", "a2", "a3", "SUM", "a4");
	for (const prompt of ["u1", "u2", "u3", "/pop 3", "u4"]) await session.prompt(prompt);
	const file = session.sessionFile ?? "";
	await session.dispose();
	return { agentDir, cwd, file };
}

describe("pi context", () => {
	test("prints the messages, their origins and the hidden entries, without model and network", async () => {
		const { cwd, file } = await poppedSession();
		const before = readFileSync(file);
		const result = await run({ name: "context", verify: false }, { cwd, session: file, hooks: [STACK], json: true });
		expect(result).toMatchObject({ code: 0, stderr: "" });
		const tokens = expect.any(Number);
		const entry = { kind: "entry" };
		const { systemPrompt, tools, ...report } = JSON.parse(result.stdout);
		const ids = ["base", "tools", "environment"];
		const core = { tokens, cached: true, origin: { kind: "core" }, text: expect.any(String) };
		expect(systemPrompt).toEqual(ids.map((id) => ({ id, ...core })));
		expect(tools).toHaveLength(8);
		expect(tools[0]).toEqual({ name: "read", ...core });
		expect(report).toEqual({
			session: file,
			at: 10,
			hooks: [{ path: STACK, scope: "flag" }],
			tokens,
			prefix: { tools: 8, systemPrompt: 3, messages: 4, tokens },
			resent: 0,
			messages: [
				{ position: 0, entryIndex: 1, role: "user", tokens, cached: true, origin: entry, text: "u1" },
				{ position: 1, entryIndex: 2, role: "assistant", tokens, cached: true, origin: entry, text: "a1" },
				{
					position: 2,
					entryIndex: null,
					role: "user",
					tokens,
					cached: true,
					origin: { kind: "hook", hook: STACK },
					text: "[Summary]\n\nSUM",
				},
				{ position: 3, entryIndex: 9, role: "user", tokens, cached: true, origin: entry, text: "u4" },
				{ position: 4, entryIndex: 10, role: "assistant", tokens, cached: false, origin: entry, text: "a4" },
			],
			hidden: [3, 4, 5, 6].map((entryIndex) => ({
				entryIndex,
				role: entryIndex % 2 === 1 ? "user" : "assistant",
				tokens,
				by: { kind: "hook", hook: STACK },
			})),
			removed: [],
			problems: [],
			unstable: [],
		});
		expect(readFileSync(file)).toEqual(before);
	});

	test("tools that a hook registers when the session starts are part of the requests", async () => {
		const { cwd, agentDir, file } = await poppedSession();
		const place = { cwd, agentDir, session: file, json: true };
		const names = async (...hooks: string[]) => {
			const { stdout, code, stderr } = await run({ name: "context", verify: false }, { ...place, hooks });
			expect([code, stderr]).toEqual([0, ""]);
			return JSON.parse(stdout).tools.map(({ name }: { name: string }) => name);
		};
		const plain = await names();
		expect(plain).not.toContain("recall");
		// Both of them provide the tool, unless another hook has.
		expect(await names("pi:recall", "pi:clear")).toEqual([...plain, "recall"]);
		writeFiles(cwd, {
			"late.ts": `export default (pi) => pi.on("session", ({ reason }, ctx) => {
				if (reason !== "start") return;
				if (!ctx.tools.all.some(({ name }) => name === "read")) throw new Error("the tools are missing");
				pi.tool({ name: "late", description: "Late", parameters: { type: "object" }, run: () => ({ content: [] }) });
			});`,
		});
		expect(await names(`${cwd}/late.ts`)).toEqual([...plain, "late"]);
	});

	test("a context without a hook is a trial", async () => {
		const { cwd, agentDir, file } = await poppedSession();
		writeFiles(cwd, {
			"trial.ts": `export default (pi) => pi.on("context", ({ messages, trial }) => ({
				messages: [...messages, { role: "user", content: "trial: " + trial, timestamp: 0 }] }));`,
		});
		const hooks = [STACK, `${cwd}/trial.ts`];
		const text = async (without?: string[]) =>
			(
				await run(
					{ name: "context", verify: false, ...(without && { without }) },
					{ cwd, agentDir, session: file, hooks },
				)
			).stdout;
		expect(await text()).toContain("trial: false");
		expect(await text([STACK])).toContain("trial: true");
	});

	test("--at shows an earlier point, and nothing is hidden without the hook", async () => {
		const { cwd, file } = await poppedSession();
		const at = async (index: number, hooks: string[]) => {
			const { stdout } = await run(
				{ name: "context", at: index, verify: false },
				{ cwd, session: file, hooks, findHooks: false, json: true },
			);
			return JSON.parse(stdout).messages.map((message: { text: string }) => message.text);
		};
		expect(await at(5, [STACK])).toEqual(["u1", "a1", "u2", "a2", "u3"]);
		expect(await at(8, [STACK])).toEqual(["u1", "a1", "[Summary]\n\nSUM"]);
		expect(await at(10, [])).toEqual(["u1", "a1", "u2", "a2", "u3", "a3", "u4", "a4"]);
		await expect(at(11, [])).rejects.toThrow("--at 11: no such entry, the session has entries 0 to 10");
	});

	test("uses the latest session of the directory, and prints lines", async () => {
		const { agentDir, cwd, file } = await poppedSession();
		const { stdout } = await run({ name: "context", verify: false }, { agentDir, cwd, hooks: [STACK] });
		expect(stdout).toContain(`${file} at entry 10: 5 messages`);
		expect(stdout).toMatch(/^-\s+user\s+\d+ tok\s+cached\s+\S*stack-design\.ts\s+\[Summary\] SUM$/m);
		expect(stdout).toMatch(/^4\s+assistant\s+\d+ tok\s+by \S*stack-design\.ts$/m);
		await expect(run({ name: "context", verify: false })).rejects.toThrow("No session in ");
	});

	test("marks what the previous request had, but is sent again after a changed start", async () => {
		const { cwd, file } = await poppedSession();
		writeFiles(cwd, {
			"late.ts": `export default (pi) => pi.on("context", ({ entries, messages }) =>
				entries.length > 9 ? { messages: [{ role: "user", content: "note", timestamp: 0 }, ...messages.slice(1)] } : undefined);`,
		});
		const options = { cwd, session: file, hooks: [join(cwd, "late.ts")], findHooks: false };
		const { stdout } = await run({ name: "context", at: 9, verify: false }, { ...options, json: true });
		const { messages, resent } = JSON.parse(stdout);
		const again = messages.filter((message: { resent?: boolean }) => message.resent === true);
		expect(again.map(({ text }: { text: string }) => text)).toEqual(["a1", "u2", "a2", "u3", "a3"]);
		expect(resent).toBe(again.reduce((sum: number, { tokens }: { tokens: number }) => sum + tokens, 0));
		const lines = (await run({ name: "context", at: 9, verify: false }, options)).stdout;
		expect(lines).toContain(`unchanged from the previous request, ${resent} sent again\n`);
		expect(lines).toMatch(/^2\s+assistant\s+\d+ tok\s+resent\s+a1$/m);
		expect(lines).toMatch(/^9\s+user\s+\d+ tok\s+u4$/m);
	});

	test("--verify recomputes every request and names the first one that differs", async () => {
		const { cwd, file } = await poppedSession();
		const verify = (hooks: string[]) =>
			run({ name: "context", verify: true }, { cwd, session: file, hooks, findHooks: false });
		expect(await verify([STACK])).toMatchObject({ code: 0, stdout: "All 4 requests match the recorded ones\n" });
		const without = await verify([]);
		expect(without.code).toBe(1);
		expect(without.stdout).toContain(
			"answered by entry 10 differs from the recorded one: 4 messages recorded, 7 computed",
		);
	});

	test("names a hook that fails or returns an invalid context, and writes nothing", async () => {
		const { cwd, file } = await poppedSession();
		writeFiles(cwd, {
			"bad.ts": `export default (pi) => { pi.on("context", async (event, ctx) => { await ctx.saveEntry({ type: "x" }); }); }`,
			"odd.ts": `export default (pi) => { pi.on("context", () => ({ messages: [7] })); }`,
		});
		const hooks = [join(cwd, "bad.ts"), join(cwd, "odd.ts")];
		const { stdout, stderr } = await run({ name: "context", verify: false }, { cwd, session: file, hooks, json: true });
		expect(stderr).toContain("Hook bad.ts:1:77 failed on context: ");
		expect(JSON.parse(stdout).problems).toEqual([
			{ hook: hooks[1], rule: "known_role", position: 0, reason: "message 0 has no role" },
		]);
	});

	test("skips untrusted project hooks, with a notice", async () => {
		const { cwd, file } = await poppedSession();
		writeFiles(cwd, { ".pi/hooks/mine.ts": "throw new Error('ran')" });
		const { code, stderr } = await run({ name: "context", verify: false }, { cwd, session: file });
		expect(code).toBe(0);
		expect(stderr).toMatch(/^Untrusted project hooks did not run: \S+mine\.ts · run pi hooks trust, or use --trust\n$/);
	});
});

test("pi context shows the former size of replaced messages, and hooks that are unstable", async () => {
	const { cwd, file } = await poppedSession();
	writeFiles(cwd, {
		"short.ts": `export default (pi) => pi.on("context", ({ messages }) => ({ messages: messages.map((item, at) =>
			at > 0 ? item : { ...item, message: { role: "user", content: "s", timestamp: 0 } }) }));`,
		"clock.ts": `let n = 0; export default (pi) => pi.on("context", ({ messages }) => ({
			messages: [{ role: "user", content: String(n++), timestamp: 0 }, ...messages] }));`,
	});
	const hooks = [join(cwd, "short.ts"), join(cwd, "clock.ts")];
	const place = { cwd, session: file, hooks, findHooks: false };
	const { stdout } = await run({ name: "context", verify: false }, place);
	expect(stdout).toMatch(/^\d+ +user +\d+ tok, was \d+ .*short\.ts +s$/m);
	expect(stdout).toContain(`unstable: ${hooks[1]} returns different results for the same entries`);
	expect(stdout).not.toContain(`unstable: ${hooks[0]}`);
	const json = await run({ name: "context", verify: false }, { ...place, json: true });
	expect(JSON.parse(json.stdout).unstable).toEqual([hooks[1]]);
});
