import { expect, test } from "vitest";
import { buildContext } from "../../src/context/build-context.js";
import { RequestMeter } from "../../src/context-bench/meter.js";
import { SessionScale } from "../../src/context-bench/session-scale.js";
import { assistantMessage, compaction, session, user } from "../helpers/entries.js";

test("each model has its own cache, also of a compaction that one of them gets in its own form", async () => {
	const native = { api: "openai-responses", provider: "a", items: [{ type: "compaction" }] };
	const entries = session(user("u1"), { ...compaction(1, "long ".repeat(4000)), native }, user("u2"));
	const context = await buildContext(entries, []);
	const meter = new RequestMeter({
		...{ scale: new SessionScale(), retention: undefined, findModel: () => null, caches: () => true },
		...{ onRequest: () => {}, surpriseAt: () => ({}) },
	});
	for (const [reply, provider] of ["a", "a", "b", "b", "a"].entries()) {
		const message = { ...assistantMessage("ok"), api: "openai-responses", provider };
		meter.onRequest({ reply, message, context });
	}
	const [{ sent } = { sent: 0 }] = meter.requests;
	expect(sent).toBeGreaterThan(4000);
	expect(meter.requests.map(({ cached }) => cached)).toEqual([0, sent, 0, sent, sent]);
});
