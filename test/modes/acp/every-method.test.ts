import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { serve } from "./serve.js";

// The client of the tests reports answers to lines that they write themselves.
beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());

/** Requests that pi answers. */
const ANSWERED = [
	"authenticate",
	"initialize",
	"session/close",
	"session/list",
	"session/load",
	"session/new",
	"session/prompt",
	"session/resume",
	"session/set_config_option",
	"session/set_mode",
];
/** Notifications that pi understands. */
const HEARD = ["$/cancel_request", "session/cancel"];
const METHOD_NOT_FOUND = -32601;

/** The names of the methods in all schemas of the SDK: stable, unstable, and those of the next version of the protocol. */
function everyMethod(): string[] {
	const sdk = join(dirname(createRequire(import.meta.url).resolve("@agentclientprotocol/sdk")), "../../..");
	const schemas = ["v1", "v2"].flatMap((version) =>
		["schema.json", "schema.unstable.json"].map((file) =>
			JSON.parse(readFileSync(join(sdk, "schema", version, file), "utf8")),
		),
	);
	const names = schemas.flatMap(({ $defs }) => Object.values<Record<string, unknown>>($defs));
	return [...new Set(names.flatMap((type) => (typeof type["x-method"] === "string" ? [type["x-method"]] : [])))].sort();
}

const METHODS = everyMethod();

test("the schemas of the SDK have every method that pi answers or hears", () => {
	expect(METHODS).toEqual(expect.arrayContaining([...ANSWERED, ...HEARD]));
	expect(METHODS.length).toBeGreaterThan(40);
});

test("every request in the schemas of the SDK is answered, or refused as unknown", async () => {
	const { write, output } = await serve();
	const requests = METHODS.map((method) => ({ jsonrpc: "2.0", id: `ask ${method}`, method, params: {} }));
	write(requests.map((request) => `${JSON.stringify(request)}\n`).join(""));
	const answers = () =>
		output()
			.trimEnd()
			.split("\n")
			.map((line) => JSON.parse(line))
			.filter(({ id, method }) => typeof id === "string" && id.startsWith("ask ") && method === undefined);
	await vi.waitFor(() => expect(answers()).toHaveLength(METHODS.length), 10_000);
	const known = answers().filter(({ error }) => error?.code !== METHOD_NOT_FOUND);
	expect(known.map(({ id }) => id.replace("ask ", "")).sort()).toEqual(ANSWERED);
});

test("a notification of the schemas of the SDK gets no answer, and the connection stays open", async () => {
	const { write, output, editor, id } = await serve();
	const before = output().length;
	const notifications = METHODS.map((method) => ({ jsonrpc: "2.0", method, params: { sessionId: id } }));
	write(notifications.map((notification) => `${JSON.stringify(notification)}\n`).join(""));
	expect(await editor.prompt(id, "/session")).toEqual({ stopReason: "end_turn" });
	const answers = output()
		.slice(before)
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line))
		.filter(({ method }) => method === undefined);
	expect(answers).toEqual([expect.objectContaining({ result: { stopReason: "end_turn" } })]);
});
