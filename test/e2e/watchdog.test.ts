import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { runPi, spawnPi } from "../helpers/run-pi.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor, modesLeftOn, openPi, submit, untilGone } from "./support.js";

/** Ways to block the event loop: one needs a processor, the other does not. */
const LOOP = "while (true) {}";
const WAIT = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);";
/** Starts a process that would outlive the program, then blocks the event loop. */
const hangs = (blocks: string) => `
export default (pi) => pi.on("tool_result", async (event, ctx) => {
	void ctx.exec("sh", ["-c", "echo $$ > pid; exec sleep 1000"]);
	const { existsSync } = await import("node:fs");
	while (!existsSync(ctx.cwd + "/pid")) await new Promise((resolve) => setTimeout(resolve, 10));
	${blocks}
});`;
const LINE = /pi: hook \S+\/hooks\/hangs\.ts in tool_result blocked pi for 2 s, so pi exited/;

async function place(blocks = WAIT) {
	const provider = await startProvider();
	provider.reply([toolCall("ls", {})]);
	const agentDir = agentDirFor(provider, { settings: { hookTimeout: 300 }, hooks: { "hangs.ts": hangs(blocks) } });
	return { provider, agentDir, cwd: tempDir() };
}

test("a handler that blocks is named and ends the program with its children; the terminal is restored", async () => {
	const { agentDir, cwd, provider } = await place();
	const pi = await openPi({ agentDir, cwd });
	await submit(pi, "go");
	expect((await pi.exited).signal).toBe(9);
	expect((await pi.scrollback()).replaceAll("\n", "")).toMatch(LINE);
	expect(modesLeftOn(pi.output())).toEqual([25]);
	await untilGone(Number(readFileSync(join(cwd, "pid"), "utf8")));

	// The session continues in the next run.
	provider.reply("I am back.");
	const next = await runPi(["-p", "--no-hooks", "--continue", "still there?"], { agentDir, cwd });
	expect(next).toMatchObject({ code: 0, stdout: "I am back.\n" });
	expect(
		provider.requests
			.at(-1)
			?.messages.filter(({ role }) => role === "user")
			.map(({ text }) => text),
	).toEqual(["go", "still there?"]);
});

test.each([
	["print", ["-p", "go"], LOOP],
	["RPC", ["--mode", "rpc"], WAIT],
])("a handler that blocks in %s mode is named in one line on stderr", async (_, args, blocks) => {
	const { agentDir, cwd } = await place(blocks);
	const pi = spawnPi(args, { agentDir, cwd });
	if (args.includes("rpc")) pi.write('{"type":"prompt","message":"go"}\n');
	else pi.end();
	const { signal, stderr } = await pi.exited;
	expect(signal).toBe("SIGKILL");
	expect(stderr.split("\n").filter((line) => line.startsWith("pi: "))).toEqual([expect.stringMatching(LINE)]);
	await untilGone(Number(readFileSync(join(cwd, "pid"), "utf8")));
});

test.each([
	["a hook's factory", "hooks/stuck.ts", `export default () => { ${LOOP} };`, "hook"],
	["a tool's top level", "tools/stuck/index.ts", WAIT, "tool"],
])("%s that blocks while loading is named and ends the program", async (_, file, source, kind) => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider, { settings: { hookTimeout: 300 } });
	writeFiles(agentDir, { [file]: source });
	const { signal, stderr } = await runPi(["-p", "go"], { agentDir });
	expect(signal).toBe("SIGKILL");
	expect(stderr).toBe(
		`pi: ${kind} ${agentDir}/${file} while loading blocked pi for 2 s, so pi exited · fix or remove it, or start with --no-hooks\n`,
	);
});

test("a hook whose top level blocks is named on the screen, too, and the terminal is restored", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider, { settings: { hookTimeout: 300 }, hooks: { "stuck.ts": WAIT } });
	const pi = await openPi({ agentDir });
	expect((await pi.exited).signal).toBe(9);
	expect((await pi.scrollback()).replaceAll("\n", "")).toContain("/hooks/stuck.ts while loading blocked pi for 2 s");
	expect(modesLeftOn(pi.output())).toEqual([25]);
});

/** Calls `run` in a timer once the file `go` exists in the working directory. */
const whenTold = (run: string) =>
	`const look = setInterval(() => { if (!existsSync("go")) return; clearInterval(look); (${run})(); }, 50);`;

test.each([
	["a timer", whenTold("() => { while (true) {} }")],
	["a promise", `void new Promise((resolve) => { ${whenTold("resolve")} }).then(() => { while (true) {} });`],
	["a file that it imports", whenTold("() => import.meta.url && spin()")],
])("a hook that blocks in %s of its own while pi is idle is named, and the terminal is restored", async (_, code) => {
	const provider = await startProvider();
	const imports = 'import { existsSync } from "node:fs";\nimport { spin } from "./lib/spin.ts";';
	const hook = `${imports}\nexport default (pi) => { ${code} }; void spin;`;
	const agentDir = agentDirFor(provider, { settings: { hookTimeout: 300 }, hooks: { "timer.ts": hook } });
	writeFiles(agentDir, { "hooks/lib/spin.ts": "export const spin = (): void => { while (true) {} };" });
	const pi = await openPi({ agentDir });
	await pi.waitForText("0%");
	writeFiles(pi.cwd, { go: "" });
	expect((await pi.exited).signal).toBe(9);
	expect((await pi.scrollback()).replaceAll("\n", "")).toContain(
		"/hooks/timer.ts in a timer or promise blocked pi for 2 s, so pi exited",
	);
	expect(modesLeftOn(pi.output())).toEqual([25]);
});

/** Number of times for which the hook below has blocked. */
function blockedTimes(cwd: string): number {
	const path = join(cwd, "blocked");
	return existsSync(path) ? readFileSync(path, "utf8").length : 0;
}

test("a timer of a hook may block for less than that, and pi continues", async () => {
	const provider = await startProvider();
	const slow = `const timer = setInterval(() => {
		const end = Date.now() + 1200;
		while (Date.now() < end);
		appendFileSync("blocked", ".");
	}, 1800);
	timer.unref();`;
	const agentDir = agentDirFor(provider, {
		settings: { hookTimeout: 300 },
		hooks: { "slow.ts": `import { appendFileSync } from "node:fs";\nexport default () => { ${slow} };` },
	});
	const pi = await openPi({ agentDir });
	await expect.poll(() => blockedTimes(pi.cwd)).toBeGreaterThanOrEqual(3);
	provider.reply("Still here.");
	await submit(pi, "hello");
	await pi.waitForText("Still here.");
});

test("a slow handler may finish, even at the end of the program", async () => {
	const provider = await startProvider();
	provider.reply([toolCall("ls", {})], "done");
	const slow = `export default (pi) => pi.on("tool_call", () => new Promise((resolve) => setTimeout(resolve, 2500)));`;
	const agentDir = agentDirFor(provider, { settings: { hookTimeout: 300 }, hooks: { "slow.ts": slow } });
	expect(await runPi(["-p", "go"], { agentDir })).toMatchObject({ code: 0, stdout: "done\n" });
});

const BLOCKS_ON = (event: string) => `export default (pi) => pi.on("${event}", () => { ${LOOP} });`;
const BLOCKS_LOADING = `export default () => { ${LOOP} };`;

test.each([
	["pi hooks list", ["hooks", "list"], BLOCKS_LOADING, "while loading"],
	["pi hooks check", ["hooks", "check", "stuck"], BLOCKS_LOADING, "while loading"],
	["pi hooks test", ["hooks", "test", "stuck"], BLOCKS_ON("tool_call"), "in tool_call"],
	["pi context", ["context"], BLOCKS_ON("context"), "in context"],
	["pi context --verify", ["context", "--verify"], BLOCKS_ON("context"), "in context"],
	["pi doctor", ["doctor"], BLOCKS_LOADING, "while loading"],
	["pi --help", ["--help"], BLOCKS_LOADING, "while loading"],
	["pi --list-models", ["--list-models"], BLOCKS_LOADING, "while loading"],
])("%s names a hook that blocks, and exits", async (_, args, source, where) => {
	const provider = await startProvider();
	provider.reply("done");
	const agentDir = agentDirFor(provider, { settings: { hookTimeout: 300 } });
	const cwd = tempDir();
	await runPi(["-p", "go"], { agentDir, cwd });
	writeFiles(agentDir, { "hooks/stuck.ts": source });
	const { signal, stderr } = await runPi(args, { agentDir, cwd });
	expect(signal).toBe("SIGKILL");
	expect(stderr).toContain(`pi: hook ${agentDir}/hooks/stuck.ts ${where} blocked pi for 2 s, so pi exited`);
});
