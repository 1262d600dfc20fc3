import { type Component, Container, CURSOR_MARKER, isKeyRelease, Spacer, type Terminal } from "@mariozechner/pi-tui";
import type { Settings } from "../../config/settings-schema.js";
import { TEXT_ONLY, type TerminalFeatures } from "../../config/terminal-features.js";
import type { AgentSessionEvent, QueuedPrompts } from "../../session/events.js";
import type { Keymap } from "../../tui/keymap.js";
import { showLinks } from "../../tui/links.js";
import { LiveTUI } from "../../tui/live-tui.js";
import type { Mouse } from "../../tui/mouse.js";
import { OverlayStack } from "../../tui/overlay-stack.js";
import { TerminalImages } from "../../tui/terminal-images.js";
import { TerminalReports } from "../../tui/terminal-reports.js";
import type { CursorShape } from "../../tui/terminal-window.js";
import type { Theme } from "../../tui/theme.js";
import { Footer } from "./footer.js";
import { Header } from "./header.js";
import { HintLine, QueueView } from "./queue-view.js";
import { StatusLine } from "./status-line.js";
import { Transcript } from "./transcript.js";
import type { ViewStyle } from "./views/view.js";
import { WindowStatus } from "./window-status.js";

/** Options of the screen. */
export interface ScreenOptions {
	terminal: Terminal;
	theme: Theme;
	keymap: Keymap;
	settings: Pick<Settings, "gutter" | "hideThinkingBlock" | "quietStartup" | "terminal">;
	/** Features of the terminal. Default: text only. */
	features?: TerminalFeatures;
	cwd: string;
	home: string;
	version: string;
	/** ms since the epoch. */
	clock?: () => number;
}

/** Rows outside the transcript: status, queue, borders, footer. */
const FIXED_ROWS = 8;
/** Maximum share of the screen's rows for one image. */
const IMAGE_SHARE = 0.4;

/** Events after which a hint is no longer true: it speaks of the model, its thinking level or the session before. */
const HINT_ENDS: ReadonlySet<AgentSessionEvent["type"]> = new Set([
	"model_changed",
	"thinking_level_changed",
	"session_changed",
]);

/** The layout: header, transcript, status, queue, the editor or an overlay that replaces it, footer. */
export class Screen {
	readonly tui: LiveTUI;
	readonly style: ViewStyle;
	readonly header: Header;
	readonly transcript: Transcript;
	readonly footer: Footer;
	readonly window: WindowStatus;
	/** Whether rows can be clicked. */
	hasMouse = false;
	/** null until it is wanted. */
	#mouse: Mouse | null = null;
	/** Whether something else than the editor has the focus. */
	#hasOverlay = false;
	/** Reports from the terminal. */
	readonly reports: TerminalReports;
	/** The line that says what the session is doing. */
	readonly status: StatusLine;
	readonly #queue: QueueView;
	readonly #hint: HintLine;
	#hintTimer: NodeJS.Timeout | undefined;
	readonly #slot = new Container();
	/** Widgets of hooks. */
	readonly aboveEditor = new Container();
	readonly belowEditor = new Container();
	/** Opens the address of a link that was clicked. */
	onLink: (address: string) => void = () => {};
	/** Rows that the widgets use. */
	hookRows = () => 0;

	constructor(options: ScreenOptions) {
		const { terminal, theme, keymap, settings, features = TEXT_ONLY, cwd, home, version, clock } = options;
		const write = (data: string) => terminal.write(data);
		this.window = new WindowStatus(settings.terminal, features, write, clock);
		const protocol = settings.terminal.showImages ? features.images : null;
		const images =
			protocol === "tmux"
				? new TerminalImages(null, {
						find: async () => (await import("../../tui/tmux-images.js")).openTmuxImages(),
						onFound: () => this.transcript.redraw(),
					})
				: new TerminalImages(protocol);
		showLinks(features.links, protocol === "tmux" ? null : protocol);
		this.reports = new TerminalReports(write, (key) => {
			this.hint(null);
			tui.type(key);
		});
		const listeners = [this.window, this.reports];
		const tui = new LiveTUI(terminal, {
			images,
			onStart: () => {
				for (const part of [...listeners, this.#mouse]) part?.start();
			},
			onStop: () => {
				for (const part of [...listeners, this.#mouse]) part?.stop();
			},
		});
		tui.onTerminalColorSchemeChange((background) => this.reports.changed(background));
		tui.addInputListener((data) => {
			if (listeners.some((listener) => listener.handleInput(data))) return { consume: true };
			if (!isKeyRelease(data)) this.hint(null);
			return undefined;
		});
		this.tui = tui;
		this.style = {
			theme,
			cwd,
			home,
			remote: null,
			expanded: false,
			showThinking: false,
			thinkingLabel: null,
			previewThinking: !settings.hideThinkingBlock,
			gutter: settings.gutter,
			keymap,
			images,
			imageRows: () => Math.floor(terminal.rows * IMAGE_SHARE),
			screenRows: () => terminal.rows,
			columns: () => terminal.columns,
			liveRows: () =>
				Math.max(3, terminal.rows - Math.max(5, Math.floor(terminal.rows * 0.3)) - FIXED_ROWS - this.hookRows()),
			requestRender: () => tui.requestRender(),
			redrawScreen: () => tui.redrawScreen(),
			requestStreamFrame: () => tui.requestStreamFrame(),
		};
		this.header = new Header(this.style, version, settings.quietStartup);
		this.transcript = new Transcript(tui.blocks, this.style, this.header);
		this.status = new StatusLine(this.style, clock);
		this.#queue = new QueueView(this.style);
		this.#hint = new HintLine(this.style);
		this.footer = new Footer(this.style);
		void this.#useMouse(settings.terminal.mouse);
		const above = [new Spacer(1), this.status, this.#queue, this.#hint, this.aboveEditor];
		for (const row of [...above, this.#slot, this.belowEditor, this.footer]) tui.addChild(row);
	}

	/** Adds the editor to the layout. @returns the stack of overlays that replace it */
	holdEditor(editor: Component): OverlayStack {
		this.tui.setFocus(editor);
		return new OverlayStack(this.tui, this.#slot, editor, (shown) => {
			const isDialog = shown === "dialog";
			this.#hasOverlay = shown !== "editor";
			this.#mouse?.follow(this.#hasOverlay);
			this.status.hide(isDialog);
			if (isDialog) this.window.notifyQuestion();
		});
	}

	/** Shows submissions that the session has not received yet, after its queue. */
	showWaiting(waiting: QueuedPrompts): void {
		this.#queue.waiting = waiting;
	}

	/**
	 * Shows a line above the editor until the next key or change of model, thinking level or session; null removes it.
	 * @param ms how long it is shown at most
	 */
	hint(text: string | null, ms?: number): void {
		clearTimeout(this.#hintTimer);
		this.#hint.text = text;
		if (ms !== undefined) this.#hintTimer = setTimeout(() => this.hint(null), ms);
	}

	/** Shows the cursor of the terminal in a shape, as long as the screen runs; null hides it: the editor draws one. */
	showCursor(shape: CursorShape | null): void {
		this.window.cursor = shape ?? "usual";
		this.tui.setShowHardwareCursor(shape !== null);
	}

	use({ terminal, gutter, hideThinkingBlock }: ScreenOptions["settings"]): void {
		this.window.use(terminal);
		void this.#useMouse(terminal.mouse);
		if (this.style.gutter === gutter && this.style.previewThinking === !hideThinkingBlock) return;
		this.style.gutter = gutter;
		this.style.previewThinking = !hideThinkingBlock;
		this.transcript.redraw();
	}

	async #useMouse(isWanted: boolean): Promise<void> {
		this.hasMouse = isWanted;
		if (isWanted && !this.#mouse) {
			const { Mouse } = await import("../../tui/mouse.js");
			const { tui } = this;
			this.#mouse ??= new Mouse({
				write: tui.terminal.write.bind(tui.terminal),
				type: (data) => tui.type(data),
				askCursor: (onRow) => tui.cursor.ask(onRow),
				openLink: (address) => this.onLink(address),
				columns: () => tui.terminal.columns,
			});
			tui.mouse = this.#mouse;
			this.#mouse.follow(this.#hasOverlay);
			if (tui.isRunning) this.#mouse.start();
		}
		this.#mouse?.use(this.hasMouse);
	}

	/** Size and visible lines of the screen. */
	get facts(): { columns: number; rows: number; lines: string[] } {
		const { columns, rows } = this.tui.terminal;
		return {
			columns,
			rows,
			lines: this.tui
				.render(columns)
				.slice(-rows)
				.map((line) => line.replaceAll(CURSOR_MARKER, "")),
		};
	}

	/** Shows a session event. The caller loads the transcript when the session changes. */
	handle(event: AgentSessionEvent): void {
		this.transcript.handle(event);
		this.status.handle(event);
		this.window.handle(event);
		if (event.type === "queue_changed") this.#queue.queue = event.queue;
		if (HINT_ENDS.has(event.type)) this.hint(null);
	}

	/** Removes the line that says what the session is doing, before the screen closes for good. */
	hideStatus(): void {
		this.status.hide(true);
	}

	/** Stops every timer and restores the terminal, without clearing the screen. */
	stop(): void {
		clearTimeout(this.#hintTimer);
		this.status.stop();
		this.tui.stop();
	}
}
