import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ClientCapabilities, type McpServer, methods } from "@agentclientprotocol/sdk";
import { expect, onTestFinished, test } from "vitest";
import { AcpTestClient } from "../helpers/acp-client.js";
import { type LoopbackProvider, startProvider, text, toolCall } from "../helpers/loopback-provider.js";
import { piPlace, piProgram } from "../helpers/pi-environment.js";
import { spawnPi } from "../helpers/run-pi.js";
import { tempDir, writeFiles, writeHook } from "../helpers/temp.js";
import { EVERYTHING } from "../mcp/servers.js";
import { agentDirFor, openPi } from "./support.js";

const { session } = methods.agent;

interface Editor {
	editor: AcpTestClient;
	child: ChildProcessWithoutNullStreams;
	cwd: string;
	agentDir: string;
	stdout(): string;
	stderr(): string;
	/** Resolves with the exit code. */
	exited: Promise<number | null>;
}

interface EditorOptions {
	agentDir: string;
	args?: string[];
	env?: Record<string, string>;
	capabilities?: ClientCapabilities;
}

/** Starts `pi acp` as an editor does. */
async function openEditor({ agentDir, args = [], env: more, capabilities }: EditorOptions): Promise<Editor> {
	const { env, cwd } = piPlace({ agentDir, ...(more ? { env: more } : {}) });
	const child = spawn(process.execPath, [piProgram(), "acp", ...args], { cwd: tempDir("pi-elsewhere-"), env });
	let [stdout, stderr] = ["", ""];
	child.stdout.on("data", (chunk: Buffer) => {
		stdout += chunk.toString();
	});
	child.stderr.on("data", (chunk: Buffer) => {
		stderr += chunk.toString();
	});
	const exited = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
	onTestFinished(async () => {
		if (child.exitCode === null) child.kill("SIGKILL");
		await exited;
	});
	const editor = new AcpTestClient(child.stdout, child.stdin);
	await editor.initialize(capabilities);
	return { editor, child, cwd, agentDir, stdout: () => stdout, stderr: () => stderr, exited };
}

async function openWithModel(provider: LoopbackProvider, options: Partial<EditorOptions> = {}): Promise<Editor> {
	return openEditor({ agentDir: agentDirFor(provider), ...options });
}

test("an editor opens a session, sends a prompt, sees the edit and continues in another process", async () => {
	const provider = await startProvider();
	const first = await openWithModel(provider);
	writeFiles(first.cwd, { "a.txt": "one\ntwo\n" });
	const { sessionId } = await first.editor.newSession(first.cwd);
	provider.reply(
		[text("I will edit it."), toolCall("edit", { path: "a.txt", oldText: "two", newText: "2" }, "c1")],
		[toolCall("bash", { command: "cat a.txt" }, "c2")],
		"Done.",
	);
	expect(await first.editor.prompt(sessionId, "change it")).toEqual({ stopReason: "end_turn" });
	expect(readFileSync(join(first.cwd, "a.txt"), "utf8")).toBe("one\n2\n");
	expect(first.editor.text("agent_message_chunk")).toBe("I will edit it.Done.");
	expect(first.editor.call("c1")).toMatchObject({
		...{ status: "completed", kind: "edit", locations: [{ path: join(first.cwd, "a.txt"), line: 2 }] },
		content: [{ type: "diff", path: join(first.cwd, "a.txt"), oldText: "two", newText: "2" }],
	});
	expect(JSON.stringify(first.editor.call("c2").content)).toContain("one\\n2");
	first.child.stdin.end();
	expect(await first.exited).toBe(0);
	expect(first.stderr()).toBe("");
	for (const line of first.stdout().trimEnd().split("\n")) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });

	const { editor } = await openWithModel(provider, { agentDir: first.agentDir });
	const { sessions } = await editor.agent.request(session.list, { cwd: first.cwd });
	expect(sessions).toMatchObject([{ sessionId, title: "change it" }]);
	await editor.agent.request(session.load, { sessionId, cwd: first.cwd, mcpServers: [] });
	expect(editor.text("user_message_chunk")).toBe("change it");
	expect(editor.text("agent_message_chunk")).toBe("I will edit it.Done.");
	provider.reply("Still here.");
	expect(await editor.prompt(sessionId, "and now?")).toEqual({ stopReason: "end_turn" });
});

test("what hooks print never reaches stdout, and their questions reach the editor", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider);
	const source = `export default function (pi) {
		console.log("from console");
		process.stdout.write("from stdout\\n");
		pi.on("tool_call", () => { console.log("asking"); return { ask: "Run it?" }; });
	}`;
	writeHook(join(agentDir, "hooks"), "loud.ts", source);
	const { editor, cwd, stdout, stderr } = await openEditor({ agentDir });
	const { sessionId } = await editor.newSession(cwd);
	editor.onPermission = () => "reject";
	provider.reply([toolCall("bash", { command: "touch made" }, "c1")], "ok");
	await editor.prompt(sessionId, "go");
	expect(editor.permissions).toMatchObject([{ toolCall: { toolCallId: "c1" } }]);
	expect(existsSync(join(cwd, "made"))).toBe(false);
	expect(stderr()).toMatch(/from console[\s\S]*from stdout[\s\S]*asking/);
	for (const line of stdout().trimEnd().split("\n")) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
});

test("two sessions run at once; cancel ends one of them, and SIGTERM ends the program with its commands", async () => {
	const provider = await startProvider();
	const { editor, cwd, child, exited } = await openWithModel(provider, { args: ["--no-session"] });
	const other = tempDir("pi-other-");
	const [one, two] = [await editor.newSession(cwd), await editor.newSession(other)];
	provider.on(() => [toolCall("bash", { command: "echo $$ > pid; exec sleep 60" })]);
	const answers = [editor.prompt(one.sessionId, "one"), editor.prompt(two.sessionId, "two")];
	answers[1]?.catch(() => {});
	await expect.poll(() => existsSync(join(cwd, "pid")) && existsSync(join(other, "pid"))).toBe(true);
	await editor.agent.notify(session.cancel, { sessionId: one.sessionId });
	expect(await answers[0]).toEqual({ stopReason: "cancelled" });
	const pid = Number(readFileSync(join(other, "pid"), "utf8"));
	process.kill(pid, 0);
	child.kill("SIGTERM");
	expect(await exited).toBe(143);
	await expect.poll(() => isAlive(pid)).toBe(false);
});

test("without a model the editor is asked to log in, and a new key works without a restart", async () => {
	const provider = await startProvider();
	const agentDir = tempDir("pi-agent-");
	const { editor, cwd } = await openEditor({ agentDir, env: { PI_OFFLINE: "1" } });
	const missing = { code: -32000, message: expect.stringContaining("No model is available · use /login in pi") };
	await expect(editor.newSession(cwd)).rejects.toMatchObject(missing);
	await expect(editor.agent.request(methods.agent.authenticate, { methodId: "keys" })).rejects.toMatchObject(missing);
	writeFileSync(join(agentDir, "models.json"), JSON.stringify(provider.modelsJson()));
	expect(await editor.agent.request(methods.agent.authenticate, { methodId: "keys" })).toEqual({});
	const { sessionId } = await editor.newSession(cwd);
	provider.reply("hello");
	expect(await editor.prompt(sessionId, "hi")).toEqual({ stopReason: "end_turn" });
});

test("requests on a pipe are answered before the program ends", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider);
	const pi = spawnPi(["acp"], { agentDir });
	pi.write('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\nnonsense\n');
	pi.write(
		`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":${JSON.stringify(pi.cwd)},"mcpServers":[]}}`,
	);
	pi.end();
	const { code, stdout } = await pi.exited;
	expect(code).toBe(0);
	const lines = stdout
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line));
	expect(lines.find(({ id }) => id === 1)).toMatchObject({ result: { protocolVersion: 1 } });
	expect(lines.find(({ id }) => id === null)).toMatchObject({ error: { code: -32700 } });
	expect(lines.find(({ id }) => id === 2)).toMatchObject({ result: { sessionId: expect.any(String) } });
});

test.each([
	[["--print"], "pi acp does not accept --print · the client chooses sessions and prompts"],
	[["--continue"], "pi acp does not accept --continue"],
	[["hello"], 'pi acp: unexpected argument "hello" · the client sends prompts'],
	[["--modle", "x"], "unknown option --modle · did you mean --model"],
])("pi acp %s is refused", async (args, message) => {
	const pi = spawnPi(["acp", ...args]);
	pi.end();
	const { code, stdout, stderr } = await pi.exited;
	expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
	expect(stderr).toContain(message);
});

test("pi acp --help describes the subcommand", async () => {
	const help = spawnPi(["acp", "--help"]);
	expect((await help.exited).stdout).toContain("usage: pi acp [<options>]");
});

test("pi acp --login asks for a login in a terminal", async () => {
	const provider = await startProvider();
	const args = ["acp", "--login"];
	const pi = await openPi({ args, env: { PI_OFFLINE: "1" } });
	await pi.waitForText(/pi has no model yet/);
	const other = await openPi({ args, env: { PI_OFFLINE: "1" }, agentDir: agentDirFor(provider) });
	await other.waitForText(/Which provider\?/);
	const piped = spawnPi(args);
	piped.end();
	expect(await piped.exited).toMatchObject({ code: 2, stderr: expect.stringContaining("not a terminal") });
});

test("a session uses the client's MCP servers, and a notice names one that pi cannot reach", async () => {
	const provider = await startProvider();
	const { editor, cwd } = await openWithModel(provider, { capabilities: { session: { notices: {} } } });
	const { command, args } = EVERYTHING;
	const mcpServers: McpServer[] = [
		{ name: "every thing", command, args: [...args], env: [] },
		{ type: "sse", name: "old", url: "http://127.0.0.1:9/sse", headers: [] },
	];
	const { sessionId } = await editor.agent.request(session.new, { cwd, mcpServers });
	expect(await editor.waitFor("notice")).toMatchObject({ severity: "warning", title: expect.stringContaining("old") });
	provider.reply(
		[toolCall("mcp_search", { query: "echo" })],
		[toolCall("every-thing_echo", { message: "hi" })],
		"done",
	);
	const prompt = [{ type: "text" as const, text: "say hi" }];
	expect(await editor.agent.request(session.prompt, { sessionId, prompt })).toMatchObject({ stopReason: "end_turn" });
	expect(JSON.stringify(provider.requests.at(-1)?.messages)).toContain("Echo: hi");
});

function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch {
		return false;
	}
}
