import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "oxc-transform";
import { expect, inject, onTestFinished, test, vi } from "vitest";
import { installPackage, PACKAGE_ROOT } from "../helpers/installed-package.js";
import { type LoopbackProvider, startProvider, toolCall } from "../helpers/loopback-provider.js";
import { piPlace } from "../helpers/pi-environment.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor } from "./support.js";

const page = readFileSync(new URL("../../docs/sdk.md", import.meta.url), "utf8");
const named = (language: string) =>
	Object.fromEntries(
		[...page.matchAll(new RegExp(`^\`\`\`${language} (\\S+)\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(
			([, name = "", code = ""]) => [name, code],
		),
	);
const sources = named("ts");
const outputs = named("text");

interface Program {
	child: ChildProcess;
	stdout(): string;
	stderr(): string;
	exited: Promise<number | null>;
}

/** A project with an example and the installed package. */
interface Project {
	dir: string;
	main: string;
	env: Record<string, string>;
}

function createProject(name: string, provider: LoopbackProvider, files: Record<string, unknown> = {}): Project {
	const dir = tempDir();
	const tarball = inject("installation")?.tarball;
	if (!tarball) throw new Error("The program is not installed");
	installPackage(dir, tarball);
	symlinkSync(join(PACKAGE_ROOT, "node_modules", "typebox"), join(dir, "node_modules", "typebox"));
	const { code } = transformSync("main.ts", sources[name] ?? "");
	writeFiles(dir, { "package.json": { type: "module" }, "main.js": code, "work/a.txt": "", ...files });
	return { dir, main: join(dir, "main.js"), env: piPlace({ agentDir: agentDirFor(provider) }).env };
}

/** Starts the example of a project as a program of its own. */
function startExample({ dir, main, env }: Project, extra: Record<string, string> = {}): Program {
	const child = spawn(process.execPath, [main], { cwd: join(dir, "work"), env: { ...env, ...extra } });
	const output = { stdout: "", stderr: "" };
	for (const stream of ["stdout", "stderr"] as const) {
		child[stream].setEncoding("utf8").on("data", (chunk: string) => {
			output[stream] += chunk;
		});
	}
	const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
	onTestFinished(async () => {
		child.kill("SIGKILL");
		await exited;
	});
	return { child, stdout: () => output.stdout, stderr: () => output.stderr, exited };
}

/** Runs an example to its end. @throws unless it ends with exit code 0 and without a word on stderr */
async function runExample(...args: Parameters<typeof createProject>): Promise<string> {
	const program = startExample(createProject(...args));
	const code = await program.exited;
	expect({ code, stderr: program.stderr() }).toEqual({ code: 0, stderr: "" });
	return program.stdout();
}

const isQuote = (name: string) => name.startsWith("hooks-examples/");

test.each(Object.keys(sources).filter(isQuote))("the page quotes %s exactly", (name) => {
	expect(readFileSync(new URL(`../../${name}`, import.meta.url), "utf8")).toContain(sources[name]);
});

test("every example of the page is a program of this file", () => {
	expect(
		Object.keys(sources)
			.filter((name) => !isQuote(name))
			.sort(),
	).toEqual(["ask.ts", "check.ts", "stream.ts", "review.ts", "confirm.ts", "tenants.ts", "bot.ts"].sort());
});

test("ask.ts prints the reply, and leaves no session file", async () => {
	const provider = await startProvider();
	provider.reply([toolCall("ls", {})], "There is a.txt.");
	expect(await runExample("ask.ts", provider)).toBe("There is a.txt.\n");
	expect(provider.requests[1]?.messages.at(-1)?.text).toBe("a.txt");
});

test("check.ts prints the error of the page", async () => {
	expect(await runExample("check.ts", await startProvider())).toBe(outputs["check.ts"]);
});

test("stream.ts prints the calls and the reply as they happen", async () => {
	const provider = await startProvider();
	provider.reply([toolCall("ls", {})], "There is a.txt.");
	expect(await runExample("stream.ts", provider)).toBe("runs ls\nThere is a.txt.");
});

test("review.ts runs with its own hook and tool", async () => {
	const provider = await startProvider();
	provider.reply(
		[toolCall("bash", { command: "rm a.txt" }), toolCall("report", { file: "a.txt", finding: "is empty" })],
		"Done.",
	);
	expect(await runExample("review.ts", provider)).toBe("a.txt: is empty\n");
	const results = provider.requests[1]?.messages.slice(-2).map(({ text }) => text);
	expect(results).toEqual([expect.stringContaining("A review runs no commands."), "Reported."]);
	expect(provider.requests[0]?.messages[0]?.text).toContain("Review the code of this project.");
});

test("confirm.ts answers the questions of a hook", async () => {
	const provider = await startProvider();
	provider.reply(
		[toolCall("bash", { command: "npm test --silent; true" })],
		[toolCall("bash", { command: "touch b.txt" })],
		"Done.",
	);
	await runExample("confirm.ts", provider);
	const results = [1, 2].map((at) => provider.requests[at]?.messages.at(-1)?.text ?? "");
	expect(results.map((result) => /blocked|refused|declined|not allowed|said no/i.test(result))).toEqual([false, true]);
});

test("tenants.ts keeps the keys and prompts of two sessions apart", async () => {
	const provider = await startProvider();
	provider.on(({ messages }) => `${messages[0]?.text.split("\n")[0]}`);
	const models = Object(provider.modelsJson());
	const loopback = { ...models.providers.loopback, apiKey: "LAB_KEY" };
	const tenant = {
		"models.json": { providers: { loopback } },
		"settings.json": { defaultProvider: "loopback", defaultModel: "scripted" },
	};
	const files = Object.fromEntries(
		["red", "blue"].flatMap((name) =>
			Object.entries(tenant).map(([file, content]) => [`work/tenants/${name}/${file}`, content]),
		),
	);
	expect(await runExample("tenants.ts", provider, files)).toBe(
		"You answer questions of red.\nYou answer questions of blue.\n",
	);
	expect(provider.requests.map(({ headers }) => headers.authorization).sort()).toEqual([
		"Bearer key-of-blue",
		"Bearer key-of-red",
	]);
});

test("bot.ts serves chats over HTTP, keeps them apart, continues them after a restart and ends on SIGTERM", async () => {
	const provider = await startProvider();
	provider.on(({ messages }) => `${messages.filter(({ role }) => role === "user").map(({ text }) => text)} heard`);
	const port = await freePort();
	const project = createProject("bot.ts", provider);
	const start = async () => {
		const bot = startExample(project, { PORT: String(port) });
		await vi.waitFor(() => expect(bot.stdout()).toContain("listening"), { timeout: 20_000 });
		return bot;
	};
	const say = async (chat: string, body: string) => {
		const response = await fetch(`http://127.0.0.1:${port}/chats/${chat}`, { method: "POST", body });
		return [response.status, await response.text()];
	};
	const bot = await start();
	expect(await Promise.all([say("ann", "one"), say("bob", "two")])).toEqual([
		[200, "one heard\n"],
		[200, "two heard\n"],
	]);
	expect(await say("ann", "three")).toEqual([200, "one,three heard\n"]);
	expect(await say("ann", "")).toEqual([400, "Send a prompt as the body of the request\n"]);
	expect(await say("ann", "x".repeat(200_000))).toEqual([413, "The prompt is too long\n"]);
	expect(await say("../etc", "hi")).toEqual([404, "POST /chats/<name> sends a prompt\n"]);
	const held = gate();
	provider.reply(async () => {
		await held.opened;
		return "late";
	});
	const slow = say("ann", "four");
	await provider.request(4);
	expect(await say("ann", "five")).toEqual([409, "This chat is still answering\n"]);
	held.open();
	expect(await slow).toEqual([200, "late\n"]);
	provider.reply({ fault: { kind: "http", status: 400, message: "no luck" } });
	expect(await say("bob", "fail")).toEqual([200, expect.stringContaining("no luck")]);
	expect(bot.stderr()).toBe("");
	const tools = JSON.stringify(provider.requests[0]?.body.tools);
	expect(tools).not.toContain('"bash"');
	bot.child.kill("SIGTERM");
	expect(await bot.exited).toBe(0);
	await start();
	expect(await say("ann", "again")).toEqual([200, "one,three,four,again heard\n"]);
});

test("bot.ts stops the run of a client that disconnects", async () => {
	const provider = await startProvider();
	const port = await freePort();
	const bot = startExample(createProject("bot.ts", provider), { PORT: String(port) });
	await vi.waitFor(() => expect(bot.stdout()).toContain("listening"), { timeout: 20_000 });
	const held = gate();
	onTestFinished(() => held.open());
	provider.reply(async () => {
		await held.opened;
		return "never read";
	});
	const client = new AbortController();
	const request = fetch(`http://127.0.0.1:${port}/chats/ann`, { method: "POST", body: "hi", signal: client.signal });
	const { closed } = await provider.request(1);
	client.abort();
	await expect(request).rejects.toThrow();
	expect(await closed).toBe(false);
});

/** A port that is free now. */
async function freePort(): Promise<number> {
	const { createServer } = await import("node:net");
	const server = createServer();
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const address = server.address();
	await new Promise((resolve) => server.close(resolve));
	return typeof address === "object" && address !== null ? address.port : 0;
}

/** A promise that opens when asked to. */
function gate(): { opened: Promise<void>; open(): void } {
	let open = () => {};
	const opened = new Promise<void>((resolve) => {
		open = resolve;
	});
	return { opened, open };
}
