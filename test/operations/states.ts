import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "typebox";
import { defineTool } from "../../src/tools/tool.js";
import { untilActivity } from "../helpers/activity.js";
import { httpError, toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSession } from "../helpers/session.js";
import { tempDir } from "../helpers/temp.js";

/** A gate that blocks until it is opened. */
export interface Gate {
	readonly opened: Promise<void>;
	open(): void;
}

export function createGate(): Gate {
	let open = () => {};
	const opened = new Promise<void>((resolve) => {
		open = resolve;
	});
	return { opened, open };
}

/** A session that can be held in each of its states. */
export interface HeldSession extends TestSession {
	/** Releases the operation that holds the session. */
	release(): void;
	/** Texts of logged prompts in order, including those of previous sessions. */
	said: string[];
	/** Texts of returned prompts. */
	returned: string[];
	/** Opens the wait of hooks, tools and replies. */
	gate: Gate;
	/** The file that the shell command waits for. */
	marker: string;
}

/** The gates for hooks and tools of the session, by the id in its hook's source. */
const gates = new Map<string, Gate>();
Reflect.set(globalThis, "__heldSessionGate", (id: string) => gates.get(id)?.opened);

const HOOK = (id: string) => `
	const gate = () => globalThis.__heldSessionGate(${JSON.stringify(id)});
	export default (pi) => {
		pi.command("wait", { handler: async () => { await gate(); } });
		pi.command("ask", { handler: async (ctx) => void (await ctx.ui.confirm("Sure?", "")) });
		// From then on, every prompt waits for the gate.
		pi.command("check", { handler: () => pi.on("prompt", async () => { await gate(); }) });
		pi.on("session", async ({ reason }) => {
			if (reason === "before_clear" || reason === "shutdown") await gate();
		});
	};`;

let sessions = 0;

/** Starts a session with two finished turns, so that there is something to compact. */
export async function startHeldSession(): Promise<HeldSession> {
	const id = `held-${++sessions}`;
	const gate = createGate();
	gates.set(id, gate);
	const marker = join(tempDir("pi-held-"), "go");
	const wait = defineTool({
		name: "wait",
		description: "Waits",
		parameters: Type.Object({}),
		async run() {
			await gate.opened;
			return { content: [{ type: "text", text: "waited" }] };
		},
	});
	const started = await startSession({
		hooks: { "held.ts": HOOK(id) },
		extraTools: [wait],
		userSettings: { compaction: { keepRecentTokens: 1 }, retry: { baseDelayMs: 150, maxRetries: 1 } },
		ui: { confirm: async () => gate.opened.then(() => true) },
	});
	const said: string[] = [];
	const returned: string[] = [];
	started.session.subscribe((event) => {
		if (event.type === "queue_returned") returned.push(...event.texts);
		if (event.type !== "message_end" || event.message.role !== "user") return;
		const { content } = event.message;
		said.push(
			typeof content === "string" ? content : content.map((block) => ("text" in block ? block.text : "")).join(""),
		);
	});
	started.provider.on(() => "ok");
	for (const text of ["one", "two"]) await started.session.prompt(text);
	said.length = 0;
	return {
		...started,
		said,
		returned,
		release() {
			gate.open();
			writeFileSync(marker, "");
		},
		gate,
		marker,
	};
}

/** Brings an idle session into a state and keeps it there until `release`. */
export const ENTER_STATE = {
	idle: () => {},
	requesting: ({ provider, session, gate }: HeldSession) => {
		provider.reply(() => gate.opened.then(() => "ok"));
		return session.prompt("first");
	},
	streaming: ({ provider, session, gate }: HeldSession) => {
		provider.reply({ content: [{ type: "text", text: "working on it" }], hold: gate.opened });
		return session.prompt("first");
	},
	tools: ({ provider, session }: HeldSession) => {
		provider.reply([toolCall("wait", {})], "ok");
		return session.prompt("first");
	},
	retrying: ({ provider, session }: HeldSession) => {
		provider.reply(httpError(503), "ok");
		return session.prompt("first");
	},
	compacting: ({ provider, session, gate }: HeldSession) => {
		provider.reply({ content: [{ type: "text", text: "a summary" }], hold: gate.opened });
		return session.compact();
	},
	shell: ({ session, marker }: HeldSession) => session.runBash(`until [ -e '${marker}' ]; do sleep 0.02; done`),
	prompting: async ({ session }: HeldSession) => {
		await session.prompt("/check");
		await session.prompt("first");
	},
	command: ({ session }: HeldSession) => session.prompt("/wait"),
	dialog: ({ session }: HeldSession) => session.prompt("/ask"),
	switching: ({ session }: HeldSession) => session.newSession(),
	closing: ({ session }: HeldSession) => session.dispose(),
} as const;

export type StateName = keyof typeof ENTER_STATE;

/** Enters a state and waits until the session reports it. Ignores later failures of the started operation. */
export async function enterState(held: HeldSession, state: StateName): Promise<void> {
	void Promise.resolve(ENTER_STATE[state](held)).catch(() => {});
	await untilActivity(held.session, (activity) => activity.state === state || activity.phase === state);
}
