import type { Keymap } from "../../../tui/keymap.js";
import type { Block } from "../../../tui/live-tui.js";
import type { TerminalImages } from "../../../tui/terminal-images.js";
import type { Theme } from "../../../tui/theme.js";

/** Where tools work, if that is not this machine. */
export interface RemoteMachine {
	/** As `ToolHost.name`. */
	readonly name: string;
	/** Like `home`, empty if unknown: of a machine that is not connected. */
	readonly cwd: string;
	readonly home: string;
}

/** Shared by all views: theme, display switches, and functions that request a frame. */
export interface ViewStyle {
	readonly theme: Theme;
	/** Absolute. Paths inside it are shown relative to it. */
	readonly cwd: string;
	readonly home: string;
	/** The machine on which tools work, with its directories; null: this one. */
	remote: RemoteMachine | null;
	/** Full outputs and diffs instead of previews: in the transcript pager, and what no longer grows if a hook wants it. */
	expanded: boolean | "ended";
	/** True in the transcript pager, which rows that shorten something do not name. */
	readonly isTranscript?: boolean;
	/** Ctrl+T: full thinking. */
	showThinking: boolean;
	/** Show a line of collapsed thinking; false only says that it is hidden. */
	previewThinking: boolean;
	/** The text of a hook for collapsed thinking; null: a line of it. */
	thinkingLabel: string | null;
	/** The column that shows what is in the context. */
	gutter: boolean;
	readonly keymap: Pick<Keymap, "keyOf">;
	/** Images, if the terminal supports them. */
	readonly images: TerminalImages;
	/** Maximum rows of a block that still grows. */
	liveRows(): number;
	/** Maximum rows of an image. */
	imageRows(): number;
	/** Rows of the screen. */
	screenRows(): number;
	/** Columns of the screen. */
	columns(): number;
	requestRender(): void;
	/** Draws the visible screen again; lines that have scrolled off stay as they are. */
	redrawScreen(): void;
	/** Requests a frame for streamed data, at a lower but steady rate. */
	requestStreamFrame(): void;
}

const GUTTER_WIDTH = 2;
/** Minimum width of a screen with a gutter, columns. */
const MIN_GUTTER_SCREEN = 12;

/** The columns of a view on a screen with `width` columns: those beside the gutter. */
export function innerWidth(width: number, { gutter }: Pick<ViewStyle, "gutter">): number {
	return gutter && width >= MIN_GUTTER_SCREEN ? width - GUTTER_WIDTH : width;
}

/** Draws one block of the transcript. Caches its lines until the width, the style or the data changes. */
export abstract class View implements Block {
	#lines: string[] | null = null;
	#width = 0;
	#imageRows = 0;

	constructor(protected readonly style: ViewStyle) {}

	/** False while the view may still change. */
	get done(): boolean {
		return true;
	}

	/** True when the lines contain an image: they depend on the screen height, and appear and disappear in one piece. */
	get whole(): boolean {
		return false;
	}

	render(width: number): string[] {
		const imageRows = this.whole ? this.style.imageRows() : 0;
		if (!this.#lines || this.#width !== width || this.#imageRows !== imageRows) {
			this.#lines = this.draw(Math.max(1, width));
			this.#width = width;
			this.#imageRows = imageRows;
		}
		return this.#lines;
	}

	invalidate(): void {
		this.#lines = null;
	}

	/** Drops the cached lines and requests a frame. Call after a data change. */
	protected changed(): void {
		this.#lines = null;
		if (this.done) this.style.requestRender();
		else this.style.requestStreamFrame();
	}

	/** @returns lines of at most `width` columns, in a new array whenever they differ from an earlier result */
	protected abstract draw(width: number): string[];
}

/** A view of data that does not change. */
export abstract class StaticView<T> extends View {
	constructor(
		style: ViewStyle,
		protected readonly data: T,
	) {
		super(style);
	}
}
