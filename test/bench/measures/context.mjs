import { interleave } from "../lib/stats.mjs";

const SIZES = [1_000, 10_000, 100_000];
/** ms; the row for 1,000 entries has no budget. */
const BUDGETS = { 10_000: 5, 100_000: 50 };

/** Entries of a long conversation: prompts, answers with a tool call, results. Frozen like the entries of a log. */
function conversation(count) {
	const timestamp = "2026-01-01T00:00:00.000Z";
	const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
	const assistant = (content, stopReason) => ({ role: "assistant", content, api: "a", provider: "p", model: "m", usage, stopReason, timestamp: 1 });
	const kinds = [
		() => ({ role: "user", content: "please look at the parser", timestamp: 1 }),
		(n) => assistant([{ type: "text", text: "looking" }, { type: "toolCall", id: `c${n}`, name: "read", arguments: { path: "a" } }], "toolUse"),
		(n) => ({ role: "toolResult", toolCallId: `c${n - 1}`, toolName: "read", content: [{ type: "text", text: "text" }], isError: false, timestamp: 1 }),
		() => assistant([{ type: "text", text: "done" }], "stop"),
	];
	const entries = [{ type: "session", version: 1, id: "bench", timestamp, cwd: "/" }];
	while (entries.length < count) {
		const n = entries.length - 1;
		entries.push({ type: "message", timestamp, message: kinds[n % kinds.length](n) });
	}
	for (const entry of entries) {
		if (entry.message) Object.freeze(entry.message);
		Object.freeze(entry);
	}
	return Object.freeze(entries);
}

/** Three hooks that each fold a range of complete turns into a summary. */
function rangeHooks(entries, applyRanges) {
	const turn = (share) => Math.floor((entries.length * share) / 4) * 4 + 1;
	const ranges = [
		[turn(0.1), turn(0.15)],
		[turn(0.3), turn(0.4)],
		[turn(0.12), turn(0.2)],
	].map(([from, to], id) => ({ from, to, summary: `summary ${id}`, id }));
	return ranges.map((_range, hook) => ({
		hook: `/hooks/${hook}.ts`,
		transform: async () => ({ messages: applyRanges(entries, ranges.slice(0, hook + 1)) }),
	}));
}

/** What pi sends before the messages: a section and a tool. */
const PREAMBLE = Object.freeze({
	sections: Object.freeze([Object.freeze({ id: "core", text: "You are a coding agent." })]),
	tools: Object.freeze([Object.freeze({ name: "read", description: "Reads a file.", parameters: Object.freeze({ type: "object" }) })]),
	generate: () => ({}),
});

/** The same entries in a new object, so that caches keyed by log do not apply. */
const opened = ([header, ...entries]) => Object.freeze([Object.freeze({ ...header }), ...entries]);

/** Time to rebuild the context from scratch, in this process, with the module bundled; `first`: for a log just opened. */
export async function contextBuild({ rounds, workshop }) {
	const { applyRanges, buildContext } = await workshop.source("src/context/build-context.ts", "src/context/ranges.ts");
	const rows = [];
	for (const size of SIZES) {
		const entries = conversation(size);
		const build = (stagesOf, logOf = () => entries) => async () => {
			const log = logOf();
			const stages = stagesOf(log);
			const started = performance.now();
			const { messages, problems } = await buildContext(log, stages);
			const ms = performance.now() - started;
			if (problems.length > 0 || messages.length < size / 2) throw new Error(`${messages.length} messages, ${JSON.stringify(problems)}`);
			return { ms };
		};
		const floor = async () => {
			const started = performance.now();
			const messages = [];
			for (const entry of entries) if (entry.message) messages.push(entry.message);
			return { ms: performance.now() - started, messages: messages.length };
		};
		const three = (log) => rangeHooks(log, applyRanges);
		const subjects = { floor, none: build(() => []), three: build(three), first: build(three, () => opened(entries)) };
		// Warm up: a running session has built its context before, so the JIT has compiled this code.
		await interleave(5, subjects);
		const values = await interleave(rounds * 3, subjects);
		const atMost = BUDGETS[size];
		for (const [hooks, key] of [["no hook", "none"], ["3 range hooks", "three"], ["3 range hooks, the first", "first"]]) {
			rows.push({
				name: `context of ${size} entries, ${hooks}`,
				unit: "ms",
				values: values[key].ms,
				floor: "a bare loop",
				floorValues: values.floor.ms,
				budget: atMost ? { atMost } : null,
			});
		}
	}
	return rows;
}

/**
 * Cost of preparing the request after one appended entry: context, conversion, repair, digest, tokens, record. With hooks,
 * it includes their own work and the check of their results.
 */
export async function nextRequest({ rounds, workshop }) {
	const { SessionContext, applyRanges } = await workshop.source("src/session/session-context.ts", "src/context/ranges.ts");
	const rows = [];
	for (const size of [10_000, 100_000]) {
		const all = conversation(size + 8 * (rounds * 3 + 5));
		const start = (count) => {
			let entries = Object.freeze(all.slice(0, size));
			const log = {
				get length() {
					return entries.length;
				},
				get entries() {
					return entries;
				},
				entry: (index) => entries[index],
				typeOf: (index) => entries[index]?.type,
				findLast: () => -1,
			};
			const hooks = (input) => rangeHooks({ get length() { return size; } }, (_, ranges) => applyRanges(input.entries(), ranges)).slice(0, count);
			const context = new SessionContext({
				log: () => log,
				stages: hooks,
				preamble: () => PREAMBLE,
				model: () => ({ provider: "p", id: "m" }),
				ownerOf: () => null,
				onProblem: (problem) => { throw new Error(JSON.stringify(problem)); },
				onChange() {},
			});
			return async () => {
				// Complete turns: at the time of a request, a log never ends with a tool call.
				entries = Object.freeze([...entries, ...all.slice(entries.length, entries.length + 4)]);
				const started = performance.now();
				const built = await context.rebuild(new AbortController().signal);
				const { messages } = context.request();
				context.tokens();
				context.describeRequest(built);
				context.noteRequest(built);
				const ms = performance.now() - started;
				if (messages.length < size / 2) throw new Error(`${messages.length} messages`);
				return { ms };
			};
		};
		const subjects = { none: start(0), three: start(3) };
		await interleave(5, subjects);
		const values = await interleave(rounds * 3, subjects);
		rows.push(
			{ name: `next request at ${size} entries, no hook`, unit: "ms", values: values.none.ms, budget: { atMost: 1 } },
			{ name: `next request at ${size} entries, 3 range hooks`, unit: "ms", values: values.three.ms, budget: { atMost: size === 10_000 ? 5 : 50 } },
		);
	}
	return rows;
}
