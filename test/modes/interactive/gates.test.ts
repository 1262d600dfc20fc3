import { expect, test } from "vitest";
import { toolCall } from "../../helpers/loopback-provider.js";
import { startApp } from "./app.js";

const GATE = `export default (pi) => {
	pi.on("tool_call", ({ input }) => input.command === "rm x" ? { block: true, reason: "Not today." } : { input: { command: "echo changed" } });
	pi.on("prompt", ({ text }) => text === "secret" ? { stop: "It is a secret." } : text === "ping" ? { handled: true } : undefined);
};`;

test.each([40, 120])("blocked and changed calls name the hook, also after a resume, at %i columns", async (columns) => {
	const { terminal, provider, submit, session } = await startApp({
		columns,
		hooks: { "gate.ts": GATE },
		session: { kind: "new" },
	});
	await terminal.waitFor("0%");
	provider.reply([toolCall("bash", { command: "rm x" }), toolCall("bash", { command: "ls" })], "Done.", "Other.");
	await submit("go");
	await terminal.waitFor("Done.");
	const expectGates = async () => {
		const shown = await terminal.text();
		expect(shown).toMatch(/bash {2}rm x +blocked by gate ✗/);
		expect(shown).toContain("│ Not today.");
		expect(shown).toMatch(/bash {2}echo changed +/);
		expect(shown.replace(/\s*\n[▎ ]*│ */g, " ")).toContain("changed by gate · command: ls → echo changed");
		expect(shown).not.toContain("failed");
	};
	await expectGates();
	const file = session().sessionFile;
	await submit("/new");
	await terminal.waitFor("New session");
	await session().switchSession(file ?? "");
	await terminal.waitFor("Done.");
	await expectGates();
	await terminal.press("ctrl+o");
	await terminal.waitFor("blocked by gate");
});

const CHANGES = {
	"a-brief.ts": `export default (pi) => pi.on("prompt", ({ text }) => ({ text: text + " Be brief." }));`,
	"b-same.ts": `export default (pi) => pi.on("prompt", ({ text }) => ({ text }));`,
	"c-kind.ts": `export default (pi) => pi.on("prompt", ({ text }) => text.startsWith("Why") ? { text: text + " Be kind." } : undefined);`,
};

test.each([40, 120])(
	"a changed prompt names the hooks, and the pager shows what was typed, at %i columns",
	async (columns) => {
		const { terminal, provider, submit, session } = await startApp({
			columns,
			hooks: CHANGES,
			session: { kind: "new" },
		});
		await terminal.waitFor("0%");
		provider.reply("Done.", "Other.");
		await submit("Why?");
		await terminal.waitFor("Done.");
		const shown = async () => {
			const screen = await terminal.screen();
			const from = screen.findIndex((line) => line.includes("› Why?"));
			return screen.slice(from, from + 2).map((line) => line.trimEnd());
		};
		const expected = ["▎ › Why? Be brief. Be kind.", "▎   changed by a-brief, c-kind"];
		expect(await shown()).toEqual(expected);
		const file = session().sessionFile;
		await submit("/new");
		await terminal.waitFor("New session");
		await session().switchSession(file ?? "");
		await terminal.waitFor("Done.");
		expect(await shown()).toEqual(expected);
		await terminal.press("ctrl+o");
		await terminal.type("E");
		await terminal.waitFor((screen) =>
			screen
				.join(" ")
				.replace(/[\s▎▾▸]+/g, " ")
				.includes("c-kind · you typed: Why?"),
		);
	},
);

const SHELL = `export default (pi) => {
	pi.on("user_bash", ({ command }) => command === "rm x" ? { block: true, reason: "Delete files yourself." }
		: command === "far" ? { result: { output: "from far away", exitCode: 3 } } : { command: "echo near" });
	pi.command("over", { handler: async (ctx) => {
		ctx.setSessionName("trial");
		const { mode } = ctx;
		return { status: mode + " " + (await ctx.newSession()) };
	} });
	pi.command("back", { handler: async (ctx) => void (await ctx.branch(1)) });
	pi.command("bye", { handler: (ctx) => void ctx.quit() });
};`;

test.each([40, 120])("shell commands are blocked, answered and changed by a hook, at %i columns", async (columns) => {
	const { terminal, submit } = await startApp({ columns, hooks: { "shell.ts": SHELL } });
	await terminal.waitFor("0%");
	await submit("!rm x");
	await terminal.waitFor(/Hook shell blocked the shell\s+command: Delete files yourself\./);
	await submit("!far");
	await terminal.waitFor("from far away");
	expect(await terminal.text()).toMatch(/far +.*exit 3/);
	await submit("!ls");
	await terminal.waitFor("│ near");
	expect(await terminal.text()).toContain("echo near");
});

test("commands name, leave and branch the session, and quit pi", async () => {
	const { terminal, provider, submit, session, exit } = await startApp({ hooks: { "shell.ts": SHELL } });
	await terminal.waitFor("0%");
	provider.reply("Done.");
	await submit("first question");
	await terminal.waitFor("Done.");
	await submit("/back");
	await terminal.waitFor(/^.{0,3}first question/m);
	expect(session().entries.length).toBe(1);
	for (let at = 0; at < "first question".length; at++) await terminal.press("backspace");
	await submit("/over");
	await terminal.waitFor("interactive true");
	expect(session().sessionName).toBe(null);
	await submit("/bye");
	expect(await exit).toBe(0);
});

const SLOW = `export default (pi) => pi.on("prompt", () => new Promise(() => {}));`;

test.each([40, 120])(
	"Escape ends the wait for hooks, and the prompt is in the editor again, at %i columns",
	async (columns) => {
		const { terminal, provider, submit } = await startApp({ columns, hooks: { "slow.ts": SLOW } });
		await terminal.waitFor("0%");
		await submit("hello there");
		await terminal.waitFor(/(checking the prompt|slow · prompt) · \d/);
		await terminal.press("escape");
		await terminal.waitFor("The prompt was not sent");
		expect(await terminal.text()).toMatch(/^.{0,3}hello there/m);
		expect(provider.requests).toEqual([]);
	},
);

test("a prompt of the command line that is refused is in the editor", async () => {
	const { terminal } = await startApp({ hooks: { "gate.ts": GATE }, mode: { prompts: [{ text: "secret" }] } });
	await terminal.waitFor("Hook gate refused the prompt: It is a secret.");
	expect(await terminal.text()).toMatch(/^.{0,3}secret/m);
});

test("a refused prompt goes back to the editor, and a handled one leaves it empty", async () => {
	const { terminal, provider, submit, session } = await startApp({ hooks: { "gate.ts": GATE } });
	await terminal.waitFor("0%");
	await submit("ping");
	await submit("secret");
	await terminal.waitFor("Hook gate refused the prompt: It is a secret.");
	expect(await terminal.text()).toMatch(/^.{0,3}secret/m);
	expect(provider.requests).toEqual([]);
	expect(session().entries.length).toBe(1);
});
