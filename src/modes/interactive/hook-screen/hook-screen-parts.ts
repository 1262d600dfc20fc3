import type { TUI } from "@mariozechner/pi-tui";
import type { CustomScreenOptions, ScreenOwner, WidgetContent } from "../../../hooks/session-ui.js";
import { isComponent } from "../../../hooks/tool-drawing.js";
import type {
	AutocompleteFactory,
	ComponentFactory,
	CustomFactory,
	EditorFactory,
	HookKeybindings,
	ScreenLook,
	WidgetPlacement,
	WorkingIndicator,
} from "../../../hooks/types.js";
import { ContainedComponent } from "../../../tui/contained.js";
import { KEY_ACTIONS } from "../../../tui/key-table.js";
import { clipLine } from "../../../tui/line.js";
import { cleanLine, cleanLines } from "../clean-text.js";
import { CustomComponents } from "./custom-components.js";
import { EditorLayers } from "./editor-layers.js";
import { HookCompletion } from "./hook-completion.js";
import type { HookScreenTarget } from "./hook-screen-target.js";
import { StatusSegments } from "./status-segments.js";
import { WidgetArea } from "./widget-area.js";

/** Maximum lines of a header. */
const MAX_HEADER_ROWS = 100;
/** Maximum characters of a line of a widget. */
const MAX_LINE_LENGTH = 2000;
const MAX_INDICATOR_COLUMNS = 20;
/** Minimum time between two frames of an indicator. */
const FRAME_MS = 16;

/** Everything that hooks show on the screen. Loaded when a hook first shows something. */
export class HookScreenParts {
	readonly #statuses = new StatusSegments();
	readonly #widgets: WidgetArea;
	readonly #completion: HookCompletion;
	readonly #titles = new OwnedValues<string>();
	readonly #messages = new OwnedValues<string>();
	readonly #looks: { readonly [K in keyof ScreenLook]: OwnedValues<ScreenLook[K]> } = {
		theme: new OwnedValues(),
		working: new OwnedValues(),
		indicator: new OwnedValues(),
		thinkingLabel: new OwnedValues(),
		expanded: new OwnedValues(),
	};
	readonly #applied: { readonly [K in keyof ScreenLook]: (value: ScreenLook[K] | undefined) => void } = {
		theme: (name) => this.host.themes.override(name ?? null),
		working: (isShown = true) => this.host.screen.status.showWork(isShown),
		indicator: (indicator) => this.host.screen.status.useIndicator(indicator && cleanIndicator(indicator)),
		thinkingLabel: (label) => {
			const { style } = this.host.screen;
			style.thinkingLabel = label === undefined ? null : cleanLines(label, 200).join(" ");
			style.redrawScreen();
		},
		expanded: (isExpanded = false) => {
			this.host.screen.style.expanded = isExpanded && "ended";
			this.host.screen.transcript.redraw();
		},
	};
	readonly #footers = new OwnedValues<ContainedComponent>((removed) => removed.dispose());
	readonly #headers = new OwnedValues<ContainedComponent>((removed) => removed.dispose());
	readonly #tui: TUI;
	readonly #keybindings: HookKeybindings;
	readonly #custom: CustomComponents;
	readonly #editors: EditorLayers;

	constructor(private readonly host: HookScreenTarget) {
		const { screen, editor, completions, keymap } = host;
		const { theme } = screen.style;
		this.#tui = screen.tui;
		this.#keybindings = Object.freeze<HookKeybindings>({
			matches(data, name) {
				const known = KEY_ACTIONS.find(({ action }) => action === name);
				return known !== undefined && keymap.matches(data, known.action);
			},
		});
		this.#widgets = new WidgetArea({ rows: () => screen.tui.terminal.rows, dim: (text) => theme.dim(text) });
		this.#completion = new HookCompletion(completions.base, editor);
		this.#editors = new EditorLayers({ ...host, keybindings: this.#keybindings });
		this.#custom = new CustomComponents({
			...host,
			keybindings: this.#keybindings,
			widgetRows: () => this.#widgets.rows,
		});
		screen.aboveEditor.addChild(this.#widgets.above);
		screen.belowEditor.addChild(this.#widgets.below);
		screen.hookRows = () => this.#widgets.rows;
		screen.footer.statuses = (width) => this.#statuses.render(width, (text) => theme.dim(text));
	}

	setStatus(owner: ScreenOwner, key: string, text: string | undefined): void {
		this.#statuses.set(idOf(owner, key), text === undefined ? undefined : { rank: owner.rank, text });
		this.#tui.requestRender();
	}

	setWidget(owner: ScreenOwner, key: string, content: WidgetContent | undefined, placement: WidgetPlacement): void {
		const id = idOf(owner, key);
		const view =
			typeof content === "function" ? this.#make(owner, "ui.setWidget", content) : content && fixedLines(content);
		this.#widgets.set(id, view ? { rank: owner.rank, placement, view } : undefined);
		this.#tui.requestRender();
	}

	setTitle(owner: ScreenOwner, title: string | undefined): void {
		this.host.screen.window.override(this.#titles.set(owner.path, title) ?? null);
	}

	setWorkingMessage(owner: ScreenOwner, message: string | undefined): void {
		const text = this.#messages.set(owner.path, message);
		this.host.screen.status.showWorking(text === undefined ? null : cleanLine(text, 200));
	}

	setLook<K extends keyof ScreenLook>(owner: ScreenOwner, name: K, value: ScreenLook[K] | undefined): void {
		const values: OwnedValues<ScreenLook[K]> = this.#looks[name];
		const apply: (shown: ScreenLook[K] | undefined) => void = this.#applied[name];
		apply(values.set(owner.path, value));
	}

	setFooter(owner: ScreenOwner, factory: ComponentFactory | undefined): void {
		const { screen } = this.host;
		const view = factory && this.#make(owner, "ui.setFooter", factory, () => Math.floor(this.#tui.terminal.rows / 3));
		screen.footer.replacement = this.#footers.set(owner.path, view ?? undefined) ?? null;
		this.#tui.requestRender();
	}

	setHeader(owner: ScreenOwner, factory: ComponentFactory | undefined): void {
		const { screen } = this.host;
		const view = factory && this.#make(owner, "ui.setHeader", factory, () => MAX_HEADER_ROWS);
		screen.header.replacement = this.#headers.set(owner.path, view ?? undefined) ?? null;
		screen.tui.redrawScreen();
	}

	setEditor(owner: ScreenOwner, factory: EditorFactory | undefined): void {
		this.#editors.set(owner, factory);
	}

	/** @returns a function that removes the provider */
	addAutocompleteProvider(owner: ScreenOwner, factory: AutocompleteFactory): () => void {
		const { completions, editor } = this.host;
		const use = () => {
			completions.use(this.#completion.source);
			// The user may have typed while this code was loading.
			editor.refreshCompletions();
		};
		const remove = this.#completion.add(owner, factory);
		use();
		return () => {
			remove();
			use();
		};
	}

	custom<T>(owner: ScreenOwner, factory: CustomFactory<T>, options: CustomScreenOptions): Promise<T | null> {
		return this.#custom.show(owner, factory, options);
	}

	/** Creates a component that stays on the screen. A factory that fails is reported; null then. */
	#make(
		owner: ScreenOwner,
		member: string,
		factory: ComponentFactory,
		maxRows = () => this.#tui.terminal.rows,
	): ContainedComponent | null {
		try {
			const component: unknown = factory(this.#tui, this.host.theme, this.#keybindings);
			if (!isComponent(component)) throw new TypeError("the factory did not return a component");
			return new ContainedComponent(component, {
				name: owner.name,
				errorStyle: (text) => this.host.screen.style.theme.error(text),
				maxRows,
				onError: (error) => owner.failed(member, error),
				onDraw: (ms) => owner.drew(ms),
				requestRender: () => this.#tui.requestRender(),
			});
		} catch (error) {
			owner.failed(member, error);
			return null;
		}
	}
}

function idOf(owner: ScreenOwner, key: string): string {
	return `${owner.path}\n${key}`;
}

/** Frames that fit in front of a text, at an interval that leaves time for other frames of the screen. */
function cleanIndicator({ frames, intervalMs }: WorkingIndicator): WorkingIndicator {
	const clean = frames.map((frame) => clipLine(cleanLines(frame, MAX_LINE_LENGTH).join(" "), MAX_INDICATOR_COLUMNS));
	return { frames: clean, ...(intervalMs === undefined ? {} : { intervalMs: Math.max(FRAME_MS, intervalMs) }) };
}

/** Lines of text as a component; each is cut at the width of the screen. */
function fixedLines(lines: readonly string[]) {
	const clean = lines.flatMap((line) => cleanLines(line, MAX_LINE_LENGTH));
	return { render: (width: number) => clean.map((line) => clipLine(line, width)), invalidate() {} };
}

/** Values of several owners, of which the one set last counts. */
class OwnedValues<T> {
	readonly #values = new Map<string, T>();

	/** @param onRemoved receives each value that is replaced or removed */
	constructor(private readonly onRemoved: (value: T) => void = () => {}) {}

	/** Sets the value of an owner, or removes it. @returns the value that counts now */
	set(owner: string, value: T | undefined): T | undefined {
		const previous = this.#values.get(owner);
		this.#values.delete(owner);
		if (value !== undefined) this.#values.set(owner, value);
		if (previous !== undefined) this.onRemoved(previous);
		return [...this.#values.values()].at(-1);
	}
}
