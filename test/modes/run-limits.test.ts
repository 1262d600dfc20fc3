import { describe, expect, test } from "vitest";
import { runJson } from "../../src/modes/json.js";
import type { ModePrompts } from "../../src/modes/mode.js";
import { runPrint } from "../../src/modes/print.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { recordIO } from "../helpers/record-io.js";
import { startSession, type TestSessionOptions } from "../helpers/session.js";

const LS = [toolCall("ls", {})];

async function start(options: TestSessionOptions = {}) {
	const pi = await startSession({ session: { kind: "new" }, ...options });
	const io = recordIO();
	const print = (limits: ModePrompts["limits"], ...prompts: string[]) => {
		const [text = "go", ...rest] = prompts;
		return runPrint(pi.session, { first: { text, images: [] }, rest, ...(limits && { limits }) }, io);
	};
	return { ...pi, io, print };
}

describe("--max-turns", () => {
	test("ends a run after that turn, with the results of its calls in the session, which can be continued", async () => {
		const { session, provider, print, io, sent } = await start();
		provider.reply(LS, LS);
		expect(await print({ turns: 2 })).toBe(3);
		expect(io.stderr().trimEnd().split("\n").at(-1)).toBe(
			`Stopped after 2 turns (--max-turns) · pi --session ${session.stats().sessionId.slice(0, 8)} -p continue continues it, in ${session.cwd}`,
		);
		expect(io.stdout()).toBe("");
		expect(provider.requests).toHaveLength(2);
		const roles = session.context.messages.map(({ message }) => message.role);
		expect(roles.at(-1)).toBe("toolResult");
		provider.reply("done");
		expect(await print({ turns: 2 }, "continue")).toBe(0);
		expect(sent(3).slice(1, 5)).toEqual([
			expect.stringMatching(/^assistant: ls/),
			expect.stringMatching(/^tool: /),
			expect.stringMatching(/^assistant: ls/),
			expect.stringMatching(/^tool: /),
		]);
	});

	test("is not reached by a run that ends with its last turn, but by the next prompt", async () => {
		const { provider, print, io } = await start();
		provider.reply(LS, "done");
		expect(await print({ turns: 2 }, "go", "and then")).toBe(3);
		expect(io.stdout()).toBe("done\n");
		expect(provider.requests).toHaveLength(2);
	});
});

test("--max-cost ends a run after the turn that reaches it", async () => {
	const cost = { input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0 };
	const { provider, print, io } = await start({ modelOptions: { cost } });
	provider.reply({ content: LS, usage: { input: 2, output: 1 } }, { content: LS, usage: { input: 2, output: 1 } });
	expect(await print({ cost: 3 })).toBe(3);
	expect(provider.requests).toHaveLength(2);
	expect(io.stderr()).toContain("Stopped after $4.00 of $3.00 (--max-cost)");
});

test("--max-time ends what runs at once", async () => {
	const { provider, print, io } = await start();
	provider.reply([toolCall("bash", { command: "sleep 100" })]);
	expect(await print({ time: 1500 })).toBe(3);
	expect(io.stderr()).toContain("Stopped after 1.5 s (--max-time)");
	// Whatever it was doing then, the session can be continued.
	provider.reply("done", "done");
	expect(await print(undefined, "continue")).toBe(0);
});

test("JSON mode says it on stderr and as an error event", async () => {
	const { session, provider } = await start();
	const io = recordIO();
	provider.reply(LS);
	expect(await runJson(session, { first: { text: "go", images: [] }, rest: [], limits: { turns: 1 } }, io)).toBe(3);
	expect(io.stderr()).toContain("Stopped after 1 turn (--max-turns)");
	expect(io.stdout().trimEnd().split("\n").at(-1)).toContain('"type":"error"');
});
