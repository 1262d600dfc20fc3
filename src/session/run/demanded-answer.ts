import type { Api, AssistantMessage, JsonValue, Model } from "@mariozechner/pi-ai";
import type { AnswerDemand, ReplyReview } from "../../agent/loop.js";
import type { ActiveOutputSchema } from "../../context/context-message.js";
import { answerForm, answerTool, unwrapAnswer } from "../../context/output-schema.js";
import { PiError } from "../../errors.js";
import { entryTimestamp, messageText } from "../../log/entry.js";
import { freezeDeep } from "../../log/freeze.js";
import { callsTools } from "../../models/model-facts.js";
import { modelName } from "../../models/model-match.js";
import { canFormat } from "../../services/models/output-format.js";
import type { AnyTool } from "../../tools/tool.js";
import { createJsonCheck, describeSchemaProblem, type JsonCheck, type JsonSchema } from "../../util/check-json.js";
import type { SystemItems } from "../prompt/prompt-queue.js";
import type { SessionCore } from "../session-core.js";

/** The schema of an answer, and the check against it. */
export interface OutputSchema {
	/** Frozen. */
	schema: JsonSchema;
	check: JsonCheck;
}

/** @throws PiError `bad_arguments` for a value that is no JSON Schema of draft 2020-12 @param name of the option, for the error */
export async function readOutputSchema(value: unknown, name: string): Promise<OutputSchema> {
	const problem = await describeSchemaProblem(value);
	if (problem !== null) {
		throw new PiError("bad_arguments", `${name} is no JSON Schema: ${problem}`, {
			hint: "it must be one of draft 2020-12",
		});
	}
	const schema: JsonSchema = freezeDeep(structuredClone(value as JsonSchema));
	return { schema, check: await createJsonCheck(schema) };
}

/** Replies that do not match after which a run ends. */
const MAX_TRIES = 3;
/** Errors that are named. */
const MAX_ERRORS = 20;

type Wanted = { schema: JsonSchema; tool?: string };

/**
 * What the answer of a run must match; each run has one. It writes to the log what the requests ask for, before the first one
 * and whenever that changes, checks the replies, and tells the model what is wrong with one.
 */
export class DemandedAnswer implements AnswerDemand {
	#tries = 0;
	/** What the last call of the tool gave. */
	#given: { value: JsonValue } | null = null;
	#errors: readonly string[] = [];
	/** Name of the tool that takes the answer; undefined: the provider is asked for its form. */
	#tool: string | undefined;

	/** @param output null: answers have no form */
	constructor(
		private readonly deps: Pick<SessionCore, "state" | "code"> & { systemItems: SystemItems },
		private readonly output: OutputSchema | null,
	) {}

	/** @throws PiError `bad_arguments` for a model that can neither call tools nor be asked for a form */
	checkModel(model: Model<Api>): void {
		if (this.output === null || canFormat(model, this.output.schema) || callsTools(model)) return;
		throw new PiError("bad_arguments", `${modelName(model)} cannot answer with a schema: it cannot call tools`, {
			hint: "choose another model, or set compat.supportsJsonSchema in models.json",
		});
	}

	/**
	 * Writes what the next request to a model asks for, unless its context does.
	 * @param active what the context asks for. That of entries which a compaction replaced is written again
	 * @returns whether it wrote an entry, and the context must be computed again
	 */
	write(model: Model<Api>, active: ActiveOutputSchema | null): boolean {
		const wanted = this.#wanted(model);
		this.#tool = wanted?.tool;
		const isSame = wanted?.tool === active?.tool && JSON.stringify(wanted?.schema) === JSON.stringify(active?.schema);
		if (isSame) return false;
		const entry = wanted ?? { schema: null };
		this.deps.state.append({ type: "output_schema", timestamp: entryTimestamp(), ...entry });
		return true;
	}

	#wanted(model: Model<Api>): Wanted | null {
		if (this.output === null) return null;
		const { schema } = this.output;
		if (canFormat(model, schema)) return { schema };
		const taken = new Set(this.deps.code.tools.map(({ name }) => name));
		let tool = "answer";
		for (let number = 2; taken.has(tool); number++) tool = `answer_${number}`;
		return { schema, tool };
	}

	/** The tool that takes the answer; none if the provider is asked for its form. */
	tools(): AnyTool[] {
		const { output } = this;
		const name = this.#tool;
		if (output === null || name === undefined) return [];
		const { description, parameters } = answerTool(output.schema, name);
		return [
			{
				name,
				description,
				parameters,
				checkArguments: (args) => {
					this.#errors = errorsOf(unwrapAnswer(args, answerForm(output.schema)), output);
					if (this.#errors.length > 0) throw new Error(mismatch(this.#errors));
					return args as Record<string, unknown>;
				},
				run: (args) => {
					this.#given = { value: unwrapAnswer(args, answerForm(output.schema)) as JsonValue };
					return { content: [{ type: "text", text: "The answer was accepted." }], terminate: true };
				},
			},
		];
	}

	review(reply: AssistantMessage): ReplyReview | null {
		if (this.output === null || reply.stopReason === "error" || reply.stopReason === "aborted") return null;
		const given = this.#given ?? this.#read(reply);
		const errors = this.#errors;
		this.#given = null;
		this.#errors = [];
		if (given) return { given, isOver: true, stopped: null };
		const name = this.#tool;
		const calls = reply.content.filter(({ type }) => type === "toolCall");
		const isCalled = calls.some((call) => call.type === "toolCall" && call.name === name);
		if (calls.length > 0 && !isCalled) return { isOver: false, stopped: null };
		const found = errors.length > 0 ? errors : [isCalled ? `/: the call of ${name} was refused` : missing(reply, name)];
		if (++this.#tries === MAX_TRIES)
			return { isOver: true, stopped: `No answer in ${MAX_TRIES} tries: ${shown(found)}` };
		// The result of a call says it already.
		if (!isCalled) {
			const text = `${mismatch(found)}\n${name === undefined ? "Answer again, with nothing but the JSON." : `Call the tool ${name} with the answer.`}`;
			this.deps.systemItems.add("output-schema", { kind: "notification", text });
		}
		return { isOver: false, stopped: null };
	}

	/** The answer in the text of a reply, where the provider is asked for its form. Notes its errors. */
	#read(reply: AssistantMessage): { value: JsonValue } | null {
		const { output } = this;
		const hasCalls = reply.content.some(({ type }) => type === "toolCall");
		if (output === null || this.#tool !== undefined || hasCalls || reply.stopReason === "length") return null;
		try {
			const value = unwrapAnswer(JSON.parse(messageText(reply)), answerForm(output.schema));
			this.#errors = errorsOf(value, output);
			return this.#errors.length === 0 ? { value: value as JsonValue } : null;
		} catch {
			this.#errors = ["/: is no JSON"];
			return null;
		}
	}
}

/** @param value undefined: the answer was not where its wrapper has it */
function errorsOf(value: unknown, { check }: OutputSchema): string[] {
	return value === undefined ? [MISPLACED] : check(value);
}

const MISPLACED = '/: give an object with the answer as its only property, "answer"';

/** What a reply without an answer lacks. */
function missing({ stopReason }: AssistantMessage, tool: string | undefined): string {
	if (stopReason === "length") return "/: was cut off at the model's output limit";
	return tool === undefined ? "/: is no JSON" : `/: the tool ${tool} was not called`;
}

function mismatch(errors: readonly string[]): string {
	return `The answer does not match its schema:\n${limited(errors).join("\n")}`;
}

function shown(errors: readonly string[]): string {
	return limited(errors).join(" · ");
}

function limited(errors: readonly string[]): readonly string[] {
	if (errors.length <= MAX_ERRORS) return errors;
	return [...errors.slice(0, MAX_ERRORS), `and ${errors.length - MAX_ERRORS} more`];
}
