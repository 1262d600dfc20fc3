import { type Component, visibleWidth } from "@mariozechner/pi-tui";
import type { SpentUsage } from "../../log/usage-totals.js";
import { graphemes } from "../../tui/internals/measure-text.js";
import { clipLine, spread } from "../../tui/line.js";
import { formatCost, formatTokens, homePath, plural } from "../format.js";
import { cleanLine } from "./clean-text.js";
import type { ViewStyle } from "./views/view.js";

/** The data of the footer. */
export interface FooterFacts {
	branch: string | null;
	sessionName: string | null;
	isReadOnly: boolean;
	/** Entries could not be saved. */
	isUnsaved: boolean;
	/** Name of the model; null when none is selected. */
	model: string | null;
	/** null for a model without thinking. */
	thinkingLevel: string | null;
	context: { tokens: number; contextWindow: number };
	/** Usage of the complete session; null while it is being counted. */
	spent: SpentUsage | null;
	queued: number;
	/** Number of background commands that run. */
	jobs: number;
}

const BAR_CELLS = 10;
/** Below this width, the footer has a single line. */
const MIN_TWO_LINES = 50;
/** Minimum columns of the path next to branch and name. */
const MIN_PATH = 12;
/** Maximum columns of the name of a machine. */
const MAX_HOST = 40;
/** Minimum columns of a path after it. */
const MIN_REMOTE_PATH = 8;
/** Minimum columns of the path and of the model's name in a single line. */
const MIN_SHORT_PATH = 8;
const MIN_MODEL = 10;
const SEPARATOR = " · ";
/** Minimum columns between left and right. */
const GAP = 2;

/** Two lines under the editor: directory, branch and model; context usage and cost. */
export class Footer implements Component {
	#facts: FooterFacts | null = null;
	/** A component of a hook that replaces the footer, except the statuses. */
	replacement: Component | null = null;
	/** The line with the statuses of hooks. */
	statuses: (width: number) => string[] = () => [];

	constructor(private readonly style: ViewStyle) {}

	set facts(facts: FooterFacts) {
		this.#facts = facts;
		this.style.requestRender();
	}

	render(width: number): string[] {
		return [...(this.replacement?.render(width) ?? this.#lines(width)), ...this.statuses(width)];
	}

	invalidate(): void {
		this.replacement?.invalidate();
	}

	#lines(width: number): string[] {
		const { theme } = this.style;
		const rows = this.style.screenRows();
		// What a small window leaves out is never the editor's text, which has a rule below it.
		if (rows < 3) return [];
		const facts = this.#facts;
		const branch = facts?.branch ? ` (${cleanLine(facts.branch, 60)})` : "";
		const name = facts?.sessionName ? ` · ${cleanLine(facts.sessionName, 60)}` : "";
		const mark = facts?.isReadOnly ? " · read-only" : "";
		if (facts && (width < MIN_TWO_LINES || rows < 4)) return [this.#oneLine(facts, [branch, name], mark, width)];
		const right = facts ? theme.dim(modelLabel(facts)) : "";
		const room = width - visibleWidth(right) - GAP - visibleWidth(branch + name + mark);
		const location = `${shownPlace(this.style, Math.max(MIN_PATH, room))}${branch}${name}${mark}`;
		const first = spread(theme.dim(location), right, width);
		return [first, clipLine(facts ? this.#usage(facts, width) : "", width)];
	}

	/**
	 * The only line of a small screen. Model, level and share of the context come first; the path is shortened for them, then the
	 * name of the model, and then the path is omitted.
	 */
	#oneLine(facts: FooterFacts, details: readonly string[], mark: string, width: number): string {
		const { theme } = this.style;
		const model = facts.model === null ? "" : cleanLine(facts.model, 60);
		const figures = [model && (facts.thinkingLevel ?? ""), jobs(facts)].filter(Boolean);
		const start = figures.map((figure) => theme.dim(`${figure}${SEPARATOR}`)).join("");
		const unsaved = this.#unsaved(facts);
		const warning = unsaved && unsaved + theme.dim(SEPARATOR);
		// The warning is shown in every width.
		const ends = [start + warning + this.#share(facts), ...(unsaved ? [warning + this.#share(facts), unsaved] : [])];
		const end = ends.find((text) => visibleWidth(text) <= width) ?? ends.at(-1) ?? "";
		const rightOf = (name: string) => (name && theme.dim(`${name}${SEPARATOR}`)) + end;
		const place = (room: number) => shownPlace(this.style, room);
		/** The columns for the name of the model next to a text. */
		const roomNextTo = (left: string) =>
			width - visibleWidth(left) - (left ? GAP : 0) - (model ? SEPARATOR.length : 0) - visibleWidth(end);
		const lefts = [place(MIN_SHORT_PATH) + mark, mark.replace(SEPARATOR, ""), ""];
		const left = lefts.find((text) => roomNextTo(text) >= Math.min(MIN_MODEL, visibleWidth(model))) ?? "";
		const modelRoom = roomNextTo(left);
		const right = rightOf(unsaved && modelRoom < 1 ? "" : clipLine(model, Math.max(1, modelRoom)));
		const apart = (text: string) =>
			clipLine(text + " ".repeat(Math.max(text ? GAP : 0, width - visibleWidth(text + right))) + right, width);
		if (left !== lefts[0]) return apart(theme.dim(left));
		const room = width - visibleWidth(right) - GAP - visibleWidth(mark);
		const full = visibleWidth(place(Number.MAX_SAFE_INTEGER));
		const shown = details.reduce(
			(taken, detail) => (full + visibleWidth(taken + detail) <= room ? taken + detail : taken),
			"",
		);
		return apart(theme.dim(`${place(Math.max(MIN_SHORT_PATH, room - visibleWidth(shown)))}${shown}${mark}`));
	}

	/** Context, then every figure that fits. */
	#usage(facts: FooterFacts, width: number): string {
		const { theme } = this.style;
		const unsaved = this.#unsaved(facts);
		if (facts.model === null) {
			const figures = theme.dim([queued(facts), jobs(facts)].filter(Boolean).join(SEPARATOR));
			return [unsaved, figures].filter(Boolean).join(theme.dim(SEPARATOR));
		}
		const { tokens, contextWindow } = facts.context;
		const share = contextWindow > 0 ? Math.min(1, tokens / contextWindow) : 0;
		// Any usage fills at least one cell: an empty bar means an empty context.
		const full = share === 0 ? 0 : Math.max(1, Math.round(share * BAR_CELLS));
		const bar = this.#shade(share)("▰".repeat(full)) + theme.dim("▱".repeat(BAR_CELLS - full));
		const more = [...spent(facts), queued(facts), jobs(facts)];
		const window = contextWindow > 0 ? theme.dim(` of ${formatTokens(contextWindow)}`) : "";
		const start = `${theme.dim("context")} ${bar} ${this.#share(facts)}${window}${unsaved && theme.dim(SEPARATOR) + unsaved}`;
		return more.filter(Boolean).reduce((line, text) => {
			const longer = line + theme.dim(` · ${text}`);
			return visibleWidth(longer) <= width ? longer : line;
		}, start);
	}

	#unsaved({ isUnsaved }: FooterFacts): string {
		return isUnsaved ? this.style.theme.warning("not saved") : "";
	}

	#share({ model, context: { tokens, contextWindow } }: FooterFacts): string {
		if (model === null) return this.style.theme.dim("no model");
		if (contextWindow <= 0) return this.style.theme.dim(formatTokens(tokens));
		const share = tokens / contextWindow;
		const percent = Math.round(share * 100);
		return this.#shade(share)(percent === 0 && tokens > 0 ? "<1%" : `${percent}%`);
	}

	#shade(share: number): (text: string) => string {
		const { theme } = this.style;
		if (share > 0.9) return theme.error;
		return share > 0.7 ? theme.warning : theme.muted;
	}
}

function modelLabel({ model, thinkingLevel }: FooterFacts): string {
	if (model === null) return "no model · /setup";
	return thinkingLevel ? `${cleanLine(model, 60)} · ${thinkingLevel}` : cleanLine(model, 60);
}

function spent(facts: FooterFacts): string[] {
	if (facts.spent === null) return [];
	const { input, output, cacheRead, cacheWrite } = facts.spent.tokens;
	const sent = input + cacheRead + cacheWrite;
	return [
		sent > 0 && cacheRead > 0 ? `${Math.round((cacheRead / sent) * 100)}% cached` : "",
		facts.spent.cost > 0 ? formatCost(facts.spent.cost) : "",
		sent + output > 0 ? `↑${formatTokens(sent)} ↓${formatTokens(output)}` : "",
	];
}

function queued({ queued: count }: FooterFacts): string {
	return count > 0 ? `${count} queued` : "";
}

function jobs({ jobs: count }: FooterFacts): string {
	return count > 0 ? plural(count, "job") : "";
}

/** The directory in which tools work, such as `~/src` or `ssh build-01:~/src`, in at most `max` columns if possible. */
export function shownPlace({ cwd, home, remote }: Pick<ViewStyle, "cwd" | "home" | "remote">, max: number): string {
	if (!remote) return shortened(cleanLine(homePath(cwd, home), 400), max);
	const host = `${cleanLine(remote.name, MAX_HOST)}:`;
	const path = cleanLine(homePath(remote.cwd, remote.home), 400);
	return host + shortened(path, Math.max(MIN_REMOTE_PATH, max - visibleWidth(host)));
}

/** Cuts a path at its start: the last folders are the most informative. */
function shortened(path: string, max: number): string {
	if (visibleWidth(path) <= max) return path;
	let end = "";
	for (const { segment } of [...graphemes.segment(path)].reverse()) {
		if (visibleWidth(segment + end) > max - 2) break;
		end = segment + end;
	}
	const slash = end.indexOf("/");
	return `…${slash > 0 && slash < end.length - 1 ? end.slice(slash) : end}`;
}
