import { describe, expect, test } from "vitest";
import { PiError } from "../../src/errors.js";
import type { AgentSession } from "../../src/sdk/agent-session.js";
import { untilIdle } from "../helpers/activity.js";
import { enterState, type HeldSession, type StateName, startHeldSession } from "./states.js";

/** The requests of users and programs. */
const ACTIONS = {
	prompt: (session: AgentSession) => session.prompt("again").then(({ kind }) => kind),
	steer: (session: AgentSession) => session.send("again").then(({ kind }) => kind),
	followUp: (session: AgentSession) => session.followUp("again").then(() => "accepted"),
	command: (session: AgentSession) => session.prompt("/name shop").then(({ kind }) => kind),
	shell: (session: AgentSession) => session.runBash("true").then(() => "accepted"),
	compact: (session: AgentSession) => session.compact().then(() => "compacted"),
	switch: (session: AgentSession) => session.newSession().then((isNew) => (isNew ? "switched" : "canceled")),
	abort: (session: AgentSession) => session.abort().then(() => "aborted"),
	quit: (session: AgentSession) => session.dispose().then(() => "closed"),
} as const;

type ActionName = keyof typeof ACTIONS;
type Row = Record<ActionName, string>;

const BUSY = "session_busy";
const FREE: Row = {
	prompt: "run",
	steer: "run",
	followUp: "accepted",
	command: "command",
	shell: "accepted",
	compact: "compacted",
	switch: "switched",
	abort: "aborted",
	quit: "closed",
};
const RUNNING: Row = { ...FREE, prompt: "queued", steer: "queued", compact: BUSY };
const CLOSED: Row = {
	prompt: BUSY,
	steer: BUSY,
	followUp: BUSY,
	command: BUSY,
	shell: BUSY,
	compact: BUSY,
	switch: BUSY,
	abort: "aborted",
	quit: "closed",
};

const TABLE: Record<StateName, Row> = {
	idle: FREE,
	requesting: RUNNING,
	streaming: RUNNING,
	tools: RUNNING,
	retrying: RUNNING,
	compacting: RUNNING,
	shell: { ...FREE, shell: BUSY },
	// Prompts keep their order: the first one runs by the time the next is delivered.
	prompting: { ...FREE, prompt: "queued", steer: "queued" },
	command: FREE,
	dialog: FREE,
	switching: { ...FREE, prompt: "queued", steer: "queued", shell: BUSY, compact: BUSY, switch: BUSY },
	closing: CLOSED,
};

const STATES = Object.keys(TABLE) as StateName[];
const ACTION_NAMES = Object.keys(ACTIONS) as ActionName[];

describe.each(STATES)("in state %s", (state) => {
	test.each(ACTION_NAMES)("%s behaves as in the table, loses no prompt and leaves the session idle", async (name) => {
		const held = await startHeldSession();
		const { session } = held;
		let maxRuns = 0;
		session.subscribe((event) => {
			if (event.type !== "activity_changed") return;
			maxRuns = Math.max(maxRuns, event.activity.operations.filter(({ kind }) => kind === "run").length);
		});
		await enterState(held, state);
		const answered = ACTIONS[name](session).catch((error: unknown) => {
			if (error instanceof PiError) return error.code;
			throw error;
		});
		// Queued and refused requests return at once; the others need the session to be released.
		setImmediate(() => held.release());
		const answer = await answered;
		expect(answer).toBe(TABLE[state][name]);
		if (state !== "closing" && name !== "quit") await untilIdle(session);
		expect(maxRuns).toBeLessThanOrEqual(1);
		expect(session.queue).toEqual({ steering: [], followUps: [] });
		expectNothingLost(held, name, answer);
	});
});

/** An accepted prompt is in a log or was returned, exactly once. */
function expectNothingLost({ said, returned }: HeldSession, name: ActionName, answer: string): void {
	if (!["prompt", "steer", "followUp"].includes(name)) return;
	const found = [...said, ...returned].filter((text) => text === "again");
	expect(found).toHaveLength(answer === BUSY ? 0 : 1);
}
