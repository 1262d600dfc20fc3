import { expect, test } from "vitest";
import { exportTarget } from "../../src/session/telemetry.js";
import { httpError, toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { startCollector } from "../helpers/trace-collector.js";

test.each([
	[{}, null],
	[{ OTEL_EXPORTER_OTLP_ENDPOINT: " " }, null],
	[{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://a:4318" }, "http://a:4318/v1/traces"],
	[{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://a/otlp/" }, "http://a/otlp/v1/traces"],
	[{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://a", OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://b/x" }, "http://b/x"],
	[{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://a", OTEL_SDK_DISABLED: "TRUE" }, null],
])("%j exports to %s", (env, url) => {
	expect(exportTarget(env)?.url ?? null).toBe(url);
});

async function start(settings = {}) {
	const collector = await startCollector();
	const pi = await startSession({
		env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin },
		userSettings: { telemetry: { otel: true }, ...settings },
	});
	return { ...pi, collector };
}

test("a request that is sent again is a span of its own, and a run that ends well has no error", async () => {
	const { session, provider, collector } = await start({ retry: { baseDelayMs: 1 } });
	provider.reply(httpError(503), "Fine.");
	await session.prompt("go");
	await session.dispose();
	expect(collector.spans().map(({ name, isError }) => [name, isError])).toEqual([
		["chat scripted", true],
		["chat scripted", false],
		["invoke_agent pi", false],
	]);
});

test("the request for a summary is a span", async () => {
	const { session, provider, collector } = await start({ compaction: { keepRecentTokens: 1 } });
	provider.reply("One.", "Two.", "A summary.");
	await session.prompt("one ".repeat(500));
	await session.prompt("two");
	await session.compact();
	await session.dispose();
	const [, , , , summary] = collector.spans();
	expect(summary).toMatchObject({
		name: "chat scripted",
		parentSpanId: "",
		attributes: { "gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 5 },
	});
});

test("a run that is stopped says so", async () => {
	const { session, provider, collector } = await start();
	provider.reply([toolCall("bash", { command: "sleep 100" })]);
	const run = session.prompt("go");
	await new Promise<void>((resolve) => {
		session.subscribe((event) => event.type === "tool_execution_update" && resolve());
		session.subscribe((event) => event.type === "tool_execution_start" && resolve());
	});
	await session.dispose();
	await run.catch(() => {});
	const call = collector.spans().find(({ name }) => name === "execute_tool bash");
	expect(call).toMatchObject({ isError: true });
});

test("an endpoint without a scheme is named with what it lacks", async () => {
	const { session, provider, notices } = await startSession({
		env: { OTEL_EXPORTER_OTLP_ENDPOINT: "localhost:4318" },
		userSettings: { telemetry: { otel: true } },
	}).then((pi) => {
		const notices: string[] = [];
		pi.session.subscribe((event) => void (event.type === "notice" && notices.push(event.message)));
		return { ...pi, notices };
	});
	provider.reply("Fine.");
	await session.prompt("go");
	await session.dispose();
	expect(notices).toEqual([
		expect.stringMatching(
			/^Traces cannot be sent to the endpoint: the address must begin with http:\/\/ or https:\/\//,
		),
	]);
});
