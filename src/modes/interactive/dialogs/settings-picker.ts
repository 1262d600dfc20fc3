import type { Component, Focusable } from "@mariozechner/pi-tui";
import { meaningOf, savedText, settingText, sourceText } from "../../../commands/builtin/settings.js";
import type { EditableSettings, SettingChoice } from "../../../commands/pickers.js";
import { expected, isTypable, parseTyped } from "../../../config/json-schema.js";
import type { SettingState } from "../../../config/settings-store.js";
import { describeError } from "../../../errors.js";
import type { DialogStyle } from "../../../tui/dialog-style.js";
import { fuzzyFilter } from "../../../tui/fuzzy.js";
import { InputDialog } from "../../../tui/input-dialog.js";
import { type SelectColumn, SelectDialog, type SelectItem } from "../../../tui/select-dialog.js";
import { wordPositions } from "../../../tui/select-row.js";

/** Data and callbacks of a `SettingsPicker`. */
export interface SettingsPickerOptions {
	settings: EditableSettings;
	requestRender(): void;
	onClose(): void;
}

const COLUMNS: readonly SelectColumn[] = [
	{ align: "left", rank: 1 },
	{ align: "left", rank: 2 },
	{ align: "left", rank: 3, grows: true },
];

/** The longest description on 40 columns. */
const DETAIL_ROWS = 8;
const CHANGED = "•";

/**
 * Lists the settings in groups, with a mark at those that are set: Enter offers the values or asks for one, Delete removes the user's, and
 * Space chooses the next one while nothing is typed.
 */
export class SettingsPicker implements Component, Focusable {
	focused = false;
	readonly #list: SelectDialog<string>;
	/** Whether the list has the settings that contain the typed words, instead of names with their letters. */
	#isLiteral = true;
	/** Replaces the list while a value is typed or chosen. */
	#over: InputDialog | SelectDialog<SettingChoice> | null = null;

	constructor(
		private readonly style: DialogStyle,
		private readonly options: SettingsPickerOptions,
	) {
		const change = (path: string | undefined) => this.#change(this.#find(path));
		const next = (path: string | undefined) => this.#next(this.#find(path));
		this.#list = new SelectDialog<string>(style, {
			title: "Settings",
			items: (filter) => {
				const { found, isLiteral } = findSettings(options.settings.list(), filter);
				this.#isLiteral = isLiteral;
				return found.map(toItem);
			},
			positions: (filter, name) => wordPositions(this.#isLiteral ? wordsIn(filter, name).join(" ") : filter, name),
			columns: COLUMNS,
			isTall: true,
			verb: "change",
			details: ({ value }) => detailsOf(this.#find(value)),
			detailRows: DETAIL_ROWS,
			actions: [
				{
					key: "dialog.toggle",
					label: "next value",
					// It separates the words of a search.
					isOffered: () => this.#list.filter === "",
					run: (item) => next(item?.value),
				},
				{ key: "dialog.delete", label: "unset", run: (item) => this.#unset(this.#find(item?.value)) },
			],
			onSelect: change,
			onCancel: options.onClose,
			onFilter: () => this.#note(null),
		});
	}

	render(width: number): string[] {
		const shown = this.#over ?? this.#list;
		shown.focused = this.focused;
		return shown.render(width);
	}

	handleInput(data: string): void {
		(this.#over ?? this.#list).handleInput(data);
		this.options.requestRender();
	}

	invalidate(): void {
		this.#over?.invalidate();
	}

	#find(path: string | undefined): SettingState | undefined {
		return this.options.settings.list().find((state) => state.path === path);
	}

	#change(state: SettingState | undefined): void {
		if (!state) return;
		const { path, schema } = state;
		const options = this.options.settings.choices(path);
		if (options && schema.type === "boolean") this.#next(state);
		else if (options) this.#choose(state, options);
		else if (isTypable(schema)) this.#ask(state);
		else this.#note({ text: `${path} is ${expected(schema)}: edit settings.json to change it`, isProblem: true });
	}

	/** Chooses the next value of a setting that has few; others are changed as with Enter. */
	#next(state: SettingState | undefined): void {
		if (!state) return;
		const { schema, path, value: current } = state;
		const options = schema.type === "boolean" || schema.enum ? this.options.settings.choices(path) : null;
		if (options) {
			const at = options.findIndex(({ value }) => value === current);
			void this.#set(state, options[(at + 1) % options.length]?.value);
		} else this.#change(state);
	}

	#choose(state: SettingState, options: readonly SettingChoice[]): void {
		this.#over = new SelectDialog<SettingChoice>(this.style, {
			title: `${state.path}: which value?`,
			items: options.map((option) => ({ label: option.label, value: option, description: option.description ?? "" })),
			selected: options.findIndex(({ value }) => value === state.value),
			isTall: true,
			onSelect: ({ value }) => {
				this.#over = null;
				void this.#set(state, value);
			},
			onCancel: () => {
				this.#over = null;
			},
		});
	}

	#ask(state: SettingState): void {
		const { path, schema } = state;
		const value = state.value === undefined ? "" : String(state.value);
		if (/[\n\r\t]/.test(value)) {
			this.#note({ text: `${path} has several lines or tabs: edit settings.json to change it`, isProblem: true });
			return;
		}
		this.#over = new InputDialog(this.style, { title: `${path}: ${expected(schema)}`, value }, (answer) => {
			this.#over = null;
			if (answer === null || answer === value || answer.trim() === value) return;
			const given = answer.trim() === "" ? undefined : parseTyped(schema, answer);
			if (answer.trim() !== "" && given === undefined) {
				this.#note({ text: `"${answer.trim()}" is not ${expected(schema)}`, isProblem: true });
			} else void this.#set(state, given);
		});
	}

	#unset(state: SettingState | undefined): void {
		if (state?.source === "user") void this.#set(state, undefined);
		else if (state) this.#note({ text: "not set in your settings.json", isProblem: false });
	}

	async #set({ path }: SettingState, value: unknown): Promise<void> {
		try {
			await this.options.settings.set(path, value);
			const now = this.#find(path);
			if (now) this.#note({ text: savedText(now), isProblem: now.source === "project" });
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

/**
 * The settings with all words in their name, group, value or description, first those with all words in the name; or else, those whose
 * names have the letters in order, best first.
 */
function findSettings(
	states: readonly SettingState[],
	filter: string,
): { found: readonly SettingState[]; isLiteral: boolean } {
	const { length } = wordsIn(filter);
	const has = (text: string) => wordsIn(filter, text).length === length;
	const found = states.filter((state) => {
		const { path, group, value, schema } = state;
		return has([path, group, settingText(value), ...(schema.enum ?? []), meaningOf(state)].join(" "));
	});
	if (found.length === 0) return { found: fuzzyFilter(states, filter, ({ path }) => path), isLiteral: false };
	return { found: found.toSorted((a, b) => Number(has(b.path)) - Number(has(a.path))), isLiteral: true };
}

/** The typed words, in lower case; with `text`, only those that it contains. */
function wordsIn(filter: string, text?: string): string[] {
	const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
	return text === undefined ? words : words.filter((word) => text.toLowerCase().includes(word));
}

function toItem(state: SettingState): SelectItem<string> {
	const { path, group, source } = state;
	return {
		...{ label: path, value: path, heading: group, sign: source === "default" ? " " : CHANGED },
		fields: [settingText(state.value), sourceText(state), meaningOf(state)],
	};
}

/** @returns the meaning of the selected setting, its values, and when a change applies */
function detailsOf(state: SettingState | undefined): string {
	if (!state) return "";
	const { schema } = state;
	const applies = schema["x-live"] ? "applies now" : "applies from the next start";
	return [meaningOf(state), ...(schema.enum ? [schema.enum.join(", ")] : []), applies].join(" · ");
}
