import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isMessageEntry, messageText } from "../../src/log/entry.js";
import type { AgentSession } from "../../src/session/agent-session.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSessionOptions } from "../helpers/session.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";

/** Reaches a directory of this machine through a shell, as engines reach others. */
const HOOK = `
	import { spawn } from "node:child_process";
	export default (pi) => pi.toolHost("here", (spec, ctx) =>
		ctx.shellHost(
			{
				name: "here",
				note: "Nothing is far.",
				spawn: ([program, ...args]) => spawn(program, args, { detached: true, stdio: "pipe" }),
			},
			{ cwd: spec.rest, signal: ctx.signal },
		));
`;

function lastResult(session: AgentSession): string {
	const entry = session.entries.findLast((each) => isMessageEntry(each) && each.message.role === "toolResult");
	return isMessageEntry(entry) ? messageText(entry.message) : "";
}

async function startOn(place: string, options: TestSessionOptions = {}) {
	return startSession({ hooks: { "here.ts": HOOK }, on: `here:${place}`, ...options });
}

test("tools and ! commands work on the host that a hook provides, and the model knows where", async () => {
	const place = tempDir();
	const { session, provider } = await startOn(place);
	provider.reply([toolCall("write", { path: "a.txt", content: "there" })], "done");
	await session.prompt("go");
	expect(readFileSync(join(place, "a.txt"), "utf8")).toBe("there");
	expect(JSON.stringify(provider.requests[0]?.body)).toContain(
		`All tools work on here (linux)\\nWorking directory: ${place}\\nNothing is far.\\nFiles of skills`,
	);
	await session.runBash("pwd");
	expect(session.entries.at(-1)).toMatchObject({ message: { output: place, exitCode: 0 } });
	expect(session.host.name).toBe("here");
});

test("saved output and the files of skills are read on this machine, by every tool", async () => {
	const place = tempDir();
	const agentDir = tempAgentDir();
	// The host does not have these files.
	const spawnThere = `spawn: (command) => {
		if (command.some((word) => word.includes(${JSON.stringify(agentDir)}))) throw new Error("no such file there");
		return spawn(command[0], command.slice(1), { detached: true, stdio: "pipe" });
	}`;
	writeFiles(agentDir, { "hooks/here.ts": HOOK.replace(/spawn: .*(?=,)/, () => spawnThere) });
	const skill = join(agentDir, "skills/tidy");
	writeFiles(skill, {
		"SKILL.md": "---\nname: tidy\ndescription: Tidies up.\n---\nSweep first.\n",
		"rules.txt": "no dust\n",
	});
	const { session, provider } = await startSession({ agentDir, on: `here:${place}` });
	provider.reply([toolCall("bash", { command: "seq 20000" })], "done");
	await session.prompt("go");
	const saved = /Full output: (\S+)/.exec(lastResult(session))?.[1] ?? "";
	const calls = [
		toolCall("read", { path: saved, limit: 1 }),
		toolCall("grep", { pattern: "^19999$", path: saved }),
		toolCall("read", { path: join(skill, "SKILL.md") }),
		toolCall("ls", { path: skill }),
		toolCall("find", { pattern: "*.txt", path: skill }),
		toolCall("grep", { pattern: "dust", path: skill }),
		toolCall("edit", { path: join(skill, "rules.txt"), oldText: "no", newText: "much" }),
	];
	const results: string[] = [];
	for (const call of calls) {
		provider.reply([call], "done");
		await session.prompt("next");
		results.push(lastResult(session));
	}
	const [first, match, head, names, found, lines, edited] = results;
	expect([first, match]).toEqual([expect.stringMatching(/^1\n/), expect.stringContaining(":19999: 19999")]);
	expect([head, names]).toEqual([expect.stringContaining("Sweep first."), "SKILL.md\nrules.txt"]);
	expect([found, lines]).toEqual([join(skill, "rules.txt"), `${join(skill, "rules.txt")}:1: no dust`]);
	expect(edited).toContain("it is on the user's machine, where tools on here can only read it");
	expect(readFileSync(join(skill, "rules.txt"), "utf8")).toBe("no dust\n");
});

test("the user's setting chooses the host, that of the project does not", async () => {
	const place = tempDir();
	const { session } = await startSession({ hooks: { "here.ts": HOOK }, userSettings: { on: `here:${place}` } });
	expect(session.host.cwd).toBe(place);
	const project = await startSession({
		hooks: { "here.ts": HOOK },
		files: { ".pi/settings.json": { on: `here:${place}` } },
		trust: true,
	});
	expect(project.session.host.name).toBe("");
});

test.each([
	[
		"nowhere:x",
		{ code: "bad_arguments", message: 'No hook provides the host "nowhere:x"', hint: "the hosts are here:" },
	],
	["not a spec", { code: "bad_arguments", message: 'No hook provides the host "not a spec"' }],
	[
		"here:/no/such/directory",
		{ code: "host_unreachable", message: "Cannot use here: the directory /no/such/directory does not exist there" },
	],
])("--on %s ends the start with what is wrong", async (on, error) => {
	await expect(startSession({ hooks: { "here.ts": HOOK }, on })).rejects.toMatchObject(error);
});

test("a factory that throws is named with its place", async () => {
	const hooks = { "bad.ts": 'export default (pi) => pi.toolHost("bad", () => { throw new Error("no luck"); });' };
	await expect(startSession({ hooks, on: "bad:" })).rejects.toMatchObject({
		code: "host_unreachable",
		message: expect.stringMatching(/^Cannot use bad:: Hook bad\.ts:1:\d+ failed on host bad:: no luck$/),
	});
});

test("pi.toolHost refuses schemes that no spec can name", async () => {
	const agentDir = tempAgentDir();
	mkdirSync(join(agentDir, "hooks"), { recursive: true });
	writeFileSync(join(agentDir, "hooks/odd.ts"), 'export default (pi) => pi.toolHost("Not One", () => {});');
	const { notices } = await startSession({ agentDir });
	expect(notices().join()).toContain('"Not One" is not a valid scheme');
});
