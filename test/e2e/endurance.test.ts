import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import type { PiTerminal } from "../helpers/pty.js";
import { agentDirFor, conversation, openPi, submit } from "./support.js";

/** Seeded random numbers from 0 to `below`. */
function numbers(seed: number): (below: number) => number {
	let state = seed;
	return (below) => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return Math.floor((state / 2 ** 32) * below);
	};
}

/** Keys that neither send, quit nor suspend. */
const KEYS = [
	...[
		"tab",
		"shift+tab",
		"escape",
		"space",
		"backspace",
		"alt+backspace",
		"up",
		"down",
		"left",
		"right",
		"home",
		"end",
	],
	...[
		"delete",
		"pageUp",
		"pageDown",
		"alt+left",
		"alt+right",
		"ctrl+a",
		"ctrl+e",
		"ctrl+k",
		"ctrl+u",
		"ctrl+w",
		"ctrl+y",
	],
	...[
		"ctrl+o",
		"ctrl+t",
		"ctrl+l",
		"shift+enter",
		"alt+d",
		"/",
		"@",
		"!",
		"a",
		"ü",
		"漢",
		"e\u0301",
		"👩‍👩‍👧",
		"\\",
		'"',
		".",
	],
];

/** Resolves when the screen has not changed for a while: pi has read all keys and opened what they open. */
async function untilStill(pi: PiTerminal): Promise<void> {
	for (let before = "", now = await pi.screen(); now !== before; now = await pi.screen()) {
		before = now;
		await new Promise((resolve) => setTimeout(resolve, 1500));
	}
}

test("pi still answers after random keys, sizes and pastes", async () => {
	const seed = 20_240_607;
	const next = numbers(seed);
	const provider = await startProvider();
	// A key of the transcript opens an editor.
	const pi = await openPi({ agentDir: agentDirFor(provider), env: { VISUAL: "true" } });
	provider.on((request) => `Answer ${request.index}.`);
	await submit(pi, "begin");
	await pi.waitForText("Answer 0.");
	for (let step = 0; step < 400; step++) {
		const key = KEYS[next(KEYS.length)] ?? "a";
		if ([...key].length === 1 || /^[\w+]+$/.test(key) === false) pi.type(key);
		else await pi.press(key);
		pi.resize(1 + next(120), 1 + next(40));
		if (step % 100 === 99) pi.paste("word ".repeat(50_000));
	}
	pi.resize(80, 24);
	await untilStill(pi);
	// Close all open dialogs one at a time: two quick escapes in an empty editor would open the branch picker.
	// A command that is still at work, as /model is while it loads, may open one later.
	// The border below the editor is above the two lines of the footer; dialogs and completions have other lines there. Lines of
	// earlier sizes may be left at the top.
	const isEditor = (screen: string) => /^─{3}.*─{3}$/.test(screen.trimEnd().split("\n").at(-3) ?? "");
	for (let dialogs = 0, isBack = false; !isBack; dialogs++) {
		await pi.press("escape");
		isBack = await pi.waitForScreen(isEditor, "the editor", { timeoutMs: 2_000 }).then(
			async () => {
				await untilStill(pi);
				return isEditor(await pi.screen());
			},
			() => false,
		);
		expect(dialogs, `seed ${seed}, the screen:\n${await pi.screen()}`).toBeLessThan(10);
	}
	await pi.press("ctrl+c");
	await submit(pi, "the end");
	await pi.waitForText("▎ › the end", { timeoutMs: 20_000 });
	const lastSaid = () => conversation(provider, provider.requests.length - 1).at(-1);
	await expect.poll(lastSaid, { message: `seed ${seed}`, timeout: 10_000 }).toBe("user: the end");
});
