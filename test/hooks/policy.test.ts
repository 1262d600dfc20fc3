import { expect, test } from "vitest";
import { EVENTS, type HandlerDeadline, SESSION_REASONS } from "../../src/hooks/events.js";
import { EVENT_MOMENTS, type Moment, SESSION_MOMENTS, stage } from "./moments.js";

/** What the tables of src/hooks/events.ts say of a moment. */
interface Row {
	moment: Moment;
	combine: "none" | "first" | "chain";
	deadline: HandlerDeadline;
	onError: "pass" | "block";
	abortable: boolean;
	/** Whether an answer of the first hook keeps the second from being asked. */
	decides: boolean;
}

/** Made from the tables: an event or a reason that has no moment fails here. */
const ROWS: [string, Row][] = [
	...Object.entries(EVENTS)
		.filter(([name]) => name !== "session")
		.map(([name, policy]): [string, Row] => {
			const moment = Object.entries(EVENT_MOMENTS).find(([key]) => key === name)?.[1];
			if (!moment) throw new Error(`No moment for the event ${name}`);
			return [name, { ...policy, moment, abortable: true, decides: policy.combine === "first" }];
		}),
	...Object.entries(SESSION_REASONS).map(([reason, policy]): [string, Row] => {
		const moment = Object.entries(SESSION_MOMENTS).find(([key]) => key === reason)?.[1];
		if (!moment) throw new Error(`No moment for the reason ${reason}`);
		const { combine, onError } = EVENTS.session;
		const decides = policy.reads.some((member) => member === "cancel");
		return [`session ${reason}`, { combine, onError, ...policy, moment, decides }];
	}),
];

const errorsOf = ({ events }: { events: readonly { type: string }[] }) =>
	events.filter(({ type }) => type === "hook_error");

test.each(ROWS)("%s: an answer counts as the table says", async (_, { moment, combine, decides }) => {
	const { test: session, trace } = await stage(moment, `return ${moment.answer};`);
	await moment.happen(session);
	expect(moment.outcome(session)).toEqual(moment.heeded);
	expect(trace.called).toEqual(decides ? ["a"] : ["a", "b"]);
	expect(trace.given.includes("changed")).toBe(combine === "chain");
	expect(errorsOf(session)).toEqual([]);
});

test.each(ROWS)("%s: a handler that answers nothing changes nothing", async (_, { moment }) => {
	const { test: session, trace } = await stage(moment, "return undefined;");
	await moment.happen(session);
	expect(moment.outcome(session)).toEqual(moment.passed);
	expect(trace.called).toEqual(["a", "b"]);
	expect(errorsOf(session)).toEqual([]);
});

test.each(ROWS)("%s: a throw is reported with path and event, and blocks or not", async (_, { moment, onError }) => {
	const { test: session, trace } = await stage(moment, 'throw new Error("oops");');
	await moment.happen(session);
	const blocks = onError === "block";
	if (blocks) expect(JSON.stringify(moment.outcome(session))).toContain("Blocked: the hook a failed: oops");
	else expect(moment.outcome(session)).toEqual(moment.passed);
	expect(trace.called).toEqual(blocks ? ["a"] : ["a", "b"]);
	expect(errorsOf(session)).toEqual([
		{ type: "hook_error", hookPath: expect.stringMatching(/hooks\/a\.ts$/), event: moment.event, error: "oops" },
	]);
});

test.each(ROWS.filter(([, { deadline }]) => deadline !== "none"))(
	"%s: a handler that never settles is left after hookTimeout, its signal aborted",
	async (_, { moment, deadline }) => {
		const { test: session, trace } = await stage(moment, "return new Promise(() => {});", 20);
		await moment.happen(session);
		expect(moment.outcome(session)).toEqual(moment.passed);
		expect(trace).toMatchObject({ called: ["a", "b"], signal: { aborted: true } });
		// Of a time for all, the part of the second hook is not for the first to use up.
		const limitMs = deadline === "timeout" ? 20 : 15;
		expect(errorsOf(session)).toMatchObject([{ event: moment.event, error: `it did not settle within ${limitMs} ms` }]);
	},
);

test.each(ROWS.filter(([, { deadline }]) => deadline === "none"))(
	"%s: a handler is waited for beyond hookTimeout, for a person may be answering",
	async (_, { moment }) => {
		const late = `return new Promise((resolve) => setTimeout(() => resolve(${moment.answer}), 60));`;
		const { test: session } = await stage(moment, late, 20);
		await moment.happen(session);
		expect(moment.outcome(session)).toEqual(moment.heeded);
		expect(errorsOf(session)).toEqual([]);
	},
);

test.each(ROWS.filter(([, { abortable }]) => abortable))(
	"%s: an abort ends the wait at once, and nobody calls that a failure",
	async (_, { moment }) => {
		const { test: session, trace } = await stage(moment, "return new Promise(() => {});");
		const happening = moment.happen(session);
		await trace.running;
		await session.session.abort();
		await happening;
		expect(trace.signal?.aborted).toBe(true);
		expect(session.session.isRunning).toBe(false);
		expect(errorsOf(session)).toEqual([]);
		if (moment.reason !== undefined) expect(moment.outcome(session)).toEqual(moment.aborted);
	},
);

test.each(ROWS.filter(([, { abortable }]) => !abortable))(
	"%s: an abort does not cut it short, only its time limit does",
	async (_, { moment }) => {
		const { test: session, trace } = await stage(moment, "return new Promise(() => {});", 20);
		const happening = moment.happen(session);
		await trace.running;
		await session.session.abort();
		expect(trace.signal?.aborted).toBe(false);
		await happening;
		expect(errorsOf(session)).toMatchObject([{ error: "it did not settle within 15 ms" }]);
	},
);
