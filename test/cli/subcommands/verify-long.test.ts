import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PiError } from "../../../src/errors.js";
import { isMessageEntry, isUserMessageEntry, type SessionEntry } from "../../../src/log/entry.js";
import { type ProviderRequest, type ReplyStep, text, toolCall } from "../../helpers/loopback-provider.js";
import { PROPERTY_TIMEOUT_MS } from "../../helpers/property-blocks.js";
import { startSession, type TestSession } from "../../helpers/session.js";
import { tempAgentDir, tempDir } from "../../helpers/temp.js";
import { example } from "../../hooks-examples/example.js";
import { run } from "./run.js";

/** Each takes longer than the one before it, so that the suite sends fewer than `npm run test:long`. */
const REQUESTS = process.env.PI_TEST_RUNS ? 400 : 120;
const HOOKS = ["stacking.ts", "fold.ts", "clear.ts", "pin.ts"].map(example);
const SEED = 20260103;

/** A hook that changes prompt, tools and messages at once, by the entries alone. */
const SHAPE = `export default function (pi) {
	pi.on("context", ({ entries, messages, systemPrompt, tools }) => {
		const count = entries.filter(({ type }) => type === "message").length;
		return {
			messages: [{ role: "user", content: "entries: " + Math.floor(count / 7), timestamp: 0 }, ...messages],
			systemPrompt: [...systemPrompt, { id: "shape:rule", text: "Rule " + (count % 5) }].filter(({ id }) => count % 3 > 0 || id !== "environment"),
			tools: tools.map(({ name }) => name).filter((name) => name === "ls" || name.length % 3 !== count % 3),
		};
	});
}`;

/** Random numbers in [0, 1), reproducible by seed. */
function random(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
	};
}

/** Replies of realistic length, some with tool calls, with usage that fills the window. */
function model(next: () => number): (request: ProviderRequest) => ReplyStep {
	return ({ messages }) => {
		const input = Math.ceil(messages.reduce((sum, message) => sum + message.text.length, 0) / 4);
		const asksForTool = messages.at(-1)?.role !== "system" && messages.length > 1 && next() < 0.4;
		const content = asksForTool
			? [text("let me look"), toolCall("ls", { path: "." })]
			: [text(`so be it ${"la ".repeat(5 + Math.floor(next() * 40))}`)];
		return { content, usage: { input, output: 20 } };
	};
}

function requestsIn(entries: readonly SessionEntry[]): number {
	return entries.filter((entry) => isMessageEntry(entry) && entry.context !== undefined).length;
}

/** Runs a command of a hook or a compaction; ignores that it has nothing to do. */
async function attempt({ session }: TestSession, command: string): Promise<void> {
	await session.prompt(command).catch((error: unknown) => {
		if (!(error instanceof PiError)) throw error;
	});
}

/** One step of a session: usually a prompt, sometimes a change of the context. */
async function step(live: TestSession, next: () => number): Promise<void> {
	const { session } = live;
	const pick = next();
	const turns = session.branchTargets().map(({ entryIndex }) => entryIndex);
	/** Number of one of the last turns. */
	const recent = (back: number) => Math.max(1, turns.length - Math.floor(next() * back));
	if (pick < 0.72 || turns.length < 4) await session.prompt(`please ${"do it ".repeat(1 + Math.floor(next() * 30))}`);
	else if (pick < 0.77) await attempt(live, `/pop ${recent(4)}`);
	else if (pick < 0.8) await attempt(live, "/unpop");
	else if (pick < 0.86) await attempt(live, `/fold ${turns.length - 3} ${turns.length - 1} what was folded`);
	else if (pick < 0.89) await attempt(live, `/unfold ${turns.length - 3}`);
	else if (pick < 0.94) await attempt(live, `/pin ${recent(3)}`);
	else if (pick < 0.965) await attempt(live, "/compact");
	else if (pick < 0.975) await attempt(live, "/uncompact");
	else await session.branch(turns[recent(3) - 1] ?? 1);
}

test.each([
	["hooks that change messages", false],
	["hooks that change messages, prompt and tools", true],
])(
	`every one of ${REQUESTS} requests of an eventful session with %s is recomputed exactly`,
	async (_, isShaped) => {
		const next = random(SEED);
		const shape = `${tempDir()}/shape.ts`;
		writeFileSync(shape, SHAPE);
		const hooks = [...HOOKS, ...(isShaped ? [shape] : [])];
		const place = { agentDir: tempAgentDir(), cwd: tempDir("pi-project-") };
		const options = {
			...place,
			hookFiles: hooks,
			files: { "a.txt": "a", "b.txt": "b" },
			modelOptions: { contextWindow: 3000 },
			userSettings: { compaction: { keepRecentTokens: 6000 } },
		};
		const files = new Set<string>();
		let live = await startSession({ ...options, session: { kind: "new" } });
		const { provider } = live;
		provider.on(model(next));
		let automatic = 0;
		for (let steps = 1; requestsIn(live.session.entries) < REQUESTS; steps++) {
			if (requestsIn(live.session.entries) > REQUESTS - 12) provider.on(() => "the last words");
			await step(live, next);
			files.add(live.session.sessionFile ?? "");
			if (steps % 60 !== 0) continue;
			automatic += compactions(live);
			await live.session.dispose();
			live = await startSession({ ...options, provider, session: { kind: "open", target: [...files].at(-1) ?? "" } });
		}
		automatic += compactions(live);
		const { entries } = live.session;
		const offered = new Set(provider.requests.map(({ body }) => JSON.stringify(body.tools)));
		expect(offered.size > 2).toBe(isShaped);
		await live.session.dispose();

		const count = (type: string) => entries.filter((entry) => entry.type === type).length;
		const did = {
			pops: count("stack_pop"),
			folds: count("fold"),
			pins: count("pin"),
			compactions: count("compaction"),
		};
		expect(Math.min(...Object.values(did), automatic, files.size), JSON.stringify({ did, automatic })).toBeGreaterThan(
			2,
		);

		const verify = async (session: string) => {
			const command = { name: "context", verify: true } as const;
			const { stdout } = await run(command, { ...place, session, hooks, json: true });
			return JSON.parse(stdout);
		};
		const [last = ""] = [...files].slice(-1);
		expect(await verify(last)).toMatchObject({ requests: REQUESTS, mismatch: null });
		for (const file of files) expect(await verify(file)).toMatchObject({ mismatch: null });

		for (const share of [0.2, 0.5, 0.9]) {
			const edited = firstPromptAfter(entries, Math.floor(entries.length * share));
			const answer = edited + 1;
			const copy = `${tempDir()}/edited.jsonl`;
			writeFileSync(copy, withEdit(readFileSync(last, "utf8"), edited));
			const { requests, mismatch } = await verify(copy);
			expect([requests, mismatch.entryIndex]).toEqual([requestsIn(entries.slice(0, answer + 1)), answer]);
			expect(mismatch.reason).toBe(
				"No hook has changed since, so the session file was edited, or a hook answers from more than its event",
			);
			// Everything after the last matching request may be edited: its reply and the prompt.
			// A message of a hook may differ first.
			expect([edited - 1, edited, ...(isShaped ? [null] : [])]).toContain(mismatch.message.entryIndex);
		}
	},
	PROPERTY_TIMEOUT_MS,
);

function compactions({ events }: TestSession): number {
	return events.filter((event) => event.type === "auto_compaction_start" && event.reason === "threshold").length;
}

/** Index of a prompt directly between two replies. */
function firstPromptAfter(entries: readonly SessionEntry[], from: number): number {
	return entries.findIndex((entry, index) => {
		const around = [entries[index - 1], entries[index + 1]];
		const areReplies = around.every((reply) => isMessageEntry(reply) && reply.context !== undefined);
		return index >= from && isUserMessageEntry(entry) && areReplies;
	});
}

function withEdit(contents: string, index: number): string {
	const lines = contents.split("\n");
	lines[index] = lines[index]?.replace("please", "PLEASE") ?? "";
	return lines.join("\n");
}
