import { type HookError, PiError } from "../errors.js";
import { isRecord } from "../util/is-record.js";
import type { HookCall } from "./hook-call.js";
import type { LoadedHook } from "./hook-registry.js";
import { PLAIN_THEME } from "./plain-theme.js";
import { claimsOf } from "./screen-claims.js";
import type { HookScreen, ScreenOwner, SessionUI } from "./session-ui.js";
import { createHookError } from "./source-position.js";
import type { HookUI, ScreenLook } from "./types.js";

/** What the screen of hooks needs of the session. */
export interface ScreenReports {
	/** Position of a hook in load order. */
	rankOf(hook: LoadedHook): number;
	/** Reports a failure of a component or callback that is not part of a call. */
	reportScreen(error: HookError): void;
	/** Records how long a component took to draw. */
	recordDraw(hook: LoadedHook, ms: number): void;
}

/** The members of `ctx.ui` that are not dialogs. */
export type ScreenMembers = Omit<HookUI, "select" | "confirm" | "approve" | "input" | "editor" | "notify" | "custom">;

/** The members of `ctx.ui` that show something until it is removed. Each throws `bad_arguments` for malformed values. */
export function boundScreen(ui: () => SessionUI, host: ScreenReports, call: HookCall): ScreenMembers {
	const { hook } = call;
	/** Shows a value under an id, and remembers how to remove it; undefined removes it. */
	const put = <T>(id: string, value: T | undefined, set: (screen: HookScreen, value: T | undefined) => void): void => {
		const screen = ui().hookScreen;
		const claims = claimsOf(hook);
		if (!screen || !claims.isOpen) return;
		const shown = claims.valueOf(id);
		if (value === undefined ? shown === undefined : typeof value === "string" && shown === value) return;
		set(screen, value);
		if (value === undefined) claims.drop(id);
		else claims.hold(id, value, () => set(screen, undefined));
	};
	return {
		setStatus(key, text) {
			check("setStatus", "key", isKey(key), "a non-empty string");
			check("setStatus", "text", isOptional(text, isString), "a string or undefined");
			const owner = ownerOf(hook, host);
			put(`status ${key}`, text, (screen, value) => screen.setStatus(owner, key, value));
		},
		setWidget(key, content, options) {
			check("setWidget", "key", isKey(key), "a non-empty string");
			check("setWidget", "content", isOptional(content, isWidget), "a list of strings, a function or undefined");
			checkOptions("setWidget", "options", options);
			const placement = options?.placement ?? "aboveEditor";
			const isPlacement = placement === "aboveEditor" || placement === "belowEditor";
			check("setWidget", "placement", isPlacement, '"aboveEditor" or "belowEditor"');
			const copy = typeof content === "function" || content === undefined ? content : [...content];
			const owner = ownerOf(hook, host);
			put(`widget ${key}`, copy, (screen, value) => screen.setWidget(owner, key, value, placement));
		},
		setTitle(title) {
			check("setTitle", "title", isOptional(title, isString), "a string or undefined");
			const owner = ownerOf(hook, host);
			put("title", title, (screen, value) => screen.setTitle(owner, value));
		},
		setWorkingMessage(message) {
			check("setWorkingMessage", "message", isOptional(message, isString), "a string or undefined");
			const owner = ownerOf(hook, host);
			put("working message", message, (screen, value) => screen.setWorkingMessage(owner, value));
		},
		setLook(name, value) {
			check(
				"setLook",
				"name",
				Object.hasOwn(LOOKS, name),
				Object.keys(LOOKS)
					.map((known) => JSON.stringify(known))
					.join(", "),
			);
			const [isValid, expected] = LOOKS[name];
			check("setLook", name, isOptional(value, isValid), `${expected} or undefined`);
			const themes = name === "theme" && value !== undefined ? ui().hookScreen?.themes : undefined;
			check("setLook", "theme", !themes || themes.some((theme) => theme.name === value), "the name of a theme");
			const owner = ownerOf(hook, host);
			put(`look ${name}`, value, (screen, shown) => screen.setLook(owner, name, shown));
		},
		setFooter(factory) {
			check("setFooter", "factory", isOptional(factory, isFunction), "a function or undefined");
			const owner = ownerOf(hook, host);
			put("footer", factory, (screen, value) => screen.setFooter(owner, value));
		},
		setHeader(factory) {
			check("setHeader", "factory", isOptional(factory, isFunction), "a function or undefined");
			const owner = ownerOf(hook, host);
			put("header", factory, (screen, value) => screen.setHeader(owner, value));
		},
		setEditor(factory) {
			check("setEditor", "factory", isOptional(factory, isFunction), "a function or undefined");
			const owner = ownerOf(hook, host);
			put("editor", factory, (screen, value) => screen.setEditor(owner, value));
		},
		addAutocompleteProvider(factory) {
			check("addAutocompleteProvider", "factory", isFunction(factory), "a function");
			const screen = ui().hookScreen;
			const claims = claimsOf(hook);
			if (!screen || !claims.isOpen) return;
			providers++;
			claims.hold(`completions ${providers}`, factory, screen.addAutocompleteProvider(ownerOf(hook, host), factory));
		},
		pasteToEditor(text) {
			check("pasteToEditor", "text", isString(text), "a string");
			ui().hookScreen?.pasteToEditor(text);
		},
		getEditorText: () => ui().hookScreen?.getEditorText() ?? "",
		setEditorText(text) {
			check("setEditorText", "text", isString(text), "a string");
			ui().hookScreen?.setEditorText(text);
		},
		get theme() {
			return ui().hookScreen?.theme ?? PLAIN_THEME;
		},
		get themes() {
			return ui().hookScreen?.themes ?? [];
		},
	};
}

/** What the values of `setLook` must be. */
const LOOKS: { readonly [K in keyof ScreenLook]: readonly [isValid: (value: unknown) => boolean, expected: string] } = {
	theme: [isString, "a string"],
	working: [isBoolean, "true, false"],
	indicator: [isIndicator, "{ frames, intervalMs } with a list of strings and a number"],
	thinkingLabel: [isString, "a string"],
	expanded: [isBoolean, "true, false"],
};

/** Makes the ids of providers unique; nothing removes a single one. */
let providers = 0;

/** A hook as the screen knows it. The call that shows something is the place of errors without a position. */
export function ownerOf(hook: LoadedHook, host: ScreenReports): ScreenOwner {
	const call = {};
	hook.places.set(call, new Error());
	return {
		name: hook.name,
		path: hook.path,
		get rank() {
			return host.rankOf(hook);
		},
		failed: (where, error) => host.reportScreen(createHookError("hook_failed", hook, where, error, call)),
		drew: (ms) => host.recordDraw(hook, ms),
	};
}

/** @throws PiError `bad_arguments` unless the value of a parameter is what it should be */
export function check(member: string, parameter: string, isValid: boolean, expected: string): void {
	if (!isValid) throw new PiError("bad_arguments", `ctx.ui.${member}: ${parameter} must be ${expected}`);
}

/** @throws PiError `bad_arguments` unless the value is an object or undefined */
export function checkOptions(member: string, parameter: string, value: unknown): void {
	check(member, parameter, value === undefined || isRecord(value), "an object or undefined");
}

function isOptional(value: unknown, isValid: (value: unknown) => boolean): boolean {
	return value === undefined || isValid(value);
}

function isString(value: unknown): boolean {
	return typeof value === "string";
}

function isBoolean(value: unknown): boolean {
	return typeof value === "boolean";
}

function isIndicator(value: unknown): boolean {
	if (!isRecord(value) || !Array.isArray(value.frames)) return false;
	return value.frames.every(isString) && isOptional(value.intervalMs, Number.isFinite);
}

export function isFunction(value: unknown): boolean {
	return typeof value === "function";
}

function isKey(value: unknown): boolean {
	return typeof value === "string" && value !== "";
}

function isWidget(value: unknown): boolean {
	return isFunction(value) || (Array.isArray(value) && value.every(isString));
}
