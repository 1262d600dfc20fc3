import { createServer, type IncomingHttpHeaders } from "node:http";
import { onTestFinished } from "vitest";
import { isObject, objects, parseJson, stringOr } from "./json.js";
import { listen } from "./proxy.js";

/** A span as the collector received it. */
export interface ReceivedSpan {
	name: string;
	traceId: string;
	spanId: string;
	parentSpanId: string;
	attributes: Record<string, unknown>;
	isError: boolean;
	/** Nanoseconds. */
	start: bigint;
	end: bigint;
}

/** An OTLP/HTTP collector for JSON on 127.0.0.1. */
export interface TraceCollector {
	/** Such as `http://127.0.0.1:4318`. */
	origin: string;
	requests: { path: string; headers: IncomingHttpHeaders; body: string }[];
	spans(): ReceivedSpan[];
	/** Attributes of the resource of the first request. */
	resource(): Record<string, unknown>;
}

/** Starts a collector for the running test. @param status of its answers */
export async function startCollector(status = 200): Promise<TraceCollector> {
	const requests: TraceCollector["requests"] = [];
	const server = createServer((request, response) => {
		let body = "";
		request.setEncoding("utf8").on("data", (chunk: string) => {
			body += chunk;
		});
		request.on("end", () => {
			requests.push({ path: request.url ?? "", headers: request.headers, body });
			response.writeHead(status, { "content-type": "application/json" }).end("{}");
		});
	});
	const port = await listen(server);
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	const resources = () =>
		requests.flatMap(({ body }) => {
			const sent = parseJson(body);
			return objects(isObject(sent) ? sent.resourceSpans : []);
		});
	return {
		origin: `http://127.0.0.1:${port}`,
		requests,
		resource: () => {
			const resource = resources()[0]?.resource;
			return attributesOf(isObject(resource) ? resource.attributes : []);
		},
		spans: () =>
			resources()
				.flatMap(({ scopeSpans }) => objects(scopeSpans))
				.flatMap(({ spans }) => objects(spans))
				.map((span) => ({
					name: stringOr(span.name, ""),
					traceId: stringOr(span.traceId, ""),
					spanId: stringOr(span.spanId, ""),
					parentSpanId: stringOr(span.parentSpanId, ""),
					attributes: attributesOf(span.attributes),
					isError: isObject(span.status) && span.status.code === 2,
					start: BigInt(stringOr(span.startTimeUnixNano, "0")),
					end: BigInt(stringOr(span.endTimeUnixNano, "0")),
				})),
	};
}

function attributesOf(list: unknown): Record<string, unknown> {
	return Object.fromEntries(
		objects(list).map(({ key, value }) => {
			const { stringValue, intValue } = isObject(value) ? value : {};
			return [stringOr(key, ""), stringValue ?? Number(intValue)];
		}),
	);
}
