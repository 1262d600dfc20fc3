import { spawn } from "node:child_process";
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { methods } from "@agentclientprotocol/sdk";
import { expect, onTestFinished, test } from "vitest";
import { RpcClient } from "../../src/modes/rpc/client.js";
import { AcpTestClient } from "../helpers/acp-client.js";
import { NO_SANDBOX } from "../helpers/bubblewrap.js";
import { type LoopbackProvider, startProvider, toolCall } from "../helpers/loopback-provider.js";
import { piPlace, piProgram } from "../helpers/pi-environment.js";
import { processesWith } from "../helpers/programs.js";
import { startPi } from "../helpers/pty.js";
import { runPi, spawnPi } from "../helpers/run-pi.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor, answerLine, openPi, submit } from "./support.js";

const sandboxed = test.skipIf(NO_SANDBOX !== undefined);

const IN_SANDBOX = ["-p", "--on", "sandbox:"];

/** Results of the tool calls of the last request. */
function results(provider: LoopbackProvider): string[] {
	return (provider.requests.at(-1)?.messages ?? []).filter(({ role }) => role === "tool").map(({ text }) => text);
}

function bash(command: string) {
	return toolCall("bash", { command });
}

/** Starts a server on loopback for the running test. @returns a command that prints whether it can connect to it */
async function startListening(): Promise<string> {
	const server = createServer((_, response) => response.end("reached"));
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	onTestFinished(() => void server.close());
	const address = server.address();
	const port = typeof address === "object" && address ? address.port : 0;
	// Node may be installed in a directory that the sandbox hides.
	return `bash -c '(exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null && echo reached || echo refused'`;
}

sandboxed("all tools work in the sandbox, and get no further than the working directory", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider);
	const outside = tempDir();
	writeFiles(outside, { "a.txt": "outside" });
	const cwd = tempDir();
	provider.reply(
		[
			toolCall("write", { path: "sub/a.txt", content: "one\n" }),
			toolCall("edit", { path: "sub/a.txt", oldText: "one", newText: "two" }),
			bash("cat sub/a.txt; id -u; grep NoNewPrivs /proc/self/status"),
			toolCall("write", { path: join(outside, "a.txt"), content: "changed" }),
			toolCall("write", { path: "/etc/pi-new", content: "changed" }),
			toolCall("edit", { path: "/etc/hostname", oldText: "", newText: "changed" }),
			toolCall("read", { path: join(agentDir, "models.json") }),
			toolCall("read", { path: "/proc/1/environ" }),
			toolCall("grep", { pattern: "apiKey", path: agentDir }),
			toolCall("ls", { path: agentDir }),
			bash(`cat '${agentDir}/models.json'; kill -9 ${process.pid}; echo still here`),
		],
		"Done.",
	);
	const { stdout, code } = await runPi([...IN_SANDBOX, "go"], { agentDir, cwd });
	expect({ stdout, code }).toEqual({ stdout: "Done.\n", code: 0 });
	const [, , shell, there, etc, , models, environ, grep, list, cat] = results(provider);
	expect(shell).toMatch(/^two\n\d+\nNoNewPrivs:\t1/);
	// A directory in /tmp is a new one in the sandbox.
	expect(there).toMatch(/^Created/);
	expect(etc).toContain("/etc/pi-new");
	for (const text of [models, environ, grep, list, cat]) expect(text).not.toMatch(/loopback|scripted|PI_CODING/);
	expect(cat).toContain("still here");
	expect(readFileSync(join(outside, "a.txt"), "utf8")).toBe("outside");
	expect(existsSync("/etc/pi-new")).toBe(false);
	expect(readFileSync(join(cwd, "sub", "a.txt"), "utf8")).toBe("two\n");
	expect(provider.requests[0]?.messages[0]?.text).toContain("run in a sandbox");
});

sandboxed("the network is there only with --sandbox-net", async () => {
	const connect = await startListening();
	const provider = await startProvider();
	const outputs: string[] = [];
	for (const flags of [[], ["--sandbox-net"]]) {
		provider.reply([bash(connect)], "Done.");
		await runPi([...IN_SANDBOX, ...flags, "go"], { agentDir: agentDirFor(provider) });
		outputs.push(results(provider).join("").trim());
	}
	expect(outputs).toEqual(["refused", "reached"]);
	// The session alone names the sandbox, whose hook declares the flag.
	const agentDir = agentDirFor(provider);
	const cwd = tempDir();
	provider.reply("Hello.");
	await runPi([...IN_SANDBOX, "go"], { agentDir, cwd });
	provider.reply([bash(connect)], "Done.");
	expect(await runPi(["-p", "-c", "--sandbox-net", "go"], { agentDir, cwd })).toMatchObject({
		code: 0,
		stdout: "Done.\n",
	});
	expect(results(provider).join("").trim()).toBe("reached");
	expect(await runPi(["-p", "-c", "--sandbox-nte", "go"], { agentDir, cwd })).toMatchObject({
		code: 2,
		stderr: "pi: unknown option --sandbox-nte · did you mean --sandbox-net or --no-sandbox-net?\n",
	});
});

sandboxed("kill -9 of pi ends the programs in the sandbox, and files that pi inherited stay outside", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider);
	const cwd = tempDir();
	const secret = join(tempDir(), "secret");
	writeFileSync(secret, "secret");
	provider.reply([bash("cat <&30")], "Done.");
	const script = `exec 30<'${secret}'; exec '${process.execPath}' '${piProgram()}' -p --on sandbox: go`;
	const { env } = piPlace({ agentDir, cwd });
	const child = spawn("bash", ["-c", script], { env, cwd, stdio: "ignore" });
	expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
	expect(results(provider)).toHaveLength(1);
	expect(results(provider).join("")).not.toContain("secret");

	const second = tempDir();
	const mark = `70${process.pid}`;
	provider.reply([bash(`touch begun; (sleep ${mark}; touch late) & setsid sleep ${mark}; touch later`)], "Done.");
	const pi = spawnPi([...IN_SANDBOX, "go"], { agentDir, cwd: second });
	await expect.poll(() => existsSync(join(second, "begun")), { timeout: 15_000 }).toBe(true);
	pi.kill("SIGKILL");
	await expect.poll(() => processesWith(`sleep ${mark}`)).toEqual([]);
	expect(readdirSync(second)).toEqual(["begun"]);
});

test.runIf(process.platform === "linux")("pi refuses to start without bubblewrap, and sends nothing", async () => {
	const provider = await startProvider();
	const { stdout, stderr, code } = await runPi([...IN_SANDBOX, "go"], {
		agentDir: agentDirFor(provider),
		env: { PATH: "/nowhere" },
	});
	expect({ stdout, code }).toEqual({ stdout: "", code: 1 });
	expect(stderr).toMatch(/The sandbox needs bubblewrap: there is no bwrap in PATH.*install the package bubblewrap/);
	expect(stderr.trim().split("\n")).toHaveLength(1);
	expect(provider.requests).toEqual([]);
});

sandboxed("a working directory that cannot be sandboxed and a malformed spec are refused in one line", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider);
	for (const [args, cwd, message] of [
		[IN_SANDBOX, "/etc", /The sandbox cannot make \/etc writable: programs outside use \/etc · start pi in/],
		[["-p", "--on", "sandbox:here"], tempDir(), /The host sandbox:here has an address.* use --on sandbox:/],
	] as const) {
		const { stderr, code } = await runPi([...args, "go"], { agentDir, cwd });
		expect(stderr.trim().split("\n")).toHaveLength(1);
		expect(stderr).toMatch(message);
		expect(code).not.toBe(0);
	}
	expect(provider.requests).toEqual([]);
});

sandboxed("! commands run in the sandbox", async () => {
	const provider = await startProvider();
	const pi = await openPi({ agentDir: agentDirFor(provider), args: ["--on", "sandbox:"] });
	await submit(pi, "!touch /etc/pi-new; echo wrote $((40 + 2))");
	await pi.waitForText(/wrote 42/);
	expect(await pi.screen()).toMatch(/Read-only file system/);
	expect(existsSync("/etc/pi-new")).toBe(false);
});

/** Makes sessions of `pi -p` sessions of the shell, which `/resume` lists. */
function showInPicker(agentDir: string): void {
	for (const name of readdirSync(join(agentDir, "sessions"), { recursive: true, encoding: "utf8" })) {
		if (!name.endsWith(".jsonl")) continue;
		const path = join(agentDir, "sessions", name);
		writeFileSync(path, readFileSync(path, "utf8").replaceAll(',"mode":"print"', ""));
	}
}

sandboxed.each([[[]], [["--plain"]]])(
	"-r accepts flags of the host of the session that the user chooses: %j",
	async (mode) => {
		const connect = await startListening();
		const provider = await startProvider();
		const place = { agentDir: agentDirFor(provider), cwd: tempDir() };
		provider.reply("Hello.");
		await runPi([...IN_SANDBOX, "go there"], place);
		showInPicker(place.agentDir);

		const mistyped = startPi({ ...place, args: ["-r", ...mode, "--sandbox-nte"] });
		expect(await mistyped.exited).toEqual({ code: 2, signal: 0 });
		expect(await mistyped.screen()).toContain("unknown option --sandbox-nte · did you mean --sandbox-net");

		const pi = startPi({ ...place, args: ["-r", ...mode, "--sandbox-net"] });
		await pi.waitForText("go there");
		if (mode.length > 0) await answerLine(pi, "1");
		else await pi.press("enter");
		await pi.waitForText(mode.length > 0 ? "2 messages so far" : "Hello.");
		provider.reply([bash(connect)], "Done.");
		await submit(pi, "again");
		await pi.waitForText("Done.");
		expect(results(provider).join("").trim()).toBe("reached");
	},
);

/** A session of the user and a copy elsewhere, which name this machine; the setting `on` is the sandbox. */
async function sessionsNamingLocal() {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider, { settings: { on: "sandbox:" } });
	const cwd = tempDir();
	provider.reply("Hello.");
	await runPi(["-p", "go"], { agentDir, cwd });
	const own = readdirSync(join(agentDir, "sessions"), { recursive: true, encoding: "utf8" })
		.filter((name) => name.endsWith(".jsonl"))
		.map((name) => join(agentDir, "sessions", name))
		.join();
	writeFileSync(own, readFileSync(own, "utf8").replace('"on":"sandbox:"', '"on":"local"'));
	const foreign = join(tempDir(), "shared.jsonl");
	copyFileSync(own, foreign);
	return { provider, own, foreign, place: { agentDir, cwd } };
}

const WRITE_OUTSIDE = "touch /etc/pi-new || echo refused";
const NAMES_LOCAL = /This session file.* names this machine, but your setting "on" is sandbox:/;

sandboxed("a session file cannot turn off the sandbox where nobody is asked", async () => {
	const { provider, own, foreign, place } = await sessionsNamingLocal();
	for (const mode of [[], ["--mode", "json"]]) {
		for (const session of [["-c"], ["--session", foreign]]) {
			const { code, stderr } = await runPi(["-p", ...mode, ...session, "go"], place);
			expect([code, stderr]).toEqual([1, expect.stringMatching(NAMES_LOCAL)]);
			expect(stderr).toContain("choose one with --on sandbox: or --on local");
		}
	}
	const { env, cwd } = piPlace(place);
	let said = "";
	const onStderr = (text: string) => {
		said += text;
	};
	const startRpc = (...args: string[]) => {
		const child = RpcClient.spawn({ entry: piProgram(), args, cwd, env, onStderr });
		onTestFinished(() => child.close());
		return child;
	};
	const start = startRpc("--session", foreign);
	await expect(start.call("get_state")).rejects.toThrow();
	await expect.poll(() => said).toMatch(NAMES_LOCAL);
	const client = startRpc();
	for (const sessionPath of [foreign, own]) {
		await expect(client.call("switch_session", { sessionPath })).rejects.toThrow(NAMES_LOCAL);
	}
	expect((await client.call("bash", { command: WRITE_OUTSIDE })).output).toContain("refused");
	await client.close();
	const explicit = startRpc("--on", "sandbox:");
	for (const sessionPath of [foreign, own]) {
		await explicit.call("switch_session", { sessionPath });
		expect((await explicit.call("bash", { command: WRITE_OUTSIDE })).output).toContain("refused");
	}
	await explicit.call("reset");
	expect((await explicit.call("bash", { command: WRITE_OUTSIDE })).output).toContain("refused");
	expect(provider.requests).toHaveLength(1);
	expect(existsSync("/etc/pi-new")).toBe(false);
});

sandboxed("a session file cannot turn off the sandbox of an editor", async () => {
	const { own, place } = await sessionsNamingLocal();
	const { env, cwd } = piPlace(place);
	const child = spawn(process.execPath, [piProgram(), "acp"], { cwd, env });
	onTestFinished(() => void child.kill("SIGKILL"));
	const editor = new AcpTestClient(child.stdout, child.stdin);
	await editor.initialize();
	const sessionId = JSON.parse(readFileSync(own, "utf8").split("\n")[0] ?? "").id;
	const loading = editor.agent.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
	await expect(loading).rejects.toMatchObject({ message: expect.stringMatching(NAMES_LOCAL) });
});

sandboxed.each([[[]], [["--plain"]]])(
	"a person decides whether a session file turns off the sandbox: %j",
	async (mode) => {
		for (const [answer, output] of [
			["sandbox:", /refused/],
			["this machine", /wrote 42/],
		] as const) {
			const { place } = await sessionsNamingLocal();
			const pi = startPi({ ...place, args: ["-c", ...mode] });
			await pi.waitForText(/Continue on this machine/);
			const isFirst = answer === "sandbox:";
			if (mode.length > 0) await answerLine(pi, isFirst ? "1" : "2");
			else {
				if (!isFirst) await pi.press("down");
				await pi.press("enter");
			}
			await pi.waitForText(mode.length > 0 ? "2 messages so far" : "Hello.");
			await submit(pi, "!test -w /etc && echo wrote $((40 + 2)) || echo refused");
			await pi.waitForText(output);
		}
	},
);
