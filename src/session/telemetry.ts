import type { Environment } from "../config/paths.js";
import { errorText } from "../errors.js";
import type { SessionServices } from "../services/service-types.js";
import { stripAll } from "../util/sanitize.js";
import type { AgentSessionEvent } from "./events.js";
import type { ExportTarget, RunSpans } from "./run-spans.js";
import type { SessionState } from "./session-state.js";

/** How long the end of a session waits for what was not sent yet, ms. */
const FLUSH_LIMIT_MS = 2000;

/** Events with which the first span begins. */
const FIRST: ReadonlySet<AgentSessionEvent["type"]> = new Set([
	"agent_start",
	"tool_execution_start",
	"auto_compaction_start",
]);

/** The target that the environment names, as the specification of OpenTelemetry reads it; null for none. */
export function exportTarget(env: Environment): ExportTarget | null {
	const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own, OTEL_EXPORTER_OTLP_ENDPOINT: base, TRACEPARENT: traceParent } = env;
	if (env.OTEL_SDK_DISABLED?.trim().toLowerCase() === "true") return null;
	if (own?.trim()) return { url: own.trim(), traceParent };
	if (!base?.trim()) return null;
	// As in the specification, whether or not the address ends with a slash.
	return { url: `${base.trim()}/v1/traces`.replace("//v1/traces", "/v1/traces"), traceParent };
}

/**
 * Exports the runs of a session, its requests and its tool calls as spans of OpenTelemetry, if the setting `telemetry.otel` and
 * an endpoint in the environment ask for it. Without both, nothing is loaded and nothing is sent. @see docs/telemetry.md
 */
export class Telemetry {
	readonly #target: ExportTarget | null;
	/** The first events, until the library has loaded. */
	readonly #early: { event: AgentSessionEvent; at: number }[] = [];
	#spans: RunSpans | null = null;
	#loading: Promise<void> | null = null;
	#hasFailed = false;

	/** @param onFailure receives a line, once, if spans cannot be exported */
	constructor(
		private readonly deps: Pick<SessionServices, "store" | "code"> & {
			state: SessionState;
			onFailure(line: string): void;
		},
	) {
		const { store, code } = deps;
		this.#target = store.settings.current.telemetry.otel ? exportTarget(code.mcpContext.env) : null;
	}

	observe(event: AgentSessionEvent): void {
		if (this.#target === null) return;
		const at = Date.now();
		if (this.#spans) {
			this.#spans.observe(event, at);
			return;
		}
		if (this.#loading === null && !FIRST.has(event.type)) return;
		this.#loading ??= this.#load(this.#target);
		this.#early.push({ event, at });
	}

	/** Sends what was not sent yet. Resolves after 2 s at the latest, and never rejects. */
	async end(): Promise<void> {
		await this.#loading;
		await this.#spans?.end(FLUSH_LIMIT_MS);
	}

	async #load(target: ExportTarget): Promise<void> {
		try {
			if (!/^https?:\/\//i.test(target.url)) throw new Error("the address must begin with http:// or https://");
			const { RunSpans } = await import("./run-spans.js");
			const spans = new RunSpans({
				target,
				session: () => ({ id: this.deps.state.log.id, model: this.deps.state.model }),
				onFailure: (error) => this.#fail(target, error),
			});
			for (const { event, at } of this.#early.splice(0)) spans.observe(event, at);
			this.#spans = spans;
		} catch (error) {
			this.#early.length = 0;
			this.#fail(target, error);
		}
	}

	#fail({ url }: ExportTarget, error: unknown): void {
		if (this.#hasFailed) return;
		this.#hasFailed = true;
		// The address may contain a password.
		const place = (URL.canParse(url) && new URL(url).host) || "the endpoint";
		const reason = stripAll(errorText(error)) || "no answer";
		this.deps.onFailure(
			`Traces cannot be sent to ${place}: ${reason} · check OTEL_EXPORTER_OTLP_ENDPOINT, or turn off telemetry.otel`,
		);
	}
}
