import { type Component, type Focusable, visibleWidth } from "@mariozechner/pi-tui";
import { describeTools, type HookStatus } from "../../../commands/inspection.js";
import { errorText, type SourcePosition } from "../../../errors.js";
import { HOOK_GROUPS, type HookGroup } from "../../../hooks/bundled-hook.js";
import { changesRequests } from "../../../hooks/bundled-words.js";
import { hookName } from "../../../hooks/hook-name.js";
import { listFurtherNames, summarizeNames } from "../../../hooks/registered-names.js";
import { clickable } from "../../../tui/clicks.js";
import { type DialogStyle, hint, keyLines, UP_DOWN } from "../../../tui/dialog-style.js";
import { typedText } from "../../../tui/keymap.js";
import { clipLine, column, spread } from "../../../tui/line.js";
import { ScrollList, ScrollText } from "../../../tui/scroll.js";
import { bestNamed } from "../../../util/nearest.js";
import { displayPath, formatTokens, plural } from "../../format.js";
import { cleanLine, wrapLines } from "../clean-text.js";
import { listRows, titleLine } from "./panel-lines.js";
import { ShadowRun, type ShadowRunOptions } from "./shadow-run.js";

/** Data and callbacks of a `HooksPanel`. */
export interface HooksPanelOptions extends ShadowRunOptions {
	/** @returns the current state of all hooks, in the order in which they run */
	statuses(): HookStatus[];
	setEnabled(path: string, isEnabled: boolean): Promise<void>;
	setShadow(path: string, isShadow: boolean): Promise<void>;
	onReload(): void;
	onClose(): void;
	/** Paths are shown relative to these. */
	paths: { cwd: string; home: string };
}

/** Minimum columns of a path that does not fit, and of a description next to its origin. */
const [MIN_PATH, MIN_DESCRIPTION] = [12, 24];

/** Headings of the hooks that are loaded, that could not be, that are tried in the shadow, and of bundled ones that are off. */
const LOADED = "Loaded, in the order they run";
const FAILED = "Not loaded";
const SHADOW = "In the shadow · computed, not sent";
const HEADINGS: Readonly<Record<HookGroup, string>> = {
	context: "Off · context",
	guards: "Off · guards",
	model: "Off · tools and modes of the model",
	git: "Off · git",
	prompts: "Off · prompts",
	screen: "Off · screen",
	machines: "Off · other machines",
};
/** Characters of a filter and of a line of details. */
const [MAX_FILTER, MAX_LINE] = [60, 2000];
/** Least rows of the list, and lines below it that take no row from it. */
const [MIN_ROWS, MAX_BELOW] = [2, 2];
/** Columns of a row before and after the name. */
const LEFT = 5;

/**
 * Shows the hooks that are on in the order in which they run, with their state and figures, those in the shadow with what they
 * would have sent, and then the bundled ones that are off by group. Typing filters; turns hooks on and off.
 */
export class HooksPanel implements Component, Focusable {
	focused = false;
	/** All hooks, in the order of the list. */
	#statuses: readonly HookStatus[];
	#filter = "";
	/** The hooks that match the filter. */
	#shown: readonly HookStatus[];
	/** Path of the hook whose details are open. */
	#open: string | null = null;
	#problem: string | null = null;
	readonly #list: ScrollList;
	#details: ScrollText;
	readonly #shadows: ShadowRun;

	constructor(
		private readonly style: DialogStyle,
		private readonly options: HooksPanelOptions,
	) {
		this.#statuses = inGroups(options.statuses());
		this.#shown = this.#statuses;
		const rows = () => listRows(style.rows?.() ?? 30);
		this.#list = new ScrollList(rows);
		this.#details = new ScrollText(rows);
		this.#shadows = new ShadowRun(options);
		this.#shadows.start(this.#statuses);
	}

	/** @returns lines of at most `width` columns */
	render(width: number): string[] {
		const { theme } = this.style;
		const open = this.#statuses.find(({ path }) => path === this.#open);
		const problem = this.#problem === null ? [] : [theme.error(clipLine(` ${cleanLine(this.#problem)}`, width))];
		const selected = open ?? this.#shown[this.#list.selected];
		const isOff = selected && !selected.isEnabled && selected.problem === null;
		const shared = [
			hint("reload", "hooksPanel.reload"),
			hint(isOff ? "enable" : "disable", "dialog.toggle"),
			...(selected && canShadow(selected)
				? [hint(selected.isShadow ? "no shadow" : "shadow", "hooksPanel.shadow")]
				: []),
		];
		const keys = open
			? [hint("scroll", ...UP_DOWN), ...shared, hint("back", "dialog.cancel")]
			: [hint("move", ...UP_DOWN), hint("details", "dialog.accept"), ...shared, hint("", "dialog.cancel")];
		const body = open ? this.#renderDetails(open, width) : this.#renderList(width);
		return [theme.dim("─".repeat(width)), ...body, ...problem, ...keyLines(keys, this.style, width)];
	}

	handleInput(data: string): void {
		const { keymap } = this.style;
		const hook = this.#statuses.find(({ path }) => path === this.#open) ?? this.#shown[this.#list.selected];
		const isMove =
			this.#open === null ? this.#list.handle(data, keymap, this.#shown.length) : this.#details.handle(data, keymap);
		if (isMove) {
			// Nothing else to do.
		} else if (keymap.matches(data, "dialog.cancel")) {
			if (this.#open === null) this.options.onClose();
			this.#open = null;
		} else if (keymap.matches(data, "dialog.accept")) {
			this.#details = new ScrollText(() => listRows(this.style.rows?.() ?? 30));
			this.#open = this.#open === null ? (hook?.path ?? null) : null;
		} else if (keymap.matches(data, "hooksPanel.reload")) this.options.onReload();
		else if (keymap.matches(data, "dialog.toggle") && hook)
			this.#change(hook.path, this.options.setEnabled(hook.path, !hook.isEnabled));
		else if (keymap.matches(data, "hooksPanel.shadow")) {
			if (hook && canShadow(hook)) this.#change(hook.path, this.options.setShadow(hook.path, !hook.isShadow));
		} else if (this.#open === null) this.#type(data);
		this.options.requestRender();
	}

	invalidate(): void {} // nothing cached

	#type(data: string): void {
		const { keymap } = this.style;
		if (keymap.matches(data, "tui.editor.deleteCharBackward")) this.#filterBy([...this.#filter].slice(0, -1).join(""));
		else if (keymap.matches(data, "tui.editor.deleteToLineStart")) this.#filterBy("");
		else this.#filterBy(this.#filter + typedText(data));
	}

	/** Shows the hooks whose name, path, commands or description contain each word. Keeps the selected one unless another has the name. */
	#filterBy(text: string): void {
		const [before, selected] = [this.#filter, this.#shown[this.#list.selected]];
		this.#filter = text.slice(0, MAX_FILTER).toWellFormed();
		const words = this.#filter.toLowerCase().split(/\s+/).filter(Boolean);
		this.#shown = this.#statuses.filter((hook) => words.every((word) => searchable(hook).includes(word)));
		this.#select(bestNamed(this.#shown, text.length > before.length ? this.#filter.toLowerCase() : "", selected)?.path);
	}

	#select(path: string | undefined): void {
		const at = this.#shown.findIndex((status) => status.path === path);
		this.#list.select(Math.max(0, at), this.#shown.length);
	}

	/** Shows the result of a change. */
	#change(path: string, change: Promise<void>): void {
		this.#problem = null;
		change
			.catch((error: unknown) => {
				this.#problem = errorText(error);
			})
			.finally(() => {
				this.#statuses = inGroups(this.options.statuses());
				this.#filterBy(this.#filter);
				// It may have moved to another group.
				this.#select(path);
				this.#shadows.start(this.#statuses);
				this.options.requestRender();
			});
	}

	#renderList(width: number): string[] {
		const { theme } = this.style;
		const names = this.#statuses.map(({ name }) => visibleWidth(cleanLine(name)));
		const nameWidth = Math.min(width < 60 ? 12 : 19, Math.max(...names, 0));
		const available = this.#statuses.filter((hook) => isAvailable(hook) && !hook.isShadow).length;
		const inShadow = this.#statuses.filter(({ isShadow }) => isShadow).length;
		const failed = this.#statuses.filter(({ figures, problem }) => (problem ?? figures.lastError) !== null).length;
		const { selected } = this.#list;
		const facts = [
			`${this.#shown.length === 0 ? 0 : selected + 1}/${this.#shown.length}`,
			`${this.#statuses.filter(({ isEnabled }) => isEnabled).length} on`,
			...(failed > 0 ? [`${failed} with errors`] : []),
			...(this.#statuses.some(({ conflicts }) => conflicts.length > 0) ? ["conflicts"] : []),
			...(inShadow > 0 ? [`${inShadow} in the shadow`] : []),
			...(available > 0 ? [`${available} bundled off`] : []),
		];
		const title = ` ${theme.bold("Hooks")}`;
		const filter = this.#filter === "" ? theme.dim("type to filter") : theme.accent(cleanLine(this.#filter));
		const description = this.#selectedDescription(nameWidth, width);
		return [
			titleLine(`${title}  ${filter}`, facts, width, this.#filter === "" ? title : undefined),
			...this.#rows(nameWidth, width, description.length),
			...description,
		];
	}

	/** What the selected hook that is off does or would have sent, if its row cannot show all of it. */
	#selectedDescription(nameWidth: number, width: number): string[] {
		const hook = this.#shown[this.#list.selected];
		if (!hook) return [];
		const { theme } = this.style;
		const wrapped = (lines: readonly string[]) =>
			wrapLines(
				lines.map((line) => cleanLine(line, MAX_LINE)),
				width - 2,
			).map((line) => ` ${line}`);
		if (hook.isShadow) {
			const [figures = "", ...rest] = this.#shadows.lines(hook.path);
			return [...wrapped([figures]), ...wrapped(rest).map((line) => theme.dim(line))];
		}
		if (!hook.bundled || !isAvailable(hook)) return [];
		const { description } = hook.bundled;
		if (visibleWidth(cleanLine(description)) <= width - nameWidth - LEFT) return [];
		return wrapped([description]).map((line) => theme.dim(line));
	}

	/** The rows around the selected one, with the headings of their groups. @param below lines that follow them */
	#rows(nameWidth: number, width: number, below: number): string[] {
		const { theme } = this.style;
		const { selected } = this.#list;
		const rows: string[] = [];
		let at = 0;
		for (const [index, hook] of this.#shown.entries()) {
			const heading = headingOf(hook);
			const before = this.#shown[index - 1];
			if (!before || headingOf(before) !== heading) rows.push(theme.dim(clipLine(` ${heading}`, width)));
			if (index === selected) at = rows.length;
			rows.push(clickable(this.#row(hook, index === selected, nameWidth, width), index, this.style));
		}
		if (rows.length === 0) return [theme.dim("   nothing matches")];
		const count = Math.max(MIN_ROWS, listRows(this.style.rows?.() ?? 30) - Math.max(0, below - MAX_BELOW));
		const from = Math.max(0, Math.min(at - Math.floor(count / 2), rows.length - count));
		return rows.slice(from, from + count);
	}

	#row(hook: HookStatus, isSelected: boolean, nameWidth: number, width: number): string {
		const { theme } = this.style;
		const pointer = isSelected ? theme.accent("→") : " ";
		const name = column(cleanLine(hook.name), nameWidth);
		const styledName = hook.isEnabled ? (isSelected ? theme.bold(name) : name) : theme.dim(name);
		const path = hook.bundled ? "bundled" : cleanLine(displayPath(hook.path, this.options.paths));
		const left = ` ${pointer} ${styledName}  `;
		if (hook.isShadow) return this.#shadowRow(hook, left, width);
		// The heading says that it is off.
		if (hook.bundled && isAvailable(hook)) return clipLine(left + cleanLine(hook.bundled.description), width);
		const right = clipLine(this.#state(hook), width - visibleWidth(left) - 3);
		const room = width - visibleWidth(left) - visibleWidth(right) - 3;
		const all = cleanLine(registered(hook));
		// Where it comes from is more important than the end of a bundled hook's description.
		const described = room - visibleWidth(path) - 2;
		const registers = hook.bundled && described >= MIN_DESCRIPTION ? clipLine(all, described) : all;
		const pathRoom = room - visibleWidth(registers) - 2;
		if (pathRoom >= Math.min(MIN_PATH, visibleWidth(path)))
			return spread(`${left}${theme.dim(column(path, pathRoom))}  ${registers}`, `${right} `, width);
		// The state is more important than the registrations, which the details show too.
		return spread(room >= 8 ? left + theme.dim(clipLine(registers, room)) : left, `${right} `, width);
	}

	/** Its figures are more important than what it does. */
	#shadowRow(hook: HookStatus, left: string, width: number): string {
		const right = clipLine(this.#shadows.summary(hook.path), width - visibleWidth(left) - 1);
		const room = width - visibleWidth(left) - visibleWidth(right) - 3;
		const does = cleanLine(hook.bundled?.description ?? displayPath(hook.path, this.options.paths));
		return spread(room >= MIN_PATH ? left + this.style.theme.dim(clipLine(does, room)) : left, `${right} `, width);
	}

	#state(hook: HookStatus): string {
		const { isEnabled, problem, figures, share, conflicts, events, commands, cannotFire, bundled } = hook;
		const { theme } = this.style;
		if (bundled?.replacedBy) return theme.dim(`replaced by ${cleanLine(hookName(bundled.replacedBy), 24)}`);
		if (problem !== null) return theme.error(isEnabled ? "not reloaded" : "not loaded");
		if (!isEnabled) return theme.warning("off");
		if (figures.lastError !== null) return theme.error(clipLine(`failed: ${cleanLine(figures.lastError)}`, 36));
		const slow = figures.slowDrawMs === null ? "" : "slow";
		const warning = figures.isUnstable ? "unstable" : conflicts.length > 0 ? "conflict" : slow;
		const marks = warning ? `${theme.warning(warning)}  ` : "";
		if (figures.calls === 0) {
			const isCut = events.length > 0 && events.every((event) => cannotFire.some(({ what }) => what === event));
			return `${marks}${theme.dim(isCut && commands.length === 0 ? "cannot fire" : "never fired")}`;
		}
		const net = share.added - share.removed;
		const tokens = net === 0 ? "" : `  ${net < 0 ? "−" : "+"}${formatTokens(Math.abs(net))} tok`;
		return `${marks}${plural(figures.calls, "call")}  ${formatMs(figures.p50Ms)}${tokens}`;
	}

	#renderDetails(hook: HookStatus, width: number): string[] {
		const { theme } = this.style;
		const shadow = hook.isShadow ? this.#shadows.lines(hook.path).map((line) => `shadow    ${line}`) : [];
		const details = detailLines(hook, this.options.paths, this.style.keymap.hookProblemsOf(hook.name));
		const wrapped = wrapLines(
			[...shadow, ...details].map((line) => cleanLine(line, MAX_LINE)),
			width - 1,
		);
		const { from, to } = this.#details.window(wrapped.length);
		const lines = wrapped.slice(from, to).map((line) => clipLine(` ${line}`, width));
		return [
			titleLine(
				` ${theme.bold(cleanLine(hook.name))}`,
				[hook.isEnabled ? "on" : hook.isShadow ? "in the shadow" : "off"],
				width,
			),
			...lines,
		];
	}
}

/** The hooks that are on or failed, those in the shadow, then the bundled ones that are off by group. */
function inGroups(statuses: readonly HookStatus[]): HookStatus[] {
	const rank = (hook: HookStatus) => {
		if (hook.isShadow) return -1;
		return isAvailable(hook) && hook.bundled ? HOOK_GROUPS.indexOf(hook.bundled.group) : -2;
	};
	return [...statuses].sort((a, b) => rank(a) - rank(b));
}

/** True for a hook that is off and would change requests if it were on. */
function canShadow({ isEnabled, isShadow, problem, bundled }: HookStatus): boolean {
	if (isShadow) return true;
	return !isEnabled && problem === null && (bundled === null || changesRequests(bundled.group));
}

function headingOf(hook: HookStatus): string {
	if (hook.isShadow) return SHADOW;
	if (isAvailable(hook) && hook.bundled) return HEADINGS[hook.bundled.group];
	return hook.problem !== null && !hook.isEnabled ? FAILED : LOADED;
}

/** The text of a hook that the filter searches. */
function searchable({ name, path, commands, bundled }: HookStatus): string {
	const names = commands.map((command) => `/${command}`).join(" ");
	return `${name} ${path} ${names} ${bundled?.description ?? ""} ${bundled?.group ?? ""}`.toLowerCase();
}

/** True for a bundled hook that is off. */
function isAvailable({ bundled }: HookStatus): boolean {
	return bundled?.isLoaded === false;
}

function registered({ tools, ...status }: HookStatus): string {
	const { problem, isEnabled, bundled } = status;
	if (bundled?.isLoaded === false) return bundled.description;
	if (problem !== null && !isEnabled) return "";
	const kinds = summarizeNames({ ...status, tools: tools.map(({ name }) => name) });
	return kinds.map((names) => names.join(" ")).join(" · ");
}

/** All details of a hook, one per line. */
function detailLines(hook: HookStatus, paths: { cwd: string; home: string }, keyProblems: readonly string[]): string[] {
	const { figures, share } = hook;
	const calls = Object.entries(figures.events).map(([event, count]) => `${event} ${count}`);
	const never = new Set(hook.cannotFire.map(({ what }) => what));
	const silent = hook.events.filter((event) => figures.events[event] === undefined && !never.has(event));
	if (hook.bundled && isAvailable(hook)) {
		return [
			`bundled   ${hook.bundled.description}`,
			`commands  ${hook.commands.map((name) => `/${name}`).join(" ") || "none"}`,
			`setting   "${hook.path}" in "hooks" turns it on, in every session`,
		];
	}
	const source = hook.bundled
		? [
				`bundled   ${hook.bundled.description}`,
				`setting   "-${hook.path}" in "hooks" turns it off, in every session`,
				...(hook.bundled.replacedBy === null
					? []
					: [`replaced  by ${displayPath(hook.bundled.replacedBy, paths)}, which has one of its commands`]),
			]
		: [`file      ${displayPath(hook.path, paths)}  (${hook.scope})`];
	return [
		...source,
		`commands  ${hook.commands.map((name) => `/${name}`).join(" ") || "none"}`,
		`events    ${hook.events.join(", ") || "none"}`,
		...(hook.tools.length > 0 ? [`tools     ${describeTools(hook.tools)}`] : []),
		...listFurtherNames({ ...hook, tools: [] }).map(([kind, names]) => `${kind.padEnd(9)} ${names}`),
		...(hook.entryTypes.length > 0 ? [`entries   ${hook.entryTypes.join(", ")}`] : []),
		`calls     ${figures.calls === 0 ? "never fired" : `${figures.calls}: ${calls.join(", ")}`}`,
		...(figures.calls > 0 && silent.length > 0 ? [`silent    never fired: ${silent.join(", ")}`] : []),
		...hook.cannotFire.map(({ what, why }) => `mode      cannot fire in this mode: ${what}, for ${why}`),
		...(figures.calls > 0 ? [`time      p50 ${formatMs(figures.p50Ms)} · p95 ${formatMs(figures.p95Ms)}`] : []),
		`results   ${plural(figures.blocks, "block")} · ${plural(figures.timeouts, "timeout")}`,
		`tokens    +${formatTokens(share.added)} −${formatTokens(share.removed)} in the context now`,
		...(figures.slowDrawMs === null
			? []
			: [`drawing   slow: p95 ${formatMs(figures.slowDrawMs)}; a frame should take less than 16 ms`]),
		...(figures.isUnstable ? ["unstable  returns different messages for the same entries, so nothing is cached"] : []),
		...(hook.problem === null ? [] : [`problem   ${hook.problem}`]),
		...(figures.lastError === null ? [] : [`error     ${figures.lastError}`]),
		...(figures.lastPlace === null ? [] : [`place     ${describePlace(figures.lastPlace, paths)}`]),
		...(figures.lastStack === null ? [] : figures.lastStack.split("\n").map((line) => `stack     ${line.trim()}`)),
		...keyProblems.map((problem) => `key       ${problem}`),
		...hook.conflicts.map((conflict) => `conflict  ${conflict}`),
	];
}

function describePlace({ file, line, column }: SourcePosition, paths: { cwd: string; home: string }): string {
	return `${displayPath(file, paths)}:${line}:${column}`;
}

/** Formats a duration: tenths of a millisecond below 10 ms, milliseconds above. */
function formatMs(ms: number | null): string {
	if (ms === null) return "–";
	return ms < 9.95 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`;
}
