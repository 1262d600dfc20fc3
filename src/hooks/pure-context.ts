import { PiError } from "../errors.js";
import type { HookEventContext, PureContext } from "./types.js";

/** What changes an answer must be in the event, or the request could not be computed again. */
const IN_EVENT = "its answer may depend on event alone";
const EFFECT = "use it in another event, such as turn_start, or in a command";

/** What a `context` handler does instead of using a member of the context object. */
const INSTEAD: Readonly<Record<Exclude<keyof HookEventContext, keyof PureContext>, string>> = {
	model: "use event.facts.model, which is recorded with the request",
	usage: "use event.facts.estimate(event.messages) and event.facts.contextWindow, which are recorded with the request",
	flags: "use event.facts.flags, which are recorded with the request",
	messages: "use event.messages",
	entries: "use event.entries",
	systemPrompt: "use event.systemPrompt",
	tools: "use event.tools, and return tools to offer fewer; tools are called from a tool, a command or turn_end",
	exec: IN_EVENT,
	toolHost: IN_EVENT,
	ui: IN_EVENT,
	hasUI: IN_EVENT,
	projectDir: IN_EVENT,
	sessionFile: IN_EVENT,
	session: IN_EVENT,
	sessions: IN_EVENT,
	configFiles: IN_EVENT,
	permissions: IN_EVENT,
	webSearch: IN_EVENT,
	thinkingLevel: IN_EVENT,
	findModel: IN_EVENT,
	availableModels: IN_EVENT,
	resolveApiKey: IN_EVENT,
	requestAuth: IN_EVENT,
	projectTrusted: IN_EVENT,
	commands: IN_EVENT,
	isIdle: IN_EVENT,
	queued: IN_EVENT,
	sessionName: IN_EVENT,
	mode: IN_EVENT,
	stream: "use it in another event, such as turn_end, and save its result as an entry",
	saveEntry: EFFECT,
	saveEntries: EFFECT,
	rebuildContext: EFFECT,
	setModel: EFFECT,
	setThinkingLevel: EFFECT,
	setSessionName: EFFECT,
	abort: EFFECT,
	compact: EFFECT,
	quit: EFFECT,
	systemItems: EFFECT,
};

const REFUSED: PropertyDescriptorMap = Object.fromEntries(
	Object.entries(INSTEAD).map(([member, hint]) => [
		member,
		{
			get() {
				throw new PiError("context_locked", `ctx.${member} cannot be used in a context handler: ${hint}`);
			},
		},
	]),
);

/** Creates the context object of a `context` handler: every other member throws and says what to use instead. */
export function createPureContext(members: PureContext): PureContext {
	return Object.freeze(Object.defineProperties(members, REFUSED));
}
