import { expect, test } from "vitest";
import { httpError, startProvider, text } from "../helpers/loopback-provider.js";
import { agentDirFor, conversation, openPi, submit } from "./support.js";

/** Its `context` handler never answers, and its time limit is far away. */
const HANGING_HOOK = `export default (pi) => pi.on("context", () => new Promise(() => {}));`;

test("a prompt queued while a run fails returns to the editor, and Enter sends it", async () => {
	const provider = await startProvider();
	let fail = () => {};
	const failing = new Promise<void>((resolve) => {
		fail = resolve;
	});
	provider.reply(() => failing.then(() => httpError(400, {}, "no such model")), "Here it is.");
	const pi = await openPi({ agentDir: agentDirFor(provider) });
	await pi.waitForText("0%");
	await submit(pi, "first question");
	await pi.waitForText("esc stops");
	await submit(pi, "second question");
	await pi.waitForText("→ next: second question");
	fail();
	await pi.waitForText("no such model");
	await pi.waitForGone("→ next");
	await pi.waitForText(/^ second question/m);
	await pi.press("enter");
	await pi.waitForText("Here it is.");
	expect(conversation(provider, 1).at(-1)).toBe("user: second question");
});

test("Escape ends the wait for a hook that hangs at startup, and the session works", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider, { hooks: { "hangs.ts": HANGING_HOOK } });
	const pi = await openPi({ agentDir });
	await pi.waitForText("hook hangs · context");
	await pi.press("escape");
	await pi.waitForText("0%");
	await submit(pi, "/name shop");
	await pi.waitForText("shop");
	await pi.press("ctrl+d");
	expect(await pi.exited).toEqual({ code: 0, signal: 0 });
});

test("Escape cancels a retry, and the next prompt is answered", async () => {
	const provider = await startProvider();
	provider.reply(httpError(529), "Now it works.");
	const pi = await openPi({ agentDir: agentDirFor(provider, { settings: { retry: { baseDelayMs: 60_000 } } }) });
	await pi.waitForText("0%");
	await submit(pi, "are you there?");
	await pi.waitForText(/retry 1\/10 in \d+ s · .* · esc stops/);
	await pi.press("escape");
	await pi.waitForGone("retry 1/10");
	await pi.waitForText(/stopped before a retry · .*529/);
	await submit(pi, "and now?");
	await pi.waitForText("Now it works.");
});

test("Escape stops a reply also when an answer of the terminal comes right after it", async () => {
	const provider = await startProvider();
	provider.reply({ content: [text("A long story")], fault: { kind: "stall", at: 1 } }, "A short one.");
	const pi = await openPi({ agentDir: agentDirFor(provider) });
	await pi.waitForText("0%");
	await submit(pi, "tell a story");
	await pi.waitForText("A long story");
	pi.type("\x1b\x1b[0n");
	await pi.waitForGone("esc stops");
	await submit(pi, "shorter");
	await pi.waitForText("A short one.");
	expect(conversation(provider, 1).at(-1)).toBe("user: shorter");
});
