import { existsSync, rmSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { HookAPI } from "../../src/hooks/types.js";
import { PROPERTY_TIMEOUT_MS, propertyBlocks } from "../helpers/property-blocks.js";
import { startSession, type TestSession } from "../helpers/session.js";
import { tempAgentDir, writeFiles } from "../helpers/temp.js";
import { RecordedScreen } from "./recorded-screen.js";
import { PROBE, REGISTRATION_KINDS } from "./registration-kinds.js";
import { hook, share } from "./support.js";

const KINDS = Object.keys(REGISTRATION_KINDS);
const HOOKS = ["a", "b", "c"];

/** Registrations as `kind id`. */
type Registered = readonly { kind: string; id: string }[];

/** What the test expects of one hook. */
interface Expected {
	/** What its file registers. */
	file: Registered;
	/** What is registered: by the loaded version of the file, and later. */
	loaded: Registered;
	isOn: boolean;
	/** Whether its file differs from the loaded one. */
	isEdited: boolean;
}

const step = fc.record({
	action: fc.constantFrom("register", "register", "reload", "off", "on", "edit", "remove", "new session"),
	hook: fc.constantFrom(...HOOKS),
	kinds: fc.subarray(KINDS, { minLength: 1 }),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A session with three hooks, and what each of them has registered. */
class Scenario {
	readonly #ids: string[] = [];
	readonly #pis: Record<string, HookAPI> = {};
	readonly #expected = new Map<string, Expected>();
	readonly #agentDir = tempAgentDir();
	readonly #screen = new RecordedScreen();
	#run: TestSession | null = null;

	async start(): Promise<void> {
		share("__pis", this.#pis);
		for (const name of HOOKS) this.#edit(name, []);
		writeFiles(this.#agentDir, { "hooks/probe.ts": hook(PROBE) });
		this.#run = await startSession({ agentDir: this.#agentDir, ui: { hookScreen: this.#screen } });
		this.#reloaded();
	}

	get run(): TestSession {
		return this.#run ?? expect.fail("not started");
	}

	async take({ action, hook: name, kinds }: Step): Promise<void> {
		const expected = this.#of(name);
		const pi = this.#pis[name];
		if (action === "register" && pi) {
			// Flags cannot be declared later.
			const added = this.#create(
				name,
				kinds.filter((kind) => kind !== "flag"),
			);
			new Function("pi", sourceOf(added))(pi);
			expected.loaded = [...expected.loaded, ...added];
		} else if (action === "edit") this.#edit(name, this.#create(name, kinds));
		else if (action === "remove") this.#remove(name);
		else if (action === "reload") {
			await this.run.session.reload();
			this.#reloaded();
		} else if (action === "new session") {
			await this.run.session.newSession();
			if ([...this.#expected.values()].some(({ isEdited }) => isEdited)) this.#reloaded();
		} else if (action === "off" || action === "on") {
			await this.run.session.inspector.setHookEnabled(this.#path(name), action === "on");
			if (pi) expected.isOn = action === "on";
		}
	}

	/** Compares what is registered with what is expected. */
	async check(): Promise<void> {
		const probe = this.#pis.probe ?? expect.fail("no probe");
		const running = [...this.#expected.values()].filter(({ isOn }) => isOn);
		for (const [kind, { observe, isSingle }] of Object.entries(REGISTRATION_KINDS)) {
			const wanted = running.flatMap(({ loaded }) => {
				const ids = loaded.flatMap((registered) => (registered.kind === kind ? [registered.id] : []));
				return isSingle ? ids.slice(-1) : ids;
			});
			const found = await observe(this.run, this.#ids, probe, this.#screen);
			expect([kind, ...found.sort()]).toEqual([kind, ...wanted.sort()]);
		}
	}

	/** Removes all hooks but the probe: nothing is registered then. */
	async end(): Promise<void> {
		for (const name of HOOKS) this.#remove(name);
		await this.run.session.reload();
		this.#reloaded();
		await this.check();
		expect(this.run.session.inspector.hookStatuses().map(({ name }) => name)).toEqual(["probe"]);
		const problems = this.run.events.filter((event) =>
			event.type === "notice" ? event.level !== "info" : event.type === "hook_error",
		);
		expect(problems).toEqual([]);
	}

	#of(name: string): Expected {
		const known = this.#expected.get(name) ?? { file: [], loaded: [], isOn: true, isEdited: false };
		this.#expected.set(name, known);
		return known;
	}

	#path(name: string): string {
		return `${this.#agentDir}/hooks/${name}.ts`;
	}

	#create(name: string, kinds: readonly string[]): Registered {
		return kinds.map((kind) => {
			const id = `${name}${kind}${this.#ids.length}`;
			this.#ids.push(id);
			return { kind, id };
		});
	}

	#edit(name: string, file: Registered): void {
		writeFiles(this.#agentDir, { [`hooks/${name}.ts`]: hook(`globalThis.__pis.${name} = pi; ${sourceOf(file)}`) });
		Object.assign(this.#of(name), { file, isEdited: true });
	}

	#remove(name: string): void {
		if (!existsSync(this.#path(name))) return;
		rmSync(this.#path(name));
		Object.assign(this.#of(name), { file: [], isEdited: true });
	}

	/** All files were loaded. Hooks that are off stay off. */
	#reloaded(): void {
		const { session } = this.run;
		const loaded = session.inspector.hookStatuses().map(({ path }) => path);
		for (const [name, expected] of this.#expected) {
			Object.assign(expected, { loaded: expected.file, isEdited: false });
			if (!loaded.includes(this.#path(name))) delete this.#pis[name];
		}
	}
}

function sourceOf(registered: Registered): string {
	return registered.map(({ kind, id }) => REGISTRATION_KINDS[kind]?.register(id) ?? "").join("\n");
}

test.each(propertyBlocks(16))(
	"whatever hooks register, reload, unload and turning off leave nothing behind ($runs runs with seed $seed)",
	{ timeout: PROPERTY_TIMEOUT_MS },
	async ({ runs, seed }) => {
		await fc.assert(
			fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
				const scenario = new Scenario();
				await scenario.start();
				await scenario.check();
				for (const each of steps) {
					await scenario.take(each);
					await scenario.check();
				}
				await scenario.end();
				await scenario.run.session.dispose();
			}),
			{ numRuns: runs, seed },
		);
	},
);
