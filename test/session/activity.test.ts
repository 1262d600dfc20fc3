import { expect, test } from "vitest";
import {
	type Activity,
	type OperationKind,
	type RunPhase,
	SessionActivity,
	type SessionRequest,
	type Verdict,
} from "../../src/session/activity.js";

type StateRow = [kind: OperationKind | "idle", Record<SessionRequest, Verdict>];

const ALLOWED = {
	prompt: "allow",
	compact: "allow",
	undo: "allow",
	shell: "allow",
	command: "allow",
	switch: "allow",
} as const;
const REFUSED = {
	prompt: "refuse",
	compact: "refuse",
	undo: "refuse",
	shell: "refuse",
	command: "refuse",
	switch: "refuse",
} as const;

const TABLE: readonly StateRow[] = [
	["idle", ALLOWED],
	["run", { ...ALLOWED, prompt: "queue", compact: "refuse", undo: "refuse" }],
	["compacting", { ...ALLOWED, prompt: "queue", compact: "refuse", undo: "refuse" }],
	["shell", { ...ALLOWED, shell: "refuse", undo: "refuse" }],
	["command", ALLOWED],
	["dialog", ALLOWED],
	["switching", { ...REFUSED, prompt: "queue", command: "allow" }],
	["closing", REFUSED],
];
const REQUESTS = ["prompt", "compact", "undo", "shell", "command", "switch"] as const;
const KINDS = TABLE.flatMap(([kind]) => (kind === "idle" ? [] : [kind]));

test.each(TABLE)("in state %s each request is allowed, queued or refused as in the table", (kind, expected) => {
	const activity = new SessionActivity();
	if (kind !== "idle") activity.begin(kind);
	expect(activity.current.state).toBe(kind);
	for (const request of REQUESTS) {
		expect([request, activity.verdict(request)]).toEqual([request, expected[request]]);
		if (expected[request] === "refuse") expect(() => activity.check(request)).toThrow(/\w/);
		else activity.check(request);
	}
});

test("with several operations the strictest verdict counts, and the first in precedence is the state", () => {
	for (const [one, rowOfOne] of TABLE.slice(1)) {
		for (const [other, rowOfOther] of TABLE.slice(1)) {
			if (one === other || one === "closing" || one === "idle" || other === "idle") continue;
			const activity = new SessionActivity();
			activity.begin(one);
			activity.begin(other);
			for (const request of REQUESTS) {
				const verdicts = [rowOfOne[request], rowOfOther[request]];
				const strictest = (["refuse", "queue", "allow"] as const).find((verdict) => verdicts.includes(verdict));
				expect([one, other, request, activity.verdict(request)]).toEqual([one, other, request, strictest]);
			}
			const precedence = ["closing", "switching", "dialog", "compacting", "run", "shell", "command"];
			const expected = precedence.find((kind) => kind === one || kind === other);
			expect(activity.current.state).toBe(expected);
		}
	}
});

test("a second run, compaction, shell command or switch cannot begin", () => {
	for (const kind of ["run", "compacting", "shell", "switching"] as const) {
		const activity = new SessionActivity();
		const first = activity.begin(kind);
		expect(() => activity.begin(kind)).toThrow(expect.objectContaining({ code: "session_busy" }));
		first.end();
		activity.begin(kind).end();
		expect(activity.current).toEqual({ state: "idle", phase: null, operations: [] });
	}
});

test("a closing session begins only dialogs of its hooks", () => {
	const activity = new SessionActivity();
	activity.begin("closing");
	for (const kind of KINDS.filter((each) => each !== "dialog")) {
		expect(() => activity.begin(kind)).toThrow("The session is closing");
	}
	activity.begin("dialog").end();
});

test("an abort reaches every operation but closing; a named kind reaches only that", () => {
	const activity = new SessionActivity();
	const operations = KINDS.filter((kind) => kind !== "closing").map((kind) => [kind, activity.begin(kind)] as const);
	const closing = activity.begin("closing");
	const aborted = () => operations.filter(([, { signal }]) => signal.aborted).map(([kind]) => kind);
	activity.abort("shell");
	expect(aborted()).toEqual(["shell"]);
	activity.abort();
	expect(aborted()).toEqual(operations.map(([kind]) => kind));
	expect(closing.signal.aborted).toBe(false);
});

test("an operation follows the signals passed to begin until it ends", () => {
	const activity = new SessionActivity();
	const outer = new AbortController();
	const run = activity.begin("run", { signals: [outer.signal] });
	const command = activity.begin("command", { signals: [outer.signal] });
	command.end();
	outer.abort();
	expect([run.signal.aborted, command.signal.aborted]).toEqual([true, false]);
});

test("each change sends one notification with a frozen snapshot; entering the same phase again sends none", () => {
	const activity = new SessionActivity();
	const seen: [Activity["state"], RunPhase | null][] = [];
	const stop = activity.subscribe((current) => {
		expect(Object.isFrozen(current) && Object.isFrozen(current.operations)).toBe(true);
		seen.push([current.state, current.phase]);
	});
	const run = activity.begin("run", { phase: "requesting" });
	run.enter("requesting");
	run.enter("streaming");
	run.enter("tools");
	run.end();
	run.end();
	run.enter("ending");
	stop();
	activity.begin("command");
	expect(seen).toEqual([
		["run", "requesting"],
		["run", "streaming"],
		["run", "tools"],
		["idle", null],
	]);
});

test("`untilEnded` waits for the operations of its call, not for later ones", async () => {
	const activity = new SessionActivity();
	const run = activity.begin("run");
	const ended = activity.untilEnded();
	run.end();
	activity.begin("run");
	await ended;
	expect(activity.has("run")).toBe(true);
});

test("`stop` waits for run, compaction and shell command and leaves the command that called it", async () => {
	const activity = new SessionActivity();
	const command = activity.begin("command", { name: "new" });
	const run = activity.begin("run");
	const shell = activity.begin("shell");
	run.signal.addEventListener("abort", () => setImmediate(run.end));
	shell.signal.addEventListener("abort", () => setImmediate(shell.end));
	await activity.stop();
	expect(activity.current.operations.map(({ kind }) => kind)).toEqual(["command"]);
	expect(command.signal.aborted).toBe(false);
});
