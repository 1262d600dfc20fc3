import { expect, test } from "vitest";
import { describeRefusal, REFUSED_EVENTS, REFUSED_MEMBERS } from "../../src/extensions/refusals.js";
import { runPrint } from "../../src/modes/print.js";
import { startSession } from "../helpers/session.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";
import { startApp } from "../modes/interactive/app.js";
import { serve } from "../modes/rpc/serve.js";

/** Uses every refused event and member in a command. */
const USES_ALL = `const events = ${JSON.stringify(Object.keys(REFUSED_EVENTS))};
export default (pi) => {
	pi.registerCommand("use", { handler: async (args, ctx) => {
		for (const event of events) pi.on(event, () => {});
		const report = (error) => pi.events.emit("refused", error.message);
		pi.events.on("refused", (message) => { throw new Error(message); });
		${Object.keys(REFUSED_MEMBERS)
			.map((member) => `try { await ${member}?.({}); } catch (error) { report(error); }`)
			.join("\n\t\t")}
	} });
};
`;

const SENTENCES = [
	...Object.entries(REFUSED_EVENTS).map(([event, reason]) => describeRefusal(`the event ${event}`, reason)),
	...Object.entries(REFUSED_MEMBERS).map(([member, reason]) => describeRefusal(member, reason)),
];

/** A file of the extension. */
function file(): string {
	const dir = tempDir();
	writeFiles(dir, { "all.ts": USES_ALL });
	return `${dir}/all.ts`;
}

test("on the screen every refused event and member is named with its reason", async () => {
	const agentDir = tempAgentDir();
	writeFiles(agentDir, { "extensions/all.ts": USES_ALL });
	const { submit, terminal } = await startApp({ agentDir, columns: 200, rows: 4 * SENTENCES.length });
	await submit("/use");
	for (const sentence of SENTENCES) await terminal.waitFor(sentence);
});

test("in RPC mode every refused event and member is an error of the extension", async () => {
	const { client, events } = await serve({ extensions: [file()] });
	const end = client.nextEvent(({ type }) => type === "command_end");
	await client.call("prompt", { message: "/use" });
	await end;
	await expect.poll(() => events("hook_error").length).toBe(SENTENCES.length);
	const errors = events("hook_error").map(({ error }) => error);
	expect(SENTENCES.filter((sentence) => !errors.some((error) => error.includes(sentence)))).toEqual([]);
});

test("in print mode every refused event and member is a line on stderr", async () => {
	const { session } = await startSession({ extensions: [file()] });
	session.acceptsSend = false;
	const lines: string[] = [];
	const io = { out: async () => {}, err: (text: string) => void lines.push(text), outIsTerminal: false };
	await runPrint(session, { first: { text: "/use", images: [] }, rest: [] }, io);
	await session.dispose();
	const stderr = lines.join("\n");
	expect(SENTENCES.filter((sentence) => !stderr.includes(sentence))).toEqual([]);
});
