import { expect, test } from "vitest";
import { describeDeprecation } from "../../../src/session/run/session-run.js";

const model = { provider: "anthropic", id: "claude-opus-4-5" };
const next = " · choose another model · pi models update reads the current list";

test.each<[Record<string, string>, string | null]>([
	[{}, null],
	[{ deprecation: "false" }, null],
	[{ deprecation: "?0" }, null],
	[{ sunset: "soon" }, null],
	[{ deprecation: "true" }, `claude-opus-4-5 is deprecated by anthropic${next}`],
	[{ deprecation: "@1790000000" }, `claude-opus-4-5 is deprecated by anthropic since 21 Sep 2026${next}`],
	[
		{ deprecation: "Mon, 21 Sep 2026 00:00:00 GMT", sunset: "Fri, 01 Jan 2027 00:00:00 GMT" },
		`claude-opus-4-5 is deprecated by anthropic since 21 Sep 2026 and ends on 1 Jan 2027${next}`,
	],
	[
		{ sunset: "Fri, 01 Jan 2027 00:00:00 GMT" },
		`claude-opus-4-5 is deprecated by anthropic and ends on 1 Jan 2027${next}`,
	],
])("headers %j", (headers, line) => {
	expect(describeDeprecation(model, headers)).toBe(line);
});
