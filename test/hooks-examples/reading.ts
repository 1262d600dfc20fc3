import { isMessageEntry } from "../../src/log/entry.js";
import { run } from "../cli/subcommands/run.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSession } from "../helpers/session.js";
import { tempAgentDir, tempDir } from "../helpers/temp.js";
import { example } from "./example.js";

/** Usual prices: what the provider has not cached costs 12.5 times as much as what it has. */
const COST = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };

/** A call of a tool, by name and arguments. */
export type ScriptedToolCall = readonly [name: string, args: Record<string, unknown>];

/** A session with a hook, saved in a file, in which the model calls tools. */
export interface Reading extends TestSession {
	/** Sends a prompt; the model makes each call in a reply of its own and then says "done". */
	calls(...calls: readonly ScriptedToolCall[]): Promise<void>;
	/** Texts of the tool results in the last request, in order. */
	results(): string[];
	/** Entry indices of the tool results, in order. */
	resultEntries(): number[];
	/** Numbers of the requests, from 0, that do not begin like the one before. */
	breaks(): number[];
	/** What `pi context --verify --json` prints of the session after its end. */
	verify(): Promise<unknown>;
}

/** A text of about 5,000 tokens. */
export function bigText(name: string): string {
	return `${name} ${"word ".repeat(10)}\n`.repeat(5000 / 15);
}

/** Starts a session with some of the examples. */
export async function startReading(
	names: readonly string[],
	options: Parameters<typeof startSession>[0] = {},
): Promise<Reading> {
	const place = { agentDir: tempAgentDir(), cwd: tempDir("pi-project-") };
	const hookFiles = names.map((name) => example(`${name}.ts`));
	const test = await startSession({
		...place,
		hookFiles,
		session: { kind: "new" },
		...options,
		modelOptions: { cost: COST, contextWindow: 1_000_000, ...options.modelOptions },
	});
	const { provider, session } = test;
	const isTool = ({ role }: { role: string }) => role === "tool";
	return {
		...test,
		async calls(...calls) {
			provider.reply(...calls.map(([name, args]) => [toolCall(name, args)]), "done");
			await session.prompt("go");
		},
		results: () => (provider.requests.at(-1)?.messages ?? []).filter(isTool).map(({ text }) => text),
		resultEntries: () =>
			session.entries.flatMap((entry, index) =>
				isMessageEntry(entry) && entry.message.role === "toolResult" ? [index] : [],
			),
		breaks() {
			const texts = provider.requests.map(({ messages }) => messages.map(({ role, text }) => `${role} ${text}`));
			return texts.flatMap((list, at) => (texts[at - 1]?.every((text, i) => list[i] === text) === false ? [at] : []));
		},
		async verify() {
			const file = session.sessionFile ?? "";
			await session.dispose();
			const printed = await run(
				{ name: "context", verify: true },
				{ ...place, session: file, hooks: hookFiles, findHooks: false, json: true },
			);
			return JSON.parse(printed.stdout);
		},
	};
}
