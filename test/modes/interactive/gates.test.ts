import { expect, test } from "vitest";
import { toolCall } from "../../helpers/loopback-provider.js";
import { startApp } from "./app.js";

const GATE = `export default (pi) => {
	pi.on("tool_call", ({ input }) => input.command === "rm x" ? { block: true, reason: "Not today." } : { input: { command: "echo changed" } });
	pi.on("prompt", ({ text }) => text === "secret" ? { stop: "It is a secret." } : text === "ping" ? { handled: true } : undefined);
};`;

test.each([40, 80, 120])(
	"blocked and changed calls name the hook, also after a resume, at %i columns",
	async (columns) => {
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
		await session().lifecycle.switchSession(file ?? "");
		await terminal.waitFor("Done.");
		await expectGates();
		await terminal.press("ctrl+o");
		await terminal.waitFor("blocked by gate");
	},
);

const SLOW = `export default (pi) => pi.on("prompt", () => new Promise(() => {}));`;

test.each([40, 80, 120])(
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
