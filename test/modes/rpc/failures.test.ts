import { describe, expect, test } from "vitest";
import type { RpcEvent } from "../../../src/modes/rpc/protocol.js";
import { httpError, text } from "../../helpers/loopback-provider.js";
import { serve } from "./serve.js";

const ended = (event: RpcEvent) => event.type === "agent_end";

describe("a run that fails", () => {
	test("has an error event with its code and hint before its end", async () => {
		const { client, provider, lines } = await serve();
		provider.reply(httpError(400));
		const end = client.nextEvent(ended);
		await client.call("prompt", { message: "hi" });
		await end;
		const at = lines.findIndex(({ type }) => type === "error");
		expect(lines.slice(at, at + 2)).toMatchObject([
			{ type: "error", message: expect.stringMatching(/^loopback\/scripted: .* · /), code: "request_failed" },
			{ type: "agent_end", messages: [{ role: "user" }, { stopReason: "error", errorMessage: expect.any(String) }] },
		]);
	});

	test("and one that is aborted or succeeds has none", async () => {
		const { client, provider, events } = await serve();
		provider.reply("fine", { content: [text("never")], hold: new Promise(() => {}) });
		for (const message of ["one", "two"]) {
			const end = client.nextEvent(ended);
			await client.call("prompt", { message });
			if (message === "two") {
				await expect.poll(() => provider.requests.length).toBe(2);
				await client.call("abort");
			}
			await end;
		}
		expect(events("error")).toEqual([]);
	});
});

describe("errors", () => {
	test("have the code of the failure, which the client throws", async () => {
		const { client, write, responses } = await serve();
		await expect(client.call("prompt", { message: " " })).rejects.toMatchObject({ code: "bad_arguments" });
		await expect(client.call("switch_session", { sessionPath: "/no/such.jsonl" })).rejects.toMatchObject({
			code: "log_not_found",
		});
		write(
			'{"id": 1, "type": "get_stat"}\n{"id": 2, "type": "prompt"}\nnot JSON\n{"id": "x", "type": "hook_ui_response"}\n',
		);
		await client.call("get_state");
		expect(responses()).toMatchObject([
			{ command: "prompt", success: false, code: "bad_arguments" },
			{ command: "switch_session", success: false, code: "log_not_found" },
			{ id: 1, success: false, code: "bad_arguments" },
			{ id: 2, success: false, code: "bad_arguments" },
			{ command: "parse", success: false, code: "bad_arguments" },
			{ success: true },
		]);
	});
});
