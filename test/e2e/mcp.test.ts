import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type LoopbackProvider, startProvider, toolCall } from "../helpers/loopback-provider.js";
import type { PiTerminal } from "../helpers/pty.js";
import { runPi, spawnPi } from "../helpers/run-pi.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { startHttpServer } from "../mcp/http-server.js";
import { ASKING, EVERYTHING, hostile } from "../mcp/servers.js";
import { agentDirFor, answer, conversation, openPi, submit, submitIdle, untilGone } from "./support.js";

/** All processes are gone this long after the end of pi. */
const LIMIT_MS = 2500;

function agentDirWith(provider: LoopbackProvider, servers: Record<string, object>): string {
	const agentDir = agentDirFor(provider);
	writeFiles(agentDir, { "mcp.json": { mcpServers: servers } });
	return agentDir;
}

/** The ids of a server that ignores all signals, and of its child, once they run. */
async function pidsIn(dir: string): Promise<number[]> {
	const read = (name: string) => {
		const path = join(dir, name);
		return existsSync(path) ? Number(readFileSync(path, "utf8")) : 0;
	};
	await expect.poll(() => read("child") > 0 && read("grandchild") > 0, { timeout: 10_000 }).toBe(true);
	return [read("child"), read("grandchild")];
}

test.each<[string, (pi: PiTerminal) => unknown]>([
	["kill -9", (pi) => pi.kill("SIGKILL")],
	["SIGTERM", (pi) => pi.kill("SIGTERM")],
	["SIGHUP", (pi) => pi.kill("SIGHUP")],
	["/quit", (pi) => submit(pi, "/quit")],
])("after %s no process of a server is left", async (_, end) => {
	const provider = await startProvider();
	const pi = await openPi({ agentDir: agentDirWith(provider, { stays: hostile("stays") }) });
	await pi.waitForText("0%");
	provider.reply("Hello.");
	await submit(pi, "hi");
	await pi.waitForText("Hello.");
	const pids = await pidsIn(pi.cwd);
	await end(pi);
	await pi.exited;
	const endedAt = performance.now();
	for (const pid of pids) await untilGone(pid);
	expect(performance.now() - endedAt).toBeLessThan(LIMIT_MS);
});

test("pi -p uses a server that the first request does not wait for, and leaves no process", async () => {
	const provider = await startProvider();
	const cwd = tempDir();
	provider.reply(
		[toolCall("mcp_search", { query: "echo" })],
		[toolCall("everything_echo", { message: "hi" })],
		"Done.",
	);
	const pi = spawnPi(["-p", "go"], {
		agentDir: agentDirWith(provider, { everything: EVERYTHING, stays: hostile("stays") }),
		cwd,
	});
	pi.end();
	expect(await pi.exited).toMatchObject({ code: 0, stdout: "Done.\n" });
	expect(provider.requests[2]?.messages.at(-1)?.text).toBe("Echo: hi");
	for (const pid of await pidsIn(cwd)) await untilGone(pid);
});

test("JSON mode reports the calls of server tools as any other, and a broken server on stderr only", async () => {
	const provider = await startProvider();
	provider.reply([toolCall("mcp_search", { query: "sum" })], [toolCall("everything_get-sum", { a: 1, b: 2 })], "3");
	const agentDir = agentDirWith(provider, { everything: EVERYTHING, broken: hostile("dies") });
	const { code, stdout, stderr } = await runPi(["--mode", "json", "go"], { agentDir });
	expect(code).toBe(0);
	const events = stdout
		.trim()
		.split("\n")
		.map((line): Record<string, unknown> => JSON.parse(line));
	expect(
		events.find(({ type, toolName }) => type === "tool_execution_end" && toolName === "everything_get-sum"),
	).toMatchObject({
		isError: false,
		result: { content: [{ type: "text", text: "The sum of 1 and 2 is 3." }] },
	});
	expect(`${stdout}${stderr}`).toContain("The MCP server broken did not start: it ended with exit code 3");
});

test.each([["-p"], ["--mode", "json"]])(
	"with %s %s a server that never answers is named on stderr",
	async (...args) => {
		const provider = await startProvider();
		provider.reply("Hello.");
		const agentDir = agentDirWith(provider, { mute: hostile("hangs"), off: { ...hostile("hangs"), disabled: true } });
		const { code, stderr } = await runPi([...args, "hi"], { agentDir });
		expect(stderr).toMatch(
			/^The MCP server mute had not answered( after [\d.]+ m?s)? when the run ended, so its tools were not used\n$/,
		);
		expect(code).toBe(0);
	},
);

test("servers of a project run only when it is trusted, and never with other files than those", async () => {
	const provider = await startProvider();
	const cwd = tempDir();
	const source = readFileSync(fileURLToPath(new URL("../mcp/hostile-server.mjs", import.meta.url)), "utf8");
	mkdirSync(join(cwd, "tools"));
	writeFileSync(join(cwd, "tools/server.mjs"), source);
	writeFiles(cwd, {
		".mcp.json": {
			mcpServers: { ours: { command: "node", args: ["tools/server.mjs"], env: { STARTS_FILE: "starts.log" } } },
		},
	});
	const agentDir = agentDirFor(provider);
	const run = (...args: string[]) => {
		provider.reply([toolCall("mcp_search", { query: "env" })], [toolCall("ours_env", {})], "Done.");
		return runPi([...args, "-p", "go"], { agentDir, cwd });
	};
	const untrusted = await run();
	expect(untrusted.stderr).toContain(
		"Project code was not run because it is not trusted: .mcp.json, tools/server.mjs ·",
	);
	expect(existsSync(join(cwd, "starts.log"))).toBe(false);
	const trust = await runPi(["hooks", "trust"], { agentDir, cwd });
	expect(trust.stdout).toMatch(/\.mcp\.json[\s\S]*tools\/server\.mjs/);
	expect((await run()).stderr).not.toContain("trust");
	expect(readFileSync(join(cwd, "starts.log"), "utf8").trim().split("\n")).toHaveLength(1);
	writeFileSync(join(cwd, "tools/server.mjs"), `${source}\n// changed`);
	expect((await run()).stderr).toContain("not trusted: tools/server.mjs");
	expect(readFileSync(join(cwd, "starts.log"), "utf8").trim().split("\n")).toHaveLength(1);
	expect((await run("--trust")).stderr).not.toContain("trusted");
	expect((await run("--trust", "--no-mcp")).stderr).not.toContain("trusted");
	expect(readFileSync(join(cwd, "starts.log"), "utf8").trim().split("\n")).toHaveLength(2);
});

test("--mcp uses a file, a missing or broken one is named with its place", async () => {
	const provider = await startProvider();
	const cwd = tempDir();
	writeFiles(cwd, { "own.json": { mcpServers: { own: hostile() } }, "bad.json": '{"mcpServers": {' });
	const agentDir = agentDirFor(provider);
	provider.reply([toolCall("mcp_search", { query: "env" })], [toolCall("own_env", {})], "Done.");
	const run = (...files: string[]) =>
		runPi([...files.flatMap((file) => ["--mcp", file]), "-p", "go"], { agentDir, cwd });
	expect(await run("own.json")).toMatchObject({ stdout: "Done.\n", code: 0 });
	expect(provider.requests[2]?.messages.at(-1)?.text).toMatch(/^HOME.*PATH/);
	const broken = await run("own.json", "bad.json");
	expect(broken.stderr).toContain(`${join(cwd, "bad.json")}:1:17: unexpected end of file`);
	const missing = await run("none.json");
	expect(missing.stderr).toContain(`${join(cwd, "none.json")} does not exist · correct --mcp`);
	expect([broken.code, missing.code]).toEqual([2, 2]);
	const doctor = await runPi(["doctor"], {
		agentDir: agentDirWith(provider, { a: { command: "no-such-program" }, b: {} }),
		cwd,
	});
	expect(doctor.stdout).toMatch(/!! +mcp +.*mcp\.json:\d+:\d+: mcpServers\.b needs a command or a url/);
	expect(doctor.stdout).toMatch(/!! +mcp +.*the command no-such-program of the server a does not exist · install it/);
});

test("RPC clients get prompts of servers as commands, and resources by name", async () => {
	const provider = await startProvider();
	const pi = spawnPi(["--mode", "rpc"], { agentDir: agentDirWith(provider, { everything: EVERYTHING }) });
	await expect
		.poll(
			() => {
				pi.write('{"id":1,"type":"get_commands"}\n');
				return pi.stdout();
			},
			{ timeout: 15_000, interval: 200 },
		)
		.toContain('"everything:simple-prompt"');
	provider.reply("ok");
	pi.write('{"id":2,"type":"prompt","message":"see @everything:demo://resource/static/document/features.md"}\n');
	await pi.waitFor(({ stdout }) => stdout.includes('"agent_end"'));
	expect(provider.requests[0]?.messages.at(-1)?.text).toContain(
		'<file name="everything:demo://resource/static/document/features.md">',
	);
	pi.end();
	await pi.exited;
});

test.each([40, 80, 120])(
	"an address pasted while a login to a server waits reaches no model and no file, at %i columns",
	async (columns) => {
		const provider = await startProvider();
		const server = await startHttpServer({ needsLogin: true });
		const agentDir = agentDirWith(provider, { web: { url: server.url } });
		const pi = await openPi({ agentDir, columns, rows: 40 });
		await pi.waitForText("0%");
		await submit(pi, "/mcp");
		await pi.waitForText(/MCP servers[\s\S]*needs a login/);
		pi.type("i");
		await pi.waitForText(/redirect\s+URL/);
		pi.paste("http://localhost:1/callback?code=secret-code-of-a-login");
		await pi.waitForText("of-a-login");
		await pi.press("escape");
		await pi.waitForGone("of-a-login");
		await pi.waitForText("canceled");
		await pi.press("escape");
		await pi.waitForGone("MCP servers");
		provider.reply("Hello.");
		await submit(pi, "hello");
		await pi.waitForText("Hello.");
		expect(conversation(provider, 0)).toEqual(["user: hello"]);
		await submitIdle(pi, "/quit");
		await pi.exited;
		const files = readdirSync(agentDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
		const holders = files.filter((file) =>
			readFileSync(join(file.parentPath, file.name), "utf8").includes("secret-code"),
		);
		expect(holders.map(({ name }) => name)).toEqual([]);
	},
);

test.each([40, 80])("a server asks the user in a form at %i columns, and gets the answers", async (columns) => {
	const provider = await startProvider();
	const schema = {
		type: "object",
		properties: {
			name: { type: "string", title: "Name", minLength: 2 },
			color: { type: "string", title: "Color", enum: ["red", "green"] },
		},
		required: ["name"],
	};
	provider.reply(
		[toolCall("mcp_search", { query: "form" })],
		[toolCall("asking_form", { message: "Who are you?", schema })],
		"Nice to meet you.",
	);
	const pi = await openPi({ agentDir: agentDirWith(provider, { asking: ASKING }), columns });
	await pi.waitForText("0%");
	await submit(pi, "ask me");
	await pi.waitForText(/MCP server asking asks:\s+Who are you\?/);
	await answer(pi, "y");
	await pi.waitForText("MCP server asking: Name");
	await submit(pi, "Ada");
	await pi.waitForText("MCP server asking: Color");
	await pi.press("down");
	await pi.press("enter");
	await pi.waitForText(/Send these answers/);
	await answer(pi, "y");
	await pi.waitForText("Nice to meet you.");
	expect(conversation(provider, 2).at(-1)).toContain('{"action":"accept","content":{"name":"Ada","color":"green"}}');
});
