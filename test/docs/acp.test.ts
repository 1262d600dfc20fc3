import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { methods } from "@agentclientprotocol/sdk";
import { transformSync } from "oxc-transform";
import { expect, onTestFinished, test, vi } from "vitest";
import { parseArgs } from "../../src/cli/args.js";
import { agentDirFor } from "../e2e/support.js";
import { type LoopbackProvider, startProvider, toolCall } from "../helpers/loopback-provider.js";
import { piPlace, piProgram } from "../helpers/pi-environment.js";
import { serve } from "../modes/acp/serve.js";

const page = readFileSync(new URL("../../docs/acp.md", import.meta.url), "utf8");
const PROJECT = "/home/me/project";

/** Code blocks of the page with this word after the fence. */
function blocks(language: string): string[] {
	return [...page.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(([, body]) => body ?? "");
}

const [gate = ""] = blocks("ts gate\\.ts");
const examples = blocks("jsonl").map((example) => ({ title: example.slice(0, example.indexOf("\n")), example }));

function script(provider: LoopbackProvider): void {
	provider.on(({ messages }) => {
		const last = messages.at(-1);
		const isCall = last?.role === "user" && last.text === "write a.txt";
		return isCall ? [toolCall("write", { path: "a.txt", content: "made\n" }, "call_1")] : "Hi there";
	});
}

test.each(examples)("the example that begins with $title matches the program", async ({ example }) => {
	const hooks: Record<string, string> = example.includes("request_permission") ? { "gate.ts": gate } : {};
	const { provider, editor, write, output, cwd, id } = await serve({ hooks, modelOptions: { reasoning: true } });
	// The client of the test shares the connection: it leaves questions to the example, and wonders about its answers.
	editor.onPermission = () => new Promise(() => {});
	vi.spyOn(console, "error").mockImplementation(() => {});
	onTestFinished(() => void vi.restoreAllMocks());
	script(provider);
	let sessionId = id;
	const real = (text: string) => text.replaceAll(PROJECT, cwd).replaceAll("$1", sessionId);
	let seen = 0;
	for (const line of example.trimEnd().split("\n")) {
		const text = line.slice(2);
		if (line.startsWith("> ")) {
			seen = 0;
			write(`${real(text)}\n`);
			continue;
		}
		const opens = text.includes('"result": {"sessionId": "$1"');
		const expected = JSON.parse(opens ? text.replace('"sessionId": "$1", ', "") : real(text));
		const found = await vi.waitFor(() => {
			const lines = output()
				.trimEnd()
				.split("\n")
				.map((each) => JSON.parse(each));
			const index = lines.findIndex((candidate, at) => {
				if (at < seen) return false;
				try {
					expect(candidate).toMatchObject(expected);
					return opens ? candidate.result?.sessionId !== id : true;
				} catch {
					return false;
				}
			});
			if (index < 0) throw new Error(`No line such as ${text} in\n${output()}`);
			return { line: lines[index], index };
		}, 10_000);
		seen = found.index + 1;
		if (opens) sessionId = found.line.result.sessionId;
	}
});

test("the configurations of editors start pi acp, with options that it accepts", () => {
	const configs = blocks("json").map((text) => JSON.parse(text).agent_servers.pi);
	expect(configs).toHaveLength(2);
	for (const { command, args } of configs) {
		expect(command).toBe("pi");
		expect(parseArgs(args)).toMatchObject({ kind: "session", options: { mode: "acp" } });
	}
});

test("the tables list the methods, updates and error codes of the program", async () => {
	const { editor } = await serve();
	const rows = (heading: string) => {
		const [, section = ""] = new RegExp(`^## ${heading}$([\\s\\S]*?)^## `, "m").exec(page) ?? [];
		return [...section.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell = ""]) =>
			[...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name),
		);
	};
	const { initialize, authenticate, session, ...others } = methods.agent;
	expect(Object.keys(others)).toEqual(["logout"]);
	const known = [initialize, authenticate, ...Object.values(session)].filter((name) => name !== session.delete);
	expect(rows("Methods").sort()).toEqual([...known].sort());
	for (const method of [methods.agent.logout, session.delete]) {
		await expect(editor.agent.request(method, { sessionId: "x" })).rejects.toMatchObject({ code: -32601 });
	}
});

test("the client of the page runs, with pi on its PATH", async () => {
	const [source = ""] = blocks("ts client\\.ts");
	const provider = await startProvider();
	provider.reply([toolCall("bash", { command: "echo hi" })], "It says hi.");
	const { env, cwd, home } = piPlace({ agentDir: agentDirFor(provider) });
	const bin = join(home, "bin");
	mkdirSync(bin);
	symlinkSync(piProgram(), join(bin, "pi"));
	symlinkSync(fileURLToPath(new URL("../../node_modules", import.meta.url)), join(cwd, "node_modules"));
	const { code: program } = transformSync("client.ts", source);
	writeFileSync(join(cwd, "client.mjs"), program);
	const child = spawn(process.execPath, ["client.mjs"], { cwd, env: { ...env, PATH: `${bin}:${env.PATH}` } });
	let output = "";
	for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
	const code = await new Promise((resolve) => child.once("close", resolve));
	expect({ code, output }).toEqual({ code: 0, output: "runs bash\nIt says hi.\nend_turn\n" });
});
