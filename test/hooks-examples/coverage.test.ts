import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { BUNDLED_HOOKS } from "../../src/hooks/bundled.js";
import { EVENT_NAMES } from "../../src/hooks/events.js";
import type { ContextEventResult, HookAPI, HookEventContext, HookUI } from "../../src/hooks/types.js";
import { example } from "./example.js";

/** Every member of `ctx.ui`: the compiler rejects a missing or an unknown one. */
const UI_MEMBERS: Readonly<Record<keyof HookUI, true>> = {
	select: true,
	confirm: true,
	approve: true,
	input: true,
	editor: true,
	notify: true,
	setStatus: true,
	setWidget: true,
	custom: true,
	setTitle: true,
	setWorkingMessage: true,
	setLook: true,
	setFooter: true,
	setHeader: true,
	setEditor: true,
	addAutocompleteProvider: true,
	pasteToEditor: true,
	getEditorText: true,
	setEditorText: true,
	theme: true,
	themes: true,
};

/** Every member of `pi`. */
const API_MEMBERS: Readonly<Record<keyof HookAPI, true>> = {
	on: true,
	command: true,
	shortcut: true,
	flag: true,
	provider: true,
	send: true,
	entry: true,
	derive: true,
	tool: true,
	toolHost: true,
	resources: true,
	events: true,
	requires: true,
};

/** Every member of `ctx`. */
const CONTEXT_MEMBERS: Readonly<Record<keyof HookEventContext, true>> = {
	exec: true,
	toolHost: true,
	ui: true,
	hasUI: true,
	cwd: true,
	projectDir: true,
	sessionFile: true,
	session: true,
	sessions: true,
	configFiles: true,
	permissions: true,
	webSearch: true,
	model: true,
	thinkingLevel: true,
	flags: true,
	entries: true,
	messages: true,
	tools: true,
	systemPrompt: true,
	findModel: true,
	availableModels: true,
	resolveApiKey: true,
	requestAuth: true,
	stream: true,
	saveEntry: true,
	saveEntries: true,
	projectTrusted: true,
	commands: true,
	rebuildContext: true,
	isIdle: true,
	queued: true,
	usage: true,
	sessionName: true,
	setModel: true,
	setThinkingLevel: true,
	setSessionName: true,
	mode: true,
	abort: true,
	compact: true,
	quit: true,
	systemItems: true,
	signal: true,
};

/** What the answer of a `context` handler can have. */
const ANSWER_FIELDS: Readonly<Record<keyof ContextEventResult, true>> = {
	messages: true,
	systemPrompt: true,
	tools: true,
	append: true,
	provider: true,
};

const sources = BUNDLED_HOOKS.map(({ name }) => readFileSync(example(`${name}.ts`), "utf8"));

test.each(EVENT_NAMES)("an example handles the event %s", (name) => {
	expect(sources.some((source) => source.includes(`pi.on("${name}"`))).toBe(true);
});

test.each(Object.keys(UI_MEMBERS))("an example uses ctx.ui.%s", (member) => {
	const use = new RegExp(`\\bui\\.${member}\\b|\\{[^}]*\\b${member}\\b[^}]*\\} = (ctx\\.)?ui\\b`);
	expect(sources.some((source) => use.test(source))).toBe(true);
});

/** Members of which no example exists. The list only gets shorter. */
const UNSHOWN: ReadonlySet<string> = new Set(["resources", "saveEntries", "projectTrusted", "setThinkingLevel"]);
const shown = (members: object) => Object.keys(members).filter((name) => !UNSHOWN.has(name));

/** The examples, and those that the docs consist of. */
const all = [...sources, ...["hooks", "hooks-context", "hooks-events", "hooks-screen", "tools"].map(docsPage)];

function docsPage(name: string): string {
	return readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), "utf8");
}

test.each(shown(API_MEMBERS))("an example uses pi.%s", (member) => {
	expect(all.some((source) => source.includes(`pi.${member}`))).toBe(true);
});

test.each(Object.keys(ANSWER_FIELDS))("an example answers a context event with %s", (field) => {
	const answer = new RegExp(`pi\\.on\\("context"[\\s\\S]*\\b${field}\\b[:,} ]`);
	expect(sources.some((source) => answer.test(source))).toBe(true);
});

test.each(shown(CONTEXT_MEMBERS))("an example uses ctx.%s", (member) => {
	const use = new RegExp(
		`\\bctx\\.${member}\\b|\\{[^{}]*\\b${member}\\b[^{}]*\\}(: HookEventContext|: CommandContext|\\)| = ctx)`,
	);
	expect(all.some((source) => use.test(source))).toBe(true);
});
