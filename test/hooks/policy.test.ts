import { expect, test } from "vitest";
import { EVENTS, type HandlerDeadline, SESSION_REASONS } from "../../src/hooks/events.js";
import { EVENT_POINTS, type EventPoint, SESSION_POINTS, stage } from "./event-points.js";

/** The policy of a point in src/hooks/events.ts. */
interface Row {
	point: EventPoint;
	combine: "none" | "first" | "chain" | "gate";
	deadline: HandlerDeadline;
	onError: "pass" | "block";
	abortable: boolean;
	/** Whether an answer of the first hook prevents the call of the second. */
	decides: boolean;
}

/** Generated from the policy tables: an event or a reason without a point fails here. */
const ROWS: [string, Row][] = [
	...Object.entries(EVENTS)
		.filter(([name]) => name !== "session")
		.map(([name, policy]): [string, Row] => {
			const point = Object.entries(EVENT_POINTS).find(([key]) => key === name)?.[1];
			if (!point) throw new Error(`No point for the event ${name}`);
			return [
				name,
				{ ...policy, point, abortable: true, decides: policy.combine === "first" || policy.combine === "gate" },
			];
		}),
	...Object.entries(SESSION_REASONS).map(([reason, policy]): [string, Row] => {
		const point = Object.entries(SESSION_POINTS).find(([key]) => key === reason)?.[1];
		if (!point) throw new Error(`No point for the reason ${reason}`);
		const { combine, onError } = EVENTS.session;
		const decides = policy.reads.some((member) => member === "cancel");
		return [`session ${reason}`, { combine, onError, ...policy, point, decides }];
	}),
];

const errorsOf = ({ events }: { events: readonly { type: string }[] }) =>
	events.filter(({ type }) => type === "hook_error");

test.each(ROWS)("%s: an answer has the effect of its policy", async (_, { point, combine, decides }) => {
	const { test: session, trace } = await stage(point, `return ${point.answer};`);
	await point.happen(session);
	expect(point.result(session)).toEqual(point.heeded);
	expect(trace.called).toEqual(decides ? ["a"] : ["a", "b"]);
	expect(trace.given.includes('"changed"')).toBe(combine === "chain");
	expect(errorsOf(session)).toEqual([]);
});

test.each(ROWS.filter(([, { combine }]) => combine === "gate"))(
	"%s: a change has an effect, and the next handler receives it",
	async (_, { point }) => {
		const { test: session, trace } = await stage(point, `return ${point.change?.answer};`);
		await point.happen(session);
		expect(point.result(session)).toEqual(point.change?.heeded);
		expect(trace.called).toEqual(["a", "b"]);
		expect(trace.given).toContain("changed");
		expect(errorsOf(session)).toEqual([]);
	},
);

test.each(ROWS)(
	"%s: a malformed answer is reported by name, and blocks if an error does",
	async (_, { point, onError }) => {
		const { test: session, trace } = await stage(point, `return ${point.malformed.answer};`);
		await point.happen(session);
		const blocks = onError === "block";
		if (blocks) expect(JSON.stringify(point.result(session))).toContain("Blocked: the answer of hook a is malformed: ");
		else expect(point.result(session)).toEqual(point.passed);
		expect(trace.called).toEqual(blocks ? ["a"] : ["a", "b"]);
		const [first, ...others] = errorsOf(session);
		expect(first).toMatchObject({
			hookPath: expect.stringMatching(/hooks\/a\.ts$/),
			event: point.event,
			file: expect.stringMatching(/hooks\/a\.ts$/),
			line: expect.any(Number),
			error: expect.stringMatching(point.malformed.report),
		});
		expect(others).toEqual([]);
		expect(JSON.stringify({ ...first, event: "" })).not.toMatch(/changed|stopped|sure/);
	},
);

test.each(ROWS)("%s: a handler that returns nothing changes nothing", async (_, { point }) => {
	const { test: session, trace } = await stage(point, "return undefined;");
	await point.happen(session);
	expect(point.result(session)).toEqual(point.passed);
	expect(trace.called).toEqual(["a", "b"]);
	expect(errorsOf(session)).toEqual([]);
});

test.each(ROWS)(
	"%s: an exception is reported with path and event, and blocks if the policy says so",
	async (_, { point, onError }) => {
		const { test: session, trace } = await stage(point, 'throw new Error("oops");');
		await point.happen(session);
		const blocks = onError === "block";
		if (blocks) expect(JSON.stringify(point.result(session))).toContain("Blocked: hook a failed: oops");
		else expect(point.result(session)).toEqual(point.passed);
		expect(trace.called).toEqual(blocks ? ["a"] : ["a", "b"]);
		expect(errorsOf(session)).toEqual([
			{
				type: "hook_error",
				hookPath: expect.stringMatching(/hooks\/a\.ts$/),
				event: point.event,
				error: "oops",
				file: expect.stringMatching(/hooks\/a\.ts$/),
				line: expect.any(Number),
				column: expect.any(Number),
			},
		]);
	},
);

test.each(ROWS.filter(([, { deadline }]) => deadline !== "none"))(
	"%s: a handler that never returns times out after hookTimeout, and its signal is aborted",
	async (_, { point, deadline }) => {
		const { test: session, trace } = await stage(point, "return new Promise(() => {});", 20);
		await point.happen(session);
		expect(point.result(session)).toEqual(point.passed);
		expect(trace).toMatchObject({ called: ["a", "b"], signal: { aborted: true } });
		// With a shared limit, the first hook cannot use the guaranteed share of the second.
		const limitMs = deadline === "timeout" ? 20 : 15;
		expect(errorsOf(session)).toMatchObject([{ event: point.event, error: `timed out after ${limitMs} ms` }]);
	},
);

test.each(ROWS.filter(([, { deadline }]) => deadline === "none"))(
	"%s: a handler has no time limit, because a person may be answering",
	async (_, { point }) => {
		// Longer than the time limit of the others.
		const late = `return new Promise((resolve) => setTimeout(() => resolve(${point.answer}), 60));`;
		const { test: session } = await stage(point, late, 20);
		await point.happen(session);
		expect(point.result(session)).toEqual(point.heeded);
		expect(errorsOf(session)).toEqual([]);
	},
);

test.each(ROWS.filter(([, { abortable }]) => abortable))(
	"%s: an abort stops waiting at once and is not reported as a failure",
	async (_, { point }) => {
		const { test: session, trace } = await stage(point, "return new Promise(() => {});");
		const happening = point.happen(session);
		await trace.running;
		await session.session.abort();
		await happening;
		expect(trace.signal?.aborted).toBe(true);
		expect(session.session.isRunning).toBe(false);
		expect(errorsOf(session)).toEqual([]);
		if ("aborted" in point) expect(point.result(session)).toEqual(point.aborted);
	},
);

test.each(ROWS.filter(([, { abortable }]) => !abortable))(
	"%s: only the time limit stops waiting, not an abort",
	async (_, { point }) => {
		const { test: session, trace } = await stage(point, "return new Promise(() => {});", 20);
		const happening = point.happen(session);
		await trace.running;
		await session.session.abort();
		expect(trace.signal?.aborted).toBe(false);
		await happening;
		expect(errorsOf(session)).toMatchObject([{ error: "timed out after 15 ms" }]);
	},
);
