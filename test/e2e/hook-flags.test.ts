import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { startPi } from "../helpers/pty.js";
import { runPi, spawnPi } from "../helpers/run-pi.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor, conversation } from "./support.js";

const PLAN = `export default function (pi) {
	pi.flag("plan", { description: "Plan before changing files", type: "boolean" });
	pi.flag("level", { description: "How careful to be", type: "string", default: "low" });
	pi.command("flags", { handler: ({ flags }) => ({ status: JSON.stringify(flags) }) });
	pi.on("session", ({ reason }, { flags }) => {
		if (reason === "start") console.error("level " + flags.level);
	});
}
`;
const hooks = { "plan.ts": PLAN };

test("pi -p accepts the flags of hooks, and sends only the other words", async () => {
	const provider = await startProvider();
	provider.reply("Done.");
	const run = await runPi(["-p", "--level", "high", "fix it", "--plan", "/flags"], {
		agentDir: agentDirFor(provider, { hooks }),
	});
	expect(run).toMatchObject({ code: 0, stdout: 'Done.\n{"plan":true,"level":"high"}\n', stderr: "level high\n" });
	expect(conversation(provider, 0)).toEqual(["user: fix it"]);
});

test.each([
	[["-p", "--levle", "high", "hi"], "pi: unknown option --levle · did you mean --level?\n"],
	[
		["--mode", "json", "--level", "hi", "--level"],
		"pi: --level <value>: the value is missing · pi --help lists all options\n",
	],
])("%j ends with exit code 2, and nothing is sent", async (args, stderr) => {
	const provider = await startProvider();
	const run = await runPi(args, { agentDir: agentDirFor(provider, { hooks }), stdin: "" });
	expect(run).toMatchObject({ code: 2, stderr });
	expect(provider.requests).toEqual([]);
});

test("over RPC, an unknown flag ends pi with exit code 2 while the client waits", async () => {
	const pi = spawnPi(["--mode", "rpc", "--plna"], { agentDir: agentDirFor(await startProvider(), { hooks }) });
	expect(await pi.exited).toMatchObject({
		code: 2,
		stderr: expect.stringContaining("pi: unknown option --plna · did you mean --plan?\n"),
	});
});

test("an unknown flag is refused before the screen is drawn if no hook exists", async () => {
	const pi = startPi({ agentDir: agentDirFor(await startProvider()), args: ["--plan", "hi"] });
	expect(await pi.exited).toEqual({ code: 2, signal: 0 });
	expect((await pi.screen()).trim()).toBe("pi: unknown option --plan · did you mean --plain?");
});

test("in a terminal, an unknown flag ends pi before the first prompt is sent", async () => {
	const provider = await startProvider();
	const pi = startPi({ agentDir: agentDirFor(provider, { hooks }), args: ["--plam", "hi"] });
	expect(await pi.exited).toEqual({ code: 2, signal: 0 });
	expect(await pi.screen()).toContain("pi: unknown option --plam · did you mean --plan or --plain?");
	expect(provider.requests).toEqual([]);
});

test("in a terminal, prompts of the command line are sent without the values of flags", async () => {
	const provider = await startProvider();
	provider.reply("Done.");
	const pi = startPi({ agentDir: agentDirFor(provider, { hooks }), args: ["--level", "high", "fix it"] });
	await pi.waitForText("Done.");
	expect(conversation(provider, 0)).toEqual(["user: fix it"]);
});

test("over RPC, commands read the flags", async () => {
	const provider = await startProvider();
	const pi = spawnPi(["--mode", "rpc", "--no-plan", "--level=x"], { agentDir: agentDirFor(provider, { hooks }) });
	pi.write('{"type":"prompt","message":"/flags"}\n');
	await pi.waitFor(({ stdout }) => stdout.includes('{\\"plan\\":false,\\"level\\":\\"x\\"}'));
	pi.end();
	expect(await pi.exited).toMatchObject({ code: 0 });
});

test("pi --help lists the flags of hooks that may run, and names the others", async () => {
	const agentDir = tempAgentDir({
		hooks: { ...hooks, "broken.ts": "export default () => { throw new Error('no'); };" },
	});
	const cwd = tempDir();
	writeFiles(cwd, { ".pi/hooks/own.ts": PLAN });
	const run = await runPi(["--help"], { agentDir, cwd });
	expect(run.code).toBe(0);
	const [, section] = run.stdout.split("130 interrupted\n");
	expect(section?.replace(/\(\S+\/hooks/, "(…/hooks")).toBe(
		[
			"",
			"Hook plan (…/hooks/plan.ts)",
			"  --plan                    Plan before changing files",
			"  --level <value>           How careful to be (default: low)",
			"",
		].join("\n"),
	);
	expect(run.stderr).toMatch(/broken\.ts.*no/);
	expect(run.stderr).toMatch(/own\.ts is not trusted, so it is not loaded/);
	expect((await runPi(["--help", "--no-hooks"], { agentDir, cwd })).stdout).not.toContain("--level");
});
