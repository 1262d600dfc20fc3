import type { Component, Focusable } from "@mariozechner/pi-tui";
import type { CommandSettings, PickerShell, SettingState } from "../../../commands/pickers.js";
import { settingText, sourceText } from "../../../commands/setting-text.js";
import { describeError } from "../../../errors.js";
import type { DialogStyle } from "../../../tui/dialog-style.js";
import { fuzzyFilter } from "../../../tui/fuzzy.js";
import { InputDialog } from "../../../tui/input-dialog.js";
import { type SelectColumn, SelectDialog, type SelectItem } from "../../../tui/select-dialog.js";

/** What a picker of settings works on, and whom it tells. */
export interface SettingsPickerOptions {
	settings: CommandSettings;
	applySetting?: PickerShell["applySetting"];
	requestRender(): void;
	onClose(): void;
}

const COLUMNS: readonly SelectColumn[] = [
	{ align: "left", rank: 1 },
	{ align: "left", rank: 2 },
	{ align: "left", rank: 3, grows: true },
];

/** Lists the settings: space and enter go through the values, or ask for one; delete takes the user's own away. */
export class SettingsPicker implements Component, Focusable {
	focused = false;
	readonly #list: SelectDialog<string>;
	/** Stands in place of the list while a value is typed. */
	#input: InputDialog | null = null;

	constructor(
		private readonly style: DialogStyle,
		private readonly options: SettingsPickerOptions,
	) {
		const change = (path: string | undefined) => this.#change(this.#find(path));
		this.#list = new SelectDialog<string>(style, {
			title: "Settings",
			items: (filter) => fuzzyFilter(options.settings.list(), filter, ({ row }) => row.path).map(toItem),
			columns: COLUMNS,
			isTall: true,
			verb: "change",
			details: ({ value }) => meaningOf(this.#find(value)),
			actions: [
				{ key: "dialog.toggle", does: "next value", run: (item) => change(item?.value) },
				{ key: "dialog.delete", does: "unset", run: (item) => this.#unset(this.#find(item?.value)) },
			],
			onSelect: change,
			onCancel: options.onClose,
			onFilter: () => this.#note(null),
		});
	}

	render(width: number): string[] {
		const shown = this.#input ?? this.#list;
		shown.focused = this.focused;
		return shown.render(width);
	}

	handleInput(data: string): void {
		(this.#input ?? this.#list).handleInput(data);
		this.options.requestRender();
	}

	invalidate(): void {
		this.#input?.invalidate();
	}

	#find(path: string | undefined): SettingState | undefined {
		return this.options.settings.list().find(({ row }) => row.path === path);
	}

	#change(state: SettingState | undefined): void {
		if (!state) return;
		const { kind } = state.row;
		if (kind.options) {
			const { options } = kind;
			void this.#set(state, options[(options.indexOf(state.value) + 1) % options.length]);
		} else if (kind.parse) this.#ask(state);
		else this.#note({ text: `${state.row.path} is ${kind.name}: write it into settings.json`, isProblem: true });
	}

	#ask(state: SettingState): void {
		const { path, kind } = state.row;
		const value = state.value === undefined ? "" : String(state.value);
		this.#input = new InputDialog(this.style, { title: `${path}: ${kind.name}`, value }, (answer) => {
			this.#input = null;
			if (answer === null || answer.trim() === value) return;
			const given = answer.trim() === "" ? undefined : kind.parse?.(answer);
			if (answer.trim() !== "" && given === undefined) {
				this.#note({ text: `"${answer.trim()}" is not ${kind.name}`, isProblem: true });
			} else void this.#set(state, given);
		});
	}

	#unset(state: SettingState | undefined): void {
		if (state?.source === "user") void this.#set(state, undefined);
		else if (state) this.#note({ text: "it is not set in your settings.json", isProblem: false });
	}

	async #set({ row }: SettingState, value: unknown): Promise<void> {
		try {
			const isFollowed = await this.options.settings.set(row, value);
			const now = this.#find(row.path);
			const isShown = this.options.applySetting?.(row.path, now?.value) ?? false;
			const when = isFollowed || isShown ? "saved" : "saved; from the next start on";
			const isProject = now?.source === "project";
			this.#note({
				text: isProject ? "saved, but this project's .pi/settings.json says otherwise" : when,
				isProblem: isProject,
			});
		} catch (error) {
			this.#note({ text: describeError(error), isProblem: true });
		}
		this.#list.refresh();
	}

	#note(note: SelectDialog<string>["note"]): void {
		this.#list.note = note;
		this.options.requestRender();
	}
}

function toItem(state: SettingState): SelectItem<string> {
	const { path } = state.row;
	return { label: path, value: path, fields: [settingText(state.value), sourceText(state), meaningOf(state)] };
}

function meaningOf(state: SettingState | undefined): string {
	return state?.row.means.replaceAll("`", "") ?? "";
}
