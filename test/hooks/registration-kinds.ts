import { basename } from "node:path";
import type { HookAPI } from "../../src/hooks/types.js";
import type { TestSession } from "../helpers/session.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import type { RecordedScreen } from "./recorded-screen.js";

/** A kind of registration, for the property test that nothing is left behind. Add a row for each new member of `pi`. */
export interface RegistrationKind {
	/** Source that registers something under this id, which has lowercase letters and digits. Runs with `pi`. */
	register(id: string): string;
	/** True if a hook has one at a time: that which it registered last. */
	isSingle?: true;
	/**
	 * The ids that are registered now.
	 * @param ids every id used so far
	 * @param probe `pi` of a hook that is always on; it pushes the names of `ctx.flags` at the event `flags`
	 */
	observe(
		run: TestSession,
		ids: readonly string[],
		probe: HookAPI,
		screen: RecordedScreen,
	): Promise<string[]> | string[];
}

/** The probe's file. */
export const PROBE = `globalThis.__pis.probe = pi;
	pi.events.on("flags", (_, ctx) => { globalThis.__heard?.push(...Object.keys(ctx.flags)); });`;

/** Ids that handlers pushed while `fire` ran. */
async function heard(fire: () => unknown): Promise<string[]> {
	const ids: string[] = [];
	Reflect.set(globalThis, "__heard", ids);
	await fire();
	Reflect.deleteProperty(globalThis, "__heard");
	return ids;
}

/** Something that a hook shows at the event `show`, which comes before each observation. */
const shows = (member: string, call: (id: string) => string, isSingle = false): RegistrationKind => ({
	register: (id) => `pi.events.on("show", (_, ctx) => { ${call(id)}; });`,
	...(isSingle ? { isSingle } : {}),
	observe(_run, _ids, probe, screen) {
		probe.events.emit("show");
		return screen.shownWith(member);
	},
});

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
	resources: {
		register(id) {
			const dir = tempDir();
			writeFiles(dir, { [`${id}.json`]: "{}" });
			return `void pi.resources({ themes: ["${dir}/${id}.json"] });`;
		},
		isSingle: true,
		observe: ({ session }) => session.loaded.themes.map(({ path }) => basename(path, ".json")),
	},
	handler: {
		register: (id) => `pi.on("context", () => { globalThis.__heard?.push("${id}"); });`,
		observe: async ({ session }) => heard(() => session.rebuildContext()),
	},
	event: {
		register: (id) => `pi.events.on("tick", () => { globalThis.__heard?.push("${id}"); });`,
		observe: async (_run, _ids, probe) => heard(() => probe.events.emit("tick")),
	},
	shortcut: {
		register: (id) => `pi.shortcut("f9", { description: "${id}", handler() {} });`,
		observe: ({ session }) => session.shortcuts.map(({ description }) => description),
	},
	flag: {
		register: (id) => `pi.flag("${id}", { type: "boolean" });`,
		observe: async (_run, _ids, probe) => heard(() => probe.events.emit("flags")),
	},
	provider: {
		register: (id) =>
			`pi.provider("${id}", { baseUrl: "http://127.0.0.1:9", api: "openai-completions", apiKey: "k", models: [{ id: "m" }] });`,
		async observe({ session }, ids) {
			const models = await session.controls.availableModels();
			return models.flatMap(({ provider }) => (ids.includes(provider) ? [provider] : []));
		},
	},
	status: shows("setStatus", (id) => `ctx.ui.setStatus("${id}", "${id}")`),
	widget: shows("setWidget", (id) => `ctx.ui.setWidget("${id}", ["${id}"])`),
	title: shows("setTitle", (id) => `ctx.ui.setTitle("${id}")`, true),
	look: shows("setLook thinkingLabel", (id) => `ctx.ui.setLook("thinkingLabel", "${id}")`, true),
	editor: shows("setEditor", (id) => `ctx.ui.setEditor(() => "${id}")`, true),
	message: shows("setWorkingMessage", (id) => `ctx.ui.setWorkingMessage("${id}")`, true),
	footer: shows("setFooter", (id) => `ctx.ui.setFooter(() => "${id}")`, true),
	header: shows("setHeader", (id) => `ctx.ui.setHeader(() => "${id}")`, true),
	completion: shows("addAutocompleteProvider", (id) => `ctx.ui.addAutocompleteProvider(() => "${id}")`),
	component: shows("custom", (id) => `ctx.ui.custom(() => "${id}")`),
};
