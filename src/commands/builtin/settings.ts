import { expected, isTypable, parseTyped } from "../../config/json-schema.js";
import type { SettingState } from "../../config/settings-store.js";
import { PiError } from "../../errors.js";
import { plural } from "../../util/format-amounts.js";
import { didYouMean } from "../../util/nearest.js";
import type { SlashCommand } from "../command.js";
import { createEditableSettings } from "../editable-settings.js";
import type { CommandSettings, EditableSettings } from "../pickers.js";
import { report } from "./report.js";

/** `/settings [name value]`: shows all settings with their sources, or changes one. */
export const settingsCommand: SlashCommand = {
	name: "settings",
	argumentHint: "[name value]",
	description: "Show and change settings",
	complete(prefix, session, shell) {
		const settings = createEditableSettings(session, shell);
		const [name = "", value] = prefix.split(/\s+/);
		const editable = settings.list().filter(({ schema }) => isTypable(schema));
		if (value === undefined) {
			const found = editable.filter(({ path }) => path.toLowerCase().includes(name.toLowerCase()));
			return found.map(({ path, schema }) => ({ value: path, description: schema.description }));
		}
		const state = editable.find(({ path }) => path === name);
		return ((state && settings.choices(state.path)) ?? [])
			.filter(({ label }) => label.startsWith(value))
			.map(({ label, description }) => ({ value: `${name} ${label}`, ...(description ? { description } : {}) }));
	},
	async run(context) {
		const { session, shell, args, signal } = context;
		const [name, ...words] = args;
		const settings = createEditableSettings(session, shell, signal);
		if (name !== undefined) return { status: await change(name, words.join(" "), settings) };
		if (shell?.openSettings) {
			await shell.openSettings(settings, signal);
			return undefined;
		}
		return report(context, "Settings", lines(session.settings.list()));
	},
};

/** The value of a setting as short text; only the number of values for lists and objects, which may contain secrets. */
export function settingText(value: unknown): string {
	if (value === undefined) return "unset";
	if (typeof value !== "object" || value === null) return String(value);
	const { length } = Object.keys(value);
	return length === 0 ? "none" : plural(length, "entry", "entries");
}

/** The source of a setting: `run`, `project`, `user` or `default`; empty for an unset setting. */
export function sourceText({ source, value }: SettingState): string {
	return source === "default" && value === undefined ? "" : source;
}

/** The description of a setting without Markdown. */
export function meaningOf(state: SettingState): string {
	return state.schema.description?.replaceAll("`", "") ?? "";
}

/** When a changed setting takes effect. */
export function savedText({ source, schema }: SettingState): string {
	if (source === "project") return "saved, but .pi/settings.json of this project overrides it";
	return schema["x-live"] ? "saved, applies now" : "saved, applies at the next start";
}

async function change(name: string, typed: string, settings: EditableSettings): Promise<string> {
	const { path, schema, value: before } = find(name, settings);
	if (typed === "") return `${path}: ${settingText(before)} · ${schema.description}`;
	const choice = settings.choices(path)?.find(({ label }) => label === typed);
	const given = choice ? choice.value : parseTyped(schema, typed);
	if (!choice && given === undefined) {
		throw new PiError("bad_arguments", `${path} must be ${expected(schema)}, not "${typed}"`, {
			...(isTypable(schema) ? {} : { hint: "edit settings.json to change it" }),
		});
	}
	await settings.set(path, given);
	const now = find(path, settings);
	return now.source === "project"
		? `${path}: ${savedText(now)}`
		: `${path}: ${settingText(now.value)} · ${savedText(now)}`;
}

function find(name: string, settings: CommandSettings): SettingState {
	const states = settings.list();
	const state = states.find(({ path }) => path === name);
	if (state) return state;
	const paths = states.map(({ path }) => path);
	throw new PiError("bad_arguments", `Unknown setting "${name}"`, {
		hint: didYouMean(name, paths) ?? "/settings lists all settings",
	});
}

function lines(states: readonly SettingState[]): string[] {
	const paths = Math.max(...states.map(({ path }) => path.length));
	const values = Math.max(...states.map(({ value }) => settingText(value).length));
	return states.flatMap((state, at) => {
		const { path, value, schema, group } = state;
		const source = sourceText(state).padEnd("project".length);
		const row = `${path.padEnd(paths)}  ${settingText(value).padEnd(values)}  ${source}  ${schema.description}`;
		return group === states[at - 1]?.group ? [row] : [`${group}:`, row];
	});
}
