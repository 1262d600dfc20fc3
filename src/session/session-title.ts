import type { Api, Model } from "@mariozechner/pi-ai";
import type { SessionMode } from "../hooks/types.js";
import { type AppMessage, entryTimestamp, isMessageEntry, messageText } from "../log/entry.js";
import { SessionName } from "../log/last-choices.js";
import { readSkillPrompt } from "../log/prompt-text.js";
import type { SessionLog } from "../log/session-log.js";
import { onOneLine } from "../log/session-summary.js";
import { withTimeLimit } from "../util/abort.js";
import { trimOf } from "../util/trim.js";
import type { AgentSessionEvent } from "./events.js";
import type { Budget } from "./run/budget.js";
import { meterRequests } from "./run/meter-requests.js";
import type { SessionCore } from "./session-core.js";

/** What the title of a session depends on. */
export interface SessionTitleInputs extends Pick<SessionCore, "store" | "models" | "state" | "context" | "ended"> {
	budget: Pick<Budget, "isExceeded">;
	surface: { readonly mode: SessionMode };
	/** False for a session that another one has started. */
	isOwn: boolean;
}

const TIMEOUT_MS = 30_000;
/** Also for a model that cannot do without thinking. */
const MAX_TOKENS = 2000;
const MAX_WORDS = 8;
/** Of the prompt and of the reply, UTF-16 units. */
const MAX_TEXT = 4000;
/** UTF-16 units. */
const MAX_TITLE = 72;

const TASK =
	`Write a title for this conversation: at most ${MAX_WORDS} words that say what it is about, in the language of the prompt. ` +
	"Answer with the title alone, without quotes.";

/** Gives a session without a name a title by the model of the setting `titleModel`, after its first run. Nothing waits for it. */
export class SessionTitle {
	readonly #name = new SessionName();
	/** The first run of a session that needs a title. */
	#first: { log: SessionLog; isOver: boolean } | null = null;

	constructor(private readonly inputs: SessionTitleInputs) {}

	/** Call with every event of the session. */
	observe(event: AgentSessionEvent): void {
		switch (event.type) {
			case "agent_start": {
				const { log } = this.inputs.state;
				this.#first = this.#isWanted(log) && !hasReply(log) ? { log, isOver: false } : null;
				break;
			}
			case "agent_end":
				if (this.#first) this.#first.isOver = true;
				break;
			case "activity_changed":
				if (event.activity.state === "idle" && this.#first?.isOver) this.#begin(this.#first.log);
		}
	}

	/** Names no session that is not saved, and none of `pi -p`, which would have to wait for the answer. */
	#isWanted(log: SessionLog): boolean {
		const { store, surface, state, isOwn, ended } = this.inputs;
		if (store.settings.current.titleModel === undefined || !isOwn || ended.aborted || state.log !== log) return false;
		return log.path !== null && !["print", "json"].includes(surface.mode) && this.#name.of(log) === null;
	}

	#begin(log: SessionLog): void {
		this.#first = null;
		// A failure changes nothing: a session without a title is listed by its first prompt.
		if (this.#isWanted(log)) void this.#title(log).catch(() => {});
	}

	async #title(log: SessionLog): Promise<void> {
		const { budget, context, state } = this.inputs;
		// As hooks have left them: one may mask secrets.
		const { messages } = context;
		const prompt = messages.find(({ role }) => role === "user");
		const reply = messages.findLast((message) => isAnswer(message) && messageText(message).trim() !== "");
		if (!prompt || !reply) return;
		const model = this.#model();
		if (!model || (await budget.isExceeded())) return;
		const title = cleanTitle(await this.#ask(model, excerpt(prompt), excerpt(reply)));
		// The user or a hook may have named it meanwhile.
		if (title === "" || !this.#isWanted(log)) return;
		state.append({ type: "session_info", timestamp: entryTimestamp(), name: title });
	}

	/** The model of the setting; null if it is not known, which the user is told once. */
	#model(): Model<Api> | null {
		const { models, state, store } = this.inputs;
		const name = store.settings.current.titleModel ?? "";
		const [provider = "", ...id] = name.split("/");
		const model = models.list.findUsed(provider, id.join("/"));
		if (!model) state.announceOnce(`The setting titleModel names ${name}, which is not known · /settings changes it`);
		return model;
	}

	async #ask(model: Model<Api>, prompt: string, reply: string): Promise<string> {
		const { models, ended } = this.inputs;
		const [auth] = await Promise.all([models.list.requestAuth(model), models.client.prepare(model)]);
		const meter = meterRequests(this.inputs, "title");
		meter.write();
		const text = `${TASK}\n\n<prompt>\n${prompt}\n</prompt>\n\n<reply>\n${reply}\n</reply>`;
		const context = { messages: [{ role: "user" as const, content: text, timestamp: Date.now() }] };
		const maxTokens = Math.min(MAX_TOKENS, model.maxTokens || MAX_TOKENS);
		const answer = await withTimeLimit(TIMEOUT_MS, [ended], (signal) =>
			meter.stream(model, context, { ...auth, signal, maxTokens, maxRetries: 0, cacheRetention: "none" }).result(),
		);
		return isAnswer(answer) ? messageText(answer) : "";
	}
}

/** True for a reply that is complete. */
function isAnswer(message: AppMessage): boolean {
	return message.role === "assistant" && message.stopReason !== "error" && message.stopReason !== "aborted";
}

/** Whether a log has a complete reply, from an earlier run or of the session that it continues. */
function hasReply(log: SessionLog): boolean {
	for (let at = log.findLastMessage("assistant"); at > 0; at = log.findLastMessage("assistant", at)) {
		const entry = log.entry(at);
		if (isMessageEntry(entry) && isAnswer(entry.message)) return true;
	}
	return false;
}

function excerpt(message: AppMessage): string {
	const text = messageText(message);
	const skill = readSkillPrompt(text);
	return (skill ? `/skill:${skill.name} ${skill.rest}` : text).slice(0, MAX_TEXT).toWellFormed();
}

/** What surrounds a title that a model decorates. */
const DECORATION = " \t\"'`*#_“”‘’«»";
/** Some local models send what they think as text. */
const END_OF_THOUGHT = "</think>";
const HIDDEN = /[\p{Cc}\p{Default_Ignorable_Code_Point}]/gu;

/** The first line of an answer as a title: without decoration and hidden characters, and not too long. */
export function cleanTitle(answer: string): string {
	const thought = answer.lastIndexOf(END_OF_THOUGHT);
	const said = thought < 0 ? answer : answer.slice(thought + END_OF_THOUGHT.length);
	const lines = said.slice(0, MAX_TEXT).split(/[\r\n]/, 20);
	const line = lines.map((text) => trimOf(text.replace(HIDDEN, ""), DECORATION)).find(Boolean) ?? "";
	const bare = trimOf(onOneLine(line.replace(/^title:/i, ""), MAX_TEXT), DECORATION);
	const words = bare.split(" ");
	const title = words.length > MAX_WORDS ? `${words.slice(0, MAX_WORDS).join(" ")}…` : trimOf(bare, "", ".");
	return onOneLine(title, MAX_TITLE);
}
