import fc from "fast-check";
import { expect, test } from "vitest";
import { PiError } from "../../src/errors.js";
import { untilIdle } from "../helpers/activity.js";
import type { Reply } from "../helpers/loopback-provider.js";
import { httpError, toolCall } from "../helpers/loopback-provider.js";
import { propertyBlocks } from "../helpers/property-blocks.js";
import { createGate, type Gate, type HeldSession, startHeldSession } from "../operations/states.js";

/** The expected state of the session. */
interface Model {
	/** Texts of prompts the session accepted. */
	accepted: string[];
	prompts: number;
}

interface Real extends HeldSession {
	/** Answers to the next requests; the last one is repeated. */
	script: Reply[];
	/** Blocks requests until it resolves. */
	gate: Gate;
	/** Started operations that were not awaited. */
	pending: Promise<unknown>[];
	/** Texts returned by `abort`. */
	aborted: string[];
}

type Command = fc.AsyncCommand<Model, Real>;

/** Runs all pending callbacks. */
async function turn(): Promise<void> {
	for (let round = 0; round < 3; round++) await new Promise((resolve) => setImmediate(resolve));
}

class Say implements Command {
	constructor(private readonly how: "prompt" | "send" | "followUp") {}
	check = () => true;
	async run(model: Model, real: Real): Promise<void> {
		const text = `prompt ${++model.prompts}`;
		let isRefused = false;
		const said = Promise.resolve(real.session[this.how](text)).catch((error: unknown) => {
			if (!(error instanceof PiError)) throw error;
			isRefused = true;
		});
		real.pending.push(said);
		await turn();
		if (!isRefused) model.accepted.push(text);
	}
	toString = () => this.how;
}

class Begin implements Command {
	constructor(
		private readonly name: string,
		private readonly begin: (real: Real) => Promise<unknown>,
	) {}
	check = () => true;
	async run(_model: Model, real: Real): Promise<void> {
		const begun = this.begin(real).catch((error: unknown) => {
			if (!(error instanceof PiError)) throw error;
		});
		real.pending.push(begun);
		await turn();
	}
	toString = () => this.name;
}

class Act implements Command {
	constructor(
		private readonly name: string,
		private readonly act: (real: Real) => void | Promise<void>,
	) {}
	check = () => true;
	async run(_model: Model, real: Real): Promise<void> {
		await this.act(real);
		await turn();
	}
	toString = () => this.name;
}

const REPLIES: Record<string, Reply> = {
	text: "ok",
	tool: [toolCall("wait", {})],
	refusal: httpError(400, {}, "no such thing"),
	overload: httpError(503),
};

const COMMANDS: fc.Arbitrary<Command>[] = [
	fc.constantFrom("prompt" as const, "send" as const, "followUp" as const).map((how) => new Say(how)),
	fc
		.constantFrom(...Object.keys(REPLIES))
		.map((name) => new Act(`answer with ${name}`, ({ script }) => void script.push(REPLIES[name] ?? "ok"))),
	fc.constant(
		new Act("let requests go", async (real) => {
			real.gate.open();
			await turn();
			real.gate = createGate();
		}),
	),
	fc.constant(
		new Act("abort", async (real) => {
			real.aborted.push(...(await real.session.abort()));
		}),
	),
	fc.constant(new Begin("compact", ({ session }) => session.compact())),
	fc.constant(new Begin("shell", ({ session }) => session.runBash("true"))),
	fc.constant(new Begin("new session", ({ session }) => session.newSession())),
	fc.constant(new Begin("/name", ({ session }) => session.prompt("/name shop"))),
	fc.constant(new Begin("/wait", ({ session }) => session.prompt("/wait"))),
	fc.constant(new Begin("/ask", ({ session }) => session.prompt("/ask"))),
];

test.each(propertyBlocks(25))(
	"any sequence of actions runs one prompt at a time, loses none and ends idle ($runs runs with seed $seed)",
	async ({ runs, seed }) => {
		await fc.assert(
			fc.asyncProperty(fc.commands(COMMANDS, { maxCommands: 25 }), async (commands) => {
				const held = await startHeldSession();
				const { session, provider } = held;
				let active = 0;
				let maxActive = 0;
				session.subscribe(({ type }) => {
					if (type === "agent_start") maxActive = Math.max(maxActive, ++active);
					else if (type === "agent_end") active--;
				});
				const real: Real = { ...held, script: [], gate: createGate(), pending: [], aborted: [] };
				provider.on(async () => {
					await real.gate.opened;
					return real.script.shift() ?? "ok";
				});
				const model: Model = { accepted: [], prompts: 0 };
				await fc.asyncModelRun(() => ({ model, real }), commands);
				real.script = [];
				provider.on(() => "ok");
				real.gate.open();
				held.release();
				await Promise.all(real.pending);
				await untilIdle(session);
				await turn();
				expect(session.activity.state).toBe("idle");
				expect(session.queue).toEqual({ steering: [], followUps: [] });
				expect(maxActive).toBeLessThanOrEqual(1);
				const found = [...held.said, ...held.returned, ...real.aborted].filter((text) => text.startsWith("prompt "));
				expect(found.sort()).toEqual(model.accepted.sort());
				expect(provider.takeViolations()).toEqual([]);
				await session.dispose();
			}),
			{ numRuns: runs, seed },
		);
	},
	60_000,
);
