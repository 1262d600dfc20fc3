import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { SessionEntry } from "../../src/log/entry.js";
import { runJson } from "../../src/modes/json.js";
import { runPrint } from "../../src/modes/print.js";
import type { AgentSession } from "../../src/sdk/agent-session.js";
import type { CreateAgentSessionOptions } from "../../src/sdk/create-session.js";
import { untilActivity, untilIdle } from "../helpers/activity.js";
import { type LoopbackProvider, toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { skipTime } from "../helpers/skip-time.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";
import { startApp } from "./interactive/app.js";
import { startPlain } from "./plain/start-plain.js";
import { serve } from "./rpc/serve.js";

/** A mode with a session, driven through the mode's own input. */
interface Driver {
	session: AgentSession;
	provider: LoopbackProvider;
	/** Submits a line without waiting for its end. */
	say(text: string): void | Promise<void>;
	/** Submits a line while a run is active. */
	steer(text: string): void | Promise<void>;
	abort(): void | Promise<void>;
	/** Answers the preview of a compaction, if the mode shows one. */
	accept?(): Promise<void>;
	end(): Promise<unknown>;
}

interface Place {
	agentDir: string;
	cwd: string;
	sessionDir: string;
	session: NonNullable<CreateAgentSessionOptions["session"]>;
}

const STACKING = readFileSync(fileURLToPath(new URL("../../hooks-examples/stacking.ts", import.meta.url)), "utf8");
const SETTINGS = { compaction: { keepRecentTokens: 10 }, retry: { enabled: false } };

/** A session without a mode, and with a mode that prints the results of `say`. Neither reads input during a run. */
async function startEmbedded(place: Place, print?: typeof runPrint): Promise<Driver> {
	const { session, provider } = await startSession({ ...place, hooks: {} });
	const io = { out: async () => {}, err: () => {}, outIsTerminal: false };
	return {
		session,
		provider,
		say(text) {
			void (print ? print(session, { first: { text, images: [] }, rest: [] }, io) : session.prompt(text));
		},
		steer: async (text) => void (await session.prompt(text)),
		abort: async () => void (await session.abort()),
		end: () => session.dispose(),
	};
}

const MODES: Record<string, (place: Place) => Promise<Driver>> = {
	sdk: (place) => startEmbedded(place),
	print: (place) => startEmbedded(place, runPrint),
	json: (place) => startEmbedded(place, (session, prompts, io) => runJson(session, prompts, io)),
	async rpc({ cwd, sessionDir, session }) {
		const served = await serve({
			cwd,
			sessionDir,
			session,
			hooks: { "stacking.ts": STACKING },
			userSettings: SETTINGS,
		});
		const prompt = async (message: string) => void (await served.client.call("prompt", { message }));
		return {
			session: served.session,
			provider: served.provider,
			say: (text) => void prompt(text),
			steer: (text) => prompt(text),
			abort: async () => void (await served.client.call("abort")),
			async end() {
				served.end();
				await served.served;
			},
		};
	},
	async plain({ agentDir, cwd, session }) {
		const plain = await startPlain({ agentDir, cwd, session });
		await plain.until("> ");
		return {
			session: plain.session(),
			provider: plain.provider,
			say: (text) => plain.enter(text),
			steer: (text) => plain.enter(text),
			abort: () => plain.interrupt(),
			async accept() {
				await plain.until("Use this summary?");
				plain.enter("1");
			},
			async end() {
				plain.end();
				await plain.exit;
			},
		};
	},
	async interactive({ agentDir, cwd, session }) {
		const app = await startApp({ agentDir, cwd, session });
		await app.terminal.waitFor("Scripted");
		return {
			session: app.session(),
			provider: app.provider,
			say: (text) => app.submit(text),
			steer: (text) => app.submit(text),
			abort: () => app.terminal.press("escape"),
			async accept() {
				await app.terminal.waitFor("enter accept");
				skipTime(1);
				await app.terminal.press("enter");
			},
			async end() {
				await app.terminal.press("ctrl+d");
				await app.exit;
			},
		};
	},
};

/** Long enough for a compaction to shorten the context. */
const POPPED = `Both files were read.${" Each of them has one word.".repeat(15)}`;

const EXPECTED = [
	"session",
	"user: read both files",
	"assistant: reading [read a.txt] [read b.txt]",
	"toolResult read: alpha",
	"toolResult read: beta",
	"user: and compare them",
	"assistant: they differ",
	"request_usage",
	`stack_pop to 1: ${POPPED}`,
	"user: and now?",
	"assistant: nothing else",
	"compaction: They differ.",
	"request_usage",
	"user: tell me more",
	"assistant: (aborted) this is a",
	"user: go on",
	"assistant: done",
];

test.each(Object.keys(MODES))("the same conversation logs the same entries in %s mode", async (mode) => {
	const start = MODES[mode];
	if (!start) throw new Error(`There is no mode ${mode}`);
	const agentDir = tempAgentDir({ settings: SETTINGS, hooks: { "stacking.ts": STACKING } });
	const place = { agentDir, cwd: tempDir("pi-project-"), sessionDir: `${agentDir}/own-sessions` };
	writeFiles(place.cwd, { "a.txt": "alpha", "b.txt": "beta" });

	const first = await start({ ...place, session: { kind: "new" } });
	const { session, provider } = first;
	const hold = createHold();
	const reading = [
		{ type: "text" as const, text: "reading" },
		toolCall("read", { path: "a.txt" }),
		toolCall("read", { path: "b.txt" }),
	];
	provider.reply({ content: reading, hold: hold.opened }, "they differ");
	await first.say("read both files");
	await untilActivity(session, ({ phase }) => phase === "streaming");
	await first.steer("and compare them");
	await untilQueued(session);
	hold.open();
	await untilReply(session, "they differ");

	provider.reply(POPPED);
	await first.say("/pop 1");
	await untilEntry(session, "stack_pop");
	provider.reply("nothing else");
	await first.say("and now?");
	await untilReply(session, "nothing else");

	provider.reply("They differ.");
	await first.say("/compact");
	await first.accept?.();
	await untilEntry(session, "compaction");

	provider.reply({ content: [{ type: "text", text: "this is a" }], hold: createHold().opened });
	const written = untilText(session, "this is a");
	await first.say("tell me more");
	await written;
	await first.abort();
	await untilReply(session, "this is a");
	const left = summarize(session.entries);
	await first.end();

	const second = await start({ ...place, session: { kind: "continue" } });
	expect(summarize(second.session.entries)).toEqual(left);
	second.provider.reply("done");
	await second.say("go on");
	await untilReply(second.session, "done");
	expect(withSortedResults(summarize(second.session.entries))).toEqual(EXPECTED);
	await second.end();
});

/** Results of parallel calls are logged in the order in which the calls end. */
function withSortedResults(lines: readonly string[]): string[] {
	const isResult = (line: string) => line.startsWith("toolResult ");
	const results = lines.filter(isResult).sort();
	return lines.map((line) => (isResult(line) ? (results.shift() ?? line) : line));
}

function createHold(): { opened: Promise<void>; open(): void } {
	let open = () => {};
	const opened = new Promise<void>((resolve) => {
		open = resolve;
	});
	onTestFinished(open);
	return { opened, open };
}

/** Resolves when a condition of the session holds. Checks it after each event. */
async function until(session: AgentSession, holds: () => boolean): Promise<void> {
	while (!holds()) {
		await new Promise<void>((resolve) => {
			const stop = session.subscribe(() => {
				stop();
				resolve();
			});
		});
	}
}

function untilQueued(session: AgentSession): Promise<void> {
	return until(session, () => session.queue.steering.length > 0);
}

async function untilEntry(session: AgentSession, type: string): Promise<void> {
	await until(session, () => session.entries.some((entry) => entry.type === type));
	await untilIdle(session);
}

async function untilReply(session: AgentSession, text: string): Promise<void> {
	await until(session, () => summarize(session.entries).at(-1)?.endsWith(text) === true);
	await untilIdle(session);
}

/** Resolves when the model has streamed a text that is not in the log yet. */
function untilText(session: AgentSession, text: string): Promise<void> {
	return new Promise((resolve) => {
		const stop = session.subscribe((event) => {
			if (event.type !== "message_update") return;
			const written = event.message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
			if (!written.includes(text)) return;
			stop();
			resolve();
		});
	});
}

/** An entry without times, ids and counts. */
function summarize(entries: readonly SessionEntry[]): string[] {
	return entries.map((entry) => {
		if (entry.type === "stack_pop" && "backToIndex" in entry && "summary" in entry) {
			return `stack_pop to ${String(entry.backToIndex)}: ${String(entry.summary)}`;
		}
		if (entry.type === "compaction" && "summary" in entry) return `compaction: ${String(entry.summary)}`;
		if (entry.type !== "message" || !("message" in entry)) return entry.type;
		return describeMessage(entry.message as Parameters<typeof describeMessage>[0]);
	});
}

interface Block {
	type: string;
	text?: string;
	arguments?: { path?: string };
	name?: string;
}

function describeMessage(message: {
	role: string;
	content?: string | readonly Block[];
	toolName?: string;
	stopReason?: string;
}): string {
	const { role, content = "", toolName = "", stopReason } = message;
	const blocks: readonly Block[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
	const parts = blocks.map((block) =>
		block.type === "toolCall" ? `[${block.name} ${block.arguments?.path}]` : (block.text ?? ""),
	);
	const how = stopReason === "aborted" ? "(aborted) " : "";
	return `${[role, toolName].filter(Boolean).join(" ")}: ${how}${parts.join(" ").trim()}`;
}
