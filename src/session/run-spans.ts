import type { Api, AssistantMessage, Model, Usage } from "@mariozechner/pi-ai";
import {
	type Attributes,
	type Context,
	ROOT_CONTEXT,
	type Span,
	SpanKind,
	SpanStatusCode,
	trace,
} from "@opentelemetry/api";
import { ExportResultCode, parseTraceParent } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { kindOfFailure } from "../agent/failure-kinds.js";
import { isRequestUsageEntry } from "../log/entry.js";
import { packageVersion } from "../util/package-root.js";
import type { AgentSessionEvent } from "./events.js";

/** Names of providers in the semantic conventions, where they differ from pi's. */
const PROVIDER_NAMES: Readonly<Record<string, string>> = {
	"amazon-bedrock": "aws.bedrock",
	"azure-openai-responses": "azure.ai.openai",
	google: "gcp.gemini",
	"google-vertex": "gcp.vertex_ai",
	mistral: "mistral_ai",
	moonshotai: "moonshot_ai",
	"openai-codex": "openai",
	xai: "x_ai",
};

/** Where spans are sent. */
export interface ExportTarget {
	/** The address for traces. */
	url: string;
	/** `TRACEPARENT` of the environment. */
	traceParent: string | undefined;
}

export interface RunSpansOptions {
	target: ExportTarget;
	/** The session as it is now. */
	session(): { id: string; model: Model<Api> | null };
	/** Called whenever spans could not be exported. */
	onFailure(error: unknown): void;
}

/**
 * Turns the events of a session into spans by the semantic conventions for generative AI: `invoke_agent` for a run, `chat` for
 * each request, `execute_tool` for each call. They have names and figures, and nothing of messages, arguments and results.
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/
 */
export class RunSpans {
	readonly #provider: TracerProvider;
	readonly #root: Context;
	#run: Span | null = null;
	#chat: Span | null = null;
	/** Why the last request of the run failed, in a word; undefined if it did not. */
	#failure: string | undefined;
	/** When the compaction began that is active, ms since the epoch. */
	#compactionAt: number | null = null;
	readonly #calls = new Map<string, Span>();

	constructor(private readonly options: RunSpansOptions) {
		const { target, onFailure } = options;
		const exporter = new ReportingExporter(target.url, onFailure);
		// What OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say counts.
		const own = resourceFromAttributes({ "service.name": "pi", "service.version": packageVersion() });
		this.#provider = new TracerProvider({
			resource: own.merge(detectResources({ detectors: [envDetector] })),
			spanProcessors: [new BatchSpanProcessor({ exporter })],
		});
		const parent = target.traceParent === undefined ? null : parseTraceParent(target.traceParent);
		this.#root = parent ? trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true }) : ROOT_CONTEXT;
	}

	/** @param at when the event occurred, ms since the epoch */
	observe(event: AgentSessionEvent, at: number): void {
		switch (event.type) {
			case "agent_start":
				this.#run = this.#begin("invoke_agent", "pi", SpanKind.INTERNAL, at, null, {
					"gen_ai.agent.name": "pi",
					...modelOf(this.options.session().model),
				});
				return;
			case "agent_end":
				this.#endChat(at);
				finish(this.#run, at, this.#failure);
				this.#run = null;
				this.#failure = undefined;
				return;
			case "turn_start":
				this.#beginChat(at);
				return;
			case "auto_retry_start":
				this.#endChat(at, event.errorMessage);
				this.#beginChat(at + event.delayMs);
				return;
			case "auto_compaction_start":
				this.#compactionAt = at;
				return;
			case "auto_compaction_end":
				this.#compactionAt = null;
				return;
			case "entry_appended":
				if (isRequestUsageEntry(event.entry)) {
					const { provider, modelId: id, usage } = event.entry;
					const span = this.#startChat(this.#compactionAt ?? at, { provider, id });
					span.setAttributes(usageOf(usage));
					finish(span, at);
				}
				return;
			case "message_end":
				if (event.message.role === "assistant" && event.isRetried !== true) this.#endReply(event.message, at);
				return;
			case "tool_execution_start": {
				const { toolCallId, toolName, caller } = event;
				const parent = this.#calls.get(caller?.toolCallId ?? "") ?? this.#run;
				const attributes = { "gen_ai.tool.name": toolName, "gen_ai.tool.call.id": toolCallId };
				const span = this.#begin("execute_tool", toolName, SpanKind.INTERNAL, at, parent, attributes);
				this.#calls.set(toolCallId, span);
				return;
			}
			case "tool_execution_end": {
				const { toolCallId, isError, blockedBy } = event;
				const error = blockedBy === undefined ? "tool_error" : "blocked";
				finish(this.#calls.get(toolCallId) ?? null, at, isError ? error : undefined);
				this.#calls.delete(toolCallId);
			}
		}
	}

	/** Ends all spans and sends them, waiting at most `limitMs`. Never rejects. */
	async end(limitMs: number): Promise<void> {
		const at = Date.now();
		for (const span of [...this.#calls.values(), this.#chat, this.#run]) finish(span, at, "aborted");
		const { onFailure } = this.options;
		let timer: NodeJS.Timeout | undefined;
		const late = new Promise<void>((resolve) => {
			timer = setTimeout(() => {
				onFailure(new Error(`no answer within ${limitMs / 1000} s`));
				resolve();
			}, limitMs);
		});
		await Promise.race([this.#provider.forceFlush().catch(onFailure), late]);
		clearTimeout(timer);
		// What still waits for an answer is given up.
		void this.#provider.shutdown().catch(() => {});
	}

	#begin(
		operation: string,
		subject: string,
		kind: SpanKind,
		startTime: number,
		parent: Span | null,
		attributes: Attributes,
	): Span {
		const name = `${operation} ${subject}`;
		const { id } = this.options.session();
		const own = { "gen_ai.operation.name": operation, "gen_ai.conversation.id": id, ...attributes };
		const context = parent ? trace.setSpan(this.#root, parent) : this.#root;
		return this.#provider
			.getTracer("pi", packageVersion())
			.startSpan(name, { kind, startTime, attributes: own }, context);
	}

	#startChat(at: number, model: Pick<Model<Api>, "provider" | "id"> | null): Span {
		return this.#begin("chat", model?.id ?? "", SpanKind.CLIENT, at, this.#run, modelOf(model));
	}

	#beginChat(at: number): void {
		this.#chat = this.#startChat(at, this.options.session().model);
	}

	#endReply(reply: AssistantMessage, at: number): void {
		const { provider, model, responseModel, usage, stopReason, errorMessage } = reply;
		this.#chat?.updateName(`chat ${model}`);
		this.#chat?.setAttributes({
			...modelOf({ provider, id: model }),
			"gen_ai.response.model": responseModel ?? model,
			...usageOf(usage),
		});
		this.#endChat(at, stopReason === "error" ? (errorMessage ?? "") : undefined, stopReason === "aborted");
	}

	/** @param failure its text, of which only the kind is sent */
	#endChat(at: number, failure?: string, isAborted = false): void {
		if (this.#chat === null) return;
		this.#failure = isAborted ? "aborted" : failure === undefined ? undefined : kindOfFailure(failure).name;
		finish(this.#chat, at, this.#failure);
		this.#chat = null;
	}
}

/** Ends a span. @param error what failed, in a word that is no content */
function finish(span: Span | null, at: number, error?: string): void {
	if (error !== undefined) span?.setAttribute("error.type", error).setStatus({ code: SpanStatusCode.ERROR });
	span?.end(at);
}

function modelOf(model: Pick<Model<Api>, "provider" | "id"> | null): Attributes {
	if (model === null) return {};
	const { provider, id } = model;
	return { "gen_ai.provider.name": PROVIDER_NAMES[provider] ?? provider, "gen_ai.request.model": id };
}

/** By the conventions, input includes what the provider had in its cache. */
function usageOf({ input, output, cacheRead, cacheWrite }: Usage): Attributes {
	return { "gen_ai.usage.input_tokens": input + cacheRead + cacheWrite, "gen_ai.usage.output_tokens": output };
}

/** Reports failures, which the library only logs. */
class ReportingExporter extends OTLPTraceExporter {
	constructor(
		url: string,
		private readonly onFailure: (error: unknown) => void,
	) {
		super({ url });
	}

	override export(...[spans, done]: Parameters<OTLPTraceExporter["export"]>): void {
		super.export(spans, (result) => {
			if (result.code !== ExportResultCode.SUCCESS) this.onFailure(result.error);
			done(result);
		});
	}
}
