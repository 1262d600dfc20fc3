import type { Api, AssistantMessage, Model } from "@mariozechner/pi-ai";
import { expect, test } from "vitest";
import { separateThinking } from "../../src/context/foreign-thinking.js";
import { model } from "../helpers/model.js";

const usage = {
	...{ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 },
	cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
const thinking = (text: string) => ({ type: "thinking" as const, thinking: text });
const text = (value: string) => ({ type: "text" as const, text: value });
const call = { type: "toolCall" as const, id: "a", name: "read", arguments: {} };
const own = { ...model("lab", "own"), api: "openai-completions" as const };

function reply(content: AssistantMessage["content"], by = "other"): AssistantMessage {
	return {
		...{ role: "assistant", content, api: own.api, provider: own.provider, model: by, usage },
		...{ stopReason: "stop", timestamp: 0 },
	};
}
const contentOf = (message: AssistantMessage) => {
	const [sent] = separateThinking([message], own);
	return sent?.content;
};

test("thinking of another model is separated from text and from other thinking", () => {
	const content = [thinking("a"), text("b"), call, thinking("c"), thinking(" "), thinking("d"), text("e"), text("f")];
	expect(contentOf(reply(content))).toEqual([
		...[thinking("a"), text("\n\nb"), call, thinking("\n\nc"), thinking(" ")],
		...[thinking("\n\nd"), text("\n\ne"), text("f")],
	]);
});

test.each<[string, AssistantMessage, Model<Api>]>([
	["of the same model", reply([thinking("a"), text("b")], "own"), own],
	["without thinking", reply([text("a"), text("b")]), own],
	["that only thinks", reply([thinking("a"), call]), own],
	["for another wire format", reply([thinking("a"), text("b")]), { ...own, api: "anthropic-messages" }],
])("a reply %s is unchanged", (_, message, target) => {
	const messages = [message];
	expect(separateThinking(messages, target)).toBe(messages);
});
