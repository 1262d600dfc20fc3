import type { Api, Context, Model } from "@mariozechner/pi-ai";
import { fullText } from "../context/ledger.js";
import type { ScriptedCall, ScriptedReply } from "../demo/conversation.js";
import { registerScript, type ScriptedAnswer } from "../demo/play-reply.js";
import { errorText, PiError } from "../errors.js";
import { isRecord } from "../util/is-record.js";

/** A response of the model: text, a reply with thinking and tool calls, or a provider error. */
export type Said = string | ScriptedAnswer;

/** One reply of the script: a response, or a function that computes it from the request. */
export type Reply = Said | ((request: SeenRequest) => Said | Promise<Said>);

/** A message as the model receives it. */
export interface SeenMessage {
	/** `system`: what a hook added in the middle of the conversation. */
	role: "user" | "assistant" | "toolResult" | "system";
	/** Text blocks joined by newlines; a tool call as `name({"argument":"value"})`. */
	text: string;
}

/** A request that reached the model. */
export interface SeenRequest {
	/** Oldest first, without the system prompt. */
	messages: SeenMessage[];
	systemPrompt: string;
	/** Names of the tools that the model may call. */
	tools: string[];
	/** The messages as they were sent, with all content blocks. */
	raw: Context["messages"];
}

/** A reply that calls one tool. For several calls in one reply write `{ toolCalls: [{ name, arguments }, …] }`. */
export function toolCall(name: string, args: ScriptedCall["arguments"]): ScriptedReply {
	return { toolCalls: [{ name, arguments: args }] };
}

/** A model in this process that answers each request, of pi or of a hook, with the next reply of a script. */
export interface ScriptedModel {
	readonly model: Model<Api>;
	/** Every request so far. */
	readonly requests: SeenRequest[];
	/** Adds replies to the end of the script. @throws PiError `bad_arguments` for a malformed one */
	add(replies: readonly Reply[]): void;
	/** Unregisters the model from pi-ai. */
	remove(): void;
}

/** Facts of the scripted model that hooks depend on. */
export interface ScriptedFacts {
	/** Tokens. Default: 200,000. */
	contextWindow?: number;
	/** Longest reply in tokens. Default: 8,192. */
	maxTokens?: number;
	/** US dollars for a million tokens. Default: free. */
	cost?: Model<Api>["cost"];
}

/**
 * Registers a scripted model with pi-ai under a unique name, so that hooks can call it as well.
 * @param onProblem called for a request without a reply in the script, and for a reply function that throws
 */
export async function createScriptedModel(
	onProblem: (problem: string) => void,
	facts: ScriptedFacts = {},
): Promise<ScriptedModel> {
	const api = `pi-hook-test-${crypto.randomUUID()}`;
	const script: Reply[] = [];
	let added = 0;
	const requests: SeenRequest[] = [];

	const next = async (number: number, request: SeenRequest): Promise<Said> => {
		const reply = script.shift();
		if (reply === undefined) {
			const problem = `Request ${number} has no reply: add one to replies`;
			onProblem(problem);
			return { error: problem };
		}
		if (typeof reply !== "function") return reply;
		try {
			const said = await reply(request);
			checkReply(said, "it");
			return said;
		} catch (error) {
			const problem = `The reply to request ${number} failed: ${errorText(error)}`;
			onProblem(problem);
			return { error: problem };
		}
	};
	const answer = async (context: Context): Promise<ScriptedAnswer> => {
		const request = seenRequest(context);
		const said = await next(requests.push(request), request);
		return typeof said === "string" ? { text: said } : said;
	};
	const remove = await registerScript(api, answer, { pace: 0, caches: true });
	return {
		model: { ...MODEL, ...facts, api },
		requests,
		add(replies) {
			for (const reply of replies)
				if (typeof reply !== "function") checkReply(reply, `replies[${added++}]`);
				else added++;
			script.push(...replies);
		},
		remove,
	};
}

const MODEL: Omit<Model<Api>, "api"> = {
	id: "scripted",
	name: "Scripted",
	provider: "hook-test",
	baseUrl: "",
	reasoning: true,
	input: ["text", "image"],
	cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
	contextWindow: 200_000,
	maxTokens: 8_192,
};

function seenRequest({ messages, systemPrompt = "", tools = [] }: Context): SeenRequest {
	return {
		messages: messages.flatMap((message) =>
			message.role === "system" ? [] : { role: message.role, text: fullText(message) },
		),
		systemPrompt,
		tools: tools.map(({ name }) => name),
		raw: [...messages],
	};
}

const FIELDS = ["thinking", "text", "toolCalls"];

/** @param name names the reply in the error, such as `replies[2]` @throws PiError `bad_arguments` for a malformed reply */
function checkReply(reply: unknown, name: string): void {
	const fault = findFault(reply);
	if (fault !== null) throw new PiError("bad_arguments", `${name} ${fault}`);
}

function findFault(reply: unknown): string | null {
	if (typeof reply === "string") return null;
	if (!isRecord(reply)) return "must be a text, an object or a function";
	if ("error" in reply) {
		if (typeof reply.error !== "string") return "has an error that is not a text";
		return Object.keys(reply).length > 1 ? "has an error and other fields; use error alone" : null;
	}
	const unknown = Object.keys(reply).find((key) => !FIELDS.includes(key));
	if (unknown !== undefined) return `has the unknown field ${unknown}; a reply has ${FIELDS.join(", ")} or error`;
	const { thinking = "", text = "", toolCalls = [] } = reply;
	if (typeof thinking !== "string") return "has thinking that is not a text";
	if (typeof text !== "string") return "has a text that is not a text";
	if (!Array.isArray(toolCalls)) return "has toolCalls that are not a list";
	const at = toolCalls.findIndex(
		(call) => !isRecord(call) || typeof call.name !== "string" || !isRecord(call.arguments),
	);
	return at < 0 ? null : `has a malformed toolCalls[${at}]: it must be { name, arguments } with an object as arguments`;
}
