import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { isMessageEntry, messageText } from "../../../src/log/entry.js";
import type { AgentSession } from "../../../src/sdk/agent-session.js";
import { type CreateAgentSessionOptions, createAgentSession } from "../../../src/sdk/create-session.js";
import { toolCall } from "../../helpers/loopback-provider.js";
import { usePath } from "../../helpers/open-machine.js";
import { processesWith } from "../../helpers/programs.js";
import { startSession, type TestSessionOptions } from "../../helpers/session.js";
import { tempAgentDir, tempDir, writeFiles } from "../../helpers/temp.js";

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
		`All tools work on here (linux)\\nCurrent working directory: ${place}\\nNothing is far.\\nFiles of skills`,
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
		{
			code: "bad_arguments",
			message: 'No hook provides the host "nowhere:x"',
			hint: "the hosts are docker:, here:, kubectl:, podman:, sandbox:, ssh:",
		},
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

test("a factory's message for the user is shown alone", async () => {
	const failing = (code: string) =>
		`export default (pi) => pi.toolHost("bad", () => { throw Object.assign(new Error("no luck"), { code: "${code}" }); });`;
	for (const code of ["host_unreachable", "bad_arguments"]) {
		const started = startSession({ hooks: { "bad.ts": failing(code) }, on: "bad:" });
		await expect(started).rejects.toMatchObject({ code, message: "no luck" });
	}
});

test.each([
	["ssh://-x", "bad_arguments", '"ssh://-x" names no machine'],
	["SSH:h;x", "bad_arguments", '"ssh:h;x" names no machine'],
	["docker:", "bad_arguments", '"docker:" names no container'],
	["podman:a b", "bad_arguments", '"podman:a b" names no container'],
	["kubectl:-x", "bad_arguments", '"kubectl:-x" names no pod'],
])("--on %s turns on the bundled hook that provides it", async (on, code, message) => {
	await expect(startSession({ on })).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
	await expect(startSession({ on, discoverHooks: false })).rejects.toMatchObject({ code });
});

test("pi.toolHost refuses schemes that no spec can name", async () => {
	const agentDir = tempAgentDir();
	mkdirSync(join(agentDir, "hooks"), { recursive: true });
	writeFileSync(join(agentDir, "hooks/odd.ts"), 'export default (pi) => pi.toolHost("Not One", () => {});');
	const { notices } = await startSession({ agentDir });
	expect(notices().join()).toContain('"Not One" is not a valid scheme');
});

test("context files of subdirectories join on a host that shares the files, read through it", async () => {
	const cwd = tempDir("pi-project-");
	writeFiles(cwd, { "api/AGENTS.md": "rules", "web/AGENTS.md": "other rules" });
	// Like a sandbox, which may hide what a link names.
	const hiding = HOOK.replace("note:", "sharesFiles: true, note:").replace(
		"spawn: ([program, ...args]) =>",
		'$& args.some((arg) => arg.endsWith("web/AGENTS.md")) ? spawn("sh", ["-c", "exit 1"], { stdio: "pipe" }) :',
	);
	const { session, provider } = await startSession({ hooks: { "here.ts": hiding }, on: `here:${cwd}`, cwd });
	provider.reply([toolCall("ls", { path: "api" }), toolCall("ls", { path: "web" }, "call_2")], "done");
	await session.prompt("go");
	const items = session.entries.filter(({ type }) => type === "system_item");
	expect(items).toEqual([expect.objectContaining({ item: { kind: "context_file", text: "rules" } })]);
});

test("ctx.exec runs a program on this machine, and with onHost where tools work", async () => {
	const place = tempDir();
	writeFiles(place, { "sub/a.txt": "there" });
	const run = `export default (pi) => pi.command("run", { async handler(ctx) {
		const run = async (program, args, options) => {
			const { stdout, stderr, code, killed } = await ctx.exec(program, args, options);
			return [stdout.trim(), stderr.trim(), code, killed];
		};
		return { status: JSON.stringify([
			ctx.toolHost,
			await run("pwd", []),
			await run("pwd", [], { onHost: true }),
			await run("cat", ["a.txt"], { onHost: true, cwd: ctx.toolHost.cwd + "/sub" }),
			await run("sh", ["-c", "echo $ONE; echo two >&2; exit 3"], { onHost: true, env: { ONE: "1" } }),
			await run("sleep", ["60"], { onHost: true, timeout: 50 }),
			await run("no-such-program", [], { onHost: true }),
		]) };
	} });`;
	const hooks = { "here.ts": HOOK, "run.ts": run };
	const { session, cwd } = await startSession({ hooks, on: `here:${place}` });
	const result = await session.prompt("/run");
	expect(result.kind === "command" && JSON.parse(result.status ?? "")).toEqual([
		{ name: "here", cwd: place },
		[cwd, "", 0, null],
		[place, "", 0, null],
		["there", "", 0, null],
		["1", "two", 3, null],
		["", "", 143, true],
		["", "no-such-program: command not found", 127, null],
	]);
	const local = await startSession({ hooks });
	expect((await local.session.prompt("/run")) as { status: string }).toMatchObject({
		status: expect.stringContaining(
			`[{"name":"","cwd":"${local.cwd}"},["${local.cwd}","",0,null],["${local.cwd}","",0,null]`,
		),
	});
});

test("the bundled hooks that run programs of the project run them where tools work", async () => {
	const place = tempDir();
	const scripts = { test: "pwd; exit 1 #", lint: "echo a.ts:1 bad in $(pwd); exit 1" };
	writeFiles(place, { "package.json": { scripts }, "a.ts": "1" });
	const { session, provider } = await startOn(place, { hookFiles: ["pi:diagnostics", "pi:test-command"] });
	provider.reply([toolCall("write", { path: "a.ts", content: "2" })], "done");
	await session.prompt("go");
	expect(lastResult(session)).toContain(`a.ts:1 bad in ${place}`);
	provider.reply("ok");
	await session.prompt("/test");
	expect(provider.requests.at(-1)?.messages.at(-1)?.text).toContain(`<output>\n${place}\n</output>`);
});

async function sessionThere() {
	const place = tempDir();
	const agentDir = tempAgentDir({ hooks: { "here.ts": HOOK } });
	const cwd = tempDir("pi-project-");
	const first = await startSession({ agentDir, cwd, on: `here:${place}`, session: { kind: "new" } });
	first.provider.reply("one", "two");
	await first.session.prompt("go");
	await first.session.prompt("go on");
	const path = first.session.sessionFile ?? "";
	await first.session.dispose();
	return { place, agentDir, cwd, path, entries: first.session.entries };
}

const hostEntries = (entries: readonly { type: string }[]) => entries.filter(({ type }) => type === "tool_host");

test("a session records its machine once, before its first message, and connects to it when it is opened again", async () => {
	const { place, agentDir, cwd, entries } = await sessionThere();
	expect(entries.slice(1, 3).map(({ type }) => type)).toEqual(["tool_host", "message"]);
	expect(hostEntries(entries)).toEqual([expect.objectContaining({ on: `here:${place}`, name: "here" })]);
	const { session, provider } = await startSession({ agentDir, cwd, session: { kind: "continue" } });
	expect(session.host).toMatchObject({ name: "here", cwd: place });
	provider.reply("three");
	await session.prompt("more");
	expect(hostEntries(session.entries)).toHaveLength(1);
});

test("a session never runs on this machine because its own cannot be reached", async () => {
	const { place, agentDir, cwd } = await sessionThere();
	rmSync(place, { recursive: true });
	await expect(startSession({ agentDir, cwd, session: { kind: "continue" } })).rejects.toMatchObject({
		code: "host_unreachable",
		message: expect.stringContaining(
			`This session ran on here:${place}: Cannot use here: the directory ${place} does not exist there`,
		),
		hint: "try again later, or continue it elsewhere with --on local (this machine) or --on <spec>",
	});
});

test("a session file from elsewhere does not choose the machine", async () => {
	const { place, agentDir, cwd, path } = await sessionThere();
	/** Opens a copy of the file that is elsewhere. */
	const open = (options: { copy?: boolean; on?: string }) => {
		const target = join(tempDir(), "shared.jsonl");
		copyFileSync(path, target);
		const { on, ...opened } = options;
		return startSession({ agentDir, cwd, session: { kind: "open", target, ...opened }, ...(on ? { on } : {}) });
	};
	const refusal = {
		code: "host_unreachable",
		message: `This session file, which is not among your sessions, names the machine here:${place}`,
		hint: "choose one with --on local or --on <spec>",
	};
	await expect(open({})).rejects.toMatchObject(refusal);
	await expect(open({ copy: true })).rejects.toMatchObject(refusal);
	expect((await open({ on: `here:${place}` })).session.host.name).toBe("here");
});

test("--on local continues a session on this machine, and the session records it", async () => {
	const { agentDir, cwd } = await sessionThere();
	const { session, provider } = await startSession({ agentDir, cwd, session: { kind: "continue" }, on: "local" });
	expect(session.host.name).toBe("");
	provider.reply("here now");
	await session.prompt("go");
	expect(hostEntries(session.entries).at(-1)).toMatchObject({ on: null, name: "" });
});

describe("a session file that names this machine", () => {
	/** A session on `here:`, whose file then says `local`, among the user's sessions and elsewhere; the setting is `here:`. */
	async function namingLocal() {
		const { place, agentDir, cwd, path } = await sessionThere();
		writeFiles(agentDir, { "settings.json": { on: `here:${place}` } });
		writeFileSync(path, readFileSync(path, "utf8").replace(/"on":"here:[^"]*"/, '"on":"local"'));
		const foreign = join(tempDir(), "shared.jsonl");
		copyFileSync(path, foreign);
		const start = (options: TestSessionOptions) => startSession({ agentDir, cwd, ...options });
		return { place, path, foreign, start };
	}

	const refusal = (which: string, place: string) => ({
		code: "host_unreachable",
		message: `${which} names this machine, but your setting "on" is here:${place}`,
		hint: `choose one with --on here:${place} or --on local`,
	});
	const OWN = "This session file";
	const FOREIGN = "This session file, which is not among your sessions,";

	test("does not turn off the machine of the settings without a person, also if it is the user's own", async () => {
		const { place, path, foreign, start } = await namingLocal();
		const open = (target: string, copy = false) => start({ session: { kind: "open", target, copy } });
		await expect(open(foreign)).rejects.toMatchObject(refusal(FOREIGN, place));
		await expect(open(foreign, true)).rejects.toMatchObject(refusal(FOREIGN, place));
		await expect(open(path)).rejects.toMatchObject(refusal(OWN, place));
		await expect(start({ session: { kind: "continue" } })).rejects.toMatchObject(refusal(OWN, place));
		const { session } = await start({ session: { kind: "new" } });
		for (const as of ["original", "copy", "readOnly"] as const) {
			const switching = session.switchSession(foreign, as);
			await expect(switching, as).rejects.toMatchObject(refusal(FOREIGN, place));
			expect(session.host.name).toBe("here");
		}
		await expect(session.switchSession(path)).rejects.toMatchObject(refusal(OWN, place));
		expect(session.host.name).toBe("here");
	});

	test("never counts against --on, however the session is changed", async () => {
		const { place, path, foreign, start } = await namingLocal();
		const other = tempDir();
		const { session, provider } = await start({ session: { kind: "open", target: foreign }, on: `here:${other}` });
		const check = (after: string) => expect(session.host, after).toMatchObject({ name: "here", cwd: other });
		check("start");
		await session.switchSession(path);
		check("switch");
		await session.newSession();
		check("new");
		await session.switchSession(copyOf(foreign), "copy");
		check("copy");
		expect(hostEntries(session.entries).at(-1), "the copy names it at once").toMatchObject({ on: `here:${other}` });
		await session.branch(session.branchTargets()[1]?.entryIndex ?? 0);
		check("branch");
		provider.reply("done");
		await session.prompt("go");
		await session.switchSession(foreign);
		check("switch back");
		const local = await start({ session: { kind: "open", target: path }, on: "local" });
		expect(local.session.host.name).toBe("");
		await local.session.switchSession((await sessionNaming(place)).path);
		expect(local.session.host.name, "local is a machine too").toBe("");
	});

	test("is opened where the settings name no machine, and one with the machine of the settings needs no person", async () => {
		const { place, path, foreign, start } = await namingLocal();
		const local = await start({ session: { kind: "open", target: foreign }, userSettings: { on: "local" } });
		expect(local.session.host.name).toBe("");
		const { path: named } = await sessionNaming(place);
		await local.session.dispose();
		const userSettings = { on: `here:${place}` };
		expect((await start({ session: { kind: "open", target: copyOf(named) }, userSettings })).session.host.cwd).toBe(
			place,
		);
		// Recorded by pi: the session ran here, which is no wish.
		writeFileSync(path, readFileSync(path, "utf8").replace('"on":"local"', '"on":null'));
		expect((await start({ session: { kind: "open", target: path } })).session.host.cwd).toBe(place);
	});

	/** A session of others that names a machine. */
	async function sessionNaming(place: string) {
		const { path } = await sessionThere();
		writeFileSync(path, readFileSync(path, "utf8").replace(/"on":"here:[^"]*"/, `"on":"here:${place}"`));
		return { path };
	}
});

test("a copy of a session of others does not choose the machine later", async () => {
	const { agentDir, cwd, path } = await sessionThere();
	const foreign = join(tempDir(), "shared.jsonl");
	copyFileSync(path, foreign);
	rmSync(path);
	const open = { kind: "open", target: foreign, copy: true } as const;
	const { session } = await startSession({ agentDir, cwd, session: open, on: "local" });
	await session.dispose();
	const continued = await startSession({ agentDir, cwd, session: { kind: "continue" } });
	expect(continued.session.entries.length).toBeGreaterThan(3);
	expect(continued.session.host.name).toBe("");
});

test("a change of the machine with the session is named", async () => {
	const { place, agentDir, cwd, path } = await sessionThere();
	const { session, provider, notices } = await startSession({ agentDir, cwd, session: { kind: "new" } });
	provider.reply("local");
	await session.prompt("go");
	const own = session.sessionFile ?? "";
	await session.switchSession(path);
	await session.switchSession(own);
	expect(place).not.toBe(cwd);
	expect(notices().filter((line) => line.startsWith("Tools"))).toEqual([
		"Tools and commands now work on here, no longer on this machine",
		"Tools and commands now work on this machine, no longer on here",
	]);
});

test("the warnings of a host are shown at the start", async () => {
	const hooks = { "here.ts": HOOK.replace("note:", 'warnings: ["Mind the gap"], note:') };
	const { session, notices } = await startSession({ hooks, on: `here:${tempDir()}` });
	expect(notices()).toEqual(["Mind the gap"]);
	expect(session.loaded.warnings).toEqual(["Mind the gap"]);
});

describe("a machine that does not answer", () => {
	const hanging = (spawned: string) => HOOK.replace(/spawn: .*(?=,\n)/, () => `spawn: (words) => ${spawned}`);
	const silent = `spawn("sleep", ["77777"], { stdio: "pipe" })`;
	const stuck = `spawn("sh", ["-c", 'printf "\\\\0%s\\\\n" "$1"; exec sleep 77777', "sh", words[4]], { stdio: "pipe" })`;

	test.each([
		["connecting", `export default (pi) => pi.toolHost("here", () => new Promise(() => {}));`, "to connect"],
		[
			"in the start files of its shell",
			hanging(silent),
			"to start a shell there, which reads its start files first, such as ~/.bashrc",
		],
		["in its directory", hanging(stuck), "to open the directory /far there"],
	])("ends the start after the time of the setting, and is named: %s", async (_, hook, step) => {
		const hooks = { "here.ts": hook };
		await expect(startSession({ hooks, on: "here:/far", userSettings: { onTimeout: 700 } })).rejects.toMatchObject({
			code: "host_unreachable",
			message: `Cannot reach here:/far: it took longer than 0.7 s ${step}`,
			hint: "set onTimeout in settings.json to wait longer",
		});
		await expect.poll(() => processesWith("sleep 77777")).toEqual([]);
	});

	test("has as much time as the user takes for an answer", async () => {
		const place = tempDir();
		const ask = 'async (spec, ctx) => (await ctx.ui.confirm("Start it?", "")) && ctx.shellHost(';
		const hooks = { "here.ts": HOOK.replace("(spec, ctx) =>\n\t\tctx.shellHost(", ask) };
		// Longer than onTimeout.
		const confirm = vi.fn(() => new Promise<boolean>((resolve) => setTimeout(() => resolve(true), 2200)));
		const options = { hooks, on: `here:${place}`, userSettings: { onTimeout: 2000 }, ui: { confirm } };
		expect((await startSession(options)).session.host.cwd).toBe(place);
		expect(confirm).toHaveBeenCalledOnce();
	});
});

test("--on local overrides the setting", async () => {
	const hooks = { "here.ts": HOOK };
	const { session } = await startSession({ hooks, userSettings: { on: `here:${tempDir()}` }, on: "local" });
	expect(session.host.name).toBe("");
});

test("/resume connects to the machine of the session, and stays in the current one if it cannot", async () => {
	const { place, agentDir, cwd, path } = await sessionThere();
	const { session, provider } = await startSession({ agentDir, cwd, session: { kind: "new" } });
	provider.reply("local");
	await session.prompt("go");
	const own = session.sessionFile ?? "";
	expect(hostEntries(session.entries)).toEqual([]);
	await session.switchSession(path);
	expect(session.host).toMatchObject({ name: "here", cwd: place });
	await session.newSession();
	expect(session.host.name, "a new session stays there").toBe("here");
	await session.switchSession(own);
	expect(session.host.name).toBe("");
	rmSync(place, { recursive: true });
	await expect(session.switchSession(path)).rejects.toMatchObject({ code: "host_unreachable" });
	expect([session.sessionFile, session.host.name]).toEqual([own, ""]);
});

test("many parallel calls do not warn of a leak", async () => {
	const { session, provider } = await startOn(tempDir(), { files: {} });
	const warnings: Error[] = [];
	const note = (warning: Error) => void warnings.push(warning);
	process.on("warning", note);
	onTestFinished(() => void process.off("warning", note));
	const calls = Array.from({ length: 24 }, (_, at) => toolCall("ls", { limit: at + 1 }, `call_${at}`));
	provider.reply(calls, "done");
	await session.prompt("go");
	await new Promise((resolve) => setImmediate(resolve));
	expect(warnings).toEqual([]);
});

test("context files of this machine do not join for the same path on another one", async () => {
	const cwd = tempDir("pi-project-");
	writeFiles(cwd, { "api/AGENTS.md": "rules of this machine" });
	const { session, provider } = await startOn(cwd, { cwd });
	provider.reply([toolCall("ls", { path: "api" })], "done");
	await session.prompt("go");
	expect(session.entries.map(({ type }) => type)).not.toContain("system_item");
});

test("a session names a host of a bundled hook: opening it turns the hook on", async () => {
	const { agentDir, cwd, path } = await sessionThere();
	writeFileSync(path, readFileSync(path, "utf8").replace(/"on":"here:[^"]*"/, '"on":"podman:no-such-container"'));
	const opening = startSession({ agentDir, cwd, session: { kind: "continue" } });
	await expect(opening).rejects.toMatchObject({
		code: "host_unreachable",
		message: expect.stringMatching(/^This session ran on podman:no-such-container: (?!No hook provides)/),
	});
});

/** Puts a `podman` first in PATH whose containers are this machine. */
function standInForPodman(): void {
	const bin = tempDir();
	writeFileSync(join(bin, "podman"), '#!/bin/sh\n[ "$1" = exec ] || exit 125\nshift 3\nexec "$@"\n', { mode: 0o755 });
	usePath(bin);
}

test("the hook of a host that only the log names is still loaded after /reload", async () => {
	standInForPodman();
	const { place, agentDir, cwd, path } = await sessionThere();
	writeFileSync(path, readFileSync(path, "utf8").replace(/"on":"here:[^"]*"/, `"on":"podman:box${place}"`));
	const { session } = await startSession({ agentDir, cwd, session: { kind: "continue" } });
	expect(session.host.name).toBe("podman box");
	await session.reload();
	expect(session.loaded.hooks.map(({ name }) => name)).toContain("containers");
	await session.runBash("pwd");
	expect(session.entries.at(-1)).toMatchObject({ message: { output: place, exitCode: 0 } });
	const other = await startSession({ agentDir, cwd, session: { kind: "new" } });
	await other.session.switchSession(copyOf(path));
	await other.session.reload();
	expect(other.session.loaded.hooks.map(({ name }) => name)).toContain("containers");
});

/** A copy of a session file in its directory, which no pi has open. */
function copyOf(path: string): string {
	const copy = path.replace(/\.jsonl$/, "0.jsonl");
	copyFileSync(path, copy);
	return copy;
}

test("a start that fails on a host leaves no file behind and the session of another pi can use its log", async () => {
	const { place, agentDir, cwd, path } = await sessionThere();
	const files = () => readdirSync(dirname(path));
	const before = files();
	const failing = (options: TestSessionOptions) =>
		createAgentSession({
			...{ agentDir, cwd, bundledHooks: false, localServers: { ports: {} }, model: "loopback/scripted" },
			...options,
			hooks: [],
		} as CreateAgentSessionOptions).then((session) => session.start());
	await expect(failing({ session: { kind: "new" }, on: "here:/no/such" })).rejects.toMatchObject({
		code: "host_unreachable",
	});
	const bytes = readFileSync(path);
	rmSync(place, { recursive: true });
	await expect(failing({ session: { kind: "continue" } })).rejects.toMatchObject({ code: "host_unreachable" });
	expect(files()).toEqual(before);
	expect(readFileSync(path).equals(bytes)).toBe(true);
	const { session } = await startSession({ agentDir, cwd, session: { kind: "continue" }, on: "local" });
	expect(session.sessionFile).toBe(path);
	await session.dispose();
	const foreign = join(tempDir(), "shared.jsonl");
	copyFileSync(path, foreign);
	const copying = failing({ session: { kind: "open", target: foreign, copy: true } });
	await expect(copying).rejects.toMatchObject({ code: "host_unreachable" });
	expect(files()).toEqual(before);
});
