import type {
	ComponentFactory,
	CustomFactory,
	CustomOptions,
	HookComponent,
	HookEventContext,
	WorkingIndicator,
} from "../hooks/types.js";
import { isRecord } from "../util/is-record.js";
import type { ExtensionEditor } from "./extension-editor.js";
import { extensionKeys } from "./extension-keys.js";
import { createExtensionTheme } from "./extension-theme.js";
import type { FooterData } from "./footer-data.js";

export interface ExtensionUIDeps {
	ctx(): HookEventContext;
	theme: object;
	footer: FooterData;
	editor: ExtensionEditor;
	/** What the extension can read of the look that it has chosen. */
	look: { isExpanded: boolean };
	/** Calls code that makes a component. */
	draw<T>(action: () => T): T;
}

/** Creates a component as extensions do; `extra` is the footer's data for a footer. */
type ExtensionFactory = (tui: unknown, theme: object, extra?: unknown) => HookComponent;

interface ExtensionCustomOptions extends Pick<CustomOptions, "overlay" | "onHandle"> {
	overlayOptions?: NonNullable<CustomOptions["placement"]>;
}

/** The screen as extensions use it: a canceled dialog is undefined there. */
export function createExtensionUI({ ctx, theme, footer, editor, look, draw }: ExtensionUIDeps) {
	const ui = () => ctx().ui;
	const component =
		(factory: ExtensionFactory, extra?: unknown): ComponentFactory =>
		(tui) =>
			draw(() => factory(tui, theme, extra));
	const isFactory = (value: unknown): value is ExtensionFactory => typeof value === "function";
	/** Passes anything else on, which `ctx.ui` refuses by name. */
	const factoryOr = (value: unknown, extra?: unknown) =>
		isFactory(value) ? component(value, extra) : (value as undefined);
	return {
		theme,
		select: async (title: string, options: readonly string[], dialog?: object) =>
			(await ui().select(title, options, dialog)) ?? undefined,
		confirm: (title: string, message: string, dialog?: object) => ui().confirm(title, message, dialog),
		input: async (title: string, placeholder?: string, dialog?: object) =>
			(await ui().input(title, placeholder, dialog)) ?? undefined,
		editor: async (title: string, prefill?: string) => (await ui().editor(title, prefill)) ?? undefined,
		notify: (message: string, type?: "info" | "warning" | "error") => ui().notify(message, type),
		async custom(factory: unknown, { overlay, overlayOptions = {}, onHandle }: ExtensionCustomOptions = {}) {
			const over: CustomOptions =
				overlay === true ? { overlay, placement: overlayOptions, ...(onHandle && { onHandle }) } : {};
			// `custom` of hooks returns null also for a component that was closed without a result.
			let result: unknown;
			const made: CustomFactory<unknown> = (tui, _, keybindings, close) => {
				const done = (given: unknown) => {
					result = given;
					close(given);
				};
				return draw(() =>
					(factory as (...args: unknown[]) => HookComponent)(tui, theme, extensionKeys(keybindings), done),
				);
			};
			await ui().custom(typeof factory === "function" ? made : (factory as CustomFactory<unknown>), over);
			return result;
		},
		setStatus(key: string, text: string | undefined) {
			ui().setStatus(key, text);
			footer.setStatus(key, text);
		},
		setWidget: (key: string, content: unknown, options?: object) =>
			ui().setWidget(key, isFactory(content) ? component(content) : (content as undefined), options),
		setFooter(factory: unknown) {
			if (isFactory(factory)) footer.start(ctx());
			ui().setFooter(factoryOr(factory, footer.view));
		},
		setHeader: (factory: unknown) => ui().setHeader(factoryOr(factory)),
		setTitle: (title: string) => ui().setTitle(title),
		setWorkingMessage: (message?: string) => ui().setWorkingMessage(message),
		pasteToEditor: (text: string) => ui().pasteToEditor(text),
		setEditorText: (text: string) => ui().setEditorText(text),
		getEditorText: () => ui().getEditorText(),
		addAutocompleteProvider: (factory: never) => ui().addAutocompleteProvider(factory),
		getToolsExpanded: () => look.isExpanded,
		setToolsExpanded(isExpanded: boolean) {
			look.isExpanded = isExpanded;
			ui().setLook("expanded", isExpanded || undefined);
		},
		setWorkingVisible: (isVisible: boolean) => ui().setLook("working", isVisible ? undefined : false),
		setWorkingIndicator: (indicator?: WorkingIndicator) =>
			ui().setLook("indicator", indicator && readIndicator(indicator)),
		setHiddenThinkingLabel: (label?: string) => ui().setLook("thinkingLabel", label),
		getEditorComponent: () => editor.factory,
		setEditorComponent: (factory: Parameters<ExtensionEditor["use"]>[1]) => editor.use(ui(), factory),
		onTerminalInput: (listener: Parameters<ExtensionEditor["listen"]>[1]) => editor.listen(ui(), listener),
		getAllThemes: () => ui().themes.map(({ name, path }) => ({ name, path: path ?? undefined })),
		getTheme(name: string) {
			const found = ui().themes.find((known) => known.name === name);
			return found && createExtensionTheme(() => found.styles, found.name);
		},
		setTheme(chosen: unknown) {
			const name = isRecord(chosen) ? chosen.name : chosen;
			const { themes } = ui();
			if (themes.length === 0) return { success: false, error: "there is no screen" };
			if (typeof name !== "string" || !themes.some((known) => known.name === name))
				return { success: false, error: `pi has no theme ${JSON.stringify(name)}` };
			ui().setLook("theme", name);
			return { success: true };
		},
	};
}

/** Without frames, pi's own are used, at another interval too. */
function readIndicator({ frames, intervalMs }: Partial<WorkingIndicator>): WorkingIndicator | undefined {
	return frames && { frames, ...(intervalMs === undefined ? {} : { intervalMs }) };
}
