import { choices, expected, isTypable, parseTyped } from "../../config/json-schema.js";
import type { SettingState } from "../../config/settings-store.js";
import { PiError } from "../../errors.js";
import { didYouMean } from "../../util/nearest.js";
import type { SlashCommand } from "../command.js";
import type { CommandSettings } from "../pickers.js";
import { report } from "./report.js";

/** `/settings [name value]`: every setting, its source, and a way to change it. */
export const settingsCommand: SlashCommand = {
	name: "settings",
	argumentHint: "[name value]",
	description: "Show settings and change them",
	complete(prefix, { settings }) {
		const [name = "", value] = prefix.split(/\s+/);
		const editable = settings.list().filter(({ schema }) => isTypable(schema));
		if (value === undefined) {
			const found = editable.filter(({ path }) => path.toLowerCase().includes(name.toLowerCase()));
			return found.map(({ path, schema }) => ({ value: path, description: schema.description }));
		}
		const state = editable.find(({ path }) => path === name);
		return ((state && choices(state.schema)) ?? [])
			.map(String)
			.filter((option) => option.startsWith(value))
			.map((option) => ({ value: `${name} ${option}` }));
	},
	async run(context) {
		const { session, shell, args, signal } = context;
		const [name, ...words] = args;
		if (name !== undefined) return { status: await change(name, words.join(" "), session.settings) };
		if (shell?.openSettings) {
			await shell.openSettings(session.settings, signal);
			return undefined;
		}
		return report(context, "Settings", lines(session.settings.list()));
	},
};

/** The value of a setting in a few words; of values that may hold a secret only their number. */
export function settingText(value: unknown): string {
	if (value === undefined) return "unset";
	if (typeof value !== "object" || value === null) return String(value);
	const { length } = Object.keys(value);
	if (length === 0) return "none";
	return length === 1 ? "1 entry" : `${length} entries`;
}

/** The source of a setting in a word: `run`, `project`, `user` or `default`. */
export function sourceText({ source, value }: SettingState): string {
	return source === "default" && value === undefined ? "" : source;
}

/** What a setting does, as text without Markdown. */
export function meaningOf(state: SettingState): string {
	return state.schema.description?.replaceAll("`", "") ?? "";
}

/** What a change of a setting has led to. */
export function savedText({ source, schema }: SettingState): string {
	if (source === "project") return "saved, but this project's .pi/settings.json overrides it";
	return schema["x-live"] ? "saved, applies now" : "saved, applies from the next start";
}

async function change(name: string, typed: string, settings: CommandSettings): Promise<string> {
	const { path, schema, value: before } = find(name, settings);
	if (typed === "") return `${path}: ${settingText(before)} · ${schema.description}`;
	const given = parseTyped(schema, typed);
	if (given === undefined) {
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
	throw new PiError("bad_arguments", `There is no setting "${name}"`, {
		hint: didYouMean(name, paths) ?? "/settings shows all",
	});
}

function lines(states: readonly SettingState[]): string[] {
	const paths = Math.max(...states.map(({ path }) => path.length));
	const values = Math.max(...states.map(({ value }) => settingText(value).length));
	return states.map((state) => {
		const { path, value, schema } = state;
		const source = sourceText(state).padEnd("project".length);
		return `${path.padEnd(paths)}  ${settingText(value).padEnd(values)}  ${source}  ${schema.description}`;
	});
}
