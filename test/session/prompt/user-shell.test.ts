import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { describeError } from "../../../src/errors.js";
import { toolCall } from "../../helpers/loopback-provider.js";
import { startSession } from "../../helpers/session.js";
import { tempAgentDir } from "../../helpers/temp.js";

describe("tools of the user", () => {
	const TOOL = `
		import { Type } from "@sinclair/typebox";
		export default ({ cwd }) => ({
			name: "greet",
			description: "Greets somebody.",
			parameters: Type.Object({ who: Type.String() }),
			run: async ({ who }) => ({ content: [{ type: "text", text: "hello " + who + " in " + cwd }] }),
		});`;

	test("are found in the agent directory, sent to the model and run", async () => {
		const agentDir = tempAgentDir({ files: { "tools/greet/index.ts": TOOL } });
		const { session, provider, sent, cwd } = await startSession({ agentDir });
		provider.reply([toolCall("greet", { who: "Ada" })], "done");
		await session.prompt("greet her");
		expect(sent(2).at(-1)).toBe(`tool: hello Ada in ${cwd}`);
	});

	test("of a project do not run until they are trusted", async () => {
		const { session } = await startSession({
			files: { ".pi/tools/greet/index.ts": `globalThis.__toolRan = true;${TOOL}` },
		});
		expect(Reflect.get(globalThis, "__toolRan")).toBeUndefined();
		expect(session.loaded.warnings).toEqual([expect.stringMatching(/not trusted.*greet/)]);
	});
});

test("/export writes the session as HTML", async () => {
	const { session, provider, cwd } = await startSession();
	provider.reply("**bold** answer");
	await session.prompt("hi <script>");
	expect(await session.prompt("/export out.html")).toMatchObject({ status: `Exported to ${join(cwd, "out.html")}` });
	const html = readFileSync(join(cwd, "out.html"), "utf8");
	expect(html).toContain("<strong>bold</strong>");
	expect(html).toContain("hi &lt;script&gt;");
	expect(html.match(/<script[ >]/g)).toEqual(["<script ", "<script>"]); // its data and its own script
});

test("/export accepts ~ for the home directory, and names the file that it cannot write", async () => {
	const { session } = await startSession();
	const error = await session.prompt("/export ~/no/such/dir.html").catch((thrown: unknown) => thrown);
	const path = join(homedir(), "no/such/dir.html");
	expect(describeError(error)).toBe(`Cannot write ${path}: ENOENT: no such file or directory · choose another file`);
});

describe("shell commands by the user", () => {
	test("are in the context with !, but not with !!", async () => {
		const { session, provider, sent } = await startSession();
		const started: unknown[] = [];
		session.subscribe((event) => event.type === "bash_start" && started.push(event));
		await session.runBash("echo seen");
		await session.runBash("echo unseen", { excludeFromContext: true });
		expect(started).toEqual([
			{ type: "bash_start", command: "echo seen" },
			{ type: "bash_start", command: "echo unseen", excludeFromContext: true },
		]);
		provider.reply("ok");
		await session.prompt("what did I run?");
		expect(sent(1)).toEqual(["user: Ran `echo seen`\n```\nseen\n```", "user: what did I run?"]);
		expect(session.entries.length).toBe(5);
	});

	test("keep the colors of their output for the screen: the model receives plain text", async () => {
		const { session, provider, sent, events } = await startSession();
		const command = "printf '\\033[31mred\\033[0m\\033[2J\\n'";
		await session.runBash(command);
		await session.runBash("echo plain");
		const [colored, plain] = session.entries.slice(-2).map((entry) => Reflect.get(entry, "message"));
		expect(colored).toMatchObject({ output: "red", styled: "\x1b[31mred\x1b[0m" });
		expect(plain).not.toHaveProperty("styled");
		const updates = events.filter(({ type }) => type === "bash_update");
		expect(updates.at(0)).toEqual({ type: "bash_update", output: "red\n", styled: "\x1b[31mred\x1b[0m\n" });
		expect(updates.at(-1)).toEqual({ type: "bash_update", output: "plain\n" });
		provider.reply("ok");
		await session.prompt("what did I run?");
		expect(sent(1)[0]).toBe(`user: Ran \`${command}\`\n\`\`\`\nred\n\`\`\``);
	});

	test("can be stopped", async () => {
		const { session } = await startSession();
		const run = session.runBash("echo begun; sleep 60");
		await new Promise<void>((resolve) => session.subscribe((event) => event.type === "bash_update" && resolve()));
		await session.abort();
		await run;
		expect(session.entries.at(-1)).toMatchObject({
			message: { role: "bashExecution", cancelled: true, exitCode: null },
		});
	});

	describe("during a run", () => {
		/** A run whose reply waits for `answer`. */
		async function startRun() {
			const started = await startSession({ session: { kind: "new" } });
			let answer: (text: string) => void = () => {};
			started.provider.reply(() => new Promise<string>((resolve) => (answer = resolve)));
			const run = started.session.prompt("work");
			await started.provider.request(1);
			return { ...started, run, answer: (text: string) => answer(text) };
		}
		const commandsOf = (entries: readonly unknown[]) =>
			entries.flatMap((entry) => {
				const message = Reflect.get(Object(entry), "message") ?? {};
				return message.role === "bashExecution" ? [`${message.command}: ${message.exitCode}`] : [message.role ?? "-"];
			});

		test("end at once, and become entries after it, in their order", async () => {
			const { session, run, answer, events } = await startRun();
			const first = session.runBash("echo one");
			await expect(session.runBash("false")).rejects.toThrow("A shell command is already running");
			const done = () => events.flatMap((event) => (event.type === "bash_done" ? [event.message.command] : []));
			await vi.waitFor(() => expect(done()).toEqual(["echo one"]));
			const next = session.runBash("exit 3");
			await vi.waitFor(() => expect(done()).toEqual(["echo one", "exit 3"]));
			expect(session.activity.state).toBe("run");
			answer("finished");
			await run;
			expect([await first, await next]).toEqual([session.log.length - 2, session.log.length - 1]);
			expect(commandsOf(session.entries).slice(-3)).toEqual(["assistant", "echo one: 0", "exit 3: 3"]);
		});

		test("are entries before a session that is closed or left has gone", async () => {
			for (const leave of ["dispose", "newSession"] as const) {
				const { session, events } = await startRun();
				const path = session.sessionFile ?? "";
				void session.runBash("echo one");
				await vi.waitFor(() => expect(events.map(({ type }) => type)).toContain("bash_done"));
				await session[leave]();
				const lines = readFileSync(path, "utf8").trimEnd().split("\n");
				expect(commandsOf(lines.map((line) => JSON.parse(line))).at(-1)).toBe("echo one: 0");
			}
		});
	});
});
