import type { HookAPI } from "../../src/hooks/types.js";
import type { TestSession } from "../helpers/session.js";

/** A kind of registration, for the property test that nothing is left behind. Add a row for each new member of `pi`. */
export interface RegistrationKind {
	/** Source that registers something under this id, which has letters and digits. Runs with `pi`. */
	register(id: string): string;
	/**
	 * The ids that are registered now.
	 * @param ids every id used so far
	 * @param probe `pi` of a hook that is always on
	 */
	observe(run: TestSession, ids: readonly string[], probe: HookAPI): Promise<string[]> | string[];
}

/** Ids that handlers pushed while `fire` ran. */
async function heard(fire: () => unknown): Promise<string[]> {
	const ids: string[] = [];
	Reflect.set(globalThis, "__heard", ids);
	await fire();
	Reflect.deleteProperty(globalThis, "__heard");
	return ids;
}

export const REGISTRATION_KINDS: Readonly<Record<string, RegistrationKind>> = {
	command: {
		register: (id) => `pi.command("${id}", { handler() {} });`,
		observe: ({ session }) =>
			session.palette().flatMap(({ name, origin }) => (origin.startsWith("hook ") ? [name] : [])),
	},
	tool: {
		register: (id) =>
			`pi.tool({ name: "${id}", description: "d", parameters: { type: "object" }, run: async () => ({ content: [] }) });`,
		async observe({ session }) {
			const answer = await session.prompt("/tools");
			const lines = answer.kind === "command" ? (answer.status ?? "").split("\n") : [];
			return lines.flatMap((line) => /^on +(\w+) .*\.ts$/.exec(line)?.[1] ?? []);
		},
	},
	entry: {
		register: (id) => `pi.entry("${id}", { render: () => "${id}" });`,
		observe: ({ session }, ids) => ids.filter((id) => session.entryRenderer(id) !== undefined),
	},
	handler: {
		register: (id) => `pi.on("context", () => { globalThis.__heard?.push("${id}"); });`,
		observe: async ({ session }) => heard(() => session.rebuildContext()),
	},
	event: {
		register: (id) => `pi.events.on("tick", () => { globalThis.__heard?.push("${id}"); });`,
		observe: async (_run, _ids, probe) => heard(() => probe.events.emit("tick")),
	},
};
