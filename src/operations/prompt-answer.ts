import { describeError } from "../errors.js";
import type { PromptResult } from "../session/prompt/prompter.js";
import { TEXT } from "./input.js";
import type { RpcCall } from "./operation.js";

const ATTACHMENT = {
	type: "object",
	required: ["id", "type", "fileName", "mimeType", "size", "content"],
	properties: {
		id: TEXT,
		type: { anyOf: [{ const: "image" }, { const: "document" }] },
		fileName: TEXT,
		mimeType: TEXT,
		size: { type: "number" },
		content: { type: "string", description: "base64" },
		extractedText: TEXT,
		preview: TEXT,
	},
} as const;
const IMAGE = {
	type: "object",
	required: ["type", "data", "mimeType"],
	properties: { type: { const: "image" }, data: TEXT, mimeType: TEXT },
} as const;

/** The fields of an RPC command that sends a prompt. */
export const PROMPT_INPUT = {
	type: "object",
	required: ["message"],
	properties: {
		message: TEXT,
		attachments: { type: "array", items: ATTACHMENT },
		images: { type: "array", items: IMAGE },
	},
} as const;

/** Result of a prompt: its run has begun, it is queued, a hook has handled it, or it was a slash command and has finished. */
export type PromptAnswer =
	| { outcome: "started" }
	| { outcome: "queued" }
	/** A hook has handled it: nothing is sent. */
	| { outcome: "handled"; hook: string }
	/** `status`: status line of the command, or null. */
	| { outcome: "command"; status: string | null };

/** Answers a prompt when its run has begun, when it is queued, or when it was a command; not at the end of the run. @internal */
export function acceptPrompt(
	{ session, onFailure }: RpcCall,
	send: () => Promise<PromptResult>,
): Promise<PromptAnswer> {
	return new Promise((accept, refuse) => {
		let isAnswered = false;
		const stop = session.events.subscribe(({ type }) => {
			if (type !== "agent_start") return;
			isAnswered = true;
			accept({ outcome: "started" });
		});
		send()
			.then(
				(result) => accept(toAnswer(result)),
				(error: unknown) => {
					if (isAnswered) onFailure(describeError(error));
					else refuse(error);
				},
			)
			.finally(stop);
	});
}

function toAnswer(result: PromptResult): PromptAnswer {
	if (result.kind === "run") return { outcome: "started" };
	if (result.kind === "handled") return { outcome: "handled", hook: result.by };
	return result.kind === "queued" ? { outcome: "queued" } : { outcome: "command", status: result.status };
}
