import { expect, test } from "vitest";
import { startSession } from "../helpers/session.js";
import { collectUncaught } from "../helpers/uncaught.js";

test.each(["activity_changed", "agent_start", "message_update", "message_end", "agent_end"])(
	"a listener that throws on %s affects neither the session nor other listeners",
	async (type) => {
		const uncaught = collectUncaught();
		const { session, provider } = await startSession();
		const heard: string[] = [];
		session.subscribe((event) => {
			if (event.type === type) throw new Error(`no luck with ${type}`);
		});
		session.subscribe((event) => heard.push(event.type));
		provider.reply("one", "two");
		for (const text of ["first", "second"]) {
			expect(await session.prompt(text)).toMatchObject({ outcome: { last: { stopReason: "stop" } } });
		}
		expect(session.activity.state).toBe("idle");
		const count = heard.filter((name) => name === type).length;
		expect(count).toBeGreaterThan(1);
		expect(uncaught).toEqual(Array(count).fill(`no luck with ${type}`));
	},
);
