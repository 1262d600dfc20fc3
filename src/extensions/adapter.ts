import { errorText } from "../errors.js";
import type { CommandContext, CommandInfo, HookAPI, HookEventContext, HookFactory } from "../hooks/types.js";
import type { SessionEntry } from "../log/entry.js";
import { isKnownEvent, listen } from "./agent-events.js";
import { contentText, readContent } from "./content.js";
import { Extension } from "./extension.js";
import { createExtensionCommandContext, createExtensionContext } from "./extension-context.js";
import { answerContext } from "./extension-context-event.js";
import { adaptTool } from "./extension-tool.js";
import type { Handler } from "./handlers.js";
import { REFUSED_EVENTS } from "./refusals.js";
import { answerSession } from "./session-events.js";
import { CUSTOM, CUSTOM_MESSAGE, entryIndex, LABEL, viewEntry } from "./viewed-entries.js";

/** Draws a message or an entry of an extension. */
type Renderer = (subject: object, options: object, theme: object) => { render(width: number): string[] } | undefined;

/**
 * Makes a hook of an extension: a function that registers with the API of extensions what it provides. Everything reaches
 * pi through the API of hooks.
 * @param name of the hook
 * @param factory the default export of the extension
 */
export function createAdapter(name: string, factory: unknown): HookFactory {
	return async (pi) => {
		const extension = new Extension(pi, name, createExtensionContext);
		pi.on("session", (event, ctx) => answerSession(extension, event, ctx));
		// Handlers of extensions receive all of the session: see `HandlerCalls.call`.
		pi.on("context", (event, ctx) =>
			answerContext(event, ctx as HookEventContext, { handlers: extension.handlers, extension: name }),
		);
		const api = createExtensionApi(extension);
		await (factory as (api: object) => unknown)(api);
	};
}

function createExtensionApi(extension: Extension): object {
	const { pi, name, calls, handlers, refusals, providers } = extension;
	const installed = new Set<string>();
	extension.onWaiting = () => listen(extension, "before_agent_start", installed);
	const renderers = declareEntries(extension);
	const flags = new Map<string, unknown>();
	const negated = new Set<string>();
	const ctx = (member: string) => calls.for(`pi.${member}`);
	/** Registers something; what pi does not accept is reported, and the rest of the extension works. */
	const attempt = (what: string, register: () => void) => {
		try {
			register();
		} catch (error) {
			refusals.refuse(what, errorText(error));
		}
	};
	// Not frozen: extensions wrap it in proxies, which cannot answer otherwise for members of a frozen object.
	return {
		on(event: string, handler: Handler) {
			if (!isKnownEvent(event)) {
				refusals.refuse(`the event ${event}`, REFUSED_EVENTS[event] ?? "it is not known");
				return () => {};
			}
			if (typeof handler !== "function") throw new TypeError(`the handler of ${event} is not a function`);
			listen(extension, event, installed);
			return handlers.add(event, handler);
		},
		registerTool: (tool: unknown) =>
			pi.tool(
				adaptTool(tool, {
					refusals,
					cwd: () => calls.current?.cwd ?? "",
					theme: extension.theme,
					contextFor: (own) => createExtensionContext(extension, own),
					run: (own, action) => calls.run(own, action),
					draw: (action) => calls.draw(action),
				}),
			),
		registerCommand: (command: string, options: CommandRegistration) =>
			pi.command(command, adaptCommand(extension, options)),
		registerShortcut: (key: string, { description, handler }: ShortcutRegistration) =>
			attempt(`the shortcut ${key}`, () =>
				pi.shortcut(key, {
					...(description === undefined ? {} : { description }),
					handler: async (own) => {
						await calls.run(own, () => handler(createExtensionCommandContext(extension, own)));
					},
				}),
			),
		registerFlag(flag: string, options: FlagRegistration) {
			flags.set(flag, options.default);
			// In pi, --no-x turns off --x.
			const isOff = flag.startsWith("no-") && options.type === "boolean" && options.default !== true;
			if (isOff) negated.add(flag);
			attempt(`the flag --${flag}`, () =>
				isOff ? pi.flag(flag.slice(3), { ...options, default: true }) : pi.flag(flag, options),
			);
		},
		getFlag(flag: string) {
			const given = calls.current?.flags;
			if (given === undefined) return flags.get(flag);
			return negated.has(flag) ? given[flag.slice(3)] === false : given[flag];
		},
		...providers,
		registerMessageRenderer: (customType: string, render: Renderer) => void renderers.messages.set(customType, render),
		registerEntryRenderer: (customType: string, render: Renderer) => void renderers.entries.set(customType, render),
		registerMarkdownTransformer: () => refusals.member("pi.registerMarkdownTransformer"),
		sendMessage: (message: unknown, options?: object) =>
			inBackground(extension, "sendMessage", () => extension.sendMessage(message, options)),
		sendUserMessage: (content: unknown, options?: object) =>
			inBackground(extension, "sendUserMessage", () => extension.sendUserMessage(content, options)),
		appendEntry: (customType: string, data?: unknown) =>
			inBackground(extension, "appendEntry", () =>
				ctx("appendEntry").saveEntry({
					type: CUSTOM,
					customType,
					extension: name,
					...(data === undefined ? {} : { data }),
				}),
			),
		setLabel: (targetId: string, label?: string) =>
			inBackground(extension, "setLabel", () => {
				const own = ctx("setLabel");
				if (entryIndex(own, targetId) < 0) throw new Error(`the session has no entry ${targetId}`);
				return own.saveEntry({ type: LABEL, targetId, ...(label === undefined ? {} : { label }) });
			}),
		setSessionName: (text: string) => ctx("setSessionName").setSessionName(text),
		getSessionName: () => ctx("getSessionName").sessionName ?? undefined,
		exec: async (command: string, args: readonly string[], options?: object) => ({
			killed: false,
			...(await ctx("exec").exec(command, args, options)),
		}),
		getActiveTools: () => ctx("getActiveTools").tools.active.map((tool) => tool.name),
		getAllTools: () =>
			ctx("getAllTools").tools.all.map(({ name: tool, description, parameters, source }) => ({
				name: tool,
				description,
				parameters,
				sourceInfo: { path: source, source },
			})),
		setActiveTools(names: string[]) {
			const { tools } = ctx("setActiveTools");
			tools.setActive(names, { mayJoin: true });
			const missing = names.filter((tool) => !tools.all.some((known) => known.name === tool));
			if (missing.length > 0) refusals.note(`no tool is named ${missing.join(", ")}; one that joins later is on`);
		},
		getCommands: () => ctx("getCommands").commands.flatMap(viewCommand),
		async setModel(model: never) {
			const own = ctx("setModel");
			if ((await own.resolveApiKey(model)) === undefined) return false;
			await own.setModel(model);
			return true;
		},
		getThinkingLevel: () => ctx("getThinkingLevel").thinkingLevel,
		setThinkingLevel: (level: never) => ctx("setThinkingLevel").setThinkingLevel(level),
		events: {
			emit: (channel: string, data: unknown) => pi.events.emit(channel, data),
			on: (channel: string, handler: (data: unknown) => unknown) =>
				pi.events.on(channel, (data, own) => calls.run(own, () => handler(data)) as Promise<void>),
		},
	};
}

/** A command as extensions see it: those of pi itself are not in their list. */
function viewCommand({ name, description, source, path = "" }: CommandInfo): object[] {
	if (source === "built-in") return [];
	const kind = source.startsWith("hook ") ? "extension" : source === "MCP" ? "prompt" : source;
	return [{ name, description, source: kind, sourceInfo: { path, source } }];
}

/** Starts something that extensions do not wait for; a failure is reported. */
function inBackground(extension: Extension, member: string, action: () => Promise<unknown>): void {
	try {
		action().catch((error: unknown) => extension.report(member, error));
	} catch (error) {
		extension.report(member, error);
	}
}

interface FlagRegistration {
	type: "boolean" | "string";
	default?: boolean | string;
	description?: string;
}

interface ShortcutRegistration {
	description?: string;
	handler(ctx: object): unknown;
}

interface CommandRegistration {
	description?: string;
	getArgumentCompletions?(prefix: string): CompletionList | Promise<CompletionList>;
	handler(args: string, ctx: object): unknown;
}

type CompletionList = { value: string; label?: string; description?: string }[] | null;

function adaptCommand(extension: Extension, options: CommandRegistration): Parameters<HookAPI["command"]>[1] {
	const { description, getArgumentCompletions } = options;
	const { calls } = extension;
	return {
		...(description === undefined ? {} : { description }),
		...(getArgumentCompletions && {
			complete: async (prefix: string, ctx: HookEventContext) =>
				(await calls.run(ctx, () => options.getArgumentCompletions?.(prefix))) ?? [],
		}),
		async handler(ctx: CommandContext) {
			await calls.run(ctx, () => options.handler(ctx.argsRaw, createExtensionCommandContext(extension, ctx)));
		},
	};
}

/** Declares the entries of the extension, and how they are drawn. */
function declareEntries({ pi, name, theme, calls }: Extension) {
	const messages = new Map<string, Renderer>();
	const entries = new Map<string, Renderer>();
	const typeOf = (entry: SessionEntry) => ("customType" in entry ? String(entry.customType) : "");
	const isOwn = (entry: SessionEntry) => "extension" in entry && entry.extension === name;
	const draw = (renderer: Renderer | undefined, subject: object, look: object | undefined, otherwise: string) => {
		const drawn = calls.draw(() => renderer?.(subject, { expanded: false, ...look, outputPad: 0 }, theme));
		return drawn
			? { render: (width: number) => calls.draw(() => drawn.render(width)), invalidate: () => {} }
			: otherwise;
	};
	pi.entry(CUSTOM, {
		draws: (entry) => entries.has(typeOf(entry)) && (isOwn(entry) || !("extension" in entry)),
		render(entry, _, look) {
			const { current } = calls;
			const subject = current ? viewEntry(current, entry, current.entries.indexOf(entry)) : entry;
			return draw(entries.get(typeOf(entry)), subject, look, "");
		},
	});
	pi.entry(CUSTOM_MESSAGE, {
		draws: (entry) => isOwn(entry) && "display" in entry && entry.display === true && entry.inPrompt !== true,
		render(entry, _, look) {
			const content = readContent("content" in entry ? entry.content : "");
			const { timestamp } = { timestamp: "", ...entry };
			const subject = { role: "custom", ...entry, timestamp: new Date(String(timestamp)).getTime() };
			return draw(
				messages.get(typeOf(entry)),
				subject,
				look,
				`${theme.fg("accent", typeOf(entry))} ${contentText(content)}`,
			);
		},
	});
	pi.entry(LABEL, { draws: () => false });
	return { messages, entries };
}
