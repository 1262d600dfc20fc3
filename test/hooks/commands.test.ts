import { describe, expect, test } from "vitest";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { hook } from "./support.js";

describe("commands of hooks", () => {
	test("commands receive arguments split like in a shell, can be aborted, and report their errors", async () => {
		const { session } = await startSession({
			hooks: {
				"c.ts": hook(`
					pi.command("args", { handler: (ctx) => ({ status: JSON.stringify([ctx.args, ctx.argsRaw]) }) });
					pi.command("boom", { handler: () => { throw new Error("bang"); } });
					pi.command("hang", { handler: (ctx) => new Promise(() => { globalThis.__hanging(); }) });`),
			},
		});
		expect(await session.prompt(`/args "a b" c\\ d 'e`)).toMatchObject({
			status: JSON.stringify([["a b", "c d", "'e"], `"a b" c\\ d 'e`]),
		});
		await expect(session.prompt("/boom")).rejects.toMatchObject({
			code: "command_failed",
			message: expect.stringMatching(/^Hook c\.ts:4:50 failed on \/boom: bang$/),
		});
		const hanging = new Promise<void>((resolve) => Reflect.set(globalThis, "__hanging", resolve));
		const run = session.prompt("/hang");
		await hanging;
		await session.abort();
		expect(await run).toEqual({ kind: "command", status: null });
		Reflect.deleteProperty(globalThis, "__hanging");
	});

	test("an unknown command suggests the nearest name; a path is sent as text", async () => {
		const { session, provider } = await startSession();
		await expect(session.prompt("/modle")).rejects.toMatchObject({
			code: "bad_arguments",
			hint: expect.stringContaining("/model"),
		});
		provider.reply("ok");
		await session.prompt("/usr/bin/env is where?");
		expect(session.entries.length).toBe(3);
	});

	test("the answer of a command is sent, shown or ignored", async () => {
		const { session, provider, sent } = await startSession({
			hooks: {
				"r.ts": hook(
					'pi.command("ask", { handler: (ctx) => "about " + ctx.argsRaw }); pi.command("file", { handler: () => ({ prompt: "see", attachments: [{ id: "1", type: "document", fileName: "n.txt", mimeType: "text/plain", size: 2, content: "aGk=" }] }) });',
				),
			},
		});
		provider.reply("a", "b");
		await session.prompt("/ask tests");
		await session.prompt("/file");
		expect(sent(1)).toEqual(["user: about tests"]);
		expect(sent(2).at(-1)).toBe('user: <file name="n.txt">\nhi\n</file>\n\nsee');
	});

	test("pi.send starts a run when idle and steers an active run", async () => {
		const { session, provider, sent } = await startSession({
			hooks: {
				"s.ts": hook(
					'pi.on("turn_end", (e) => { if (e.turnIndex === 0 && !globalThis.__sent) { globalThis.__sent = true; pi.send("and this"); } });',
				),
			},
		});
		provider.reply([toolCall("bash", { command: "true" })], "done", "fine");
		await session.prompt("go");
		expect(sent(2).at(-1)).toBe("user: and this");
		Reflect.deleteProperty(globalThis, "__sent");
	});
});

describe("a command of a hook with the name of a built-in one", () => {
	const own = hook(`
		pi.command("tools", { description: "mine", handler: (ctx) => ({ status: "own " + ctx.argsRaw }) });
		pi.command("exit", { handler: () => ({ status: "stays" }) });
		pi.command("pi:name", { handler: () => ({ status: "never" }) });`);
	const listed = ({ session }: Awaited<ReturnType<typeof startSession>>) =>
		session.palette().flatMap(({ name, origin }) => (/tools|quit|exit|pi:/.test(name) ? [`${name} (${origin})`] : []));

	test("is ignored, and the warning names the setting", async () => {
		const run = await startSession({ hooks: { "own.ts": own } });
		expect(run.session.loaded.warnings).toEqual([
			expect.stringMatching(
				/^\/tools of .*own\.ts:\d+:\d+ is ignored: a built-in command has this name · the setting commands\.replace changes that$/,
			),
			expect.stringContaining("/exit of "),
			expect.stringContaining("/pi:name of "),
		]);
		expect(listed(run)).toEqual(["tools (built-in)", "quit (built-in)"]);
		expect(await run.session.prompt("/pi:name shop")).toMatchObject({ status: expect.stringContaining("shop") });
	});

	test("replaces it with the user's setting, and /pi:<name> is the built-in one", async () => {
		const userSettings = { commands: { replace: ["tools", "exit"] } };
		const run = await startSession({ hooks: { "own.ts": own }, userSettings });
		expect(run.session.loaded.warnings).toEqual([expect.stringContaining("/pi:name of ")]);
		expect(listed(run)).toEqual(["pi:tools (built-in)", "quit (built-in)", "tools (hook own)", "exit (hook own)"]);
		expect(await run.session.prompt("/tools on")).toMatchObject({ status: "own on" });
		expect(await run.session.prompt("/exit")).toMatchObject({ status: "stays" });
		expect(await run.session.prompt("/pi:tools")).toMatchObject({ status: expect.stringContaining("read") });
	});

	test("does not replace it with the setting of a project", async () => {
		const settings = JSON.stringify({ commands: { replace: ["tools"] } });
		const run = await startSession({ hooks: { "own.ts": own }, files: { ".pi/settings.json": settings } });
		expect(run.session.loaded.warnings.join("\n")).toMatch(/a project cannot set .*commands/);
		expect(listed(run)).toContain("tools (built-in)");
	});
});
