import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { Api, AssistantMessage, Context, Model, SimpleStreamOptions } from "@mariozechner/pi-ai";
import { type JsonObject, readJsonObject, updateJsonFile } from "../config/json-file.js";
import { readMessage } from "../log/read-message.js";
import { isRecord } from "../util/is-record.js";

/** Characters of the answers in the file; the oldest are dropped. A summary has about 10,000. */
const MAX_CHARACTERS = 4_000_000;

/** Answers of models, by the digest of the request. The file has no request, and no key of a provider. */
export class AnswerFile {
	#answers: ReadonlyMap<string, unknown> | null = null;

	/** @param path the file; it and its directory may be missing */
	constructor(private readonly path: string) {}

	/** The answer to a request; null if no answer is known, or if the file cannot be read. */
	find(key: string): AssistantMessage | null {
		this.#answers ??= new Map(Object.entries(this.#read()));
		const message = readMessage(this.#answers.get(key), 0);
		return typeof message === "object" && message.role === "assistant" ? message : null;
	}

	/** Adds an answer. @throws PiError `config_write_failed`, or the system's error if the directory cannot be created */
	async add(key: string, message: AssistantMessage): Promise<void> {
		mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
		await updateJsonFile(
			this.path,
			(current) => {
				const { [key]: _, ...others } = answersIn(current);
				const kept = latest({ ...others, [key]: message });
				this.#answers = new Map(Object.entries(kept));
				return { answers: kept };
			},
			{ replacesUnreadable: true },
		);
	}

	#read(): JsonObject {
		try {
			return answersIn(readJsonObject(this.path) ?? {});
		} catch {
			return {}; // Only means that models are asked again.
		}
	}
}

function answersIn({ answers }: JsonObject): JsonObject {
	return isRecord(answers) ? answers : {};
}

/** The answers that were added last, within the limit. */
function latest(answers: JsonObject): JsonObject {
	let left = MAX_CHARACTERS;
	const entries = Object.entries(answers).toReversed();
	const end = entries.findIndex(([, answer]) => {
		left -= JSON.stringify(answer).length;
		return left < 0;
	});
	return Object.fromEntries((end < 0 ? entries : entries.slice(0, end)).toReversed());
}

/** Identifies a request to a model: everything that the model receives. */
export function digestRequest(
	{ provider, id, baseUrl }: Model<Api>,
	{ systemPrompt, messages, tools }: Context,
	{ maxTokens, temperature, reasoning }: SimpleStreamOptions,
): string {
	const sent = messages.map((message) =>
		message.role === "assistant"
			? { role: message.role, content: message.content }
			: { ...message, timestamp: undefined, details: undefined },
	);
	const request = { provider, id, baseUrl, systemPrompt, sent, tools, maxTokens, temperature, reasoning };
	return createHash("sha256").update(JSON.stringify(request)).digest("hex");
}
