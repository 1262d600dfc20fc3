import { PiError } from "../../errors.js";
import { nearest } from "../../util/nearest.js";
import type { CommandHost, CommandShell, SlashCommand } from "../command.js";
import type { SettingState } from "../pickers.js";
import { settingText, sourceText } from "../setting-text.js";
import { report } from "./report.js";

/** `/settings [name value]`: every setting, where it is from, and a way to change it. */
export const settingsCommand: SlashCommand = {
	name: "settings",
	argumentHint: "[name value]",
	description: "Show settings and change them",
	complete(prefix, { settings }) {
		const [name = "", value] = prefix.split(/\s+/);
		const editable = settings.list().filter(({ row }) => row.kind.parse);
		if (value === undefined) {
			const found = editable.filter(({ row }) => row.path.toLowerCase().includes(name.toLowerCase()));
			return found.map(({ row }) => ({ value: row.path, description: row.means }));
		}
		const options = editable.find(({ row }) => row.path === name)?.row.kind.options ?? [];
		return options
			.map(String)
			.filter((option) => option.startsWith(value))
			.map((option) => ({ value: `${name} ${option}` }));
	},
	async run(context) {
		const { session, shell, args, signal } = context;
		const [name, ...words] = args;
		if (name !== undefined) return { status: await change(name, words.join(" "), session, shell) };
		if (shell?.openSettings) {
			await shell.openSettings(session.settings, signal);
			return undefined;
		}
		return report(context, "Settings", lines(session.settings.list()));
	},
};

async function change(name: string, typed: string, session: CommandHost, shell: CommandShell | null): Promise<string> {
	const state = find(name, session.settings.list());
	const { row } = state;
	if (typed === "") return `${row.path}: ${settingText(state.value)} · ${row.means}`;
	const value = row.kind.parse?.(typed);
	if (value === undefined) {
		throw new PiError("bad_arguments", `${row.path} must be ${row.kind.name}, not "${typed}"`, {
			...(row.kind.parse ? {} : { hint: "write it into settings.json" }),
		});
	}
	const isFollowed = await session.settings.set(row, value);
	const now = find(name, session.settings.list());
	if (now.source === "project") return `${row.path}: saved, but this project's .pi/settings.json says otherwise`;
	const isShown = shell?.applySetting?.(row.path, now.value) ?? false;
	return `${row.path}: ${settingText(now.value)}${isFollowed || isShown ? "" : " from the next start on"}`;
}

function find(name: string, states: readonly SettingState[]): SettingState {
	const state = states.find(({ row }) => row.path === name);
	if (state) return state;
	const near = nearest(
		name,
		states.map(({ row }) => row.path),
	);
	throw new PiError("bad_arguments", `There is no setting "${name}"`, {
		hint: near.length > 0 ? `did you mean ${near.join(" or ")}?` : "/settings shows all",
	});
}

function lines(states: readonly SettingState[]): string[] {
	const names = Math.max(...states.map(({ row }) => row.path.length));
	const values = Math.max(...states.map(({ value }) => settingText(value).length));
	return states.map((state) => {
		const source = sourceText(state);
		const value = settingText(state.value);
		return `${state.row.path.padEnd(names)}  ${value.padEnd(values)}  ${source.padEnd("project".length)}  ${state.row.means}`;
	});
}
