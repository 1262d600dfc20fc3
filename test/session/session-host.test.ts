import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSessionOptions } from "../helpers/session.js";
import { tempAgentDir, tempDir } from "../helpers/temp.js";

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
		`Working directory: ${place} on here (linux), where all tools work\\nNothing is far.`,
	);
	await session.runBash("pwd");
	expect(session.entries.at(-1)).toMatchObject({ message: { output: place, exitCode: 0 } });
	expect(session.host.name).toBe("here");
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
