import { expect } from "vitest";
import { agentDirFor, modesLeftOn, openPi, submit } from "../e2e/support.js";
import { startProvider } from "../helpers/loopback-provider.js";
import type { PtyExit } from "../helpers/pty.js";
import { expectNoStack } from "./judge.js";
import type { Random } from "./random.js";
import { faultTest, IS_LONG } from "./rounds.js";

const STEPS = IS_LONG ? 300 : 40;
/** Texts and sequences that a terminal can send. None sends a prompt, quits, suspends, or opens another program. */
const INPUT = [
	...["a", "ü", "漢", "e\u0301", "👩‍👩‍👧", " ", "/", "@", "!", "\\", '"', "\t", "\x7f", "\x1b"],
	...["\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[H", "\x1b[F", "\x1b[5~", "\x1b[6~", "\x1b[Z", "\x1bb", "\x1bf"],
	...["\x01", "\x05", "\x0b", "\x15", "\x17", "\x19", "\x0c"],
	// Answers to queries and reports, complete, cut or malformed.
	...["\x1b[12;40R", "\x1b[?62;4c", "\x1b]11;rgb:ffff/ffff/ffff\x07", "\x1b[I", "\x1b[O", "\x1b[<0;5;5M", "\x1b[?1u"],
	...[
		"\x1b[",
		"\x1b[1;",
		"\x1bO",
		"\x1b]",
		"\x1b[999999999999A",
		"\x1b[200~cut",
		"\x1b[201~",
		"\x1b_Gi=1;OK\x1b\\",
		"\x1bP",
	],
];

function randomInput(random: Random): string {
	if (random.chance(0.05))
		return String.fromCharCode(...Array.from({ length: 8 }, () => 0x20 + random.below(0xd7ff - 0x20)));
	if (random.chance(0.03)) return `\x1b[200~${"pasted text\n".repeat(random.below(2000))}\x1b[201~`;
	return random.pick(INPUT);
}

faultTest(
	"terminal",
	`${STEPS} random inputs and sizes leave a terminal that works and is restored`,
	{ short: 1, long: 25, perTest: 5 },
	async ({ random }) => {
		const provider = await startProvider();
		provider.on(() => ({ content: [{ type: "text", text: "Streaming words. ".repeat(60) }], delayMs: 5 }));
		const pi = await openPi({ agentDir: agentDirFor(provider) });
		let ended: PtyExit | undefined;
		void pi.exited.then((exit) => {
			ended = exit;
		});
		const typed: string[] = [];
		await submit(pi, "begin");
		for (let step = 0; step < STEPS; step++) {
			if (ended) throw new Error(`${JSON.stringify({ ended, typed: typed.slice(-8) })}\n${await pi.scrollback()}`);
			typed.push(randomInput(random));
			pi.type(typed.at(-1) ?? "");
			if (random.chance(0.4)) pi.resize(1 + random.below(150), 1 + random.below(50));
			if (random.chance(0.3)) await new Promise((resolve) => setTimeout(resolve, random.below(20)));
		}
		pi.type("\x1b[201~");
		const drawn = pi.output().length;
		pi.resize(80, 24);
		await expect.poll(() => pi.output().length).toBeGreaterThan(drawn);
		pi.kill("SIGTERM");
		expect(await pi.exited).toEqual({ code: 143, signal: 0 });
		expect(modesLeftOn(pi.output())).toEqual([25]);
		expectNoStack(await pi.scrollback());
		expect(provider.violations).toEqual([]);
	},
);
