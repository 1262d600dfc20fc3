import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempDir } from "../log/support.js";
import { imported, short, write } from "./support.js";

describe("aider", () => {
	const history = [
		...["", "# aider chat started at 2025-01-01 10:00:00", "", "> Main model: gpt-4o with diff edit format  ", ""],
		...[
			"#### /add a.py",
			"",
			"# aider chat started at 2025-01-02 10:00:00",
			"",
			"> Main model: anthropic/claude-sonnet-4-5 with diff  ",
		],
		...[
			"#### Rename it,  ",
			"#### everywhere",
			"",
			"> Add a.py to the chat?",
			"#### Add file to the chat? (Y)es/(N)o/(D)on't ask again [Yes]: skip",
			"",
			"<thinking-content-7bb>",
			"Hm.",
			"</thinking-content-7bb>",
			"",
			"I rename it.",
			"",
			"a.py",
			"```",
			"x",
			"```",
			"",
		],
		...[
			"> Tokens: 2.6k sent, 1k cache write, 500 cache hit, 85 received. Cost: $0.04 message, $0.05 session.  ",
			"> Applied edit to a.py  ",
		],
		...["#### /ask Why?", "", "Because."],
	].join("\n");

	test("the last chat with a prompt, with its model, tokens and cost", async () => {
		const { entries, made, found } = await imported(write(join(tempDir(), ".aider.chat.history.md"), history));
		expect(found).toMatchObject({ program: "aider", id: "2025-01-02T10:00:00", title: "Rename it, everywhere" });
		expect(short(entries)).toEqual([
			"user Rename it,\neverywhere",
			"assistant <Hm.> I rename it.\n\na.py\n```\nx\n```",
			"user /ask Why?",
			"assistant Because.",
		]);
		expect(entries[1]?.message).toMatchObject({
			...{ provider: "anthropic", model: "claude-sonnet-4-5" },
			usage: { input: 1100, cacheWrite: 1000, cacheRead: 500, output: 85, cost: { total: 0.04 } },
		});
		expect(made.leftOut).toEqual({ "notes of the program": 4 });
	});
});
